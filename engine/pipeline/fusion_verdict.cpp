#include "engine/pipeline/fusion_verdict.h"

#include <algorithm>
#include <array>

#include "engine/ops/core/op_registry.h"
#include "engine/pipeline/emulate_fusion.h"

namespace kerf::inline pipeline {
namespace {

constexpr std::array<std::string_view, 3> verdictNames = {"same", "expected from fusion", "not explained"};
/// What the emulation may leave of the largest difference.
constexpr double explainedPart = 0.5;

/// Kernels of the compiled side, by the nodes of the captured graph that they compute.
Result<std::vector<RecordedFusionGroup>> ownGroups(const GraphModule& module, CompileOptions options) {
  options.keepArtifacts = true;
  options.faults = {};
  KERF_TRY(const auto compiled, compileFx(module, options));
  std::vector<RecordedFusionGroup> groups;
  for (const KernelInfo& kernel : compiled->kernels()) {
    if (kernel.kind != "fused") continue;
    RecordedFusionGroup group;
    group.kernel = kernel.name;
    group.postGradNodes = kernel.capturedNodes;
    groups.push_back(std::move(group));
  }
  return groups;
}

/// Kerf puts other calls into one kernel than Inductor did, so the rounding of recorded kernels is written out in the
/// graph that it compiles; its own kernels just do not round.
Result<std::unique_ptr<CompiledGraph>> compileSide(const GraphModule& module, CompileOptions options, bool areRecorded,
                                                   std::stop_token stop) {
  options.keepArtifacts = false;
  options.roundsEachOp = areRecorded;
  return compileFx(module, options, std::move(stop));
}

}  // namespace

std::string_view fusionVerdictName(FusionVerdict verdict) { return verdictNames[std::size_t(verdict)]; }

Result<FusionReport> compareFused(const GraphModule& module, std::span<const RecordedFusionGroup> groups,
                                  const ValueList& inputs, const FusionCompareOptions& options, std::stop_token stop) {
  std::vector<RecordedFusionGroup> own;
  const bool areRecorded = !groups.empty();
  if (!areRecorded) {
    KERF_TRY(own, ownGroups(module, options.compile));
    groups = own;
  }
  KERF_TRY(const EmulatedGraph emulated, emulateFusion(module, groups));
  std::unique_ptr<CompiledGraph> compiled;
  const RunModel run = [&](const ValueList& given) -> Result<Value> {
    if (options.results) return *options.results;
    if (!compiled) {
      KERF_TRY(compiled, compileSide(areRecorded ? emulated.module : module, options.compile, areRecorded, stop));
    }
    return compiled->run(given, stop);
  };
  FusionReport report;
  report.kernels = std::int64_t(emulated.kernels);
  report.fused = std::int64_t(emulated.fused);
  report.unrounded = std::int64_t(emulated.unrounded);
  report.missing = std::int64_t(emulated.missing);
  KERF_TRY(report.plain, sameTwoModels(module, referenceOps(), run, inputs, options.compare, stop));
  if (!report.plain.failure.empty()) return report;
  auto second = sameTwoModels(emulated.module, referenceOps(), run, inputs, options.compare, stop);
  if (!second) return fail(std::move(second.error().while_("running the graph with the rounding of fused kernels")));
  report.emulated = std::move(*second);
  return report;
}

const OutputVerdict* rowNamed(const ComparisonReport& report, std::string_view name) {
  const auto found = std::ranges::find(report.outputs, name, &OutputVerdict::name);
  return found == report.outputs.end() ? nullptr : &*found;
}

FusionVerdict fusionVerdict(const OutputVerdict& plain, const OutputVerdict* emulated) {
  if (plain.same) return FusionVerdict::Same;
  if (emulated == nullptr) return FusionVerdict::NotExplained;
  if (emulated->same) return FusionVerdict::Expected;
  const bool sameSpecials = emulated->nanRef == emulated->nanRes && emulated->infRef == emulated->infRes;
  const bool isNearer = sameSpecials && emulated->maxAbsError <= explainedPart * plain.maxAbsError;
  return isNearer ? FusionVerdict::Expected : FusionVerdict::NotExplained;
}

}  // namespace kerf::inline pipeline
