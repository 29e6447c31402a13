// Matrix products through mathlib's gemm and bmm.
#include <algorithm>

#include "engine/mathlib/exact_sums.h"
#include "engine/mathlib/gemm.h"
#include "engine/ops/core/empty_output.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/strides.h"
#include "engine/ops/core/symbolic_checks.h"
#include "engine/ops/core/type_promotion.h"
#include "engine/support/thread_pool.h"
#include "engine/tensor/copy.h"
#include "engine/tensor/empty.h"
#include "engine/tensor/simd.h"

namespace kerf::inline ops {
namespace {

Result<void> wantRank(const BoundArguments& args, std::size_t i, std::int64_t rank) {
  if (args.tensor(i).dim() == rank) return {};
  return mismatch(args, "argument '{}' must have {} dimensions, has {}", args.op->schema.arguments[i].name, rank,
                  args.tensor(i).dim());
}

Result<void> wantEqual(const BoundArguments& args, const char* what, SymInt a, SymInt b) {
  if (checkEqual(a, b)) return {};
  return mismatch(args, "{} do not fit: {} and {}", what, a, b);
}

Result<void> wantSameType(const BoundArguments& args, std::size_t i, std::size_t j) {
  if (args.tensor(i).dtype() == args.tensor(j).dtype()) return {};
  return mismatch(args, "arguments '{}' and '{}' must have one dtype, got {} and {}", args.op->schema.arguments[i].name,
                  args.op->schema.arguments[j].name, dtypeInfo(args.tensor(i).dtype()).torchName,
                  dtypeInfo(args.tensor(j).dtype()).torchName);
}

/// Checks [.., m, k] x [.., k, n] at positions first and first + 1; gives the product's sizes.
Result<SymSizes> productSizes(const BoundArguments& args, std::size_t first, std::int64_t rank) {
  KERF_CHECK(wantRank(args, first, rank));
  KERF_CHECK(wantRank(args, first + 1, rank));
  KERF_CHECK(wantSameType(args, first, first + 1));
  const SymSizes& a = args.tensor(first).symSizes();
  const SymSizes& b = args.tensor(first + 1).symSizes();
  KERF_CHECK(wantEqual(args, "inner dimensions", a.back(), b[b.size() - 2]));
  if (rank == 3) KERF_CHECK(wantEqual(args, "batch sizes", a[0], b[0]));
  SymSizes result = a;
  result.back() = b.back();
  return result;
}

template <std::int64_t rank>
Result<Value> productShape(const BoundArguments& args) {
  KERF_TRY(const SymSizes sizes, productSizes(args, 0, rank));
  return Value(metaTensor(args.tensor(0).dtype(), sizes));
}

Result<void> productInto(const Tensor& a, const Tensor& b, Tensor& out, double alpha = 1, double beta = 0) {
  return a.dim() == 3 ? bmm(a, b, out, alpha, beta) : gemm(a, b, out, alpha, beta);
}

Result<Value> productKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeEmptyOutput(args));
  KERF_CHECK(productInto(args.tensor(0), args.tensor(1), out));
  return Value(std::move(out));
}

/// addmm and baddbmm: beta * self + alpha * (a @ b), self broadcast to the product.
template <std::int64_t rank>
Result<Value> addProductShape(const BoundArguments& args) {
  KERF_TRY(const SymSizes sizes, productSizes(args, 1, rank));
  KERF_CHECK(wantSameType(args, 0, 1));
  auto broadcast = broadcastSizes(args.tensor(0).symSizes(), sizes);
  if (!broadcast || !checkEqual(*broadcast, sizes))
    return mismatch(args, "argument 'self' of shape [{}] does not broadcast to [{}]",
                    fmt::join(args.tensor(0).symSizes(), ", "), fmt::join(sizes, ", "));
  return Value(metaTensor(args.tensor(1).dtype(), sizes));
}

Result<void> broadcastInto(const Tensor& source, const Tensor& out) {
  return copyElements(source.viewAs(out.sizes(), broadcastStrides(source, out.sizes()), source.offset()), out);
}

/// Half and bfloat16 round once, after the addition: the sum is formed in float.
Result<Value> addProduct(const BoundArguments& args, const Tensor& a, const Tensor& b) {
  KERF_TRY(Tensor out, makeEmptyOutput(args));
  const double beta = args.number(args.position("beta"));
  const double alpha = args.number(args.position("alpha"));
  const bool reduced = isFloating(out.dtype()) && itemSize(out.dtype()) < 4 && !ExactSums::wanted();
  if (!reduced) {
    if (beta != 0) KERF_CHECK(broadcastInto(args.tensor(0), out));
    KERF_CHECK(productInto(a, b, out, alpha, beta));
    return Value(std::move(out));
  }
  KERF_TRY(Tensor wide, emptyTensor(DType::Float32, out.sizes()));
  if (beta != 0) KERF_CHECK(broadcastInto(args.tensor(0), wide));
  KERF_TRY(const Tensor wideA, a.to(DType::Float32));
  KERF_TRY(const Tensor wideB, b.to(DType::Float32));
  KERF_CHECK(productInto(wideA, wideB, wide, alpha, beta));
  KERF_CHECK(copyElements(wide, out));
  return Value(std::move(out));
}

Result<Value> addProductKernel(const BoundArguments& args) { return addProduct(args, args.tensor(1), args.tensor(2)); }

Tensor asColumn(const Tensor& vector) {
  return vector.viewAs({vector.size(0), 1}, {vector.stride(0), 1}, vector.offset());
}
Tensor asRow(const Tensor& vector) {
  return vector.viewAs({1, vector.size(0)}, {1, vector.stride(0)}, vector.offset());
}

Result<Value> mvShape(const BoundArguments& args) {
  KERF_CHECK(wantRank(args, 0, 2));
  KERF_CHECK(wantRank(args, 1, 1));
  KERF_CHECK(wantSameType(args, 0, 1));
  KERF_CHECK(wantEqual(args, "inner dimensions", args.tensor(0).symSize(1), args.tensor(1).symSize(0)));
  return Value(metaTensor(args.tensor(0).dtype(), SymSizes{args.tensor(0).symSize(0)}));
}
Result<Value> mvKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeEmptyOutput(args));
  Tensor column = asColumn(out);
  KERF_CHECK(gemm(args.tensor(0), asColumn(args.tensor(1)), column));
  return Value(std::move(out));
}

Result<Value> addmvShape(const BoundArguments& args) {
  KERF_CHECK(wantRank(args, 1, 2));
  KERF_CHECK(wantRank(args, 2, 1));
  KERF_CHECK(wantEqual(args, "inner dimensions", args.tensor(1).symSize(1), args.tensor(2).symSize(0)));
  KERF_CHECK(wantSameType(args, 1, 2));
  KERF_CHECK(wantSameType(args, 0, 1));
  const SymSizes sizes{args.tensor(1).symSize(0)};
  auto broadcast = broadcastSizes(args.tensor(0).symSizes(), sizes);
  if (!broadcast || !checkEqual(*broadcast, sizes))
    return mismatch(args, "argument 'self' does not broadcast to [{}]", sizes[0]);
  return Value(metaTensor(args.tensor(1).dtype(), sizes));
}
Result<Value> addmvKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeEmptyOutput(args));
  Tensor column = asColumn(out);
  const double beta = args.number(3);
  if (isFloating(out.dtype()) && itemSize(out.dtype()) < 4 && beta != 0) {  // the product rounds before the addition
    KERF_CHECK(gemm(args.tensor(1), asColumn(args.tensor(2)), column, args.number(4), 0));
    const Tensor& self = args.tensor(0);
    KERF_TRY(const Tensor wide, callTensorOp("aten.mul.Scalar"_op, {self.to(DType::Float32).value_or(self), beta}));
    KERF_TRY(const Tensor sum, callTensorOp("aten.add.Tensor"_op, {wide, out.to(DType::Float32).value_or(out)}));
    KERF_CHECK(copyElements(sum, out));
    return Value(std::move(out));
  }
  if (beta != 0) KERF_CHECK(broadcastInto(args.tensor(0), out));
  KERF_CHECK(gemm(args.tensor(1), asColumn(args.tensor(2)), column, args.number(4), beta));
  return Value(std::move(out));
}

Result<Value> dotShape(const BoundArguments& args) {
  KERF_CHECK(wantRank(args, 0, 1));
  KERF_CHECK(wantRank(args, 1, 1));
  KERF_CHECK(wantSameType(args, 0, 1));
  KERF_CHECK(wantEqual(args, "sizes", args.tensor(0).symSize(0), args.tensor(1).symSize(0)));
  return Value(metaTensor(args.tensor(0).dtype(), Sizes{}));
}
Result<Value> dotKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeEmptyOutput(args));
  Tensor cell = out.viewAs({1, 1}, {1, 1}, out.offset());
  KERF_CHECK(gemm(asRow(args.tensor(0)), asColumn(args.tensor(1)), cell));
  return Value(std::move(out));
}

Result<Value> intProductShape(const BoundArguments& args) {
  KERF_TRY(const SymSizes sizes, productSizes(args, 0, 2));
  if (args.tensor(0).dtype() != DType::Int8) return mismatch(args, "expects int8 matrices");
  return Value(metaTensor(DType::Int32, sizes));
}
/// Products of int8 are at most 2^14, so that sums of this many are whole numbers that float32 has, in any order.
constexpr std::int64_t exactSteps = 1 << 10;

struct AddWhole {
  KERF_KERNEL void run(const float* from, std::int64_t count, std::int32_t* to) {
    for (std::int64_t i = 0; i < count; ++i)
      to[i] = std::int32_t(std::uint32_t(to[i]) + std::uint32_t(std::int32_t(from[i])));
  }
};

/// out += from, whole numbers of at most 2^24; both contiguous.
void addWhole(const Tensor& from, const Tensor& out) {
  parallelFor(out.numel(), std::int64_t{1} << 14, [&](std::int64_t begin, std::int64_t end) {
    perIsa<AddWhole>(from.data<float>() + begin, end - begin, out.data<std::int32_t>() + begin);
  });
}

Result<Value> intProductKernel(const BoundArguments& args) {
  KERF_TRY(const Value meta, runShapeRule(args));
  KERF_TRY(const Tensor a, args.tensor(0).to(DType::Float32));
  KERF_TRY(const Tensor b, args.tensor(1).to(DType::Float32));
  KERF_TRY(const Tensor out, Tensor::zeros(DType::Int32, meta.tensor().sizes()));
  KERF_TRY(Tensor part, emptyTensor(DType::Float32, out.sizes()));
  for (std::int64_t first = 0; first < a.size(1); first += exactSteps) {
    const std::int64_t steps = std::min(exactSteps, a.size(1) - first);
    KERF_CHECK(gemm(a.viewAs({a.size(0), steps}, a.strides(), a.offset() + first * a.stride(1)),
                    b.viewAs({steps, b.size(1)}, b.strides(), b.offset() + first * b.stride(0)), part));
    addWhole(part, out);
  }
  return Value(out);
}

constexpr OpTrait matmul = OpTrait::Matmul;
constexpr OpRow matmulRows[] = {
    {"aten::mm(Tensor self, Tensor mat2) -> Tensor", matmul, productShape<2>, productKernel},
    {"aten::bmm(Tensor self, Tensor mat2) -> Tensor", matmul, productShape<3>, productKernel},
    {"aten::addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor", matmul,
     addProductShape<2>, addProductKernel},
    {"aten::baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor", matmul,
     addProductShape<3>, addProductKernel},
    {"aten::mv(Tensor self, Tensor vec) -> Tensor", matmul, mvShape, mvKernel},
    {"aten::addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor", matmul, addmvShape,
     addmvKernel},
    {"aten::dot(Tensor self, Tensor tensor) -> Tensor", matmul, dotShape, dotKernel},
    {"aten::vdot(Tensor self, Tensor other) -> Tensor", matmul, dotShape, dotKernel},
    {"aten::_int_mm(Tensor self, Tensor mat2) -> Tensor", matmul, intProductShape, intProductKernel},
};

const OpRegistration matmulOps({.rows = matmulRows});

}  // namespace

}  // namespace kerf::inline ops
