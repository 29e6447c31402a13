// Reading and writing by index tensors: index, index_put, index_select, gather, take.
#include "engine/ops/core/empty_output.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/strides.h"
#include "engine/ops/core/symbolic_checks.h"
#include "engine/ops/index/index_groups.h"
#include "engine/ops/kernels/indexing.h"
#include "engine/tensor/copy.h"
#include "engine/tensor/dispatch.h"
#include "engine/tensor/strided_loop.h"

namespace kerf::inline ops {
namespace {

/// Strides of `sizes`' dimensions outside of the index dimensions.
Sizes restOf(const SymSizes& strides, const IndexPlan& plan) {
  Sizes result = strides;
  const auto begin = result.begin() + plan.firstIndexDim;
  result.erase(begin, begin + std::int64_t(plan.indexSizes.size()));
  return result;
}

/// Offsets into a tensor of the result's shape for every index position.
std::vector<std::int64_t> resultOffsets(const Sizes& strides, const IndexPlan& plan) {
  const auto begin = strides.begin() + plan.firstIndexDim;
  const Sizes own(begin, begin + std::int64_t(plan.indexSizes.size()));
  const StridedLoop<1> walk(plan.indexSizes, {own});
  std::vector<std::int64_t> offsets;
  walk.forRows([&](const auto& at, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) offsets.push_back(at[0] + i * walk.innerStrides()[0]);
  });
  return offsets;
}

Result<Value> indexShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  KERF_TRY(const IndexPlan plan, planIndex(args, self, args.values[1]));
  std::vector<Tensor> operands{metaTensor(self.dtype(), plan.resultSizes, plan.selfStrides)};
  for (const auto& index : plan.indices) {
    if (!index) continue;
    SymSizes strides(plan.resultSizes.size(), 0);
    std::ranges::copy(broadcastStrides(*index, plan.indexSizes), strides.begin() + plan.firstIndexDim);
    operands.push_back(metaTensor(DType::Int64, plan.resultSizes, std::move(strides)));
  }
  return Value(metaTensor(self.dtype(), plan.resultSizes, elementwiseStrides(operands, plan.resultSizes)));
}

/// body(target offset, source offset, run length, target step, source step) over all elements of self[indices].
template <class Body>
void forIndexed(const IndexPlan& plan, const Sizes& otherStrides, const std::vector<std::int64_t>& selfOffsets,
                bool parallel, Body&& body) {
  const auto others = resultOffsets(otherStrides, plan);
  const StridedLoop<2> walk(plan.restSizes, {restOf(otherStrides, plan), restOf(plan.selfStrides, plan)});
  const auto run = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      walk.forRows([&](const auto& at, std::int64_t count) {
        body(others[std::size_t(i)] + at[0], selfOffsets[std::size_t(i)] + at[1], count, walk.innerStrides()[0],
             walk.innerStrides()[1]);
      });
  };
  const auto count = std::int64_t(selfOffsets.size());
  if (parallel)
    parallelFor(count, std::max<std::int64_t>(1, 16384 / std::max<std::int64_t>(1, walk.numel())), run);
  else
    run(0, count);
}

Result<Value> indexKernel(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  KERF_TRY(Tensor out, makeEmptyOutput(args));
  KERF_TRY(const IndexPlan plan, planIndex(args, self, args.values[1]));
  if (out.numel() == 0) return Value(std::move(out));
  KERF_TRY(const auto offsets, indexOffsets(args, plan, self));
  KERF_CHECK(dispatchBits(itemSize(self.dtype()), [&]<class T>() {
    T* to = out.data<T>();
    const T* from = self.data<T>();
    forIndexed(plan, out.strides(), offsets, true,
               [=](auto target, auto source, auto count, auto toStep, auto fromStep) {
                 for (std::int64_t i = 0; i < count; ++i) to[target + i * toStep] = from[source + i * fromStep];
               });
  }));
  return Value(std::move(out));
}

/// self with dense strides and a fresh storage.
Result<Value> cloneShape(const BoundArguments& args) {
  KERF_TRY(SymSizes strides, likeStrides(args.tensor(0), {}));
  return Value(metaTensor(args.tensor(0).dtype(), args.tensor(0).symSizes(), std::move(strides)));
}

Result<Value> indexPutShape(const BoundArguments& args) {
  if (args.tensor(0).dtype() != args.tensor(2).dtype())
    return mismatch(args, "self and values must have one dtype, got {} and {}",
                    dtypeInfo(args.tensor(0).dtype()).torchName, dtypeInfo(args.tensor(2).dtype()).torchName);
  return cloneShape(args);
}

/// self[indices] += values, group by group, so that no two threads add to one cell.
template <class T>
void accumulate(const IndexPlan& plan, const Sizes& strides, const std::vector<std::int64_t>& offsets, T* to,
                const T* from) {
  const IndexGroups groups(offsets);
  const auto others = resultOffsets(strides, plan);
  const StridedLoop<2> walk(plan.restSizes, {restOf(strides, plan), restOf(plan.selfStrides, plan)});
  const std::int64_t perGroup = std::max<std::int64_t>(1, walk.numel() * std::int64_t(offsets.size()) / groups.count());
  parallelFor(groups.count(), std::max<std::int64_t>(1, 16384 / perGroup), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t g = begin; g < end; ++g) {
      const std::size_t first = groups.starts[std::size_t(g)];
      const std::size_t last = groups.starts[std::size_t(g) + 1];
      const std::span members(groups.order.data() + first, last - first);
      walk.forRows([&](const auto& at, std::int64_t count) {
        addRun<T>(to + offsets[members[0]] + at[1], walk.innerStrides()[1], count, from + at[0], walk.innerStrides()[0],
                  members, others);
      });
    }
  });
}

/// self[indices] = values; the last of several values for one cell stays.
template <class T>
void assign(const IndexPlan& plan, const Sizes& strides, const std::vector<std::int64_t>& offsets, T* to,
            const T* from) {
  forIndexed(plan, strides, offsets, false, [=](auto source, auto target, auto length, auto fromStep, auto toStep) {
    for (std::int64_t i = 0; i < length; ++i) to[target + i * toStep] = from[source + i * fromStep];
  });
}

Result<void> putInto(const BoundArguments& args, const Tensor& out, const Value& indices, const Tensor& values,
                     bool add) {
  KERF_TRY(const IndexPlan plan, planIndex(args, out, indices));
  auto sizes = broadcastSizes(values.sizes(), plan.resultSizes);
  if (!sizes || *sizes != plan.resultSizes)
    return mismatch(args, "values of shape [{}] do not broadcast to [{}]", fmt::join(values.sizes(), ", "),
                    fmt::join(plan.resultSizes, ", "));
  KERF_TRY(const std::int64_t count, checkedNumel(plan.resultSizes));
  if (count == 0) return {};
  KERF_TRY(const auto offsets, indexOffsets(args, plan, out));
  const Sizes strides = broadcastStrides(values, plan.resultSizes);
  if (!add)
    return dispatchBits(itemSize(out.dtype()),
                        [&]<class T>() { assign<T>(plan, strides, offsets, out.data<T>(), values.data<T>()); });
  return dispatchAllAndComplex(
      out.dtype(), [&]<class T>() { accumulate<T>(plan, strides, offsets, out.data<T>(), values.data<T>()); });
}

Result<Value> indexPutKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeEmptyOutput(args));
  KERF_CHECK(copyElements(args.tensor(0), out));
  KERF_CHECK(putInto(args, out, args.values[1], args.tensor(2), args.boolean(3)));
  return Value(std::move(out));
}

/// index_put_ writes self itself.
Result<Value> indexPutInplaceKernel(const BoundArguments& args) {
  KERF_CHECK(putInto(args, args.tensor(0), args.values[1], args.tensor(2), args.boolean(3)));
  return args.values[0];
}
Result<Value> selfShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  return Value(metaTensor(self.dtype(), self.symSizes(), self.symStrides(), self.symOffset()));
}

// index_select(self, dim, index)

Result<Value> indexSelectShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  const Tensor& index = args.tensor(2);
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(1), self.dim()));
  if (index.dim() > 1 || !isIntegral(index.dtype()))
    return mismatch(args, "argument 'index' must be a vector of integers");
  SymSizes sizes = self.symSizes();
  if (self.dim() > 0) sizes[std::size_t(dim)] = index.dim() == 0 ? SymInt(1) : index.symSize(0);
  return Value(metaTensor(self.dtype(), sizes));
}

Result<Value> indexSelectKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  const Tensor& self = args.tensor(0);
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(1), self.dim()));
  KERF_TRY(const auto positions, integerValues(args.tensor(2)));
  if (self.dim() == 0) {
    for (std::int64_t at : positions) KERF_CHECK(wrapIndex(args, at, 1, 0));
    KERF_CHECK(copyElements(self, out));
    return Value(std::move(out));
  }
  Sizes sizes = self.sizes();
  sizes[std::size_t(dim)] = 1;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const std::int64_t at = positions[i];
    KERF_CHECK(checkIndex(args, at, self.size(dim), dim));
    KERF_CHECK(copyElements(self.viewAs(sizes, self.strides(), self.offset() + at * self.stride(dim)),
                            out.viewAs(sizes, out.strides(), out.offset() + std::int64_t(i) * out.stride(dim))));
  }
  return Value(std::move(out));
}

// gather(self, dim, index) and take(self, index)

Result<Value> gatherShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  const Tensor& index = args.tensor(2);
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(1), self.dim()));
  const std::int64_t rank = std::max<std::int64_t>(self.dim(), 1);
  const bool isEmpty = guardOrFalse(index.symNumel() == 0);
  if (!isEmpty && std::max<std::int64_t>(index.dim(), 1) != rank)
    return mismatch(args, "index and self must have as many dimensions, have {} and {}", index.dim(), self.dim());
  for (std::int64_t d = 0; d < std::min(self.dim(), index.dim()) && !isEmpty; ++d)
    if (d != dim && !checkAtMost(index.symSize(d), self.symSize(d)))
      return mismatch(args, "index is larger than self in dimension {}: {} and {}", d, index.symSize(d),
                      self.symSize(d));
  return Value(metaTensor(self.dtype(), index.symSizes()));
}

Result<Value> gatherKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  const Tensor& self = args.tensor(0);
  if (out.numel() == 0) return Value(std::move(out));
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(1), self.dim()));
  KERF_TRY(auto positions, integerValues(args.tensor(2)));
  const std::int64_t size = self.dim() == 0 ? 1 : self.size(dim);
  const std::int64_t stride = self.dim() == 0 ? 0 : self.stride(dim);
  for (std::int64_t at : positions) KERF_CHECK(checkIndex(args, at, size, dim));
  Sizes strides = self.dim() == out.dim() ? self.strides() : Sizes(out.sizes().size(), 0);
  if (self.dim() > 0 && out.dim() > 0) strides[std::size_t(dim)] = 0;
  const StridedLoop<1> walk(out.sizes(), {strides});
  KERF_CHECK(dispatchBits(itemSize(self.dtype()), [&]<class T>() {
    T* to = out.data<T>();
    const T* from = self.data<T>();
    std::size_t next = 0;
    walk.forRows([&](const auto& at, std::int64_t count) {
      for (std::int64_t i = 0; i < count; ++i, ++next)
        to[next] = from[at[0] + i * walk.innerStrides()[0] + positions[next] * stride];
    });
  }));
  return Value(std::move(out));
}

Result<Value> takeShape(const BoundArguments& args) {
  return Value(metaTensor(args.tensor(0).dtype(), args.tensor(1).symSizes()));
}
Result<Value> takeKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(const Tensor flat, args.tensor(0).contiguous());
  KERF_TRY(auto positions, integerValues(args.tensor(1)));
  const std::int64_t size = flat.numel();
  for (std::int64_t& at : positions) {
    KERF_TRY(at, wrapIndex(args, at, size, 0));
  }
  KERF_CHECK(dispatchBits(itemSize(flat.dtype()), [&]<class T>() {
    for (std::size_t i = 0; i < positions.size(); ++i) out.data<T>()[i] = flat.data<T>()[positions[i]];
  }));
  return Value(std::move(out));
}

constexpr OpTrait none = OpTrait::None;
constexpr OpRow indexRows[] = {
    {"aten::index.Tensor(Tensor self, Tensor?[] indices) -> Tensor", none, indexShape, indexKernel},
    {"aten::_unsafe_index.Tensor(Tensor self, Tensor?[] indices) -> Tensor", none, indexShape, indexKernel},
    {"aten::index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor", none,
     indexPutShape, indexPutKernel},
    {"aten::_unsafe_index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor", none,
     indexPutShape, indexPutKernel},
    {"aten::index_put_(Tensor(a!) self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor(a!)",
     OpTrait::Inplace | OpTrait::Impure, selfShape, indexPutInplaceKernel},
    {"aten::index_select(Tensor self, int dim, Tensor index) -> Tensor", none, indexSelectShape, indexSelectKernel},
    {"aten::gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor", none, gatherShape,
     gatherKernel},
    {"aten::take(Tensor self, Tensor index) -> Tensor", none, takeShape, takeKernel},
};

const OpRegistration indexOps({.rows = indexRows});

}  // namespace

}  // namespace kerf::inline ops
