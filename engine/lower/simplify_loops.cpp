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

void simplifyLoops(LoopKernel& kernel) {
  sortLoops(kernel);
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
