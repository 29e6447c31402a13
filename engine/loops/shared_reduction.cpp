// sharedReduction(): which reductions are divided among threads.
#include <algorithm>

#include "engine/loops/loop_ir.h"
#include "engine/loops/size_facts.h"

namespace kerf::inline loops {
namespace {

constexpr std::int64_t fewestShared = 1 << 16, fewestInColumns = 1 << 20;  ///< elements
constexpr std::int64_t mostShared = std::int64_t(1) << 48;                 ///< of what never ends a text can say more
constexpr std::int64_t mostPieces = 64, fewestPieces = 4, mostColumnPieces = 16;
/// Fewer are no columns worth it, and more are divided among threads themselves.
constexpr std::int64_t fewestColumns = 8, mostColumns = 1024;

/// Every reduction needs only elements, and nothing is stored per element after one.
bool isOneLoop(const LoopKernel& kernel, const ExprPlacement& place) {
  const auto isAfter = [&](const LoopStore& store) { return store.inner && place.phase[std::size_t(store.value)] > 0; };
  return std::ranges::all_of(place.phase, [](int phase) { return phase <= 1; }) &&
         std::ranges::none_of(kernel.stores, isAfter);
}

/// Loads that walk memory in order along this loop, of what each column has for itself: factors that all of them share
/// are few.
std::int64_t contiguousLoads(const LoopKernel& kernel, const ExprPlacement& place, std::size_t variable,
                             std::size_t column) {
  std::int64_t count = 0;
  for (std::size_t e = 0; e < kernel.exprs.size(); ++e) {
    const Affine& index = kernel.exprs[e].index;
    count += kernel.exprs[e].op == ExprOp::Load && place.level[e] == 2 && index.coefficient(variable).isIdentical(1) &&
             !isZero(index.coefficient(column));
  }
  return count;
}

/// Whether the only loop that is not reduced is one over columns that lie beside each other.
bool isOverColumns(const LoopKernel& kernel, const ExprPlacement& place, std::size_t column) {
  const std::int64_t size = kernel.variables[column].size.bits(), own = contiguousLoads(kernel, place, column, column);
  bool most = size >= fewestColumns && size < mostColumns && own > 0;
  for (std::size_t v = 0; v < kernel.variables.size(); ++v)
    most = most && (v == column || contiguousLoads(kernel, place, v, column) < own);
  return most;
}

}  // namespace

std::optional<SharedReduction> sharedReduction(const LoopKernel& kernel) {
  const auto isCarried = [](const Expr& e) { return e.op == ExprOp::Carry; };
  if (std::ranges::any_of(kernel.exprs, isCarried)) return std::nullopt;
  SharedReduction shared;
  std::int64_t elements = 1, longest = 0;
  for (std::size_t v = 0; v < kernel.variables.size(); ++v) {
    const LoopVariable& variable = kernel.variables[v];
    if (variable.size.isSymbolic() || (!variable.reduced && shared.column)) return std::nullopt;
    if (__builtin_mul_overflow(elements, variable.size.bits(), &elements) || elements > mostShared) return std::nullopt;
    if (!variable.reduced)
      shared.column = v, shared.columns = variable.size.bits();
    else if (variable.size.bits() > longest)
      longest = variable.size.bits(), shared.variable = v;
  }
  if (elements < (shared.column ? fewestInColumns : fewestShared) || longest < fewestPieces) return std::nullopt;
  const ExprPlacement place = placeExpressions(kernel);
  if (!isOneLoop(kernel, place) || (shared.column && !isOverColumns(kernel, place, *shared.column)))
    return std::nullopt;
  const std::int64_t pieces = shared.column ? std::min(mostColumnPieces, elements / fewestShared) : mostPieces;
  shared.chunk = (longest + pieces - 1) / pieces;
  shared.pieces = (longest + shared.chunk - 1) / shared.chunk;
  for (const Expr& e : kernel.exprs) shared.reductions += isReduction(e.op);
  return shared;
}

}  // namespace kerf::inline loops
