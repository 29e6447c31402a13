// Generated inputs: values for a graph that came without data (text, traces), made from its placeholders' annotations.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/ir/graph_module.h"
#include "engine/symbolic/symbolic.h"
#include "engine/tensor/value.h"

namespace kerf::inline capture {

/// One value per placeholder with the annotated dtype, sizes and strides, the same for the same seed. Floats are nearly
/// normal (weights scaled by their fan-in, variances and what goes into a root positive), integers that index something
/// are in its range, other integers zero, bools random, symbolic integers their value. `symbols` go before hints.
/// BadInput naming the placeholder without annotation, or the symbols that need a value.
Result<ValueList> generateInputs(const GraphModule& module, const SymbolBindings& symbols, std::uint64_t seed);

/// The symbols in the placeholders' annotations with the values that hints and solvable sizes give them.
std::vector<SymExpr> placeholderSymbols(const GraphModule& module);

/// Sets the hint of every symbolic size, stride and integer in the annotations of `module` and its nested graphs from
/// `symbols`; what uses other symbols stays as it is.
void bindAnnotations(GraphModule& module, const SymbolBindings& symbols);

}  // namespace kerf::inline capture
