// PoolWindows: what pooling ops look at, and the cells of a window as expressions of a loop.
#pragma once

#include <optional>
#include <vector>

#include "engine/ops/core/lowering_calls.h"

namespace kerf::inline ops {

/// Larger windows would make too much code.
inline constexpr std::int64_t mostCells = 64;

/// The windows of a call whose sizes are all numbers.
struct PoolWindows {
  Sizes kernel, stride, padding, dilation, in, out;
  std::size_t spatial() const { return kernel.size(); }
  std::int64_t cells() const {
    std::int64_t count = 1;
    for (const std::int64_t size : kernel) count *= size;
    return count;
  }
};

/// Sizes are numbers, and arguments those of the plain overload.
bool isStatic(const BoundArguments& bound);
/// Lists from argument `first` on: kernel, stride, padding and, where they are given, dilation.
std::optional<PoolWindows> windowsOf(const BoundArguments& bound, const Tensor& image, std::size_t spatial,
                                     std::size_t first, bool hasDilation, std::size_t ceilMode);

/// An element of the image, and the condition (-1: always) under which the window's cell lies in it.
struct WindowCell {
  IndexMap map;
  int condition = -1;
};
/// The cell of this number (row-major) of the window of the result's element.
WindowCell cellAt(const ElementCall& c, const PoolWindows& w, std::int64_t cell);
int loadCell(const ElementCall& c, const WindowCell& cell, DType dtype);

/// value / divisor of an int64 whose size is below 2^52, towards zero as in C.
int quotient(const ElementCall& c, int value, std::int64_t divisor);
/// Both conditions, of which -1 holds always.
int both(const ElementCall& c, int a, int b);

/// Numbers of one dimension's windows that may hold the element, in rising order, and whether they do.
struct Looking {
  int window;     ///< within the result's bounds
  int condition;  ///< -1: always
};
std::vector<Looking> lookingAt(const ElementCall& c, const PoolWindows& w, std::size_t d, const Affine& place);
/// How many windows may look at one element.
std::int64_t mostLooking(const PoolWindows& w);

/// visit(places of the window, its condition) for all windows that look at the result's element.
template <class Visit>
void forLooking(const ElementCall& c, const PoolWindows& w, Visit&& visit) {
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
}  // namespace kerf::inline ops
