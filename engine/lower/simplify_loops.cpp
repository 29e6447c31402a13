#include <algorithm>
#include <numeric>
#include <set>

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

/// Numbers that a loop may be cut at, and expressions that each range has again.
constexpr std::size_t mostCuts = 4, mostExpressions = 40;

bool isIndexOf(const Expr& e, std::size_t v) { return e.op == ExprOp::Index && e.index == Affine::variable(v); }

bool comparesIndex(const LoopKernel& kernel, const Expr& e, std::size_t v) {
  if (e.op != ExprOp::Lt && e.op != ExprOp::Ge) return false;
  const Expr& number = kernel.exprs[std::size_t(e.args[1])];
  return isIndexOf(kernel.exprs[std::size_t(e.args[0])], v) && number.op == ExprOp::Constant &&
         number.dtype == DType::Int64 && std::abs(number.integer) < (std::int64_t{1} << 31);
}

/// The numbers with which the index of loop `v` is compared; nothing where it, or one of them, is used otherwise, or
/// where that takes too many ranges.
std::vector<std::size_t> comparedNumbers(const LoopKernel& kernel, std::size_t v) {
  std::set<std::size_t> numbers, others;
  for (const Expr& e : kernel.exprs) {
    const bool compares = comparesIndex(kernel, e, v);
    if (compares) numbers.insert(std::size_t(e.args[1]));
    for (std::size_t a = 0; a < exprOpInfo(e.op).arity && !compares; ++a) others.insert(std::size_t(e.args[a]));
  }
  for (const LoopStore& store : kernel.stores) others.insert({std::size_t(store.value), std::size_t(store.place)});
  const auto isTaken = [&](std::size_t e) { return isIndexOf(kernel.exprs[e], v) || numbers.contains(e); };
  const auto isWithin = [&](std::size_t e) { return e < kernel.exprs.size() && isTaken(e); };
  if (numbers.size() > mostCuts || kernel.exprs.size() > mostExpressions) return {};
  if (std::ranges::any_of(others, isWithin)) return {};
  return {numbers.begin(), numbers.end()};
}

/// Element-wise, the last two loops, of fixed sizes, with everything in order along the last one.
bool mayCut(const LoopKernel& kernel, std::size_t v) {
  const auto isOther = [](const LoopVariable& loop) { return loop.reduced || loop.serial || loop.size.isSymbolic(); };
  if (v + 2 != kernel.variables.size() || std::ranges::any_of(kernel.variables, isOther)) return false;
  const auto isAcross = [&](const Expr& e) {
    const SymInt step = e.index.coefficient(v + 1);
    return e.op == ExprOp::LoadAt || e.op == ExprOp::Carry || (isLoad(e.op) && !(isZero(step) || step.isIdentical(1)));
  };
  return std::ranges::none_of(kernel.exprs, isAcross);
}

bool mergeable(LoopKernel& kernel, std::size_t v, bool cuts) {
  if (kernel.variables[v].reduced != kernel.variables[v + 1].reduced) return false;
  if (kernel.variables[v].serial != kernel.variables[v + 1].serial) return false;
  const SymInt size = kernel.variables[v + 1].size;
  const auto fits = [&](const Affine& index) {
    return sameSize(index.coefficient(v), index.coefficient(v + 1) * size);
  };
  const bool cutsHere = cuts && mayCut(kernel, v) && !comparedNumbers(kernel, v).empty();
  const auto isApart = [&](const Expr& e) {
    return (isLoad(e.op) || e.op == ExprOp::Index) && !fits(e.index) && !(cutsHere && isIndexOf(e, v));
  };
  return std::ranges::none_of(kernel.exprs, isApart) &&
         std::ranges::all_of(kernel.stores, [&](const LoopStore& store) { return fits(store.index); });
}

/// An index of loop `v` becomes that of both loops; what it is compared with grows with it.
void spreadComparisons(LoopKernel& kernel, std::size_t v) {
  for (const std::size_t number : comparedNumbers(kernel, v))
    kernel.exprs[number].integer *= kernel.variables[v + 1].size.bits();
  for (Expr& e : kernel.exprs)
    if (isIndexOf(e, v)) e.index = Affine::variable(v + 1);
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

void simplifyLoops(LoopKernel& kernel, std::int64_t streamedFrom, bool cutsLoops) {
  sortLoops(kernel);
  if (storesRows(kernel) && bytesStored(kernel, kernel.stores.front()) >= streamedFrom) sortByReads(kernel);
  for (std::size_t v = 0; v + 1 < kernel.variables.size();) {
    if (mergeable(kernel, v, cutsLoops)) {
      if (cutsLoops && mayCut(kernel, v)) spreadComparisons(kernel, v);
      merge(kernel, v);
      v = v == 0 ? 0 : v - 1;
    } else {
      ++v;
    }
  }
}

}  // namespace kerf::inline lower
