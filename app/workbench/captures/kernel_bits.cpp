#include "app/workbench/kernel_bits.h"

#include <algorithm>
#include <optional>

#include "app/workbench/captures/capture_source.h"
#include "app/workbench/captures/given_inputs.h"
#include "app/workbench/captures/graph_source.h"
#include "app/workbench/captures/recorded_settings.h"
#include "app/workbench/engine_options.h"
#include "engine/capture/common/recorded_fusion.h"
#include "engine/compilation/recorded_provenance.h"
#include "engine/pipeline/kernel_bits.h"
#include "engine/process/in_child.h"

namespace kerf::workbench {

namespace {

/// Values that eager mode rounds: what neither copies, nor compares, nor only looks at them.
bool roundsInEager(const Graph& graph, const Node& node) {
  if (node.op() == Opcode::Placeholder || node.op() == Opcode::GetAttr) return false;
  const BitRule rule = bitRule(graph, node);
  return rule != BitRule::Exact && rule != BitRule::Steps;
}

/// The ops of `source` that nodes stem from. Two calls of one op on the same values are one: they give the same.
EagerOps eagerOpsIn(const Graph& source, const RecordedOrigins& origins) {
  EagerOps ops;
  std::map<std::string, std::vector<NodeId>> seen;
  for (const auto& [name, after] : origins) {
    const auto id = source.find(name);
    if (!id || source.node(*id).op() == Opcode::Placeholder) continue;
    const Node& node = source.node(*id);
    for (const std::string& made : after) {
      const bool again = std::ranges::any_of(seen[made], [&](NodeId other) {
        return source.node(other).target() == node.target() && source.node(other).inputs() == node.inputs();
      });
      seen[made].push_back(*id);
      if (!again) ops[made].push_back({fmt::format("{} ({})", name, node.target()), roundsInEager(source, node)});
    }
  }
  return ops;
}

/// Ops before AOTAutograd that nodes of the graph are parts of or stand for, as the provenance says: of the earliest graph
/// that knows a node.
EagerOps eagerOpsOf(const Capture& capture, std::size_t lowered) {
  EagerOps ops;
  for (std::size_t before = 0; before < capture.graphs.size(); ++before) {
    const auto origins = recordedBetween(capture, before, capture, lowered);
    if (origins.empty()) continue;
    CapturedGraph source = capture.graphs[before];
    if (!source.ensureLoaded()) continue;
    for (auto& [node, found] : eagerOpsIn(source.module.graph, origins)) ops.try_emplace(node, std::move(found));
  }
  return ops;
}

void addBitsOfPart(const Capture& capture, const CompiledPart& part, std::vector<KernelBits>& kernels) {
  const std::optional<std::size_t> index = part.lowered           ? part.lowered
                                           : !part.graphs.empty() ? std::optional(part.graphs.front())
                                                                  : std::nullopt;
  if (!index) return;
  CapturedGraph graph = capture.graphs[*index];
  if (!graph.ensureLoaded()) return;
  const std::string name = graph.origin.compileId + (part.part.empty() ? "" : " " + part.part);
  for (KernelBits& bits : kernelBits(graph.module.graph, part.groups, eagerOpsOf(capture, *index))) {
    bits.part = name;
    kernels.push_back(std::move(bits));
  }
}

/// "[0/0]" is asked for as "0/0", too.
bool isCompilation(const std::string& id, const std::string& wanted) {
  return wanted.empty() || id == wanted || id == "[" + wanted + "]";
}

Result<std::vector<KernelBits>> recordedBits(Workbench& bench, const BitsRequest& request, const Job& job) {
  const std::string path = request.graph.text.substr(0, request.graph.text.find('#'));
  KERF_TRY(const auto source, openCapture(bench, path, job));
  const Capture& capture = source->capture;
  std::vector<KernelBits> kernels;
  if (!capture.details) return kernels;
  for (const CompiledPart& part : compiledParts(capture))
    if (isCompilation(capture.details->records[part.code].origin.compileId, request.compile))
      addBitsOfPart(capture, part, kernels);
  return kernels;
}

/// The name of a step that calls an existing function, so that it is told from a generated kernel.
constexpr std::string_view existingMark = "existing.";

Result<std::vector<KernelBits>> bitsOfCompiled(const GraphModule& module, const CompileOptions& options) {
  KERF_TRY(const auto compiled, compileFx(module, options));
  std::vector<RecordedFusionGroup> groups;
  for (const KernelInfo& kernel : compiled->kernels()) {
    if (kernel.kind == "view") continue;
    RecordedFusionGroup& group = groups.emplace_back();
    group.kernel = kernel.kind == "fused" ? kernel.name : std::string(existingMark) + kernel.name;
    group.postGradNodes = kernel.capturedNodes;
  }
  auto kernels = kernelBits(module.graph, groups, {}, true);
  for (KernelBits& bits : kernels)
    if (bits.kernel.starts_with(existingMark)) bits.kernel.erase(0, existingMark.size());
  return kernels;
}

Result<std::vector<KernelBits>> ownBits(Workbench& bench, const BitsRequest& request, const Job& job) {
  KERF_TRY(auto options, engineOptions({}, request.passes, 1e-3, request.timeout));
  KERF_CHECK(setBackend(options, request.backend));
  KERF_TRY(auto found, resolveGraph(bench, request.graph, job));
  KERF_TRY(RunnableGraph source, runnable(std::move(found), job));
  KERF_TRY(const auto module, moduleToCompare(source));
  options.compile.keepArtifacts = false;
  const std::function<Result<std::vector<KernelBits>>()> body = [&] { return bitsOfCompiled(module, options.compile); };
  return inChild<std::vector<KernelBits>>(body, patientLimits(request.timeout), job.stop, "compiling",
                                          ErrorCode::RuntimeFailed);
}

}  // namespace

Result<std::vector<KernelBits>> perform(Workbench& bench, const BitsRequest& request, const Job& job) {
  return request.own ? ownBits(bench, request, job) : recordedBits(bench, request, job);
}

}  // namespace kerf::workbench
