// addr and addbmm: products whose order of rounding shows in 16-bit types.
#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/type_promotion.h"
#include "engine/ops/kernels/complex_values.h"
#include "engine/ops/kernels/planes.h"
#include "engine/tensor/copy.h"

namespace kerf::inline ops {
namespace {

// addr(self, vec1, vec2, *, beta, alpha): beta * self + alpha * vec1 ⊗ vec2

Result<Value> addrShape(const BoundArguments& args) {
  const Tensor &vec1 = args.tensor(1), &vec2 = args.tensor(2);
  if (vec1.dim() != 1) return mismatch(args, "argument 'vec1' must have 1 dimension, got {}", vec1.dim());
  if (vec2.dim() != 1) return mismatch(args, "argument 'vec2' must have 1 dimension, got {}", vec2.dim());
  const SymSizes sizes{vec1.symSize(0), vec2.symSize(0)};
  auto broadcast = broadcastSizes(args.tensor(0).symSizes(), sizes);
  if (!broadcast || !checkEqual(*broadcast, sizes))
    return mismatch(args, "argument 'self' does not broadcast to the product");
  const DType dtype = resultType(std::vector<Value>{args.values[0], args.values[1], args.values[2]});
  for (std::size_t i = 3; i < 5; ++i) {
    if (isIntegral(dtype) && args.values[i].as<double>())
      return mismatch(args, "beta and alpha must be integers for integer tensors");
  }
  return Value(metaTensor(dtype, sizes));
}

/// Every operation rounds to the result's dtype.
Result<void> addrFloats(const BoundArguments& args, const Tensor& out) {
  KERF_TRY(const Doubles self, doublesOf(args.tensor(0), out.sizes()));
  KERF_TRY(const Doubles vec1, doublesOf(args.tensor(1)));
  KERF_TRY(const Doubles vec2, doublesOf(args.tensor(2)));
  const auto r = [dtype = out.dtype()](double x) { return roundedTo(dtype, x); };
  const double beta = r(args.number(3)), alpha = r(args.number(4));
  Doubles values(self.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double product = r(r(alpha * vec1[i / vec2.size()]) * vec2[i % vec2.size()]);
    values[i] = beta == 0 ? product : r(r(beta * self[i]) + product);
  }
  return writeValues(values, out);
}

Result<void> addrComplexes(const BoundArguments& args, const Tensor& out) {
  KERF_TRY(Complexes values, complexesOf(args.tensor(0), out.sizes()));
  KERF_TRY(const Complexes vec1, complexesOf(args.tensor(1)));
  KERF_TRY(const Complexes vec2, complexesOf(args.tensor(2)));
  const double beta = args.number(3), alpha = args.number(4);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Z product = multiply(alpha * vec1[i / vec2.size()], vec2[i % vec2.size()]);
    values[i] = beta == 0 ? product : beta * values[i] + product;
  }
  return writeComplexes(values, out);
}

/// Integers wrap; bool multiplies as "and" and adds as "or".
Result<void> addrIntegers(const BoundArguments& args, const Tensor& out) {
  const auto read = [](const Tensor& tensor) -> Result<Tensor> {
    KERF_TRY(const Tensor wide, tensor.to(DType::Int64));
    return wide.contiguous();
  };
  const Tensor& given = args.tensor(0);
  KERF_TRY(const Tensor self, read(given.viewAs(out.sizes(), broadcastStrides(given, out.sizes()), given.offset())));
  KERF_TRY(const Tensor vec1, read(args.tensor(1)));
  KERF_TRY(const Tensor vec2, read(args.tensor(2)));
  const bool truth = out.dtype() == DType::Bool;
  const auto beta = std::uint64_t(truth ? args.integer(3) != 0 : args.integer(3));
  const auto alpha = std::uint64_t(truth ? args.integer(4) != 0 : args.integer(4));
  std::vector<std::int64_t> values(std::size_t(out.numel()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto width = std::size_t(vec2.numel());
    const auto product = alpha * std::uint64_t(vec1.data<std::int64_t>()[i / width]) *
                         std::uint64_t(vec2.data<std::int64_t>()[i % width]);
    values[i] = std::int64_t(beta * std::uint64_t(self.data<std::int64_t>()[i]) + product);
  }
  return writeValues(values, out);
}

Result<Value> addrKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  if (out.numel() == 0) return Value(std::move(out));
  if (isIntegral(out.dtype()))
    KERF_CHECK(addrIntegers(args, out));
  else if (isComplex(out.dtype()))
    KERF_CHECK(addrComplexes(args, out));
  else
    KERF_CHECK(addrFloats(args, out));
  return Value(std::move(out));
}

// addbmm(self, batch1, batch2, *, beta, alpha): beta * self + alpha * sum of the products, one batch after the other

Result<Value> addbmmShape(const BoundArguments& args) {
  const Tensor &a = args.tensor(1), &b = args.tensor(2);
  if (a.dim() != 3 || b.dim() != 3) return mismatch(args, "batch1 and batch2 must have 3 dimensions");
  if (guardOrFalse(a.symSize(0) != b.symSize(0)) || guardOrFalse(a.symSize(2) != b.symSize(1)))
    return mismatch(args, "batches of shape [{}] and [{}] cannot be multiplied", fmt::join(a.symSizes(), ", "),
                    fmt::join(b.symSizes(), ", "));
  if (a.dtype() != b.dtype() || a.dtype() != args.tensor(0).dtype()) return mismatch(args, "expects one dtype");
  const SymSizes flat{a.symSize(1), b.symSize(2)};
  auto broadcast = broadcastSizes(args.tensor(0).symSizes(), flat);
  if (!broadcast || !checkEqual(*broadcast, flat))
    return mismatch(args, "argument 'self' does not broadcast to the product");
  return Value(metaTensor(a.dtype(), flat));
}

Result<Value> addbmmKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  const Tensor &self = args.tensor(0), &a = args.tensor(1), &b = args.tensor(2);
  Value sum = self.viewAs(out.sizes(), broadcastStrides(self, out.sizes()), self.offset());
  Value beta = args.values[3];
  const KeywordValues alpha{{"alpha", args.values[4]}};
  for (std::int64_t n = 0; n < a.size(0); ++n) {
    const Tensor left = a.viewAs({a.size(1), a.size(2)}, {a.stride(1), a.stride(2)}, a.offset() + n * a.stride(0));
    const Tensor right = b.viewAs({b.size(1), b.size(2)}, {b.stride(1), b.stride(2)}, b.offset() + n * b.stride(0));
    KERF_TRY(sum, callOp("aten.addmm.default"_op, {sum, left, right}, {{"beta", beta}, alpha[0]}));
    beta = std::int64_t{1};
  }
  if (a.size(0) == 0 && args.number(3) == 0) return Value(std::move(out));
  if (a.size(0) == 0) {
    KERF_TRY(sum, callOp("aten.mul.Scalar"_op, {sum, beta}));
  }
  KERF_CHECK(copyElements(sum.tensor(), out));
  return Value(std::move(out));
}

constexpr OpRow outerProductRows[] = {
    {"aten::addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor", OpTrait::None,
     addrShape, addrKernel},
    {"aten::addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
     OpTrait::Matmul, addbmmShape, addbmmKernel},
};

const OpRegistration outerProductOps({.rows = outerProductRows});

}  // namespace

}  // namespace kerf::inline ops
