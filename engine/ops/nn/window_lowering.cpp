// Pooling and nearest-neighbour resampling as loops: every element of a result is written from the window that it looks
// at, and every element of a gradient from the windows that look at it.
//
//   before: max_pool2d(x: [1, 4, 8, 8], [2, 2])
//   after:  for i0 < 4: for i1 < 4: for i2 < 4: y[…] = max(x[64*i0 + 16*i1 + 2*i2], …)
#include "engine/ops/nn/window_lowering.h"

#include <cmath>
#include <limits>

#include "engine/ops/core/lowering_calls.h"
#include "engine/ops/nn/pooling.h"

namespace kerf::inline ops {
namespace {

using Call = const ElementCall&;
using enum ExprOp;

/// Larger windows would make too much code.
constexpr std::int64_t mostCells = 64;

/// The windows of a call whose sizes are all numbers.
struct Windows {
  Sizes kernel, stride, padding, dilation, in, out;
  std::size_t spatial() const { return kernel.size(); }
  std::int64_t cells() const {
    std::int64_t count = 1;
    for (const std::int64_t size : kernel) count *= size;
    return count;
  }
};

/// Sizes are numbers, and arguments those of the plain overload.
bool isStatic(const BoundArguments& bound) {
  if (!bound.op->schema.overload.empty() && bound.op->schema.overload != "default") return false;
  for (const Value& value : bound.values)
    if (value.isTensor() && value.tensor().isSymbolic()) return false;
  return true;
}

/// Lists from argument `first` on: kernel, stride, padding and, where they are given, dilation.
std::optional<Windows> windowsOf(const BoundArguments& bound, const Tensor& image, std::size_t spatial,
                                 std::size_t first, bool hasDilation, std::size_t ceilMode) {
  if (!isStatic(bound)) return std::nullopt;
  for (std::size_t i = first; i < first + (hasDilation ? 4 : 3); ++i)
    if (bound.symSizes(i).isSymbolic()) return std::nullopt;
  const auto shape = poolShape(bound, image, spatial, bound.symSizes(first), bound.symSizes(first + 1),
                               bound.symSizes(first + 2), hasDilation ? bound.symSizes(first + 3) : SymSizes{},
                               bound.boolean(ceilMode));
  if (!shape) return std::nullopt;
  return Windows{shape->kernel.numbers(),   shape->stride.numbers(),  shape->padding.numbers(),
                 shape->dilation.numbers(), shape->inSizes.numbers(), shape->outSizes.numbers()};
}

int both(Call c, int a, int b) { return a < 0 ? b : b < 0 ? a : c.b.binary(And, a, b); }

/// 0 <= place < size; -1 where that is so for all places from `least` to `most`.
int within(Call c, int place, std::int64_t least, std::int64_t most, std::int64_t size) {
  const int low = least < 0 ? c.b.binary(Ge, place, c.number(0)) : -1;
  return both(c, low, most >= size ? c.b.binary(Lt, place, c.number(size)) : -1);
}

/// An element of the image, and the condition (-1: always) under which the window's cell lies in it.
struct Cell {
  IndexMap map;
  int condition = -1;
};

/// Cell `cell` (row-major) of the window of the result's element.
Cell cellAt(Call c, const Windows& w, std::int64_t cell) {
  Cell result{c.map, -1};
  for (std::size_t d = w.spatial(); d-- > 0; cell /= w.kernel[d]) {
    const std::int64_t shift = cell % w.kernel[d] * w.dilation[d] - w.padding[d];
    Affine& place = result.map[c.map.size() - w.spatial() + d];
    place = place * SymInt(w.stride[d]) + Affine::number(shift);
    const std::int64_t last = (w.out[d] - 1) * w.stride[d] + shift;
    result.condition = both(c, result.condition, within(c, c.b.index(place), shift, last, w.in[d]));
  }
  return result;
}

int loadCell(Call c, const Cell& cell, DType dtype) {
  const int stored = cell.condition < 0 ? c.operands.at(0, 0, affinePlaces(cell.map))
                                        : c.operands.atWhere(0, 0, cell.map, cell.condition);
  return c.b.convert(stored, dtype);
}

// --- maximum: two items, the values and where they were

template <std::size_t spatial>
std::optional<Windows> maxWindows(const BoundArguments& bound) {
  const std::size_t dims = spatial == 0 ? bound.symSizes(1).size() : spatial;
  return windowsOf(bound, bound.tensor(0), dims, 1, true, 5);
}

/// Whether every window has a cell in the image: dilated ones may step over all of it.
bool alwaysMeetsImage(const Windows& w) {
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
int positionOf(Call c, const Windows& w, const IndexMap& map) {
  Affine flat;
  for (std::size_t d = 0; d < w.spatial(); ++d)
    flat = flat * SymInt(w.in[d]) + map[map.size() - w.spatial() + d];
  return c.b.index(flat);
}

/// The first cell counts whatever it holds; later ones where they are larger, or NaN. The low-memory form (spatial 0)
/// keeps the number of the cell.
template <std::size_t spatial>
int maxPool(Call c) {
  const Windows w = *maxWindows<spatial>(c.bound);
  const DType compute = computeType(c.bound.tensor(0).dtype());
  int best = -1, place = -1, found = -1;
  for (std::int64_t k = 0; k < w.cells(); ++k) {
    const Cell cell = cellAt(c, w, k);
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

/// value / divisor of an int64 whose size is below 2^52, towards zero as in C.
int quotient(Call c, int value, std::int64_t divisor) {
  if (divisor == 1) return value;
  const int exact = c.b.binary(Div, c.b.convert(value, DType::Float64), c.b.constant(double(divisor), DType::Float64));
  return c.b.convert(c.b.unary(Trunc, exact), DType::Int64);
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

// --- the windows that look at an element

/// Numbers of one dimension's windows that may hold the element, in rising order, and whether they do.
struct Looking {
  int window;     ///< within the result's bounds
  int condition;  ///< -1: always
};

std::vector<Looking> lookingAt(Call c, const Windows& w, std::size_t d, const Affine& place) {
  const std::int64_t reach = w.dilation[d] * (w.kernel[d] - 1);
  const int shifted = c.b.index(place + Affine::number(w.padding[d]));
  const int newest = quotient(c, shifted, w.stride[d]);
  std::vector<Looking> result;
  for (std::int64_t back = reach / w.stride[d]; back >= 0; --back) {
    const int number = back == 0 ? newest : c.b.binary(Sub, newest, c.number(back));
    const std::int64_t most = (w.in[d] - 1 + w.padding[d]) / w.stride[d] - back;
    int condition = within(c, number, w.padding[d] / w.stride[d] - back, most, w.out[d]);
    const int distance = c.b.binary(Sub, shifted, c.b.binary(Mul, number, c.number(w.stride[d])));
    condition = both(c, condition, c.b.binary(Le, distance, c.number(reach)));
    int window = c.b.binary(Maximum, number, c.number(0));
    window = c.b.binary(Minimum, window, c.number(w.out[d] - 1));
    result.push_back({window, condition});
  }
  return result;
}

/// visit(places of the window, its condition) for all windows that look at the result's element.
template <class Visit>
void forLooking(Call c, const Windows& w, Visit&& visit) {
  const std::size_t lead = c.map.size() - w.spatial();
  std::vector<std::vector<Looking>> sides;
  std::size_t total = 1;
  for (std::size_t d = 0; d < w.spatial(); ++d) {
    sides.push_back(lookingAt(c, w, d, c.map[lead + d]));
    total *= sides.back().size();
  }
  for (std::size_t i = 0; i < total; ++i) {
    std::vector<Place> places = affinePlaces(c.map);
    int condition = -1;
    for (std::size_t d = w.spatial(), rest = i; d-- > 0; rest /= sides[d].size()) {
      const Looking& looking = sides[d][rest % sides[d].size()];
      places[lead + d] = {{}, looking.window};
      condition = both(c, condition, looking.condition);
    }
    visit(places, condition);
  }
}

std::int64_t mostLooking(const Windows& w) {
  std::int64_t count = 1;
  for (std::size_t d = 0; d < w.spatial(); ++d) count *= w.dilation[d] * (w.kernel[d] - 1) / w.stride[d] + 1;
  return count;
}

// max_pool*_with_indices_backward(grad_output, self, kernel, stride, padding, dilation, ceil_mode, indices)

std::optional<Windows> maxBackwardWindows(const BoundArguments& bound) {
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

/// Each element looks for itself in the windows that it lies in. A place that no pooling of these windows found (an input
/// of a backward graph on random numbers) may lie in none of them; the op's own kernel adds there all the same.
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
  const Windows w = *maxBackwardWindows(c.bound);
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

// --- averages: (self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override), from `first` on

template <std::size_t spatial>
std::optional<Windows> averageWindows(const BoundArguments& bound, std::size_t first) {
  if (bound.integerIf(first + 5) == 0 || !isFloating(bound.tensor(0).dtype())) return std::nullopt;
  return windowsOf(bound, bound.tensor(first - 1), spatial, first, false, first + 3);
}

template <std::size_t spatial>
bool coversAverage(const BoundArguments& bound) {
  const auto windows = averageWindows<spatial>(bound, 1);
  return windows && windows->cells() <= mostCells;
}

/// What the average of a window is divided by. `starts`: first places of the window, padding counted, int64.
int divisor(Call c, const Windows& w, const std::vector<int>& starts, std::size_t first, DType dtype) {
  if (const auto given = c.bound.integerIf(first + 5)) return c.b.constant(double(*given), dtype);
  const bool includePadding = c.bound.boolean(first + 4);
  std::int64_t fixed = 1;
  int count = -1;
  for (std::size_t d = 0; d < w.spatial(); ++d) {
    const std::int64_t last = (w.out[d] - 1) * w.stride[d] - w.padding[d] + w.kernel[d];
    const bool reachesOut = last > w.in[d] + (includePadding ? w.padding[d] : 0);
    if (!reachesOut && (includePadding || w.padding[d] == 0)) {
      fixed *= w.kernel[d];
      continue;
    }
    int end = c.b.binary(Add, starts[d], c.number(w.kernel[d]));
    end = c.b.binary(Minimum, end, c.number(w.in[d] + (includePadding ? w.padding[d] : 0)));
    const int begin = includePadding ? starts[d] : c.b.binary(Maximum, starts[d], c.number(0));
    const int length = c.b.binary(Sub, end, begin);
    count = count < 0 ? length : c.b.binary(Mul, count, length);
  }
  if (count < 0) return c.b.constant(double(fixed), dtype);
  return c.b.convert(fixed == 1 ? count : c.b.binary(Mul, count, c.number(fixed)), dtype);
}

template <std::size_t spatial>
int averagePool(Call c) {
  const Windows w = *averageWindows<spatial>(c.bound, 1);
  int sum = -1;
  for (std::int64_t k = 0; k < w.cells(); ++k) {
    const int value = loadCell(c, cellAt(c, w, k), DType::Float64);
    sum = sum < 0 ? value : c.b.binary(Add, sum, value);
  }
  std::vector<int> starts;
  for (std::size_t d = 0; d < spatial; ++d)
    starts.push_back(c.b.index(c.map[c.map.size() - spatial + d] * SymInt(w.stride[d]) + Affine::number(-w.padding[d])));
  return c.b.binary(Div, sum, divisor(c, w, starts, 1, DType::Float64));
}

template <std::size_t spatial>
bool coversAverageBackward(const BoundArguments& bound) {
  const auto windows = averageWindows<spatial>(bound, 2);
  const DType dtype = bound.tensor(0).dtype();  // what 16 bits hold is rounded share by share
  return windows && mostLooking(*windows) <= mostCells && (dtype == DType::Float32 || dtype == DType::Float64);
}

/// Shares are rounded, and summed in the tensor's type.
template <std::size_t spatial>
int averagePoolBackward(Call c) {
  const Windows w = *averageWindows<spatial>(c.bound, 2);
  int sum = c.b.constant(0, c.dtype);
  forLooking(c, w, [&](const std::vector<Place>& places, int condition) {
    std::vector<int> starts;
    for (std::size_t d = 0; d < spatial; ++d) {
      const int window = c.b.binary(Mul, places[places.size() - spatial + d].computed, c.number(w.stride[d]));
      starts.push_back(c.b.binary(Sub, window, c.number(w.padding[d])));
    }
    const int grad = c.b.convert(c.operands.at(0, 0, places), DType::Float64);
    const int share = c.b.convert(c.b.binary(Div, grad, divisor(c, w, starts, 2, DType::Float64)), c.dtype);
    sum = c.b.binary(Add, sum, condition < 0 ? share : c.b.select(condition, share, c.b.constant(0, c.dtype)));
  });
  return sum;
}

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
    const int source = c.b.unary(Floor, c.b.binary(Mul, at, c.b.constant(dtype == DType::Float32 ? float(step) : step, dtype)));
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
    dear(elementLowering("aten::avg_pool2d", averagePool<2>, coversAverage<2>)),
    dear(elementLowering("aten::avg_pool3d", averagePool<3>, coversAverage<3>)),
    dear(elementLowering("aten::avg_pool2d_backward", averagePoolBackward<2>, coversAverageBackward<2>)),
    dear(elementLowering("aten::avg_pool3d_backward", averagePoolBackward<3>, coversAverageBackward<3>)),
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

}  // namespace

OpFactRows windowLowerings() { return windowLoweringsRows; }

}  // namespace kerf::inline ops
