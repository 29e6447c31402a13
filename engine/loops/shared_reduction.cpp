// sharedReduction(): which reductions are divided among threads.
#include <algorithm>

#include "engine/loops/loop_ir.h"

namespace kerf::inline loops {
namespace {

constexpr std::int64_t fewestShared = 1 << 16;  ///< elements
constexpr std::int64_t mostPieces = 64, fewestPieces = 4;

/// Every reduction needs only elements, and nothing is stored per element after one.
bool isOneLoop(const LoopKernel& kernel) {
  const ExprPlacement place = placeExpressions(kernel);
  const auto isAfter = [&](const LoopStore& store) { return store.inner && place.phase[std::size_t(store.value)] > 0; };
  return std::ranges::all_of(place.phase, [](int phase) { return phase <= 1; }) &&
         std::ranges::none_of(kernel.stores, isAfter);
}

}  // namespace

std::optional<SharedReduction> sharedReduction(const LoopKernel& kernel) {
  SharedReduction shared;
  std::int64_t elements = 1, longest = 0;
  for (std::size_t v = 0; v < kernel.variables.size(); ++v) {
    const LoopVariable& variable = kernel.variables[v];
    if (!variable.reduced || variable.size.isSymbolic()) return std::nullopt;
    elements *= variable.size.bits();
    if (variable.size.bits() > longest) longest = variable.size.bits(), shared.variable = v;
  }
  if (elements < fewestShared || longest < fewestPieces || !kernel.hasReduction() || !isOneLoop(kernel))
    return std::nullopt;
  shared.chunk = (longest + mostPieces - 1) / mostPieces;
  shared.pieces = (longest + shared.chunk - 1) / shared.chunk;
  for (const Expr& e : kernel.exprs) shared.reductions += isReduction(e.op);
  return shared;
}

}  // namespace kerf::inline loops
