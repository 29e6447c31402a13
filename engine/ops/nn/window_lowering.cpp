// Maxima over windows as loops: every element of a result is written from the window that it looks at, and every
// element of a gradient from the windows that look at it.
//
//   before: max_pool2d(x: [1, 4, 8, 8], [2, 2])
//   after:  for i0 < 4: for i1 < 4: for i2 < 4: y[…] = max(x[64*i0 + 16*i1 + 2*i2], …)
#include <limits>

#include "engine/ops/core/op_registration.h"
#include "engine/ops/nn/windows.h"

namespace kerf::inline ops {
namespace {

using Call = const ElementCall&;
using enum ExprOp;

// --- maximum: two items, the values and where they were

template <std::size_t spatial>
std::optional<PoolWindows> maxWindows(const BoundArguments& bound) {
  const std::size_t dims = spatial == 0 ? bound.symSizes(1).size() : spatial;
  return windowsOf(bound, bound.tensor(0), dims, 1, true, 5);
}

/// Whether every window has a cell in the image: dilated ones may step over all of it.
bool alwaysMeetsImage(const PoolWindows& w) {
  for (std::size_t d = 0; d < w.spatial(); ++d)
    for (std::int64_t at = 0; at < w.out[d]; ++at) {
      bool meets = false;
      for (std::int64_t k = 0; k < w.kernel[d]; ++k) {
        const std::int64_t place = at * w.stride[d] - w.padding[d] + k * w.dilation[d];
        meets = meets || (place >= 0 && place < w.in[d]);
      }
      if (!meets) return false;
    }
  return true;
}

template <std::size_t spatial>
bool coversMax(const BoundArguments& bound) {
  const auto windows = maxWindows<spatial>(bound);
  return windows && windows->cells() <= mostCells && alwaysMeetsImage(*windows) &&
         bound.tensor(0).dtype() != DType::Bool;
}

/// The flat position of a cell in its plane.
int positionOf(Call c, const PoolWindows& w, const IndexMap& map) {
  Affine flat;
  for (std::size_t d = 0; d < w.spatial(); ++d) flat = flat * SymInt(w.in[d]) + map[map.size() - w.spatial() + d];
  return c.b.index(flat);
}

/// The first cell counts whatever it holds; later ones where they are larger, or NaN. The low-memory form (spatial 0)
/// keeps the number of the cell.
template <std::size_t spatial>
int maxPool(Call c) {
  const PoolWindows w = *maxWindows<spatial>(c.bound);
  const DType compute = computeType(c.bound.tensor(0).dtype());
  int best = -1, place = -1, found = -1;
  for (std::int64_t k = 0; k < w.cells(); ++k) {
    const WindowCell cell = cellAt(c, w, k);
    const int value = loadCell(c, cell, compute);
    const int here = spatial == 0 ? c.number(k) : positionOf(c, w, cell.map);
    if (best < 0) {
      best = value, place = here, found = cell.condition;
      continue;
    }
    int takes = c.b.binary(Gt, value, best);
    if (isFloating(compute)) takes = c.b.binary(Or, takes, c.b.unary(IsNan, value));
    if (found >= 0) takes = c.b.binary(Or, takes, c.b.unary(Not, found));
    takes = both(c, cell.condition, takes);
    best = c.b.select(takes, value, best);
    place = c.b.select(takes, here, place);
    if (found >= 0) found = cell.condition < 0 ? -1 : c.b.binary(Or, found, cell.condition);
  }
  return c.item == 0 ? best : place;
}

// _low_memory_max_pool_offsets_to_indices(offsets, kernel_size, input_size, stride, padding, dilation)

/// Offsets are whole numbers that `quotient` divides exactly: 8 bits, where a pooling made them.
bool coversOffsets(const BoundArguments& bound) {
  const DType dtype = bound.tensor(0).dtype();
  if (!isStatic(bound) || !isIntegral(dtype) || itemSize(dtype) > 4) return false;
  for (std::size_t i = 1; i <= 5; ++i)
    if (bound.symSizes(i).isSymbolic()) return false;
  for (const std::int64_t size : bound.sizes(1))
    if (size <= 0) return false;
  return true;
}

int offsetsToIndices(Call c) {
  const Sizes kernel = c.bound.sizes(1), in = c.bound.sizes(2), stride = c.bound.sizes(3), padding = c.bound.sizes(4),
              dilation = c.bound.sizes(5);
  int rest = c.b.convert(c.operands.at(0, 0, affinePlaces(c.map)), DType::Int64);
  int flat = -1;
  std::int64_t scale = 1;
  for (std::size_t d = kernel.size(); d-- > 0; scale *= in[d]) {
    const int next = quotient(c, rest, kernel[d]);
    const int cell = c.b.binary(Sub, rest, c.b.binary(Mul, next, c.number(kernel[d])));
    const Affine& at = c.map[c.map.size() - kernel.size() + d];
    const int start = c.b.index(at * SymInt(stride[d]) + Affine::number(-padding[d]));
    const int place = c.b.binary(Add, start, c.b.binary(Mul, cell, c.number(dilation[d])));
    const int part = c.b.binary(Mul, place, c.number(scale));
    flat = flat < 0 ? part : c.b.binary(Add, flat, part);
    rest = next;
  }
  return flat;
}

// max_pool*_with_indices_backward(grad_output, self, kernel, stride, padding, dilation, ceil_mode, indices)

std::optional<PoolWindows> maxBackwardWindows(const BoundArguments& bound) {
  const std::size_t spatial = bound.op->schema.name.find("3d") != std::string::npos ? 3 : 2;
  const auto windows = windowsOf(bound, bound.tensor(1), spatial, 2, true, 6);
  if (!windows || bound.tensor(7).dtype() != DType::Int64 || bound.tensor(0).dtype() != bound.tensor(1).dtype())
    return std::nullopt;
  return windows;
}

bool coversMaxBackward(const BoundArguments& bound) {
  const auto windows = maxBackwardWindows(bound);
  return windows && mostLooking(*windows) <= mostCells;
}

/// Each element looks for itself in the windows that it lies in. A place that no pooling of these windows found (an
/// input of a backward graph on random numbers) may lie in none of them; the op's own kernel adds there all the same.
bool isOwnPlace(const BoundArguments& call, const BoundArguments& step, const BoundArguments* next) {
  const auto w = maxBackwardWindows(call);
  if (!w) return false;
  const auto isSame = [&](std::size_t argument, const Sizes& sizes) {
    return !step.symSizes(argument).isSymbolic() && step.sizes(argument) == sizes;
  };
  const std::string& name = step.op->schema.name;
  if (name == "prims::_low_memory_max_pool_offsets_to_indices")
    return next == nullptr && isSame(1, w->kernel) && isSame(2, w->in) && isSame(3, w->stride) &&
           isSame(4, w->padding) && isSame(5, w->dilation);
  const char* pooling = w->spatial() == 3 ? "aten::max_pool3d_with_indices" : "aten::max_pool2d_with_indices";
  if (name != (next != nullptr ? "prims::_low_memory_max_pool_with_offsets" : pooling)) return false;
  const auto made = windowsOf(step, step.tensor(0), w->spatial(), 1, true, 5);
  return made && made->kernel == w->kernel && made->stride == w->stride && made->padding == w->padding &&
         made->dilation == w->dilation && made->in == w->in && made->out == w->out;
}

int maxPoolBackward(Call c) {
  const PoolWindows w = *maxBackwardWindows(c.bound);
  std::int64_t plane = 1;
  for (const std::int64_t size : w.in) plane *= size;
  c.operands.index(7, 0, IndexMap(c.map.size()), {plane, 0});  // all of them are checked
  const int own = positionOf(c, w, c.map);
  int sum = c.b.constant(0, DType::Float64);
  forLooking(c, w, [&](const std::vector<Place>& places, int condition) {
    const int isOwn = c.b.binary(Eq, c.operands.at(7, 0, places), own);
    const int grad = c.b.convert(c.operands.at(0, 0, places), DType::Float64);
    const int part = c.b.select(both(c, condition, isOwn), grad, c.b.constant(0, DType::Float64));
    sum = c.b.binary(Add, sum, part);
  });
  return sum;
}

constexpr OpFacts withTwoItems(OpFacts row) {
  row.lowering.items = 2;
  row.lowering.cost = 64;
  return row;
}
constexpr OpFacts dear(OpFacts row) {
  row.lowering.cost = 32;
  return row;
}

constexpr OpFacts ofOwnPlaces(OpFacts row) {
  row.lowering.madeBy = isOwnPlace;
  row.lowering.place = 7;
  return row;
}

constexpr OpFacts windowLoweringsRows[] = {
    withTwoItems(elementLowering("aten::max_pool2d_with_indices", maxPool<2>, coversMax<2>)),
    withTwoItems(elementLowering("aten::max_pool3d_with_indices", maxPool<3>, coversMax<3>)),
    withTwoItems(elementLowering("prims::_low_memory_max_pool_with_offsets", maxPool<0>, coversMax<0>)),
    elementLowering("prims::_low_memory_max_pool_offsets_to_indices", offsetsToIndices, coversOffsets),
    ofOwnPlaces(dear(elementLowering("aten::max_pool2d_with_indices_backward", maxPoolBackward, coversMaxBackward))),
    ofOwnPlaces(dear(elementLowering("aten::max_pool3d_with_indices_backward", maxPoolBackward, coversMaxBackward))),
};

const OpRegistration windowLowerings({.facts = windowLoweringsRows});

}  // namespace

}  // namespace kerf::inline ops
