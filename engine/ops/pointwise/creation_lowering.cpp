// Casts, copies, constants and index sequences: values made from one operand, or from none.
#include "engine/ops/core/lowering_calls.h"
#include "engine/ops/core/op_registration.h"

namespace kerf::inline ops {
namespace {

using Call = const PointwiseCall&;
using enum ExprOp;
using enum OperandTypes;

int first(Call c) { return c.x(0); }
/// copy(self, src): the source in self's shape.
int second(Call c) { return c.x(1); }

int scalarNamed(Call c, std::string_view name) {
  const std::size_t at = c.bound.position(name);
  const auto whole = c.bound.values[at].asSymInt();
  const bool known = !whole || !whole->isSymbolic();
  if (known && c.dtype == DType::Bool) return c.b.integer(c.bound.number(at) != 0, c.dtype);  // 0.5 is true
  return whole ? c.b.size(*whole, c.dtype) : c.b.constant(c.bound.number(at), c.dtype);
}
int full(Call c) { return scalarNamed(c, "fill_value"); }
/// fill(self, value): a number, or the one element of a tensor.
int fillValue(Call c) {
  if (c.bound.tensorIf(c.bound.position("value"))) return c.b.convert(c.x(0), c.dtype);
  return scalarNamed(c, "value");
}
int scalarTensor(Call c) { return scalarNamed(c, "s"); }
int zeros(Call c) { return c.b.integer(0, c.dtype); }
int ones(Call c) { return c.b.integer(1, c.dtype); }

int iota(Call c) {
  const BoundArguments& bound = c.bound;
  const SymInt start = bound.symInteger(bound.position("start"));
  const SymInt step = bound.symInteger(bound.position("step"));
  Affine index = c.map.empty() ? Affine::number(0) : c.map[0];
  return c.b.index(index * step + Affine::number(start));
}

constexpr OpFacts creationLoweringsRows[] = {
    pointwiseLowering("prims::convert_element_type", Raw, first, 1),
    pointwiseLowering("prims::device_put", Raw, first, 0),
    pointwiseLowering("aten::clone", Raw, first, 0),
    pointwiseLowering("aten::_to_copy", Raw, first, 1),
    pointwiseLowering("aten::lift_fresh_copy", Raw, first, 0),
    pointwiseLowering("aten::copy", Raw, second, 1),
    pointwiseLowering("aten::full", Raw, full, 0),
    pointwiseLowering("aten::full_like", Raw, full, 0),
    pointwiseLowering("aten::new_full", Raw, full, 0),
    pointwiseLowering("aten::fill", Raw, fillValue, 0),
    pointwiseLowering("aten::zeros", Raw, zeros, 0),
    pointwiseLowering("aten::zeros_like", Raw, zeros, 0),
    pointwiseLowering("aten::new_zeros", Raw, zeros, 0),
    pointwiseLowering("aten::ones", Raw, ones, 0),
    pointwiseLowering("aten::ones_like", Raw, ones, 0),
    pointwiseLowering("aten::new_ones", Raw, ones, 0),
    pointwiseLowering("aten::scalar_tensor", Raw, scalarTensor, 0),
    pointwiseLowering("prims::iota", Raw, iota, 1),
};

const OpRegistration creationLowerings({.facts = creationLoweringsRows});

}  // namespace

}  // namespace kerf::inline ops
