#include "engine/ops/nn/grid_taps.h"

#include <algorithm>
#include <cmath>

namespace kerf::inline ops {
namespace {

/// A coordinate in input pixels and its derivative by the normalised coordinate.
struct Coordinate {
  double at = 0;
  double slope = 0;
};

/// Two and three dimensions order the operations differently, which shows in 16-bit types.
Coordinate unnormalised(double x, std::int64_t size, const Sampling& how) {
  const auto r = [&](double value) { return how.rounded(value); };
  const double extent = double(size), last = extent - 1, shifted = r(x + 1);
  if (how.spatial == 2) {
    const double scale = r((how.alignCorners ? last : extent) / 2);
    return {how.alignCorners ? r(shifted * scale) : r(r(shifted * scale) - 0.5), scale};
  }
  if (how.alignCorners) return {r(r(shifted / 2) * last), last / 2};
  return {r(r(r(shifted * extent) - 1) / 2), extent / 2};
}

Coordinate clipped(Coordinate c, std::int64_t size) {
  const auto last = double(size - 1);
  if (!(c.at > 0)) return {0, 0};  // NaN too
  if (c.at >= last) return {last, 0};
  return c;
}

/// Mirrors at `low` and `low + period/2` until the coordinate lies between them.
Coordinate reflected(Coordinate c, double low, double period, const Sampling& how) {
  if (period <= 0) return {0, 0};
  const auto r = [&](double value) { return how.rounded(value); };
  const double shifted = r(c.at - low), distance = std::abs(shifted);
  const double extra = r(distance - r(std::trunc(r(distance / period)) * period)), back = r(period - extra);
  const bool flips = (shifted < 0) != (back < extra);
  return {r(std::min(extra, back) + low), flips ? -c.slope : c.slope};
}

Coordinate padded(Coordinate c, const Sampling& how, std::int64_t size) {
  if (how.padding == GridPadding::Border) return clipped(c, size);
  if (how.padding != GridPadding::Reflection) return c;
  const auto extent = double(size);
  c = how.alignCorners ? reflected(c, 0, 2 * (extent - 1), how) : reflected(c, -0.5, 2 * extent, how);
  return clipped(c, size);
}

/// Positions far outside of int64 count as outside of the input.
std::int64_t inside(double position, std::int64_t size) {
  return position >= 0 && position < double(size) ? std::int64_t(position) : -1;
}

AxisTaps linearTaps(const Coordinate& c, std::int64_t size, const Sampling& how) {
  const double low = std::floor(c.at), high = how.rounded(c.at - low);
  const double rest = how.spatial == 2 ? how.rounded(1 - high) : how.rounded(low + 1 - c.at);
  return {{{inside(low, size), rest, -1}, {inside(low + 1, size), high, 1}}, c.slope};
}

/// Keys' cubic with a = -0.75 at distances 1+t, t, 1-t, 2-t, and its derivative by t.
std::array<std::pair<double, double>, 4> cubicWeights(double t, const Sampling& how) {
  constexpr double a = -0.75;
  const auto r = [&](double value) { return how.rounded(value); };
  const auto near = [&](double x) { return r(r(r(r(r((a + 2) * x) - (a + 3)) * x) * x) + 1); };
  const auto nearSlope = [&](double x) { return r(r(r(3 * (a + 2) * x) - 2 * (a + 3)) * x); };
  const auto far = [&](double x) { return r(r(r(r(r(r(a * x) - 5 * a) * x) + 8 * a) * x) - 4 * a); };
  const auto farSlope = [&](double x) { return r(r(r(r(3 * a * x) - 10 * a) * x) + 8 * a); };
  return {{{far(r(1 + t)), farSlope(r(1 + t))},
           {near(t), nearSlope(t)},
           {near(r(1 - t)), -nearSlope(r(1 - t))},
           {far(r(2 - t)), -farSlope(r(2 - t))}}};
}

/// Padding applies to each of the four positions; the weights follow the coordinate before padding.
AxisTaps cubicTaps(const Coordinate& c, const Sampling& how, std::int64_t size) {
  const double low = std::floor(c.at);
  const auto weights = cubicWeights(how.rounded(c.at - low), how);
  AxisTaps result{{}, c.slope};
  for (int k = 0; k < 4; ++k) {
    const double position = padded({low - 1 + k, 0}, how, size).at;
    const auto& [weight, slope] = weights[std::size_t(k)];
    result.taps.push_back({inside(std::trunc(position), size), weight, slope});
  }
  return result;
}

AxisTaps axisTaps(const Sampling& how, double x, std::int64_t size) {
  Coordinate c = unnormalised(x, size, how);
  if (how.mode == Interpolation::Cubic) return std::isfinite(c.at) ? cubicTaps(c, how, size) : AxisTaps{};
  c = padded(c, how, size);
  if (!std::isfinite(c.at)) return {};
  if (how.mode == Interpolation::Nearest) return {{{inside(std::nearbyint(c.at), size), 1, 0}}, 0};
  return linearTaps(c, size, how);
}

}  // namespace

GridTaps gridTaps(const Sampling& how, const double* point) {
  GridTaps result;
  for (std::size_t d = 0; d < 3; ++d)
    result.axes[d] = d + how.spatial < 3 ? AxisTaps{{{0, 1, 0}}, 0} : axisTaps(how, point[2 - d], how.size[d]);
  for (const AxisTap& z : result.axes[0].taps)
    for (const AxisTap& y : result.axes[1].taps)
      for (const AxisTap& x : result.axes[2].taps) {
        if (z.position < 0 || y.position < 0 || x.position < 0) continue;
        result.taps.push_back({(z.position * how.size[1] + y.position) * how.size[2] + x.position,
                               how.rounded(how.rounded(x.weight * y.weight) * z.weight)});
      }
  return result;
}

double sampleAt(const Sampling& how, const GridTaps& taps, const double* plane) {
  double sum = 0;
  if (how.mode != Interpolation::Cubic) {
    for (const GridTap& tap : taps.taps) sum = how.rounded(sum + how.rounded(tap.weight * plane[tap.position]));
    return sum;
  }
  for (const AxisTap& y : taps.axes[1].taps) {
    double row = 0;
    for (const AxisTap& x : taps.axes[2].taps) {
      const bool reads = y.position >= 0 && x.position >= 0;
      const double value = reads ? plane[y.position * how.size[2] + x.position] : 0.0;
      row = how.rounded(row + how.rounded(x.weight * value));
    }
    sum = how.rounded(sum + how.rounded(y.weight * row));
  }
  return sum;
}

}  // namespace kerf::inline ops
