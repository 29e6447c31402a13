// segment_reduce: one result per run of neighbours along an axis, runs given by lengths or offsets; with its gradient.
#include <algorithm>
#include <cmath>

#include "engine/ops/core/op_registration.h"
#include "engine/ops/kernels/indexing.h"
#include "engine/ops/kernels/planes.h"

namespace kerf::inline ops {
namespace {

enum class Reduction : std::uint8_t { Max, Mean, Min, Sum, Prod };

Result<Reduction> reductionOf(const BoundArguments& args, const std::string& name) {
  constexpr std::string_view names[] = {"max", "mean", "min", "sum", "prod"};
  for (std::size_t i = 0; i < std::size(names); ++i)
    if (name == names[i]) return static_cast<Reduction>(i);
  return mismatch(args, "argument 'reduce' must be max, mean, min, sum or prod, got '{}'", name);
}

/// Positions of one op's arguments.
struct SegmentArguments {
  std::size_t data, reduce, lengths, offsets, axis, initial;
};
constexpr SegmentArguments forwardAt{0, 1, 2, 4, 5, 7};
constexpr SegmentArguments backwardAt{2, 3, 4, 5, 6, 7};

/// data seen as [outer, length, inner] with `segments` runs per outer row.
struct Segments {
  Reduction reduction = Reduction::Sum;
  std::int64_t axis = 0;
  SymInt outer = 1, length = 0, inner = 1, segments = 0;
  std::vector<std::int64_t> starts;  ///< [outer, segments + 1]
  SymSizes outSizes;
};

Result<void> segmentGeometry(const BoundArguments& args, const SegmentArguments& at, Segments& result) {
  const Tensor& data = args.tensor(at.data);
  const bool byOffsets = !args.none(at.offsets);
  if (!byOffsets && args.none(at.lengths)) return mismatch(args, "needs lengths or offsets");
  const Tensor& runs = args.tensor(byOffsets ? at.offsets : at.lengths);
  if (data.dim() == 0 || !isFloating(data.dtype()))
    return mismatch(args, "argument 'data' must be floating point with at least 1 dimension");
  if (runs.dtype() != DType::Int64 && runs.dtype() != DType::Int32)
    return mismatch(args, "lengths and offsets must be int32 or int64");
  KERF_TRY(result.axis, wrapDim(args, args.integer(at.axis), data.dim()));
  if (runs.dim() != result.axis + 1)
    return mismatch(args, "lengths or offsets need {} dimensions, got {}", result.axis + 1, runs.dim());
  for (std::int64_t d = 0; d < result.axis; ++d) {
    if (guardOrFalse(runs.symSize(d) != data.symSize(d)))
      return mismatch(args, "lengths or offsets do not fit data in dimension {}", d);
    result.outer *= data.symSize(d);
  }
  result.length = data.symSize(result.axis);
  for (std::int64_t d = result.axis + 1; d < data.dim(); ++d) result.inner *= data.symSize(d);
  result.segments = runs.symSize(result.axis) - (byOffsets ? 1 : 0);
  if (guardOrFalse(result.segments < 0)) return mismatch(args, "offsets need at least one entry");
  result.outSizes = data.symSizes();
  result.outSizes[std::size_t(result.axis)] = result.segments;
  KERF_TRY(result.reduction, reductionOf(args, args.text(at.reduce)));
  return {};
}

Result<Segments> readSegments(const BoundArguments& args, const SegmentArguments& at) {
  Segments result;
  KERF_CHECK(segmentGeometry(args, at, result));
  const bool byOffsets = !args.none(at.offsets);
  KERF_TRY(const std::vector<std::int64_t> runs, integerValues(args.tensor(byOffsets ? at.offsets : at.lengths)));
  const std::int64_t perRow = result.segments + (byOffsets ? 1 : 0);
  for (std::int64_t o = 0; o < result.outer; ++o) {
    std::int64_t position = 0;
    for (std::int64_t s = 0; s <= result.segments; ++s) {
      if (byOffsets) position = runs[std::size_t(o * perRow + s)];
      if (position < (s == 0 ? 0 : result.starts.back()) || position > result.length)
        return mismatch(args, "lengths or offsets reach outside of the axis of size {}", result.length);
      result.starts.push_back(position);
      if (byOffsets || s == result.segments) continue;
      const std::int64_t length = runs[std::size_t(o * perRow + s)];
      if (length < 0 || length > result.length)
        return mismatch(args, "length {} is outside of the axis of size {}", length, result.length);
      position += length;
    }
  }
  return result;
}

/// visit(output position, start, end, data position of an element at index i along the axis).
template <class Visit>
void forSegments(const Segments& s, Visit&& visit) {
  const std::int64_t outer = s.outer, segments = s.segments, inner = s.inner, length = s.length;
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t k = 0; k < segments; ++k)
      for (std::int64_t i = 0; i < inner; ++i) {
        const std::int64_t* start = s.starts.data() + o * (segments + 1) + k;
        visit(std::size_t((o * segments + k) * inner + i), start[0], start[1],
              [=](std::int64_t at) { return std::size_t((o * length + at) * inner + i); });
      }
}

double startValue(Reduction reduction, std::optional<double> initial) {
  if (initial) return *initial;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double values[] = {-infinity, 0, infinity, 0, 1};
  return values[std::size_t(reduction)];
}

double step(Reduction reduction, double state, double x) {
  switch (reduction) {
    case Reduction::Max:
      return std::isnan(x) || x > state ? x : state;
    case Reduction::Min:
      return std::isnan(x) || x < state ? x : state;
    case Reduction::Prod:
      return state * x;
    default:
      return state + x;
  }
}

// segment_reduce(data, reduce, *, lengths, indices, offsets, axis, unsafe, initial)

Result<Value> reduceShape(const BoundArguments& args) {
  if (!args.none(3))
    return fail(ErrorCode::UnsupportedOp, "{}: indices are not supported, as in PyTorch", args.opName());
  Segments segments;
  KERF_CHECK(segmentGeometry(args, forwardAt, segments));
  return Value(metaTensor(args.tensor(0).dtype(), segments.outSizes));
}

/// The state rounds to the tensor's dtype after every element, as there.
Result<Value> reduceKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(const Segments segments, readSegments(args, forwardAt));
  KERF_TRY(const Doubles data, doublesOf(args.tensor(0)));
  const DType dtype = out.dtype();
  const auto initial = args.numberIf(7);
  const double first = roundedTo(dtype, startValue(segments.reduction, initial));
  const bool mean = segments.reduction == Reduction::Mean;
  Doubles values(std::size_t(out.numel()), 0.0);
  forSegments(segments, [&](std::size_t to, std::int64_t begin, std::int64_t end, const auto& from) {
    double state = first;
    for (std::int64_t i = begin; i < end; ++i) state = roundedTo(dtype, step(segments.reduction, state, data[from(i)]));
    if (mean && begin == end && !initial) state = std::nan("");
    if (mean && begin < end) state /= double(end - begin);
    values[to] = state;
  });
  KERF_CHECK(writeValues(values, out));
  return Value(std::move(out));
}

// _segment_reduce_backward(grad, output, data, reduce, *, lengths, offsets, axis, initial)

Result<Value> gradShape(const BoundArguments& args) {
  Segments segments;
  KERF_CHECK(segmentGeometry(args, backwardAt, segments));
  if (!checkEqual(args.tensor(0).symSizes(), segments.outSizes) ||
      !checkEqual(args.tensor(1).symSizes(), segments.outSizes))
    return mismatch(args, "grad and output must have shape [{}]", fmt::join(segments.outSizes, ", "));
  return Value(metaTensor(args.tensor(2).dtype(), args.tensor(2).symSizes()));
}

/// Elements equal to the extremum share the gradient; PyTorch divides positive shares only.
template <class From>
void spreadExtremum(const Doubles& data, double output, double grad, std::int64_t begin, std::int64_t end,
                    const From& from, Doubles& sums) {
  std::int64_t winners = 0;
  for (std::int64_t i = begin; i < end; ++i)
    if (const double x = data[from(i)]; std::isnan(x) || x == output) {
      sums[from(i)] = grad;
      ++winners;
    }
  for (std::int64_t i = begin; winners > 1 && i < end; ++i)
    if (sums[from(i)] > 0) sums[from(i)] /= double(winners);
}

/// grad·output/x, or the product of the other elements where x is 0 or NaN.
template <class From>
void spreadProduct(const Doubles& data, double output, double grad, double initial, std::int64_t begin,
                   std::int64_t end, const From& from, Doubles& sums) {
  for (std::int64_t i = begin; i < end; ++i) {
    const double x = data[from(i)];
    if (!std::isnan(x) && x != 0) {
      sums[from(i)] = grad * output / x;
      continue;
    }
    double others = initial;
    for (std::int64_t k = begin; k < end; ++k)
      if (k != i) others *= data[from(k)];
    sums[from(i)] = grad * others;
  }
}

Result<Value> gradKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(const Segments segments, readSegments(args, backwardAt));
  KERF_TRY(const Doubles grad, doublesOf(args.tensor(0)));
  KERF_TRY(const Doubles output, doublesOf(args.tensor(1)));
  KERF_TRY(const Doubles data, doublesOf(args.tensor(2)));
  const double initial = args.numberIf(7).value_or(1);
  Doubles sums(data.size(), 0.0);
  forSegments(segments, [&](std::size_t at, std::int64_t begin, std::int64_t end, const auto& from) {
    if (segments.reduction == Reduction::Max || segments.reduction == Reduction::Min)
      return spreadExtremum(data, output[at], grad[at], begin, end, from, sums);
    if (segments.reduction == Reduction::Prod)
      return spreadProduct(data, output[at], grad[at], initial, begin, end, from, sums);
    const double share =
        segments.reduction == Reduction::Mean ? grad[at] / double(std::max<std::int64_t>(1, end - begin)) : grad[at];
    for (std::int64_t i = begin; i < end; ++i) sums[from(i)] = share;
  });
  KERF_CHECK(writeValues(sums, out));
  return Value(std::move(out));
}

constexpr OpRow segmentReduceRows[] = {
    {"aten::segment_reduce(Tensor data, str reduce, *, Tensor? lengths=None, Tensor? indices=None, Tensor? "
     "offsets=None, int axis=0, bool unsafe=False, Scalar? initial=None) -> Tensor",
     OpTrait::Reduction, reduceShape, reduceKernel},
    {"aten::_segment_reduce_backward(Tensor grad, Tensor output, Tensor data, str reduce, *, Tensor? lengths=None, "
     "Tensor? offsets=None, int axis=0, Scalar? initial=None) -> Tensor",
     OpTrait::None, gradShape, gradKernel},
};

const OpRegistration segmentReduceOps({.rows = segmentReduceRows});

}  // namespace

}  // namespace kerf::inline ops
