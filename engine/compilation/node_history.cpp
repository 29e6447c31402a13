#include "engine/compilation/node_history.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/capture/common/recorded_fusion.h"
#include "engine/capture/common/wrapper_code.h"
#include "engine/compilation/compile_stages.h"
#include "engine/compilation/recorded_provenance.h"
#include "engine/diff/correspondence.h"
#include "engine/diff/gradient_half.h"
#include "engine/ir/printer.h"

namespace kerf::inline compilation {

namespace {

constexpr std::int64_t codeLimit = 64LL << 20;  ///< bytes of one program

/// "model.py:7 in forward, code: y = relu(x)" of the innermost frame.
std::string sourceOf(const Node& node) {
  const std::string& trace = node.meta().stackTrace;
  const std::size_t file = trace.rfind("File: ");
  return file == std::string::npos ? std::string() : trace.substr(file + 6);
}

class Life {
 public:
  Life(const Capture& capture, std::size_t graph)
      : m_capture(capture),
        m_parts(capture.details ? compiledParts(capture) : std::vector<CompiledPart>()),
        m_stages(compileStages(capture, m_parts, graph)),
        m_nodes(m_stages.size()) {
    for (const CompileStage& stage : m_stages) m_graphs.push_back(capture.graphs[stage.graph]);
    m_start = std::size_t(std::ranges::find(m_stages, graph, &CompileStage::graph) - m_stages.begin());
  }

  Result<NodeHistory> run(const std::string& name, const WorkProgress& progress) {
    KERF_CHECK(graphOf(m_start).ensureLoaded());
    const Graph& graph = graphOf(m_start).module.graph;
    const auto node = graph.find(name);
    if (!node) return fail(ErrorCode::NotFound, "{} has no node \"{}\"", graphOf(m_start).name, name);
    m_history.node = name;
    m_history.graph = graphOf(m_start).name;
    m_history.compileId = graphOf(m_start).origin.compileId;
    m_nodes[m_start].emplace(*node, "");
    KERF_CHECK(goBack(progress));
    KERF_CHECK(goForward(progress));
    write();
    return std::move(m_history);
  }

 private:
  using Nodes = std::map<NodeId, std::string>;  ///< and how each is known

  CapturedGraph& graphOf(std::size_t stage) { return m_graphs[stage]; }

  Result<Correspondence> between(std::size_t before, std::size_t after, const WorkProgress& progress) {
    if (!progress.step("following the node", double(after) / double(m_stages.size())))
      return fail(ErrorCode::Cancelled, "stopped");
    KERF_CHECK(graphOf(before).ensureLoaded());
    KERF_CHECK(graphOf(after).ensureLoaded());
    const Graph &a = graphOf(before).module.graph, &b = graphOf(after).module.graph;
    return Correspondence(
        diffGraphs(a, b, recordedBetween(m_capture, m_stages[before].graph, m_capture, m_stages[after].graph)));
  }

  Result<void> goBack(const WorkProgress& progress) {
    std::size_t at = m_start;
    while (m_stages[at].parent && !m_nodes[at].empty()) {
      const std::size_t parent = *m_stages[at].parent;
      KERF_TRY(const Correspondence links, between(parent, at, progress));
      for (const auto& [node, how] : m_nodes[at])
        for (const auto& link : links.before(node)) m_nodes[parent].emplace(link.node, link.how);
      at = parent;
    }
    return {};
  }

  /// Stages stand behind those that they came from.
  Result<void> goForward(const WorkProgress& progress) {
    std::vector<char> reached(m_stages.size(), 0);
    reached[m_start] = 1;
    addGradients(m_start);
    for (std::size_t at = m_start + 1; at < m_stages.size(); ++at) {
      if (!m_stages[at].parent || !reached[*m_stages[at].parent]) continue;
      const std::size_t parent = *m_stages[at].parent;
      reached[at] = 1;
      if (m_nodes[parent].empty()) continue;
      KERF_TRY(const Correspondence links, between(parent, at, progress));
      for (const auto& [node, how] : m_nodes[parent])
        for (const auto& link : links.after(node))
          m_nodes[at].emplace(link.node, how == gradient ? std::string(gradient) : std::string(link.how));
      addGradients(at);
    }
    return {};
  }

  /// Nodes of a joint graph that compute the gradients of what is followed.
  void addGradients(std::size_t stage) {
    if (m_stages[stage].label != "joint" || m_nodes[stage].empty()) return;
    std::vector<NodeId> followed;
    for (const auto& [node, how] : m_nodes[stage]) followed.push_back(node);
    for (const NodeId id : gradientsOf(graphOf(stage).module.graph, followed)) m_nodes[stage].emplace(id, gradient);
  }

  void write() {
    for (std::size_t at = 0; at < m_stages.size(); ++at) {
      if (m_nodes[at].empty()) continue;
      const Graph& graph = graphOf(at).module.graph;
      HistoryStage stage{graphOf(at).name, m_stages[at].label, {}};
      for (const NodeId id : graph.order())
        if (const auto found = m_nodes[at].find(id); found != m_nodes[at].end())
          stage.nodes.push_back({graph.node(id).name(), printNode(graph, id), found->second});
      for (const auto& [node, how] : m_nodes[at])
        if (m_history.source.empty() && how != gradient) m_history.source = sourceOf(graph.node(node));
      m_history.stages.push_back(std::move(stage));
    }
    for (const CompiledPart& part : m_parts) writeKernels(part);
    if (m_stages.size() == 1) m_history.notes.push_back("the capture has no other graph of this compilation");
    if (m_history.kernels.empty()) m_history.notes.push_back("no output code that the capture holds names its nodes");
  }

  void writeKernels(const CompiledPart& part) {
    const auto lowered = std::ranges::find_if(
        m_stages, [&](const CompileStage& stage) { return part.lowered && stage.graph == *part.lowered; });
    if (lowered == m_stages.end()) return;
    const auto stage = std::size_t(lowered - m_stages.begin());
    std::set<std::string> names;
    for (const auto& [node, how] : m_nodes[stage])
      if (const Node& each = graphOf(stage).module.graph.node(node); each.op() != Opcode::Placeholder)
        names.insert(each.name());
    if (names.empty()) return;
    const auto text = m_capture.details->records[part.code].text(codeLimit);
    const WrapperCode code = text ? readWrapperCode(*text) : WrapperCode();
    const auto lines = text ? linesOf(*text) : std::vector<std::string_view>();
    for (const RecordedFusionGroup& group : part.groups) {
      HistoryKernel kernel{group.kernel, part.part, {}, fmt::format("r{}", part.code + 1), 0, 0, {}};
      for (const std::string& node : group.postGradNodes)
        if (names.contains(node)) kernel.nodes.push_back(node);
      if (kernel.nodes.empty()) continue;
      placeInCode(code, lines, kernel);
      m_history.kernels.push_back(std::move(kernel));
    }
  }

  static std::vector<std::string_view> linesOf(std::string_view text) {
    std::vector<std::string_view> lines;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      lines.push_back(text.substr(at, end - at));
      at = end + 1;
    }
    return lines;
  }

  static void placeInCode(const WrapperCode& code, const std::vector<std::string_view>& lines, HistoryKernel& kernel) {
    const std::string callee = kernel.kernel.substr(0, kernel.kernel.rfind(':'));
    if (const WrapperKernel* defined = code.kernel(callee)) kernel.definedAt = defined->line;
    auto call = std::ranges::find_if(code.calls, [&](const WrapperCall& each) { return each.name() == kernel.kernel; });
    if (call == code.calls.end()) call = std::ranges::find(code.calls, callee, &WrapperCall::callee);
    if (call == code.calls.end()) return;
    kernel.calledAt = call->line;
    if (call->line < 1 || std::size_t(call->line) > lines.size()) return;
    std::string_view line = lines[std::size_t(call->line) - 1];
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    kernel.callText = line;
  }

  static constexpr std::string_view gradient = "gradient";
  const Capture& m_capture;
  std::vector<CompiledPart> m_parts;
  std::vector<CompileStage> m_stages;
  std::vector<CapturedGraph> m_graphs;  ///< by stage; read when they are needed
  std::vector<Nodes> m_nodes;           ///< by stage
  std::size_t m_start = 0;
  NodeHistory m_history;
};

}  // namespace

Result<NodeHistory> nodeHistory(const Capture& capture, std::size_t graph, const std::string& node,
                                const WorkProgress& progress) {
  return Life(capture, graph).run(node, progress);
}

}  // namespace kerf::inline compilation
