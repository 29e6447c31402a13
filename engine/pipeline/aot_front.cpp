#include "engine/pipeline/aot_front.h"

#include "engine/autograd/decompose.h"

namespace kerf::inline pipeline {

namespace {

Result<AotGraph> traceTo(AotStage stage, const GraphModule& captured, const AotSettings& settings,
                         const std::stop_token& stop) {
  std::vector<AotInput> inputs = settings.inputs.empty() ? plainInputs(captured) : settings.inputs;
  return aotTrace(captured, std::move(inputs),
                  {.stage = stage, .keepsMutations = true, .requiresGrad = settings.requiresGrad, .stop = stop});
}

Result<void> record(std::string name, const Graph& before, const Graph& after, StageRecorder& stages) {
  const bool changed = before.contentHash() != after.contentHash();
  return stages.finish({.group = "aot", .name = std::move(name), .part = {}, .changed = changed}, before, after);
}

}  // namespace

Result<AotGraph> traceCaptured(const GraphModule& captured, AotStage last, const AotSettings& settings,
                               StageRecorder& stages) {
  AotGraph traced;
  Graph before = captured.graph;
  for (const AotStage stage : {AotStage::Aten, AotStage::Functional, AotStage::Joint}) {
    if (stage > last || (stage != last && !settings.recordsEveryStage)) continue;
    KERF_TRY(traced, traceTo(stage, captured, settings, stages.stop()));
    KERF_CHECK(record(std::string(stageName(stage)), before, traced.module.graph, stages));
    before = traced.module.graph;
  }
  if (settings.decompositions == DecompositionTable::None) return traced;
  KERF_TRY(traced.module, decomposeGraph(traced.module, settings.decompositions));
  const std::string_view table = decompositionTableName(settings.decompositions);
  KERF_CHECK(record(fmt::format("{}, {} decompositions", stageName(last), table), before, traced.module.graph, stages));
  return traced;
}

Result<ValueList> tracedInputs(const GraphModule& captured, const AotMetadata& metadata, const ValueList& inputs) {
  ValueList values;
  std::size_t next = 0;
  for (const AotInput& input : metadata.inputs) {
    const bool fixed = input.kind == AotInput::Kind::Parameter || input.kind == AotInput::Kind::Buffer;
    const TensorAttribute* attribute =
        fixed && !captured.graph.find(input.source) ? captured.attribute(input.source) : nullptr;
    if (attribute != nullptr)
      values.emplace_back(attribute->tensor);
    else if (next < inputs.size())
      values.push_back(inputs[next++]);
  }
  if (values.size() != metadata.inputs.size() || next != inputs.size())
    return fail(ErrorCode::Internal, "the traced graph takes {} inputs, {} were found for it", metadata.inputs.size(),
                values.size());
  return values;
}

}  // namespace kerf::inline pipeline
