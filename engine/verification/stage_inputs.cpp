#include "engine/verification/stage_inputs.h"

#include <algorithm>

#include "engine/capture/inputs/generated_inputs.h"

namespace kerf::inline verification {
namespace {

/// The best first.
constexpr StagePart sources[] = {StagePart::Joint, StagePart::Whole, StagePart::Forward, StagePart::Dynamo,
                                 StagePart::Backward};

bool lacks(const Stage& stage, std::string_view only, const SlotValues& values) {
  return std::ranges::any_of(stage.inputs,
                             [&](const Slot& slot) { return slot.starts_with(only) && !values.contains(slot); });
}

/// Those whose slots begin with `only`. A graph of its own, whose shapes are filled in.
Result<void> addInputs(const CapturedGraph& graph, const Stage& stage, const SymbolBindings& given,
                       const LoadStage& load, std::string_view only, StageInputs& inputs) {
  SymbolBindings own;
  for (const SymExpr& symbol : graph.symbols()) {
    const auto known = given.find(symbol.text);
    if (known != given.end()) own.insert(*known);
    if (known != given.end() || symbol.hint)
      inputs.symbols.try_emplace(symbol.text, known != given.end() ? known->second : *symbol.hint);
  }
  KERF_TRY(const auto values, load(graph, own));
  for (std::size_t i = 0; i < std::min(values.size(), stage.inputs.size()); ++i)
    if (stage.inputs[i].starts_with(only)) inputs.values.try_emplace(stage.inputs[i], values[i]);
  return {};
}

}  // namespace

LoadStage loadWith(const LoadOptions& options) {
  return [options](CapturedGraph graph, const SymbolBindings& symbols) {
    LoadOptions own = options;
    own.symbols = symbols;
    (void)graph.annotateShapes();  // shapes that stay unknown only make the generated values less fitting
    return graph.loadInputs(own, nullptr);
  };
}

Result<StageInputs> makeStageInputs(Capture& capture, const StagePlan& plan, const SymbolBindings& symbols,
                                    const LoadStage& load) {
  StageInputs inputs;
  const auto has = [&](StagePart part) {
    return std::ranges::find(plan.stages, part, &Stage::part) != plan.stages.end();
  };
  for (const StagePart part : sources) {
    // What a backward graph takes from the forward graph is not made up.
    const std::string_view only = part == StagePart::Backward && has(StagePart::Forward) ? "tangent:" : "";
    for (const Stage& stage : plan.stages) {
      if (stage.part != part || !lacks(stage, only, inputs.values)) continue;
      const auto added = addInputs(capture.graphs[stage.graph], stage, symbols, load, only, inputs);
      if (!added && added.error().code == ErrorCode::Cancelled) return fail(added.error());
      if (!added) inputs.notes.push_back(fmt::format("no inputs from {}: {}", stage.name, added.error().text()));
    }
  }
  for (const Stage& stage : plan.stages) bindAnnotations(capture.graphs[stage.graph].module, inputs.symbols);
  return inputs;
}

}  // namespace kerf::inline verification
