#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "engine/capture/debug/fusion_from_ir.h"
#include "engine/capture/debug/graph_dot.h"
#include "engine/capture/repro/writer.h"
#include "engine/capture/trace/fusion.h"
#include "tests/fuzz/checks.h"

namespace kerf::fuzz {
namespace {

constexpr ImportLimits limits{
    .fileBytes = 1 << 20, .lineBytes = 1 << 18, .nesting = 60, .nodes = 20000, .tensorBytes = 1 << 20};

bool checkDot(std::string_view text) {
  (void)looksLikeGraphDot(text);
  const auto capture = importGraphDot(text, "pass_1_x_input_graph.dot", limits);
  if (!capture) {
    if (exitCode(capture.error().code) != 2) std::abort();
    return false;
  }
  if (!capture->graphs.at(0).module.graph.lint()) std::abort();
  const std::string written = reproText(*capture, 0);
  const auto again = importRepro(written, {}, limits);
  checkExports(*capture, 0);
  if (again && again->graphs[0].contentHash() == capture->graphs[0].contentHash()) return true;
  require(again.has_value(), "what was written of a drawing does not read",
          again ? "" : again.error().text() + "\n" + written);
  require(false, "export and import changed the graph", written);
  return false;
}

}  // namespace

bool checkDebugFiles(std::string_view text) {
  const bool dot = checkDot(text);
  CaptureDetails details;
  GraphOrigin origin;
  origin.stage = "ir_post_fusion";
  trace::NameByteBudget names;
  const bool provenance = trace::addNodeMappings(text, origin, "graph ", details, names);
  const auto nodes = readInductorIr(text, limits.nodes);
  if (!nodes && exitCode(nodes.error().code) != 2) std::abort();
  if (!nodes) return dot || provenance;
  // joining must keep every kernel and every node
  RecordedFusionGroup kernel;
  kernel.kernel = "cpp_fused_0:1";
  details.fusionGroups.push_back(kernel);
  const std::size_t before = details.fusionGroups.size();
  addIrGroups(*nodes, origin, 0, details);
  if (details.fusionGroups.size() < before) std::abort();
  std::set<std::string_view> grouped;
  for (const RecordedFusionGroup& group : details.fusionGroups)
    grouped.insert(group.buffers.begin(), group.buffers.end());
  for (const InductorIrNode& node : *nodes) {
    const bool kept = node.members.empty()
                          ? grouped.contains(node.name)
                          : std::ranges::all_of(node.members, [&](const auto& name) { return grouped.contains(name); });
    require(kept, "a scheduler node is in no fusion group", node.name);
  }
  return true;
}

}  // namespace kerf::fuzz
