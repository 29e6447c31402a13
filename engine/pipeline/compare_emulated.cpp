#include "engine/pipeline/compare_emulated.h"

#include "engine/capture/common/recorded_fusion.h"
#include "engine/process/in_child.h"
#include "engine/tensor/safetensors.h"

namespace kerf::inline pipeline {

namespace {

Result<std::vector<RecordedFusionGroup>> groupsFor(const Capture& capture, std::size_t graph,
                                                   const std::string& emulate) {
  if (emulate == "kerf") return std::vector<RecordedFusionGroup>();
  if (emulate != "inductor")
    return fail(ErrorCode::BadUsage, "there is no emulation \"{}\": inductor or kerf", emulate);
  auto part = compiledPartOf(capture, graph);
  if (part) return std::move(part->groups);
  return fail(ErrorCode::BadUsage, "{}; the emulation \"kerf\" takes the kernels of the compiled side",
              part.error().message);
}

/// Recorded outputs "out0", "out1", … of what the graph returns; None where there is no record.
Result<Value> recordedResults(const GraphModule& module, const std::string& path) {
  KERF_TRY(const SafetensorsFile file, readSafetensors(path));
  const Node& output = module.graph.node(module.graph.outputNode());
  const ListArgument* list = output.args().empty() ? nullptr : output.args()[0].asList();
  ValueList values(list == nullptr ? 1 : list->items.size());
  bool any = false;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Tensor* tensor = file.find(fmt::format("out{}", i));
    if (tensor == nullptr) continue;
    values[i] = *tensor;
    any = true;
  }
  if (!any) return fail(ErrorCode::BadInput, "{} holds no outputs (out0, out1, …)", path);
  return list == nullptr ? values[0] : Value(std::move(values));
}

}  // namespace

Result<FusionReport> compareEmulated(const GraphModule& module, const ValueList& inputs, const EmulatedSide& side,
                                     const IsolationLimits& limits, std::stop_token stop) {
  KERF_TRY(const auto groups, groupsFor(side.capture, side.graph, side.emulate));
  FusionCompareOptions compare{side.compile, side.compare, {}};
  if (!side.results.empty()) {
    KERF_TRY(compare.results, recordedResults(module, side.results));
  }
  const std::function body = [&](const SendEvent&) { return compareFused(module, groups, inputs, compare); };
  KERF_TRY(auto ended, callIsolated<FusionReport>(body, limits, std::move(stop)));
  if (ended.answer) return std::move(*ended.answer);
  const Error end = errorOfEnd(ended.outcome, "the compiled side, while it was compared,", ErrorCode::RuntimeFailed);
  if (end.code == ErrorCode::Cancelled) return fail(end);
  FusionReport report;
  report.plain.failure = end.message;
  return report;
}

}  // namespace kerf::inline pipeline
