#include "engine/ops/nn/windows.h"

#include "engine/ops/nn/pooling.h"

namespace kerf::inline ops {

int both(const ElementCall& c, int a, int b) { return a < 0 ? b : b < 0 ? a : c.b.binary(ExprOp::And, a, b); }

namespace {

/// 0 <= place < size; -1 where that is so for all places from `least` to `most`.
int within(const ElementCall& c, int place, std::int64_t least, std::int64_t most, std::int64_t size) {
  const int low = least < 0 ? c.b.binary(ExprOp::Ge, place, c.number(0)) : -1;
  return both(c, low, most >= size ? c.b.binary(ExprOp::Lt, place, c.number(size)) : -1);
}

}  // namespace

bool isStatic(const BoundArguments& bound) {
  if (!bound.op->schema.overload.empty() && bound.op->schema.overload != "default") return false;
  for (const Value& value : bound.values)
    if (value.isTensor() && value.tensor().isSymbolic()) return false;
  return true;
}

std::optional<PoolWindows> windowsOf(const BoundArguments& bound, const Tensor& image, std::size_t spatial,
                                     std::size_t first, bool hasDilation, std::size_t ceilMode) {
  if (!isStatic(bound)) return std::nullopt;
  for (std::size_t i = first; i < first + (hasDilation ? 4 : 3); ++i)
    if (bound.symSizes(i).isSymbolic()) return std::nullopt;
  const auto shape =
      poolShape(bound, image, spatial, bound.symSizes(first), bound.symSizes(first + 1), bound.symSizes(first + 2),
                hasDilation ? bound.symSizes(first + 3) : SymSizes{}, bound.boolean(ceilMode));
  if (!shape) return std::nullopt;
  return PoolWindows{shape->kernel.numbers(),   shape->stride.numbers(),  shape->padding.numbers(),
                     shape->dilation.numbers(), shape->inSizes.numbers(), shape->outSizes.numbers()};
}

WindowCell cellAt(const ElementCall& c, const PoolWindows& w, std::int64_t cell) {
  WindowCell result{c.map, -1};
  for (std::size_t d = w.spatial(); d-- > 0; cell /= w.kernel[d]) {
    const std::int64_t shift = cell % w.kernel[d] * w.dilation[d] - w.padding[d];
    Affine& place = result.map[c.map.size() - w.spatial() + d];
    place = place * SymInt(w.stride[d]) + Affine::number(shift);
    const std::int64_t last = (w.out[d] - 1) * w.stride[d] + shift;
    result.condition = both(c, result.condition, within(c, c.b.index(place), shift, last, w.in[d]));
  }
  return result;
}

int loadCell(const ElementCall& c, const WindowCell& cell, DType dtype) {
  const int stored = cell.condition < 0 ? c.operands.at(0, 0, affinePlaces(cell.map))
                                        : c.operands.atWhere(0, 0, cell.map, cell.condition);
  return c.b.convert(stored, dtype);
}

int quotient(const ElementCall& c, int value, std::int64_t divisor) {
  if (divisor == 1) return value;
  const int exact =
      c.b.binary(ExprOp::Div, c.b.convert(value, DType::Float64), c.b.constant(double(divisor), DType::Float64));
  return c.b.convert(c.b.unary(ExprOp::Trunc, exact), DType::Int64);
}

std::vector<Looking> lookingAt(const ElementCall& c, const PoolWindows& w, std::size_t d, const Affine& place) {
  const std::int64_t reach = w.dilation[d] * (w.kernel[d] - 1);
  const int shifted = c.b.index(place + Affine::number(w.padding[d]));
  const int newest = quotient(c, shifted, w.stride[d]);
  std::vector<Looking> result;
  for (std::int64_t back = reach / w.stride[d]; back >= 0; --back) {
    const int number = back == 0 ? newest : c.b.binary(ExprOp::Sub, newest, c.number(back));
    const std::int64_t most = (w.in[d] - 1 + w.padding[d]) / w.stride[d] - back;
    int condition = within(c, number, w.padding[d] / w.stride[d] - back, most, w.out[d]);
    const int distance = c.b.binary(ExprOp::Sub, shifted, c.b.binary(ExprOp::Mul, number, c.number(w.stride[d])));
    condition = both(c, condition, c.b.binary(ExprOp::Le, distance, c.number(reach)));
    int window = c.b.binary(ExprOp::Maximum, number, c.number(0));
    window = c.b.binary(ExprOp::Minimum, window, c.number(w.out[d] - 1));
    result.push_back({window, condition});
  }
  return result;
}

std::int64_t mostLooking(const PoolWindows& w) {
  std::int64_t count = 1;
  for (std::size_t d = 0; d < w.spatial(); ++d) count *= w.dilation[d] * (w.kernel[d] - 1) / w.stride[d] + 1;
  return count;
}

}  // namespace kerf::inline ops
