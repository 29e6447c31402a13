// Writing whole slices by index (index_add, index_copy, index_fill, index_reduce), and elements counted over the whole
// tensor (put, masked_scatter).
#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/strides.h"
#include "engine/ops/core/symbolic_checks.h"
#include "engine/ops/index/element_writes.h"
#include "engine/ops/kernels/indexing.h"
#include "engine/tensor/copy.h"
#include "engine/tensor/strided_loop.h"

namespace kerf::inline ops {
namespace {

/// For ops that clone self.
Result<Value> cloneOfSelf(const BoundArguments& args) {
  KERF_TRY(SymSizes strides, likeStrides(args.tensor(0), {}));
  return Value(metaTensor(args.tensor(0).dtype(), args.tensor(0).symSizes(), std::move(strides)));
}

// index_add(self, dim, index, source), index_copy, index_fill, index_reduce: whole slices

/// self with as many slices as there are indices: what the source must be. ShapeMismatch where it is not, and where
/// the index is no vector of integers.
Result<Value> slicesShape(const BoundArguments& args) {
  const Tensor &self = args.tensor(0), &index = args.tensor(2), &source = args.tensor(3);
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(1), self.dim()));
  if (index.dim() > 1 || !isIntegral(index.dtype()))
    return mismatch(args, "argument 'index' must be a vector of integers");
  SymSizes expected = self.symSizes(), given = source.symSizes();
  if (expected.empty()) expected = SymSizes{1};
  if (given.empty()) given = SymSizes{1};
  expected[std::size_t(dim)] = index.symNumel();
  bool fits = given.size() == expected.size();
  for (std::size_t d = 0; fits && d < given.size(); ++d) fits = checkEqual(given[d], expected[d]);
  if (!fits)
    return mismatch(args, "source has shape [{}], expected [{}]", fmt::join(source.symSizes(), ", "),
                    fmt::join(expected, ", "));
  return writtenShape(args);
}

/// The dimension exists, the index is a vector of integers, and the value one number.
Result<Value> fillShape(const BoundArguments& args) {
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(1), args.tensor(0).dim()));
  (void)dim;
  if (args.tensor(2).dim() > 1 || !isIntegral(args.tensor(2).dtype()))
    return mismatch(args, "argument 'index' must be a vector of integers");
  const Tensor* const given = args.tensorIf(3);
  if (given && given->dim() != 0) return mismatch(args, "argument 'value' must have no dimensions");
  return cloneOfSelf(args);
}

Result<Value> putShape(const BoundArguments& args) {
  if (!isIntegral(args.tensor(1).dtype())) return mismatch(args, "argument 'index' must be integers");
  if (!checkEqual(args.tensor(1).symNumel(), args.tensor(2).symNumel()))
    return mismatch(args, "index and source differ in size");
  return cloneOfSelf(args);
}

Result<std::vector<ElementWrite>> sliceWrites(const BoundArguments& args, const Tensor& self, const Tensor& index) {
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(1), self.dim()));
  KERF_TRY(const auto positions, integerValues(index));
  const Sizes selfSizes = atLeastOne(self.sizes());
  Sizes expected = selfSizes;
  expected[std::size_t(dim)] = std::int64_t(positions.size());
  for (std::int64_t at : positions) KERF_CHECK(checkIndex(args, at, selfSizes[std::size_t(dim)], dim));
  const Sizes selfStrides = contiguousStrides(selfSizes), sourceStrides = contiguousStrides(expected);
  std::vector<ElementWrite> writes;
  Sizes rest = selfSizes;
  rest[std::size_t(dim)] = 1;
  const StridedLoop<2> walk(rest, {selfStrides, sourceStrides});
  for (std::size_t p = 0; p < positions.size(); ++p)
    walk.forRows([&](const auto& at, std::int64_t count) {
      for (std::int64_t i = 0; i < count; ++i)
        writes.push_back({at[0] + i * walk.innerStrides()[0] + positions[p] * selfStrides[std::size_t(dim)],
                          at[1] + i * walk.innerStrides()[1] + std::int64_t(p) * sourceStrides[std::size_t(dim)]});
    });
  return writes;
}

Result<Value> slicesWith(const BoundArguments& args, const Tensor& source, Writing how, bool includeSelf,
                         Rounding rounding = Rounding::EveryWrite) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(const Tensor working, workingCopy(args.tensor(0)));
  KERF_TRY(const auto writes, sliceWrites(args, args.tensor(0), args.tensor(2)));
  KERF_CHECK(applyWrites(writes, working, source, how, includeSelf, out, rounding));
  return Value(std::move(out));
}

Result<Value> indexAdd(const BoundArguments& args) {
  Tensor source = args.tensor(3);
  if (isIntegral(args.tensor(0).dtype()) && args.values[4].as<double>())
    return mismatch(args, "argument 'alpha' must be an integer for integer tensors");
  const bool isWholeTruth = args.tensor(0).dtype() == DType::Bool && args.number(4) != 0;  // any such alpha is true
  if (args.number(4) != 1 && !isWholeTruth) {
    KERF_TRY(source, source.to(isIntegral(source.dtype()) ? DType::Int64 : DType::Float64));
    KERF_TRY(source, callTensorOp("aten.mul.Tensor"_op, {source, args.values[4]}));
    if (args.tensor(0).dim() < 2) {
      KERF_TRY(source, source.to(args.tensor(0).dtype()));  // the vector form rounds the product first
    }
  }
  const Rounding rounding = args.tensor(0).dim() < 2 ? Rounding::EveryWrite : Rounding::AtEnd;
  return slicesWith(args, source, Writing::Sum, true, rounding);
}
Result<Value> indexCopy(const BoundArguments& args) { return slicesWith(args, args.tensor(3), Writing::Assign, true); }
Result<Value> indexReduce(const BoundArguments& args) {
  KERF_TRY(const Writing how, combineNamed(args, args.text(4)));
  return slicesWith(args, args.tensor(3), how, args.boolean(5));
}
Result<Value> indexFill(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(1), self.dim()));
  KERF_TRY(auto positions, integerValues(args.tensor(2)));
  const std::int64_t size = self.dim() == 0 ? 1 : self.size(dim);
  for (std::int64_t& at : positions) {
    KERF_TRY(at, wrapIndex(args, at, size, dim));
  }
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_CHECK(copyElements(self, out));
  const Tensor* given = args.tensorIf(3);
  KERF_TRY(const Tensor value, given ? Result<Tensor>(*given) : numberLike(args, 3, Tensor::scalar(0, DType::Float32)));
  for (std::int64_t at : positions) {
    Sizes sizes = out.sizes();
    if (!sizes.empty()) sizes[std::size_t(dim)] = 1;
    const Tensor slice = out.viewAs(sizes, out.strides(), out.offset() + (out.dim() == 0 ? 0 : at * out.stride(dim)));
    KERF_CHECK(copyElements(value.viewAs(sizes, Sizes(sizes.size(), 0), value.offset()), slice));
  }
  return Value(std::move(out));
}

/// put(self, index, source, accumulate): positions count over the flattened tensor.
Result<Value> putKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(const Tensor working, workingCopy(args.tensor(0)));
  KERF_TRY(const auto positions, integerValues(args.tensor(1)));
  std::vector<ElementWrite> writes;
  for (std::int64_t position : positions) {
    KERF_TRY(const std::int64_t at, wrapIndex(args, position, out.numel(), 0));
    writes.push_back({at, std::int64_t(writes.size())});
  }
  KERF_CHECK(applyWrites(writes, working, args.tensor(2), args.boolean(3) ? Writing::Sum : Writing::Assign, true, out,
                         Rounding::EveryWrite));
  return Value(std::move(out));
}

Result<Value> maskedScatterShape(const BoundArguments& args) {
  if (args.tensor(1).dtype() != DType::Bool) return mismatch(args, "argument 'mask' must be a bool tensor");
  auto sizes = broadcastSizes(args.tensor(0).symSizes(), args.tensor(1).symSizes());
  if (!sizes) return mismatch(args, "{}", sizes.error().message);
  return Value(metaTensor(args.tensor(0).dtype(), *sizes));
}

Result<Value> maskedScatterKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  const Tensor& mask = args.tensor(1);
  const Tensor& self = args.tensor(0);
  KERF_CHECK(copyElements(self.viewAs(out.sizes(), broadcastStrides(self, out.sizes()), self.offset()), out));
  KERF_TRY(const auto chosen,
           integerValues(mask.viewAs(out.sizes(), broadcastStrides(mask, out.sizes()), mask.offset())));
  std::vector<ElementWrite> writes;
  for (std::size_t i = 0; i < chosen.size(); ++i)
    if (chosen[i] != 0) writes.push_back({std::int64_t(i), std::int64_t(writes.size())});
  if (std::int64_t(writes.size()) > args.tensor(2).numel()) return mismatch(args, "source has too few elements");
  KERF_TRY(const Tensor working, workingCopy(out));
  KERF_CHECK(applyWrites(writes, working, args.tensor(2), Writing::Assign, true, out));
  return Value(std::move(out));
}

constexpr OpTrait none = OpTrait::None;
constexpr OpRow sliceWriteRows[] = {
    {"aten::index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor", none,
     slicesShape, indexAdd},
    {"aten::index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor", none, slicesShape, indexCopy},
    {"aten::index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True) -> "
     "Tensor",
     none, slicesShape, indexReduce},
    {"aten::index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor", none, fillShape,
     indexFill},
    {"aten::index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor", none, fillShape,
     indexFill},
    {"aten::put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor", none, putShape, putKernel},
    {"aten::masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor", none, maskedScatterShape,
     maskedScatterKernel},
};

const OpRegistration sliceWriteOps({.rows = sliceWriteRows});

}  // namespace

}  // namespace kerf::inline ops
