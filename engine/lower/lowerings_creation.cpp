// Casts, copies, constants and index sequences: values made from one operand, or from none.
#include "engine/lower/lowerings.h"

namespace kerf::inline lower {
namespace {

using Call = const PointwiseCall&;
using enum ExprOp;
using enum OperandTypes;

int first(Call c) { return c.x(0); }
/// copy(self, src): the source in self's shape.
int second(Call c) { return c.x(1); }

int scalarNamed(Call c, std::string_view name) {
  const Value& value = c.info.bound.values[c.info.bound.position(name)];
  if (const auto* whole = value.as<std::int64_t>()) return c.b.integer(*whole, c.info.dtype);
  return c.b.constant(c.info.bound.number(c.info.bound.position(name)), c.info.dtype);
}
int full(Call c) { return scalarNamed(c, "fill_value"); }
int fillValue(Call c) { return scalarNamed(c, "value"); }
int scalarTensor(Call c) { return scalarNamed(c, "s"); }
int zeros(Call c) { return c.b.integer(0, c.info.dtype); }
int ones(Call c) { return c.b.integer(1, c.info.dtype); }

int iota(Call c) {
  const BoundArguments& bound = c.info.bound;
  const std::int64_t start = bound.integer(bound.position("start"));
  const std::int64_t step = bound.integer(bound.position("step"));
  Affine index = c.map.empty() ? Affine::number(0) : c.map[0];
  return c.b.index(index * step + Affine::number(start));
}

constexpr PointwiseLowering rows[] = {
    {"prims::convert_element_type", Raw, first, 1},
    {"prims::device_put", Raw, first, 0},
    {"aten::clone", Raw, first, 0},
    {"aten::_to_copy", Raw, first, 1},
    {"aten::lift_fresh_copy", Raw, first, 0},
    {"aten::copy", Raw, second, 1},
    {"aten::full", Raw, full, 0},
    {"aten::full_like", Raw, full, 0},
    {"aten::new_full", Raw, full, 0},
    {"aten::fill", Raw, fillValue, 0},
    {"aten::zeros", Raw, zeros, 0},
    {"aten::zeros_like", Raw, zeros, 0},
    {"aten::new_zeros", Raw, zeros, 0},
    {"aten::ones", Raw, ones, 0},
    {"aten::ones_like", Raw, ones, 0},
    {"aten::new_ones", Raw, ones, 0},
    {"aten::scalar_tensor", Raw, scalarTensor, 0},
    {"prims::iota", Raw, iota, 1},
};

}  // namespace

std::span<const PointwiseLowering> creationLowerings() { return rows; }

}  // namespace kerf::inline lower
