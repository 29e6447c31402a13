// Writing along one dimension by index: scatter, index_add, index_copy, index_fill, put, masked_scatter.
#include <cmath>

#include "engine/ops/core/op_row.h"
#include "engine/ops/core/strides.h"
#include "engine/ops/index/indexing.h"
#include "engine/ops/index/writing.h"
#include "engine/ops/pointwise/element_math.h"
#include "engine/tensor/convert.h"
#include "engine/tensor/copy.h"
#include "engine/tensor/strided_loop.h"

namespace kerf::inline ops {
namespace {

Result<Writing> combineNamed(const BoundArguments& args, std::string_view name) {
  const auto writing = writingNamed(name);
  if (!writing) return mismatch(args, "unknown reduction '{}'", name);
  return *writing;
}

template <class T>
T combined(Writing how, T old, T value) {
  switch (how) {
    case Writing::Assign:
      return value;
    case Writing::Sum:
    case Writing::Mean:
      return element::add(old, value);
    case Writing::Product:
      return element::mul(old, value);
    case Writing::Max:
      return element::maximum(old, value);
    case Writing::Min:
      return element::minimum(old, value);
  }
  return value;
}

/// Values that combine with anything to that thing.
template <class T>
T identityOf(Writing how) {
  using Limits = std::numeric_limits<T>;
  if (how == Writing::Product) return 1;
  if constexpr (std::is_floating_point_v<T>) {
    if (how == Writing::Max) return -Limits::infinity();
    if (how == Writing::Min) return Limits::infinity();
  } else {
    if (how == Writing::Max) return Limits::min();
    if (how == Writing::Min) return Limits::max();
  }
  return 0;
}

/// self as a wide, contiguous working copy: double for floats, int64 for integers and bool. UnsupportedOp for complex
/// tensors, which would lose their imaginary parts.
Result<Tensor> workingCopy(const Tensor& self) {
  if (isComplex(self.dtype()))
    return fail(ErrorCode::UnsupportedOp, "not implemented for {}", dtypeInfo(self.dtype()).torchName);
  KERF_TRY(const Tensor wide, self.to(isIntegral(self.dtype()) ? DType::Int64 : DType::Float64));
  return wide.clone();
}

/// One write: which element of self, and which element of the (row-major) source.
struct ElementWrite {
  std::int64_t target, source;
};

/// Whether a running sum is stored in self's own dtype after every write (vectors, index ops other than index_add,
/// put), or kept wide until the end (scatter ops, index_add of matrices).
enum class Rounding : std::uint8_t { EveryWrite, AtEnd };

double roundedLike(DType dtype, double x) {
  return dtype == DType::BFloat16  ? double(float(BFloat16(float(x))))
         : dtype == DType::Float16 ? double(float(Half(float(x))))
                                   : x;
}

template <class T>
void applyWrites(const std::vector<ElementWrite>& writes, const Tensor& self, const T* source, Writing how, bool includeSelf,
                 DType stored) {
  T* data = self.data<T>();
  std::vector<std::int64_t> counts(how == Writing::Mean ? std::size_t(self.numel()) : 0, includeSelf ? 1 : 0);
  if (!includeSelf)
    for (const ElementWrite& write : writes) data[write.target] = identityOf<T>(how);
  for (const ElementWrite& write : writes) {
    data[write.target] = combined(how, data[write.target], source[write.source]);
    if constexpr (std::is_floating_point_v<T>) data[write.target] = roundedLike(stored, data[write.target]);
    if (how == Writing::Mean) ++counts[std::size_t(write.target)];
  }
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (counts[i] > 1)
      data[i] = element::isInt<T> ? element::floorDivide(data[i], T(counts[i])) : data[i] / T(counts[i]);
}

Result<void> finish(const std::vector<ElementWrite>& writes, const Tensor& working, const Tensor& source, Writing how,
                    bool includeSelf, const Tensor& out, Rounding rounding = Rounding::AtEnd) {
  const DType stored = rounding == Rounding::EveryWrite ? out.dtype() : DType::Float64;
  KERF_TRY(const Tensor wide, source.to(working.dtype()));
  KERF_TRY(const Tensor flat, wide.contiguous());
  if (working.dtype() == DType::Int64)
    applyWrites(writes, working, flat.data<std::int64_t>(), how, includeSelf, stored);
  else
    applyWrites(writes, working, flat.data<double>(), how, includeSelf, stored);
  return copyElements(working, out);
}

Result<Value> likeSelf(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(1), self.dim()));
  (void)dim;
  return Value(metaTensor(self.dtype(), self.symSizes()));
}
/// For ops that clone self.
Result<Value> cloneOfSelf(const BoundArguments& args) {
  KERF_TRY(SymSizes strides, likeStrides(args.tensor(0), {}));
  return Value(metaTensor(args.tensor(0).dtype(), args.tensor(0).symSizes(), std::move(strides)));
}

// scatter(self, dim, index, src): self[index[i][j]][j] = src[i][j]

Sizes atLeastOne(const Sizes& sizes) { return sizes.empty() ? Sizes{1} : sizes; }

/// Positions in contiguous self and contiguous source for every index.
Result<std::vector<ElementWrite>> scatterWrites(const BoundArguments& args, const Tensor& self, const Tensor& index,
                                         const Sizes& sourceSizes) {
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(1), self.dim()));
  std::vector<ElementWrite> writes;
  if (index.numel() == 0) return writes;
  const Sizes selfSizes = atLeastOne(self.sizes()), indexSizes = atLeastOne(index.sizes()),
              sources = atLeastOne(sourceSizes);
  if (!isIntegral(index.dtype())) return mismatch(args, "argument 'index' must be integers");
  if (selfSizes.size() != indexSizes.size() || sources.size() != indexSizes.size())
    return mismatch(args, "index, self and src must have as many dimensions");
  for (std::size_t d = 0; d < selfSizes.size(); ++d)
    if (indexSizes[d] > sources[d] || (std::int64_t(d) != dim && indexSizes[d] > selfSizes[d]))
      return mismatch(args, "index of size {} is too large in dimension {}", indexSizes[d], d);
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
  KERF_CHECK(finish(writes, working, source, how, includeSelf, out));
  return Value(std::move(out));
}

/// The number argument as a tensor of the index's shape; first it becomes an element of self (0.5 is true).
Result<Tensor> numberLike(const BoundArguments& args, std::size_t i, const Tensor& index) {
  const Tensor given = args.values[i].as<double>() ? Tensor::scalar(args.number(i), DType::Float64)
                                                   : Tensor::scalarInt(args.integer(i), DType::Int64);
  KERF_TRY(const Tensor number, given.to(args.tensor(0).dtype()));
  return number.viewAs(index.sizes(), Sizes(index.sizes().size(), 0), 0);
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

// index_add(self, dim, index, source), index_copy, index_fill, index_reduce: whole slices

Result<std::vector<ElementWrite>> sliceWrites(const BoundArguments& args, const Tensor& self, const Tensor& index,
                                       const Sizes& sourceSizes) {
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(1), self.dim()));
  if (index.dim() > 1 || !isIntegral(index.dtype()))
    return mismatch(args, "argument 'index' must be a vector of integers");
  KERF_TRY(const auto positions, integerValues(index));
  const Sizes selfSizes = atLeastOne(self.sizes());
  Sizes expected = selfSizes;
  expected[std::size_t(dim)] = std::int64_t(positions.size());
  if (atLeastOne(sourceSizes) != expected)
    return mismatch(args, "source has shape [{}], expected [{}]", fmt::join(sourceSizes, ", "),
                    fmt::join(expected, ", "));
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
  KERF_TRY(const auto writes, sliceWrites(args, args.tensor(0), args.tensor(2), source.sizes()));
  KERF_CHECK(finish(writes, working, source, how, includeSelf, out, rounding));
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
  if (given && given->dim() != 0) return mismatch(args, "argument 'value' must have no dimensions");
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
  if (args.tensor(1).numel() != args.tensor(2).numel()) return mismatch(args, "index and source differ in size");
  std::vector<ElementWrite> writes;
  for (std::int64_t position : positions) {
    KERF_TRY(const std::int64_t at, wrapIndex(args, position, out.numel(), 0));
    writes.push_back({at, std::int64_t(writes.size())});
  }
  KERF_CHECK(finish(writes, working, args.tensor(2), args.boolean(3) ? Writing::Sum : Writing::Assign, true, out,
                    Rounding::EveryWrite));
  return Value(std::move(out));
}

Result<Value> maskedScatterShape(const BoundArguments& args) {
  auto sizes = broadcastSizes(args.tensor(0).symSizes(), args.tensor(1).symSizes());
  if (!sizes) return mismatch(args, "{}", sizes.error().message);
  return Value(metaTensor(args.tensor(0).dtype(), *sizes));
}

Result<Value> maskedScatterKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  const Tensor& mask = args.tensor(1);
  const Tensor& self = args.tensor(0);
  if (mask.dtype() != DType::Bool) return mismatch(args, "argument 'mask' must be a bool tensor");
  KERF_CHECK(copyElements(self.viewAs(out.sizes(), broadcastStrides(self, out.sizes()), self.offset()), out));
  KERF_TRY(const auto chosen,
           integerValues(mask.viewAs(out.sizes(), broadcastStrides(mask, out.sizes()), mask.offset())));
  std::vector<ElementWrite> writes;
  for (std::size_t i = 0; i < chosen.size(); ++i)
    if (chosen[i] != 0) writes.push_back({std::int64_t(i), std::int64_t(writes.size())});
  if (std::int64_t(writes.size()) > args.tensor(2).numel()) return mismatch(args, "source has too few elements");
  KERF_TRY(const Tensor working, workingCopy(out));
  KERF_CHECK(finish(writes, working, args.tensor(2), Writing::Assign, true, out));
  return Value(std::move(out));
}

constexpr OpTrait none = OpTrait::None;
constexpr OpRow scatterRows[] = {
    {"aten::scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", none, likeSelf, scatterSource},
    {"aten::scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor", none, likeSelf, scatterValue},
    {"aten::scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor", none, likeSelf,
     scatterReduce},
    {"aten::scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, str reduce) -> Tensor", none,
     likeSelf, scatterValueReduce},
    {"aten::scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", none, likeSelf, scatterAdd},
    {"aten::scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True) "
     "-> Tensor",
     none, likeSelf, scatterReduce},
    {"aten::index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor", none, likeSelf,
     indexAdd},
    {"aten::index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor", none, likeSelf, indexCopy},
    {"aten::index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True) -> "
     "Tensor",
     none, likeSelf, indexReduce},
    {"aten::index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor", none, cloneOfSelf,
     indexFill},
    {"aten::index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor", none, cloneOfSelf,
     indexFill},
    {"aten::put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor", none, cloneOfSelf,
     putKernel},
    {"aten::masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor", none, maskedScatterShape,
     maskedScatterKernel},
};

}  // namespace

OpRows scatterOps() { return scatterRows; }

}  // namespace kerf::inline ops
