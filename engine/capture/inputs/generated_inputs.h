// Generated inputs: values for a graph that came without data (text, traces), made from its placeholders' annotations.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/capture/common/capture.h"
#include "engine/ir/graph_module.h"
#include "engine/symbolic/symbolic.h"
#include "engine/tensor/value.h"

namespace kerf::inline capture {

/// One value per placeholder with the annotated dtype, sizes and strides, the same for the same seed: tensors filled as
/// `options` say, symbolic integers with their value. `options.symbols` go before hints. BadInput naming the
/// placeholder without annotation, or the symbols that need a value.
Result<ValueList> generateInputs(const GraphModule& module, const LoadOptions& options);
/// Where those values would come from, without making them.
Result<std::vector<InputOrigin>> generatedOrigins(const GraphModule& module, const LoadOptions& options);

/// The symbols in the placeholders' annotations with the values that hints and solvable sizes give them.
std::vector<SymExpr> placeholderSymbols(const GraphModule& module);

/// Sets the hint of every symbolic size, stride and integer in the annotations of `module` and its nested graphs from
/// `symbols`; what uses other symbols stays as it is.
void bindAnnotations(GraphModule& module, const SymbolBindings& symbols);

}  // namespace kerf::inline capture
