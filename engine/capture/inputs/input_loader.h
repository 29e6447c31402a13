// Values of a captured graph's inputs: storages loaded once or replaced, symbolic shapes evaluated. Private to
// engine/capture.
#pragma once

#include <set>

#include "engine/capture/common/capture.h"
#include "engine/symbolic/symbolic.h"

namespace kerf::inline capture {

/// Names of all symbols in the texts of the inputs and storages.
std::set<std::string> inputSymbolNames(const CapturedGraph& graph);
/// Values that the recording gives to symbols: symbolic integers and the sizes that were recorded for symbolic texts.
Result<SymbolBindings> recordedSymbols(const CapturedGraph& graph);
/// The only symbol that was recorded with this value, or "". `reader.symint(4)` does not say which symbol it was; equal
/// sizes share one in PyTorch, and 0 and 1 are never symbols.
std::string symbolOfNumber(const SymbolBindings& recorded, std::int64_t number);
/// The inputs and storages with every symbolic number evaluated anew with `given` before the recorded values. BadUsage
/// for an unknown name in `given`; BadInput naming the symbols without a value.
struct EvaluatedInputs {
  std::vector<GraphInput> inputs;
  std::vector<std::int64_t> storageBytes;  ///< per storage; differs from the recorded number where the size changed
};
Result<EvaluatedInputs> evaluateInputs(const CapturedGraph& graph, const SymbolBindings& given);

}  // namespace kerf::inline capture
