// addStructure(): what a graph tells of the steps that are named after its nodes.
#include <unordered_map>
#include <unordered_set>

#include "engine/align/read_recording.h"

namespace kerf::inline align {

namespace {

class StructureReader {
 public:
  StructureReader(RunRecording& recording, const Graph& graph, std::string prefix)
      : m_recording(recording), m_graph(graph), m_prefix(std::move(prefix)) {
    for (std::size_t i = 0; i < recording.steps.size(); ++i)
      if (recording.steps[i].name.starts_with(m_prefix))
        m_steps.emplace(std::string_view(recording.steps[i].name).substr(m_prefix.size()), i);
  }

  void run() {
    for (const NodeId id : m_graph.order()) {
      const Node& node = m_graph.node(id);
      const auto found = m_steps.find(node.name());
      if (found != m_steps.end()) describe(m_recording.steps[found->second], node);
    }
  }

 private:
  void describe(RunStep& step, const Node& node) {
    if (node.op() == Opcode::Placeholder) {
      step.op = "input";
      step.input = true;
      return;
    }
    step.op = baseOpName(node.target());
    step.module = node.meta().modulePath;
    if (!node.meta().sourceFile.empty())
      step.source = fmt::format("{}:{}", node.meta().sourceFile, node.meta().sourceLine);
    step.inputs.clear();
    m_seen.clear();
    walk(node, step);
    std::ranges::reverse(step.parts);
    step.parts.push_back(step.op);
  }

  /// Up to the nearest nodes that have steps of their own.
  void walk(const Node& from, RunStep& step) {
    std::vector<NodeId> open = from.inputs();
    while (!open.empty() && m_seen.size() < mostParts) {
      const NodeId id = open.back();
      open.pop_back();
      if (!m_seen.insert(id).second) continue;
      const Node& node = m_graph.node(id);
      const auto found = m_steps.find(node.name());
      if (found != m_steps.end()) {
        for (const StepValue& value : m_recording.steps[found->second].outputs) {
          step.inputs.push_back(value);
          step.inputs.back().name = node.name();
        }
        continue;
      }
      if (node.op() != Opcode::Placeholder && node.op() != Opcode::GetAttr)
        step.parts.push_back(baseOpName(node.target()));
      const auto more = node.inputs();
      open.insert(open.end(), more.begin(), more.end());
    }
  }

  static constexpr std::size_t mostParts = 10'000;
  RunRecording& m_recording;
  const Graph& m_graph;
  std::string m_prefix;
  std::unordered_map<std::string_view, std::size_t> m_steps;
  std::unordered_set<NodeId> m_seen;
};

}  // namespace

void addStructure(RunRecording& recording, const GraphModule& module, std::string_view graph) {
  StructureReader(recording, module.graph, std::string(graph)).run();
}

}  // namespace kerf::inline align
