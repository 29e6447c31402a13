// Writing along one dimension by an index for each element: scatter, scatter_add, scatter_reduce.
#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/symbolic_checks.h"
#include "engine/ops/index/element_writes.h"
#include "engine/ops/kernels/indexing.h"
#include "engine/tensor/strided_loop.h"

namespace kerf::inline ops {
namespace {

// scatter(self, dim, index, src): self[index[i][j]][j] = src[i][j]

SymSizes asVector(const SymSizes& sizes) { return sizes.empty() ? SymSizes{1} : sizes; }

/// What every backend relies on: an index, and a source, for each element that is written. ShapeMismatch where the
/// index is larger than self (but along `dim`) or than the source, or is no tensor of integers, or where the source
/// has another dtype than self.
Result<Value> scatterShape(const BoundArguments& args) {
  const Tensor &self = args.tensor(0), &index = args.tensor(2);
  const Tensor* const source = args.tensorIf(3);
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(1), self.dim()));
  if (source && source->dtype() != self.dtype())
    return mismatch(args, "self and src must have one dtype, got {} and {}", dtypeInfo(self.dtype()).torchName,
                    dtypeInfo(source->dtype()).torchName);
  if (guardOrFalse(index.symNumel() == 0)) return writtenShape(args);
  const SymSizes selfSizes = asVector(self.symSizes()), indexSizes = asVector(index.symSizes()),
                 sources = source ? asVector(source->symSizes()) : indexSizes;
  if (!isIntegral(index.dtype())) return mismatch(args, "argument 'index' must be integers");
  if (selfSizes.size() != indexSizes.size() || sources.size() != indexSizes.size())
    return mismatch(args, "index, self and src must have as many dimensions");
  for (std::size_t d = 0; d < selfSizes.size(); ++d)
    if (!checkAtMost(indexSizes[d], sources[d]) ||
        (std::int64_t(d) != dim && !checkAtMost(indexSizes[d], selfSizes[d])))
      return mismatch(args, "index of size {} is too large in dimension {}", indexSizes[d], d);
  return writtenShape(args);
}

/// Positions in contiguous self and contiguous source for every index; the shape rule has found that these fit.
Result<std::vector<ElementWrite>> scatterWrites(const BoundArguments& args, const Tensor& self, const Tensor& index,
                                                const Sizes& sourceSizes) {
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(1), self.dim()));
  std::vector<ElementWrite> writes;
  if (index.numel() == 0) return writes;
  const Sizes selfSizes = atLeastOne(self.sizes()), indexSizes = atLeastOne(index.sizes()),
              sources = atLeastOne(sourceSizes);
  KERF_TRY(const auto positions, integerValues(index));
  Sizes selfStrides = contiguousStrides(selfSizes);
  const std::int64_t step = selfStrides[std::size_t(dim)];
  selfStrides[std::size_t(dim)] = 0;
  const StridedLoop<2> walk(indexSizes, {selfStrides, contiguousStrides(sources)});
  for (std::int64_t at : positions) KERF_CHECK(checkIndex(args, at, selfSizes[std::size_t(dim)], dim));
  writes.reserve(positions.size());
  walk.forRows([&](const auto& at, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i)
      writes.push_back(
          {at[0] + i * walk.innerStrides()[0] + positions[writes.size()] * step, at[1] + i * walk.innerStrides()[1]});
  });
  return writes;
}

Result<Value> scatterWith(const BoundArguments& args, const Tensor& source, Writing how, bool includeSelf) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(const Tensor working, workingCopy(args.tensor(0)));
  KERF_TRY(const auto writes, scatterWrites(args, args.tensor(0), args.tensor(2), source.sizes()));
  KERF_CHECK(applyWrites(writes, working, source, how, includeSelf, out));
  return Value(std::move(out));
}

Result<Value> scatterSource(const BoundArguments& args) {
  return scatterWith(args, args.tensor(3), Writing::Assign, true);
}
Result<Value> scatterAdd(const BoundArguments& args) { return scatterWith(args, args.tensor(3), Writing::Sum, true); }
Result<Value> scatterValue(const BoundArguments& args) {
  KERF_TRY(const Tensor source, numberLike(args, 3, args.tensor(2)));
  return scatterWith(args, source, Writing::Assign, true);
}
Result<Value> scatterReduce(const BoundArguments& args) {
  KERF_TRY(const Writing how, combineNamed(args, args.text(4)));
  const bool includeSelf = args.values.size() < 6 || args.boolean(5);
  return scatterWith(args, args.tensor(3), how, includeSelf);
}
Result<Value> scatterValueReduce(const BoundArguments& args) {
  KERF_TRY(const Writing how, combineNamed(args, args.text(4)));
  KERF_TRY(const Tensor source, numberLike(args, 3, args.tensor(2)));
  return scatterWith(args, source, how, true);
}

constexpr OpTrait none = OpTrait::None;
constexpr OpRow scatterRows[] = {
    {"aten::scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", none, scatterShape, scatterSource},
    {"aten::scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor", none, scatterShape,
     scatterValue},
    {"aten::scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor", none,
     scatterShape, scatterReduce},
    {"aten::scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, str reduce) -> Tensor", none,
     scatterShape, scatterValueReduce},
    {"aten::scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", none, scatterShape, scatterAdd},
    {"aten::scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True) "
     "-> Tensor",
     none, scatterShape, scatterReduce},
};

const OpRegistration scatterOps({.rows = scatterRows});

}  // namespace

}  // namespace kerf::inline ops
