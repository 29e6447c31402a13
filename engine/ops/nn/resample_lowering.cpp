// Linear to trilinear and bicubic resampling as loops, and the gradients of these and of nearest-exact: every element
// of a result is written from its neighbours, and every element of a gradient from the places that took it.
//
//   before: upsample_bilinear2d(x: [1, 4, 8, 8], [16, 16], False)
//   after:  for i0 < 4: for i1 < 16: for i2 < 16: y[…] = wy0 * (wx0 * x[…] + wx1 * x[…]) + wy1 * (…)
#include <algorithm>
#include <cmath>

#include "engine/ops/core/lowering_calls.h"
#include "engine/ops/core/op_registration.h"

namespace kerf::inline ops {
namespace {

using Call = const ElementCall&;
using enum ExprOp;

enum class Resampling : std::uint8_t { NearestExact, Linear, Cubic };

/// More places than these would make too much code.
constexpr std::int64_t mostTakers = 128;
constexpr std::int64_t mostVerified = 1 << 20;  ///< output places of a dimension that are looked at one by one
constexpr double sharpness = -0.75;             ///< of Keys' cubic, as PyTorch has it

/// One spatial dimension; places are computed in `position`, weights in float64.
struct ResampledAxis {
  std::int64_t in = 1, out = 1;
  double step = 1;  ///< input places per output place
  bool corners = false;
  DType position = DType::Float32;
  DType weights = DType::Float64;  ///< what weights are rounded to
};

struct Resampled {
  std::vector<ResampledAxis> axes;
};

/// (self, output_size, …) or, with `gradient`, (grad_output, output_size, input_size, …); none where a size is
/// symbolic.
std::optional<Resampled> resampledOf(const BoundArguments& bound, Resampling method, bool gradient) {
  const OpSchema& schema = bound.op->schema;
  if (!schema.overload.empty() && schema.overload != "default") return std::nullopt;
  const Tensor& first = bound.tensor(0);
  if (!isFloating(first.dtype()) || first.isSymbolic() || bound.symSizes(1).isSymbolic()) return std::nullopt;
  if (gradient && bound.symSizes(2).isSymbolic()) return std::nullopt;
  const Sizes out = bound.sizes(1), in = gradient ? bound.sizes(2) : first.sizes();
  if (in.size() != out.size() + 2) return std::nullopt;
  bool corners = false;
  std::vector<std::optional<double>> factors;
  for (std::size_t i = 0; i < bound.values.size(); ++i) {
    if (schema.arguments[i].name == "align_corners") corners = bound.boolean(i);
    if (schema.arguments[i].name.starts_with("scales")) factors.push_back(bound.numberIf(i));
  }
  // Forward kernels keep weights in the tensor's type, except the two-dimensional linear one.
  const bool table = !gradient && !(method == Resampling::Linear && out.size() == 2);
  Resampled result;
  for (std::size_t d = 0; d < out.size(); ++d) {
    ResampledAxis axis{in[d + 2], out[d], double(in[d + 2]) / double(std::max<std::int64_t>(out[d], 1)), corners};
    if (axis.in <= 0 || axis.out <= 0) return std::nullopt;
    if (corners && method != Resampling::NearestExact)
      axis.step = axis.out > 1 ? double(axis.in - 1) / double(axis.out - 1) : 0;
    else if (d < factors.size() && factors[d] && *factors[d] > 0)
      axis.step = 1 / *factors[d];
    if (first.dtype() == DType::Float64) axis.position = DType::Float64;
    if (table) axis.weights = first.dtype();
    result.axes.push_back(axis);
  }
  return result;
}

/// A neighbour: int64 within the input, and its float64 weight (-1: one).
struct Neighbour {
  int place, weight;
};

int clampedPlace(Call c, int place, std::int64_t size) {
  return c.b.binary(Minimum, c.b.binary(Maximum, place, c.number(0)), c.number(size - 1));
}
int shifted(Call c, int place, std::int64_t by) { return by == 0 ? place : c.b.binary(Add, place, c.number(by)); }
int weightAs(Call c, const ResampledAxis& axis, int weight) {
  return c.b.convert(c.b.convert(weight, axis.weights), DType::Float64);
}
int real(Call c, double value) { return c.b.constant(value, DType::Float64); }

/// ((a + 2) x - (a + 3)) x² + 1, for distances up to 1.
int nearCubic(Call c, int x) {
  const int line = c.b.binary(Sub, c.b.binary(Mul, real(c, sharpness + 2), x), real(c, sharpness + 3));
  return c.b.binary(Add, c.b.binary(Mul, c.b.binary(Mul, line, x), x), real(c, 1));
}
/// ((a x - 5 a) x + 8 a) x - 4 a, from 1 to 2.
int farCubic(Call c, int x) {
  const int line = c.b.binary(Sub, c.b.binary(Mul, real(c, sharpness), x), real(c, 5 * sharpness));
  const int square = c.b.binary(Add, c.b.binary(Mul, line, x), real(c, 8 * sharpness));
  return c.b.binary(Sub, c.b.binary(Mul, square, x), real(c, 4 * sharpness));
}

/// Where output place `at` (int64) looks, in the type of places.
int sourceOf(Call c, const ResampledAxis& axis, Resampling method, int at) {
  const auto constant = [&](double value) { return c.b.constant(value, axis.position); };
  const bool single = axis.position == DType::Float32;
  const int step = constant(single ? double(float(axis.step)) : axis.step), place = c.b.convert(at, axis.position);
  const bool corners = axis.corners && method != Resampling::NearestExact;
  if (corners) return c.b.binary(Mul, place, step);
  const int source = c.b.binary(Mul, c.b.binary(Add, place, constant(0.5)), step);
  return method == Resampling::NearestExact ? source : c.b.binary(Sub, source, constant(0.5));
}

std::vector<Neighbour> neighboursOf(Call c, const ResampledAxis& axis, Resampling method, int at) {
  if (method == Resampling::Linear && axis.in == axis.out) return {{clampedPlace(c, at, axis.in), -1}};
  int source = sourceOf(c, axis, method, at);
  if (method == Resampling::Linear) source = c.b.binary(Maximum, source, c.b.constant(0, axis.position));
  const int base = c.b.convert(c.b.unary(Floor, source), DType::Int64);
  if (method == Resampling::NearestExact) return {{clampedPlace(c, base, axis.in), -1}};
  const int wide = c.b.convert(source, DType::Float64);
  if (method == Resampling::Linear) {
    const int low = clampedPlace(c, base, axis.in);
    int weight = c.b.binary(Sub, wide, c.b.convert(low, DType::Float64));
    weight = c.b.binary(Minimum, c.b.binary(Maximum, weight, real(c, 0)), real(c, 1));
    weight = weightAs(c, axis, weight);
    return {{low, weightAs(c, axis, c.b.binary(Sub, real(c, 1), weight))},
            {clampedPlace(c, shifted(c, low, 1), axis.in), weight}};
  }
  const int t = c.b.binary(Sub, wide, c.b.convert(base, DType::Float64));
  const int rest = c.b.binary(Sub, real(c, 1), t);
  const int weights[] = {farCubic(c, c.b.binary(Add, t, real(c, 1))), nearCubic(c, t), nearCubic(c, rest),
                         farCubic(c, c.b.binary(Sub, real(c, 2), t))};
  std::vector<Neighbour> result;
  for (std::int64_t k = 0; k < 4; ++k)
    result.push_back({clampedPlace(c, shifted(c, base, k - 1), axis.in), weightAs(c, axis, weights[k])});
  return result;
}

template <Resampling method>
bool coversResampling(const BoundArguments& bound) {
  return resampledOf(bound, method, false).has_value();
}

/// The sum over all combinations of the dimensions' neighbours.
template <Resampling method>
int resample(Call c) {
  const Resampled plan = *resampledOf(c.bound, method, false);
  std::vector<std::vector<Neighbour>> sides;
  std::size_t total = 1;
  for (std::size_t d = 0; d < plan.axes.size(); ++d) {
    sides.push_back(neighboursOf(c, plan.axes[d], method, c.b.index(c.map[d + 2])));
    total *= sides.back().size();
  }
  int sum = -1;
  for (std::size_t i = 0; i < total; ++i) {
    std::vector<Place> places = affinePlaces(c.map);
    int weight = -1;
    std::size_t block = total, rest = i;
    for (std::size_t d = 0; d < sides.size(); ++d) {
      block /= sides[d].size();
      const Neighbour& own = sides[d][rest / block];
      rest %= block;
      places[d + 2] = {{}, own.place};
      if (own.weight >= 0) weight = weight < 0 ? own.weight : c.b.binary(Mul, weight, own.weight);
    }
    int part = c.b.convert(c.operands.at(0, 0, places), DType::Float64);
    if (weight >= 0) part = c.b.binary(Mul, weight, part);
    sum = sum < 0 ? part : c.b.binary(Add, sum, part);
  }
  return sum;
}

// --- gradients: which output places took an input place

/// Output places from floor(slope * i + shift) on, `count` of them, are all that input place i may have been taken by.
struct Takers {
  double slope = 0, shift = 0;
  std::int64_t count = 0;
};

/// Input places that output place `at` takes, as neighboursOf computes them.
std::vector<std::int64_t> takenBy(const ResampledAxis& axis, Resampling method, std::int64_t at) {
  const auto clamped = [&](double place) { return std::int64_t(std::clamp(place, 0.0, double(axis.in - 1))); };
  if (method == Resampling::Linear && axis.in == axis.out) return {at};
  const auto source = [&]<class T>(T) {
    const T step = T(axis.step), place = T(at);
    if (axis.corners && method != Resampling::NearestExact) return double(place * step);
    const T moved = (place + T(0.5)) * step;
    return double(method == Resampling::NearestExact ? moved : moved - T(0.5));
  };
  double from = axis.position == DType::Float32 ? source(1.0F) : source(1.0);
  if (method == Resampling::Linear) from = std::max(from, 0.0);
  const double base = std::floor(from);
  if (method == Resampling::NearestExact) return {clamped(base)};
  if (method == Resampling::Linear) return {clamped(base), clamped(clamped(base) + 1.0)};
  return {clamped(base - 1), clamped(base), clamped(base + 1), clamped(base + 2)};
}

/// Verified for every output place, so that rounding and factors that do not fit the sizes cannot lose one.
std::optional<Takers> takersOf(const ResampledAxis& axis, Resampling method) {
  if (axis.out > mostVerified) return std::nullopt;
  const double reach = method == Resampling::Cubic ? 2 : 1;
  const bool corners = axis.corners && method != Resampling::NearestExact;
  Takers takers;
  if (axis.step > 0) {
    takers.slope = 1 / axis.step;
    takers.shift = -reach / axis.step + (corners ? 0 : 0.5 / axis.step - 0.5) - 1e-6;
  }
  if (method == Resampling::NearestExact) takers.shift = -0.5 - 1e-6;
  if (method == Resampling::Linear && axis.in == axis.out) takers = {1, 0, 1};
  for (std::int64_t at = 0; at < axis.out; ++at)
    for (const std::int64_t place : takenBy(axis, method, at)) {
      const auto first = std::int64_t(std::floor(takers.slope * double(place) + takers.shift));
      if (at < first || at - first >= mostTakers) return std::nullopt;
      takers.count = std::max(takers.count, at - first + 1);
    }
  return takers;
}

template <Resampling method>
std::optional<std::vector<Takers>> takersOfAll(const BoundArguments& bound) {
  const auto plan = resampledOf(bound, method, true);
  if (!plan) return std::nullopt;
  std::vector<Takers> all;
  std::int64_t cells = 1;
  for (const ResampledAxis& axis : plan->axes) {
    const auto takers = takersOf(axis, method);
    if (!takers || (cells *= std::max<std::int64_t>(takers->count, 1)) > mostTakers) return std::nullopt;
    all.push_back(*takers);
  }
  return all;
}

template <Resampling method>
bool coversResamplingGradient(const BoundArguments& bound) {
  return takersOfAll<method>(bound).has_value();
}

/// An output place, whether it is one that took the element, and the weight by which it did (-1: one).
struct Taker {
  int place, condition, weight;
};

std::vector<Taker> takersAt(Call c, const ResampledAxis& axis, Resampling method, const Takers& takers, int own) {
  const int line = c.b.binary(Mul, c.b.convert(own, DType::Float64), real(c, takers.slope));
  const int first = c.b.convert(c.b.unary(Floor, c.b.binary(Add, line, real(c, takers.shift))), DType::Int64);
  std::vector<Taker> result;
  for (std::int64_t k = 0; k < takers.count; ++k) {
    const int at = shifted(c, first, k), place = clampedPlace(c, at, axis.out);
    int took = -1, weight = -1;
    for (const Neighbour& neighbour : neighboursOf(c, axis, method, place)) {
      const int isIt = c.b.binary(Eq, neighbour.place, own);
      took = took < 0 ? isIt : c.b.binary(Or, took, isIt);
      if (neighbour.weight < 0) continue;
      const int part = c.b.select(isIt, neighbour.weight, real(c, 0));
      weight = weight < 0 ? part : c.b.binary(Add, weight, part);
    }
    result.push_back({place, c.b.binary(And, took, c.b.binary(Eq, at, place)), weight});
  }
  return result;
}

template <Resampling method>
int resampleGradient(Call c) {
  const Resampled plan = *resampledOf(c.bound, method, true);
  const std::vector<Takers> windows = *takersOfAll<method>(c.bound);
  std::vector<std::vector<Taker>> sides;
  std::size_t total = 1;
  for (std::size_t d = 0; d < windows.size(); ++d) {
    sides.push_back(takersAt(c, plan.axes[d], method, windows[d], c.b.index(c.map[d + 2])));
    total *= sides.back().size();
  }
  int sum = real(c, 0);
  for (std::size_t i = 0; i < total; ++i) {
    std::vector<Place> places = affinePlaces(c.map);
    int condition = -1, weight = -1;
    for (std::size_t d = sides.size(), rest = i; d-- > 0; rest /= sides[d].size()) {
      const Taker& taker = sides[d][rest % sides[d].size()];
      places[d + 2] = {{}, taker.place};
      condition = condition < 0 ? taker.condition : c.b.binary(And, condition, taker.condition);
      if (taker.weight >= 0) weight = weight < 0 ? taker.weight : c.b.binary(Mul, weight, taker.weight);
    }
    int part = c.b.convert(c.operands.at(0, 0, places), DType::Float64);
    if (weight >= 0) part = c.b.binary(Mul, weight, part);
    sum = c.b.binary(Add, sum, c.b.select(condition, part, real(c, 0)));
  }
  return sum;
}

template <Resampling method>
constexpr OpFacts resampling(const char* op) {
  OpFacts row = elementLowering(op, resample<method>, coversResampling<method>);
  row.lowering.cost = 32;
  return row;
}
template <Resampling method>
constexpr OpFacts resamplingGradient(const char* op) {
  OpFacts row = elementLowering(op, resampleGradient<method>, coversResamplingGradient<method>);
  row.lowering.cost = 32;
  return row;
}

constexpr OpFacts resampleLoweringsRows[] = {
    resampling<Resampling::Linear>("aten::upsample_linear1d"),
    resampling<Resampling::Linear>("aten::upsample_bilinear2d"),
    resampling<Resampling::Linear>("aten::upsample_trilinear3d"),
    resampling<Resampling::Cubic>("aten::upsample_bicubic2d"),
    resamplingGradient<Resampling::Linear>("aten::upsample_linear1d_backward"),
    resamplingGradient<Resampling::Linear>("aten::upsample_bilinear2d_backward"),
    resamplingGradient<Resampling::Linear>("aten::upsample_trilinear3d_backward"),
    resamplingGradient<Resampling::Cubic>("aten::upsample_bicubic2d_backward"),
    resamplingGradient<Resampling::NearestExact>("aten::_upsample_nearest_exact1d_backward"),
    resamplingGradient<Resampling::NearestExact>("aten::_upsample_nearest_exact2d_backward"),
    resamplingGradient<Resampling::NearestExact>("aten::_upsample_nearest_exact3d_backward"),
};

const OpRegistration resampleLowerings({.facts = resampleLoweringsRows});

}  // namespace

}  // namespace kerf::inline ops
