// Resampling by nearest neighbours as loops, and its gradient for factors that are powers of two.
#include <cmath>

#include "engine/ops/core/op_registration.h"
#include "engine/ops/nn/windows.h"

namespace kerf::inline ops {
namespace {

using Call = const ElementCall&;
using enum ExprOp;

// --- nearest neighbours: (self, output_size, scales…) and the gradient for whole factors

std::optional<double> scaleOf(const BoundArguments& bound, std::size_t d) {
  std::size_t scale = 0;
  for (std::size_t i = 0; i < bound.values.size(); ++i) {
    if (!bound.op->schema.arguments[i].name.starts_with("scales")) continue;
    if (scale++ == d) return bound.numberIf(i);
  }
  return std::nullopt;
}

/// Input places per output place, as PyTorch takes them.
double stepOf(const BoundArguments& bound, std::size_t d, std::int64_t in, std::int64_t out) {
  const auto factor = scaleOf(bound, d);
  return factor && *factor > 0 ? 1 / *factor : double(in) / double(out);
}

bool coversNearest(const BoundArguments& bound) {
  return isStatic(bound) && isFloating(bound.tensor(0).dtype()) && !bound.symSizes(1).isSymbolic();
}

/// Positions are computed in float32, in float64 only for float64 tensors.
template <bool exact>
int nearest(Call c) {
  const DType dtype = c.bound.tensor(0).dtype() == DType::Float64 ? DType::Float64 : DType::Float32;
  std::vector<Place> places = affinePlaces(c.map);
  for (std::size_t d = 2; d < c.map.size(); ++d) {
    const std::int64_t in = c.bound.tensor(0).sizes()[d], out = c.bound.sizes(1)[d - 2];
    const double step = stepOf(c.bound, d - 2, in, out);
    if (step == 1 && out <= in) continue;
    int at = c.b.convert(c.b.index(c.map[d]), dtype);
    if (exact) at = c.b.binary(Add, at, c.b.constant(0.5, dtype));
    const int source =
        c.b.unary(Floor, c.b.binary(Mul, at, c.b.constant(dtype == DType::Float32 ? float(step) : step, dtype)));
    places[d] = {{}, c.b.binary(Minimum, c.b.convert(source, DType::Int64), c.number(in - 1))};
  }
  return c.operands.at(0, 0, places);
}

/// (grad_output, output_size, input_size, scales…): how many neighbours each input has in each dimension.
std::optional<Sizes> wholeFactors(const BoundArguments& bound) {
  if (!coversNearest(bound) || bound.symSizes(2).isSymbolic()) return std::nullopt;
  const Sizes out = bound.sizes(1), in = bound.sizes(2);
  if (in.size() != out.size() + 2) return std::nullopt;
  Sizes factors;
  std::int64_t cells = 1;
  for (std::size_t d = 0; d < out.size(); ++d) {
    if (in[d + 2] == 0 || out[d] % in[d + 2] != 0) return std::nullopt;
    factors.push_back(out[d] / in[d + 2]);
    // A power of two keeps every place exact in float32.
    if ((factors[d] & (factors[d] - 1)) != 0 || stepOf(bound, d, in[d + 2], out[d]) != 1 / double(factors[d]))
      return std::nullopt;
    cells *= factors[d];
  }
  return cells <= mostCells ? std::optional(factors) : std::nullopt;
}

bool coversNearestBackward(const BoundArguments& bound) { return wholeFactors(bound).has_value(); }

int nearestBackward(Call c) {
  const Sizes factors = *wholeFactors(c.bound);
  std::int64_t cells = 1;
  for (const std::int64_t factor : factors) cells *= factor;
  int sum = -1;
  for (std::int64_t i = 0; i < cells; ++i) {
    std::vector<Place> places = affinePlaces(c.map);
    std::int64_t rest = i;
    for (std::size_t d = factors.size(); d-- > 0; rest /= factors[d])
      places[d + 2].affine = c.map[d + 2] * SymInt(factors[d]) + Affine::number(rest % factors[d]);
    const int value = c.b.convert(c.operands.at(0, 0, places), DType::Float64);
    sum = sum < 0 ? value : c.b.binary(Add, sum, value);
  }
  return sum;
}

constexpr OpFacts nearestLoweringsRows[] = {
    elementLowering("aten::upsample_nearest1d", nearest<false>, coversNearest),
    elementLowering("aten::upsample_nearest2d", nearest<false>, coversNearest),
    elementLowering("aten::upsample_nearest3d", nearest<false>, coversNearest),
    elementLowering("aten::_upsample_nearest_exact1d", nearest<true>, coversNearest),
    elementLowering("aten::_upsample_nearest_exact2d", nearest<true>, coversNearest),
    elementLowering("aten::_upsample_nearest_exact3d", nearest<true>, coversNearest),
    elementLowering("aten::upsample_nearest1d_backward", nearestBackward, coversNearestBackward),
    elementLowering("aten::upsample_nearest2d_backward", nearestBackward, coversNearestBackward),
    elementLowering("aten::upsample_nearest3d_backward", nearestBackward, coversNearestBackward),
};

const OpRegistration nearestLowerings({.facts = nearestLoweringsRows});

}  // namespace

}  // namespace kerf::inline ops
