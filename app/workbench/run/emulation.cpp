#include "app/workbench/run/emulation.h"

#include "engine/capture/common/recorded_fusion.h"
#include "engine/pipeline/fusion_verdict.h"
#include "engine/process/in_child.h"
#include "engine/tensor/safetensors.h"

namespace kerf::workbench {

namespace {

Result<std::vector<RecordedFusionGroup>> groupsFor(const GraphSource& source, const std::string& emulate) {
  if (emulate == "kerf") return std::vector<RecordedFusionGroup>();
  if (emulate != "inductor")
    return fail(ErrorCode::BadUsage, "there is no emulation \"{}\": inductor or kerf", emulate);
  auto part = compiledPartOf(source.capture, source.index);
  if (part) return std::move(part->groups);
  return fail(ErrorCode::BadUsage, "{}; the emulation \"kerf\" takes the kernels of the compiled side", part.error().message);
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

FusionComparison fusionOf(const FusionReport& report, const std::string& emulate) {
  FusionComparison fusion{emulate, {}, report.kernels, report.fused, report.unrounded, report.missing};
  for (const OutputVerdict& plain : report.plain.outputs) {
    const OutputVerdict* emulated = rowNamed(report.emulated, plain.name);
    EmulatedRow row{plain.name, false, 0, 0, std::string(fusionVerdictName(fusionVerdict(plain, emulated)))};
    if (emulated != nullptr) {
      row.same = emulated->same;
      row.ratio = emulated->ratioToLimit;
      row.error = emulated->maxAbsError;
    }
    fusion.rows.push_back(std::move(row));
  }
  return fusion;
}

}  // namespace

Result<EmulatedComparison> compareEmulated(const GraphSource& source, const Candidate& candidate,
                                           const CompareRequest& request, const EngineOracleOptions& options,
                                           const Job& job) {
  KERF_TRY(const auto groups, groupsFor(source, request.emulate));
  FusionCompareOptions compare{options.compile, options.compare, {}};
  if (!request.results.empty()) {
    KERF_TRY(compare.results, recordedResults(candidate.module, request.results));
  }
  const std::function body = [&](const SendEvent&) {
    return compareFused(candidate.module, groups, candidate.inputs, compare);
  };
  KERF_TRY(auto ended, callIsolated<FusionReport>(body, options.limits, job.stop));
  if (ended.answer) {
    if (!*ended.answer) return fail(ended.answer->error());
    return EmulatedComparison{(*ended.answer)->plain, fusionOf(**ended.answer, request.emulate)};
  }
  const Error end = errorOfEnd(ended.outcome, "the compiled side, while it was compared,", ErrorCode::RuntimeFailed);
  if (end.code == ErrorCode::Cancelled) return fail(end);
  EmulatedComparison comparison;
  comparison.plain.failure = end.message;
  comparison.fusion.emulation = request.emulate;
  return comparison;
}

}  // namespace kerf::workbench
