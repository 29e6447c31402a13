// quantile and nanquantile: a sort, then interpolation between the two values around each rank.
#include <algorithm>

#include "engine/ops/core/composite.h"
#include "engine/ops/core/op_registration.h"

namespace kerf::inline ops {
namespace {

/// self sorted along `dim` (or as one line): the sizes that remain, then the line.
Result<Tensor> sortedLines(const BoundArguments& args, const OpRunner& run) {
  const Tensor& self = args.tensor(0);
  const bool keep = args.boolean(3);
  const auto given = args.integerIf(2);
  Tensor moved = self;
  SymSizes sizes;
  if (!given || self.dim() == 0) {
    KERF_TRY(moved, run("aten.reshape.default"_op, {self, intList({-1})}));
    if (keep) sizes.assign(self.symSizes().size(), 1);
  } else {
    KERF_TRY(const std::int64_t dim, wrapDim(args, *given, self.dim()));
    sizes = self.symSizes();
    sizes.erase(sizes.begin() + dim);
    if (keep) sizes.insert(sizes.begin() + dim, 1);
    if (dim != self.dim() - 1) {
      KERF_TRY(const Tensor wide, run("aten.unsqueeze.default"_op, {self, std::int64_t{-1}}));
      KERF_TRY(moved, run("aten.transpose.int"_op, {wide, dim, std::int64_t{-1}}));
    }
  }
  sizes.push_back(moved.symSizes().back());
  KERF_TRY(const Value sorted, run.value("aten.sort.default"_op, {moved}));
  return run("aten.reshape.default"_op, {sorted.list()[0], intList(sizes)});
}

/// Ranks in [0, n): NaN lines end at their NaN, or NaNs do not count.
Result<Tensor> ranksOf(const OpRunner& run, const Tensor& sorted, const Tensor& q, bool ignoreNan) {
  KERF_TRY(const Tensor nan, run("aten.isnan.default"_op, {sorted}));
  if (!ignoreNan) {
    const SymInt last = sorted.symSizes().back() - 1;
    KERF_TRY(const Tensor poisoned, run("aten.any.dim"_op, {nan, std::int64_t{-1}, true}));
    KERF_TRY(const Tensor ranks, run("aten.mul.Tensor"_op, {q, last}));
    SymSizes sizes = sorted.symSizes();
    sizes.back() = q.symNumel();
    KERF_TRY(const Tensor wide, run("aten.expand.default"_op, {ranks, intList(sizes)}));
    return run("aten.masked_fill.Scalar"_op, {wide, poisoned, last});
  }
  KERF_TRY(const Tensor numbers, run("aten.logical_not.default"_op, {nan}));
  KERF_TRY(const Tensor count, run("aten.sum.dim_IntList"_op, {numbers, intList({-1}), true}));
  KERF_TRY(const Tensor last, run("aten.sub.Scalar"_op, {count, std::int64_t{1}}));
  KERF_TRY(const Tensor ranks, run("aten.mul.Tensor"_op, {q, last}));
  KERF_TRY(const Tensor none, run("aten.lt.Scalar"_op, {ranks, std::int64_t{0}}));
  return run("aten.masked_fill.Scalar"_op, {ranks, none, std::int64_t{0}});
}

Result<Tensor> valuesAt(const OpRunner& run, const Tensor& sorted, const Tensor& ranks) {
  KERF_TRY(const Tensor positions, run("aten._to_copy.default"_op, {ranks}, {{"dtype", DType::Int64}}));
  return run("aten.gather.default"_op, {sorted, std::int64_t{-1}, positions});
}

Result<Tensor> interpolated(const BoundArguments& args, const OpRunner& run, const Tensor& sorted, Tensor ranks) {
  const std::string mode = args.text(4);
  const OpId rounding = mode == "lower"     ? "aten.floor.default"_op
                        : mode == "higher"  ? "aten.ceil.default"_op
                        : mode == "nearest" ? "aten.round.default"_op
                                            : OpId{};
  if (rounding) {
    KERF_TRY(const Tensor whole, run(rounding, {ranks}));
    return valuesAt(run, sorted, whole);
  }
  if (mode != "linear" && mode != "midpoint")
    return mismatch(args, "interpolation must be one of linear, lower, higher, midpoint or nearest, got {}", mode);
  KERF_TRY(const Tensor floor, run("aten.floor.default"_op, {ranks}));
  KERF_TRY(const Tensor ceiling, run("aten.ceil.default"_op, {ranks}));
  KERF_TRY(const Tensor below, valuesAt(run, sorted, floor));
  KERF_TRY(const Tensor above, valuesAt(run, sorted, ceiling));
  if (mode == "midpoint") {
    KERF_TRY(const Tensor half, run("aten.full_like.default"_op, {ranks, 0.5}));
    return run("aten.lerp.Tensor"_op, {below, above, half});
  }
  KERF_TRY(const Tensor weight, run("aten.sub.Tensor"_op, {ranks, floor}));
  return run("aten.lerp.Tensor"_op, {below, above, weight});
}

Result<void> checkFraction(const BoundArguments& args, double q) {
  if (q >= 0 && q <= 1) return {};
  return mismatch(args, "q values must be in the range [0, 1], got {}", q);
}

Result<void> checkFractions(const BoundArguments& args, const OpRunner& run, const Tensor& q) {
  if (guardOrFalse(args.tensor(0).symNumel() == 0)) return mismatch(args, "input tensor must be non-empty");
  if (args.tensor(0).dtype() != DType::Float32 && args.tensor(0).dtype() != DType::Float64)
    return mismatch(args, "input tensor must be either float or double dtype");
  if (q.dim() > 1 || q.dtype() != args.tensor(0).dtype())
    return mismatch(args, "q must be a scalar or 1D tensor of the input's dtype");
  if (!args.values[1].isTensor()) return {};
  // A tensor's values are known when the graph runs: the program asks then, compiled or not.
  KERF_TRY(const Tensor low, run("aten.ge.Scalar"_op, {q, std::int64_t{0}}));
  KERF_TRY(const Tensor high, run("aten.le.Scalar"_op, {q, std::int64_t{1}}));
  KERF_TRY(const Tensor both, run("aten.logical_and.default"_op, {low, high}));
  KERF_TRY(const Tensor all, run("aten.all.default"_op, {both}));
  KERF_CHECK(run.value("aten._assert_async.msg"_op, {all, std::string("q values must be in the range [0, 1]")}));
  return {};
}

/// (self, q, dim, keepdim, interpolation): one quantile in the place of `dim`, or several in a new first dimension.
template <bool ignoreNan>
Result<Value> quantile(const BoundArguments& args, const OpRunner& run) {
  Value q = args.values[1];
  if (!q.isTensor()) {
    KERF_CHECK(checkFraction(args, args.number(1)));  // a trace has no values to ask later
    KERF_TRY(q, run("aten.full.default"_op, {intList({}), args.number(1)}, {{"dtype", args.tensor(0).dtype()}}));
  }
  KERF_CHECK(checkFractions(args, run, q.tensor()));
  KERF_TRY(const Tensor sorted, sortedLines(args, run));
  KERF_TRY(const Tensor ranks, ranksOf(run, sorted, q.tensor(), ignoreNan));
  KERF_TRY(Tensor values, interpolated(args, run, sorted, ranks));
  if (q.tensor().dim() > 0) {
    KERF_TRY(values, run("aten.unsqueeze.default"_op, {values, std::int64_t{0}}));
    KERF_TRY(values, run("aten.transpose.int"_op, {values, std::int64_t{0}, std::int64_t{-1}}));
  }
  return run.value("aten.squeeze.dim"_op, {values, std::int64_t{-1}});
}

#define KERF_PLACES "int? dim=None, bool keepdim=False, *, str interpolation=\"linear\") -> Tensor"
constexpr OpRow quantileRows[] = {
    compositeRow(quantile<false>, "aten::quantile(Tensor self, Tensor q, " KERF_PLACES),
    compositeRow(quantile<false>, "aten::quantile.scalar(Tensor self, float q, " KERF_PLACES),
    compositeRow(quantile<true>, "aten::nanquantile(Tensor self, Tensor q, " KERF_PLACES),
    compositeRow(quantile<true>, "aten::nanquantile.scalar(Tensor self, float q, " KERF_PLACES),
};

const OpRegistration quantileOps({.rows = quantileRows});

}  // namespace

}  // namespace kerf::inline ops
