#include "engine/capture/debug/fusion_from_ir.h"

#include <algorithm>

namespace kerf::inline capture {
namespace {

bool makesNoKernel(const InductorIrNode& node) {
  return node.kind.starts_with("NopKernel") || node.contents == "MultiOutput" || node.kind.starts_with("Grouped");
}

bool isExtern(const InductorIrNode& node) { return node.kind.starts_with("ExternKernel"); }

/// "extern_kernels.addmm" of "extern_kernels.addmm:3".
std::string_view withoutCall(std::string_view kernel) {
  const std::size_t colon = kernel.rfind(':');
  const bool isCall = colon != std::string_view::npos && colon + 1 < kernel.size() &&
                      kernel.find_first_not_of("0123456789", colon + 1) == std::string_view::npos;
  return isCall ? kernel.substr(0, colon) : kernel;
}

/// Kernels that Inductor generated, as opposed to calls of existing ones.
bool isGenerated(std::string_view kernel) {
  return kernel.starts_with("cpp_") || kernel.starts_with("triton_") || kernel.starts_with("pallas_");
}

/// The node's names behind those of the group; keepEach() leaves each once.
void addNames(RecordedFusionGroup& group, const InductorIrNode& node) {
  if (node.members.empty()) group.buffers.push_back(node.name);
  group.buffers.insert(group.buffers.end(), node.members.begin(), node.members.end());
  group.buffers.insert(group.buffers.end(), node.outputs.begin(), node.outputs.end());
  group.postGradNodes.insert(group.postGradNodes.end(), node.origins.begin(), node.origins.end());
}

void keepEach(RecordedFusionGroup& group) {
  keepFirst(group.buffers);
  keepFirst(group.postGradNodes);
}

/// Consecutive generated nodes, or one extern node.
struct Run {
  std::vector<const InductorIrNode*> nodes;
  bool isExtern = false;
};

std::vector<Run> runsOf(const std::vector<InductorIrNode>& nodes) {
  std::vector<Run> runs;
  for (const InductorIrNode& node : nodes) {
    if (makesNoKernel(node)) continue;
    if (isExtern(node) || runs.empty() || runs.back().isExtern) runs.push_back({{}, isExtern(node)});
    runs.back().nodes.push_back(&node);
  }
  return runs;
}

class Matcher {
 public:
  Matcher(const std::vector<InductorIrNode>& nodes, std::size_t first, CaptureDetails& details)
      : m_nodes(nodes), m_details(details), m_kernel(first), m_end(details.fusionGroups.size()) {}

  /// Whether the kernels follow the nodes all the way; groups are changed only then.
  bool match() {
    const std::vector<Run> runs = runsOf(m_nodes);
    for (std::size_t i = 0; i < runs.size(); ++i)
      if (!(runs[i].isExtern ? matchExtern(*runs[i].nodes[0]) : matchGenerated(runs[i]))) return false;
    if (m_kernel != m_end) return false;
    for (const auto& [group, node] : m_found) addNames(m_details.fusionGroups[group], *node);
    for (std::size_t i = 0; i < m_found.size(); ++i)
      if (i == 0 || m_found[i].first != m_found[i - 1].first) keepEach(m_details.fusionGroups[m_found[i].first]);
    return true;
  }

 private:
  const std::string& kernel(std::size_t index) const { return m_details.fusionGroups[index].kernel; }

  bool matchExtern(const InductorIrNode& node) {
    if (m_kernel == m_end || isGenerated(kernel(m_kernel))) return true;  // provenance skips some calls (allocations)
    const std::string_view name = withoutCall(kernel(m_kernel));
    if (!node.kernel.empty() && name != node.kernel && node.kernel.find(name) == std::string::npos &&
        name.find(node.kernel) == std::string_view::npos)
      return true;  // a call that provenance does not list; the end check below catches misalignment
    m_found.emplace_back(m_kernel++, &node);
    return true;
  }

  bool matchGenerated(const Run& run) {
    std::size_t count = 0;
    while (m_kernel + count < m_end && isGenerated(kernel(m_kernel + count))) ++count;
    if (count == 0) return true;
    if (count != 1 && count != run.nodes.size()) return false;
    for (std::size_t i = 0; i < run.nodes.size(); ++i)
      m_found.emplace_back(m_kernel + (count == 1 ? 0 : i), run.nodes[i]);
    m_kernel += count;
    return true;
  }

  const std::vector<InductorIrNode>& m_nodes;
  CaptureDetails& m_details;
  std::size_t m_kernel, m_end;
  std::vector<std::pair<std::size_t, const InductorIrNode*>> m_found;
};

}  // namespace

void addIrGroups(const std::vector<InductorIrNode>& nodes, const GraphOrigin& origin, std::size_t first,
                 CaptureDetails& details) {
  const bool joined = origin.stage == "ir_post_fusion" && Matcher(nodes, first, details).match();
  std::vector<std::string> known;
  for (std::size_t i = first; joined && i < details.fusionGroups.size(); ++i)
    known.insert(known.end(), details.fusionGroups[i].buffers.begin(), details.fusionGroups[i].buffers.end());
  std::ranges::sort(known);
  const auto isKnown = [&](const std::string& name) { return std::ranges::binary_search(known, name); };
  for (const InductorIrNode& node : nodes) {
    if (node.members.empty() ? isKnown(node.name) : std::ranges::all_of(node.members, isKnown)) continue;
    RecordedFusionGroup group;
    group.kernel = origin.stage == "ir_post_fusion" ? node.kernel : std::string();
    group.origin = origin;
    group.origin.line = node.line;
    addNames(group, node);
    keepEach(group);
    details.fusionGroups.push_back(std::move(group));
  }
}

}  // namespace kerf::inline capture
