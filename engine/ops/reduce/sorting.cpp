// Ops that order elements along a dimension: sort, topk, kthvalue, median, mode.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/strides.h"
#include "engine/ops/kernels/element_math.h"
#include "engine/ops/kernels/lines.h"
#include "engine/tensor/copy.h"

namespace kerf::inline ops {
namespace {

using element::before;

std::size_t dimPosition(const BoundArguments& args) { return args.position("dim"); }

Result<std::int64_t> dimOf(const BoundArguments& args) {
  return wrapDim(args, args.integer(dimPosition(args)), args.tensor(0).dim());
}

template <class V>
std::vector<std::int64_t> sortedOrder(const std::vector<V>& values, bool descending) {
  std::vector<std::int64_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, [&](std::int64_t a, std::int64_t b) {
    const V x = values[std::size_t(a)], y = values[std::size_t(b)];
    if (descending ? before(y, x) : before(x, y)) return true;
    return a < b && !(descending ? before(x, y) : before(y, x));
  });
  return order;
}

/// Calls pick(line values, order) → (values, positions) to write, in the element type's wide form.
template <class V, class Pick>
Result<void> pickLines(const BoundArguments& args, std::int64_t dim, const Tensor& values, const Tensor& positions,
                       Pick&& pick) {
  const Lines valueLines(values, std::min(dim, std::max<std::int64_t>(values.dim() - 1, 0)));
  const Lines positionLines(positions, std::min(dim, std::max<std::int64_t>(positions.dim() - 1, 0)));
  return forLines<V>(args.tensor(0), dim, [&](std::int64_t line, const std::vector<V>& x) {
    const std::vector<std::int64_t> chosen = pick(x);
    std::vector<V> picked;
    for (std::int64_t at : chosen) picked.push_back(x[std::size_t(at)]);
    valueLines.write(line, picked.data());
    positionLines.write(line, chosen.data());
  });
}

template <class Pick>
Result<Value> pickKernel(const BoundArguments& args, const std::vector<Tensor>& outs, std::int64_t dim, Pick&& pick) {
  if (outs[0].numel() == 0) return tensorList(outs);
  KERF_CHECK(
      inOrderOf(args.tensor(0).dtype(), [&]<class V>(V) { return pickLines<V>(args, dim, outs[0], outs[1], pick); }));
  return tensorList(outs);
}

Result<Value> sortShape(const BoundArguments& args) {
  KERF_TRY(const std::int64_t dim, dimOf(args));
  (void)dim;
  const Tensor& self = args.tensor(0);
  KERF_TRY(const SymSizes strides, likeStrides(self, {}));
  return Value(ValueList{metaTensor(self.dtype(), self.symSizes(), strides),
                         metaTensor(DType::Int64, self.symSizes(), strides)});
}

Result<Value> sortKernel(const BoundArguments& args) {
  KERF_TRY(const std::vector<Tensor> outs, makeOutputs(args));
  KERF_TRY(const std::int64_t dim, dimOf(args));
  const bool descending = args.boolean(args.position("descending"));
  return pickKernel(args, outs, dim, [&](const auto& x) { return sortedOrder(x, descending); });
}

Result<Value> argsortShape(const BoundArguments& args) {
  KERF_TRY(const Value both, sortShape(args));
  return both.list()[1];
}
Result<Value> argsortKernel(const BoundArguments& args) {
  KERF_TRY(Tensor positions, makeOutput(args));
  KERF_TRY(Tensor values, Tensor::zeros(args.tensor(0).dtype(), args.tensor(0).sizes()));
  KERF_TRY(const std::int64_t dim, dimOf(args));
  const bool descending = args.boolean(args.position("descending"));
  KERF_CHECK(pickKernel(args, {values, positions}, dim, [&](const auto& x) { return sortedOrder(x, descending); }));
  return Value(std::move(positions));
}

/// self's sizes with `dim` replaced.
SymSizes withSize(const Tensor& self, std::int64_t dim, SymInt size) {
  SymSizes sizes = self.symSizes();
  if (!sizes.empty()) sizes[std::size_t(dim)] = size;
  return sizes;
}

Result<Value> topkShape(const BoundArguments& args) {
  KERF_TRY(const std::int64_t dim, dimOf(args));
  const Tensor& self = args.tensor(0);
  const SymInt available = self.dim() == 0 ? SymInt(1) : self.symSize(dim);
  const SymInt k = args.symInteger(1);
  if (guardOrFalse(k < (self.dim() == 0 ? 1 : 0)) || guardOrFalse(k > available))
    return mismatch(args, "k {} is out of range for {}", k, available);
  const SymSizes sizes = withSize(self, dim, k);
  return Value(ValueList{metaTensor(self.dtype(), sizes), metaTensor(DType::Int64, sizes)});
}

Result<Value> topkKernel(const BoundArguments& args) {
  KERF_TRY(const std::vector<Tensor> outs, makeOutputs(args));
  KERF_TRY(const std::int64_t dim, dimOf(args));
  const auto k = std::size_t(args.integer(1));
  const bool largest = args.boolean(3);
  return pickKernel(args, outs, dim, [&](const auto& x) {
    auto order = sortedOrder(x, largest);
    order.resize(k);
    return order;
  });
}

/// values and indices of one element per line.
Result<Value> oneShape(const BoundArguments& args) {
  KERF_TRY(const std::int64_t dim, dimOf(args));
  const Tensor& self = args.tensor(0);
  if (self.dim() > 0 && guardOrFalse(self.symSize(dim) == 0))
    return mismatch(args, "dimension {} has no elements", dim);
  SymSizes sizes = withSize(self, dim, 1);
  if (!args.boolean(args.position("keepdim")) && !sizes.empty()) sizes.erase(sizes.begin() + dim);
  return Value(ValueList{metaTensor(self.dtype(), sizes), metaTensor(DType::Int64, sizes)});
}

Result<Value> oneKernel(const BoundArguments& args, auto&& pick) {
  KERF_TRY(const std::vector<Tensor> outs, makeOutputs(args));
  KERF_TRY(const std::int64_t dim, dimOf(args));
  const Sizes kept = withSize(args.tensor(0), dim, 1);
  const std::vector<Tensor> wide{outs[0].viewAs(kept, contiguousStrides(kept), 0),
                                 outs[1].viewAs(kept, contiguousStrides(kept), 0)};
  KERF_CHECK(pickKernel(args, wide, dim, pick));
  return tensorList(outs);
}

Result<Value> kthShape(const BoundArguments& args) {
  KERF_TRY(const std::int64_t dim, dimOf(args));
  const SymInt available = args.tensor(0).dim() == 0 ? SymInt(1) : args.tensor(0).symSize(dim);
  const SymInt k = args.symInteger(1);
  if (guardOrFalse(k < 1) || guardOrFalse(k > available))
    return mismatch(args, "k {} is out of range for {}", k, available);
  return oneShape(args);
}
Result<Value> kthKernel(const BoundArguments& args) {
  const auto k = std::size_t(args.integer(1)) - 1;
  return oneKernel(args, [k](const auto& x) { return std::vector<std::int64_t>{sortedOrder(x, false)[k]}; });
}

/// Lower median; the first NaN where there is one, unless NaNs are skipped.
template <bool skipNan, class V>
std::int64_t medianAt(const std::vector<V>& x) {
  std::size_t count = x.size();
  if constexpr (std::is_same_v<V, double>) {
    for (std::size_t i = 0; i < x.size(); ++i)
      if (std::isnan(x[i])) {
        if (!skipNan) return std::int64_t(i);
        --count;
      }
  }
  const auto order = sortedOrder(x, false);
  return order[count == 0 ? 0 : (count - 1) / 2];
}

template <bool skipNan>
Result<Value> medianKernel(const BoundArguments& args) {
  return oneKernel(args, [](const auto& x) { return std::vector<std::int64_t>{medianAt<skipNan>(x)}; });
}

Result<Value> wholeShape(const BoundArguments& args) { return Value(metaTensor(args.tensor(0).dtype(), Sizes{})); }

template <bool skipNan>
Result<Value> wholeMedianKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(const Tensor flat, args.tensor(0).contiguous());
  const Tensor line = flat.viewAs({flat.numel()}, {1}, flat.offset());
  const auto write = [&]<class V>(V) -> Result<void> {
    return forLines<V>(line, 0, [&](std::int64_t, const std::vector<V>& x) {
      Lines(out, 0).write(0, &x[std::size_t(medianAt<skipNan>(x))]);
    });
  };
  if (line.numel() == 0) {
    const Tensor nan = Tensor::scalar(std::numeric_limits<double>::quiet_NaN(), DType::Float64);
    KERF_CHECK(copyElements(nan, out));
    return Value(std::move(out));
  }
  KERF_CHECK(inOrderOf(line.dtype(), write));
  return Value(std::move(out));
}

/// The most frequent value (the smallest of them), at its last position.
template <class V>
std::int64_t modeAt(const std::vector<V>& x) {
  const auto order = sortedOrder(x, false);
  std::size_t best = 0, bestLength = 0;
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    const V value = x[std::size_t(order[begin])];
    while (end < order.size() && x[std::size_t(order[end])] == value) ++end;
    end = std::max(end, begin + 1);
    if (end - begin > bestLength) {
      bestLength = end - begin;
      best = end - 1;
    }
    begin = end;
  }
  return order[best];
}
Result<Value> modeKernel(const BoundArguments& args) {
  return oneKernel(args, [](const auto& x) { return std::vector<std::int64_t>{modeAt(x)}; });
}

constexpr OpTrait none = OpTrait::None;
constexpr OpRow sortRows[] = {
    {"aten::sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)", none, sortShape,
     sortKernel},
    {"aten::sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> (Tensor values, Tensor "
     "indices)",
     none, sortShape, sortKernel},
    {"aten::argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor", none, argsortShape, argsortKernel},
    {"aten::argsort.stable(Tensor self, *, bool stable, int dim=-1, bool descending=False) -> Tensor", none,
     argsortShape, argsortKernel},
    {"aten::topk(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor values, Tensor "
     "indices)",
     none, topkShape, topkKernel},
    {"aten::kthvalue(Tensor self, SymInt k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)", none,
     kthShape, kthKernel},
    {"aten::median.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)", none, oneShape,
     medianKernel<false>},
    {"aten::nanmedian.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)", none, oneShape,
     medianKernel<true>},
    {"aten::median(Tensor self) -> Tensor", none, wholeShape, wholeMedianKernel<false>},
    {"aten::nanmedian(Tensor self) -> Tensor", none, wholeShape, wholeMedianKernel<true>},
    {"aten::mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)", none, oneShape,
     modeKernel},
};

const OpRegistration sortOps({.rows = sortRows});

}  // namespace

}  // namespace kerf::inline ops
