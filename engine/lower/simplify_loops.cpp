#include <algorithm>
#include <numeric>

#include "engine/lower/lowered_graph.h"

namespace kerf::inline lower {
namespace {

/// Calls visit on every affine index of the kernel, with whether it addresses memory.
template <class Visit>
void forEachIndex(LoopKernel& kernel, Visit&& visit) {
  for (Expr& e : kernel.exprs)
    if (isLoad(e.op) || e.op == ExprOp::Index) visit(e.index, isLoad(e.op));
  for (LoopStore& store : kernel.stores) visit(store.index, true);
}

/// order[new] = old.
void reorder(LoopKernel& kernel, const std::vector<std::size_t>& order) {
  std::vector<LoopVariable> variables;
  for (const std::size_t old : order) variables.push_back(kernel.variables[old]);
  forEachIndex(kernel, [&](Affine& index, bool) {
    Affine moved = Affine::number(index.constant);
    moved.coefficients.resize(order.size());
    for (std::size_t v = 0; v < order.size(); ++v) moved.coefficients[v] = index.coefficient(order[v]);
    moved.trim();
    index = std::move(moved);
  });
  kernel.variables = std::move(variables);
}

/// Serial loops run in their own order, wherever the others lie.
void keepSerialOrder(const LoopKernel& kernel, std::vector<std::size_t>& order) {
  std::vector<std::size_t> places;
  for (std::size_t v = 0; v < order.size(); ++v)
    if (kernel.variables[order[v]].serial) places.push_back(v);
  std::vector<std::size_t> serial;
  for (const std::size_t place : places) serial.push_back(order[place]);
  std::ranges::sort(serial);
  for (std::size_t i = 0; i < places.size(); ++i) order[places[i]] = serial[i];
}

/// Outer loops first, then reduced ones; within each, large steps through memory outside. Stores count twice.
void sortLoops(LoopKernel& kernel) {
  std::vector<double> weight(kernel.variables.size(), 0);
  forEachIndex(kernel, [&](Affine& index, bool memory) {
    if (!memory) return;
    for (std::size_t v = 0; v < weight.size(); ++v)
      weight[v] += std::min(1e6, std::abs(double(exampleOf(index.coefficient(v)))));
  });
  for (const LoopStore& store : kernel.stores)
    for (std::size_t v = 0; v < weight.size(); ++v)
      weight[v] += 4 * std::abs(double(exampleOf(store.index.coefficient(v))));
  std::vector<std::size_t> order(weight.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    if (kernel.variables[a].reduced != kernel.variables[b].reduced) return kernel.variables[b].reduced;
    return weight[a] != weight[b] ? weight[a] > weight[b] : a < b;
  });
  keepSerialOrder(kernel, order);
  reorder(kernel, order);
}

constexpr std::int64_t lineOfMemory = 64;  ///< bytes
/// Rows of whole lines, and others of which few lines are parts.
constexpr std::int64_t shortestOfLines = 128, shortestOfParts = 4096;

std::int64_t bytesStored(const LoopKernel& kernel, const LoopStore& store) {
  std::int64_t bytes = itemSize(kernel.buffers[std::size_t(store.buffer)].dtype);
  for (std::size_t v = 0; v < kernel.variables.size(); ++v)
    if (!isZero(store.index.coefficient(v))) bytes *= kernel.variables[v].size.bits();
  return bytes;
}

/// Whether the one store of an element-wise kernel writes whole rows along the last loop, along which all loads go too.
bool storesRows(const LoopKernel& kernel) {
  const auto isOther = [](const LoopVariable& v) { return v.reduced || v.serial || v.size.isSymbolic(); };
  if (kernel.stores.size() != 1 || kernel.variables.size() < 3) return false;
  if (std::ranges::any_of(kernel.variables, isOther)) return false;
  const std::size_t last = kernel.variables.size() - 1;
  const auto isAcross = [&](const Expr& e) {
    const SymInt step = e.index.coefficient(last);
    return isLoad(e.op) && (e.op != ExprOp::Load || !(isZero(step) || step.isIdentical(1)));
  };
  const LoopStore& store = kernel.stores.front();
  if (std::ranges::any_of(kernel.exprs, isAcross) || store.place >= 0) return false;
  const std::int64_t item = itemSize(kernel.buffers[std::size_t(store.buffer)].dtype);
  const std::int64_t row = kernel.variables[last].size.bits() * item;
  return store.index.coefficient(last).isIdentical(1) &&
         row >= (row % lineOfMemory == 0 ? shortestOfLines : shortestOfParts);
}

/// All loops but the last in the order of what is read.
void sortByReads(LoopKernel& kernel) {
  std::vector<double> weight(kernel.variables.size(), 0);
  for (const Expr& e : kernel.exprs)
    for (std::size_t v = 0; isLoad(e.op) && v < weight.size(); ++v)
      weight[v] += std::abs(double(exampleOf(e.index.coefficient(v))));
  std::vector<std::size_t> order(weight.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end() - 1, [&](std::size_t a, std::size_t b) { return weight[a] > weight[b]; });
  reorder(kernel, order);
}

bool mergeable(LoopKernel& kernel, std::size_t v) {
  if (kernel.variables[v].reduced != kernel.variables[v + 1].reduced) return false;
  if (kernel.variables[v].serial != kernel.variables[v + 1].serial) return false;
  bool fits = true;
  const SymInt size = kernel.variables[v + 1].size;
  forEachIndex(kernel, [&](Affine& index, bool) {
    fits = fits && sameSize(index.coefficient(v), index.coefficient(v + 1) * size);
  });
  return fits;
}

void merge(LoopKernel& kernel, std::size_t v) {
  forEachIndex(kernel, [&](Affine& index, bool) {
    if (index.coefficients.size() > v) index.coefficients.erase(index.coefficients.begin() + std::ptrdiff_t(v));
    index.trim();
  });
  kernel.variables[v + 1].size *= kernel.variables[v].size;
  kernel.variables.erase(kernel.variables.begin() + std::ptrdiff_t(v));
}

}  // namespace

void simplifyLoops(LoopKernel& kernel, std::int64_t streamedFrom) {
  sortLoops(kernel);
  if (storesRows(kernel) && bytesStored(kernel, kernel.stores.front()) >= streamedFrom) sortByReads(kernel);
  for (std::size_t v = 0; v + 1 < kernel.variables.size();) {
    if (mergeable(kernel, v)) {
      merge(kernel, v);
      v = v == 0 ? 0 : v - 1;
    } else {
      ++v;
    }
  }
}

}  // namespace kerf::inline lower
