#include "app/workbench/graphs/graph_doc.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "engine/capture/inputs/generated_inputs.h"
#include "engine/capture/repro/export_text.h"
#include "engine/ir/printer.h"
#include "engine/partition/joint_graph.h"

namespace kerf::workbench {

namespace {

std::vector<std::string> linesOf(const std::string& text) {
  std::vector<std::string> lines{""};
  for (const char c : text) {
    if (c == '\n')
      lines.emplace_back();
    else
      lines.back() += c;
  }
  return lines;
}

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t");
  return first == std::string::npos ? std::string() : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// Node name that one line of Python code assigns; empty for other lines.
std::string assigned(const std::string& line) {
  const auto end = line.find_first_of(" :");
  const auto equals = line.find(" = ");
  return end != std::string::npos && equals != std::string::npos && equals > 0 ? line.substr(0, end) : std::string();
}

void findCodeLines(GraphDoc& doc) {
  int definition = -1, result = -1;
  for (int i = 0; i < int(doc.code.size()); ++i) {
    const auto line = trimmed(doc.code[std::size_t(i)]);
    if (definition < 0 && line.starts_with("def ")) definition = i;
    if (line.starts_with("return")) result = i;
    const int node = doc.find(assigned(line));
    if (node >= 0 && doc.nodes[std::size_t(node)].codeLine < 0) doc.nodes[std::size_t(node)].codeLine = i;
  }
  for (auto& node : doc.nodes) {
    if (node.kind == NodeKind::Input) node.codeLine = definition;
    if (node.kind == NodeKind::Output) node.codeLine = result;
  }
}

std::vector<std::string> calledOps(const GraphDoc& doc) {
  std::set<std::string> ops;
  for (const auto& node : doc.nodes) {
    if (node.opcode == "call_function" && node.target.starts_with("torch.ops."))
      ops.insert(node.op.substr(0, node.op.find('.')));
  }
  return {ops.begin(), ops.end()};
}

/// What AOTAutograd noted of a joint graph's node.
void fillBackward(NodeDoc& doc, const Node& node) {
  for (const auto& [key, value] : node.meta().extra) {
    if (key == "partitioner_tag" && value == "is_backward") doc.backward = true;
    if (key == "fwd_node") doc.forwardNode = value;
  }
}

/// A recorded joint graph has no such notes: what depends on a tangent is backward, as the partition has it too.
void findBackward(GraphDoc& doc, const Graph& graph) {
  if (std::ranges::any_of(doc.nodes, &NodeDoc::backward)) return;
  std::size_t place = 0;
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    auto& shown = doc.nodes[place++];
    const bool ofTangents =
        std::ranges::any_of(shown.inputs, [&](int input) { return doc.nodes[std::size_t(input)].backward; });
    const bool isTangent = node.op() == Opcode::Placeholder && jointInputOf(node) == JointInput::Tangent;
    shown.backward = isTangent || (ofTangents && node.op() != Opcode::Output);
  }
}

void fillNodes(GraphDoc& doc, const Graph& graph, const std::string& sourceFile) {
  std::unordered_map<NodeId, int> position;
  doc.nodes.reserve(graph.size());
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    position[id] = int(doc.nodes.size());
    doc.nodes.push_back(nodeDoc(graph, node, sourceFile));
    fillBackward(doc.nodes.back(), node);
    for (const NodeId input : node.inputs())
      if (const auto found = position.find(input); found != position.end())
        doc.nodes.back().inputs.push_back(found->second);
  }
  for (std::size_t i = 0; i < doc.nodes.size(); ++i)
    for (const int input : doc.nodes[i].inputs) doc.nodes[std::size_t(input)].users.push_back(int(i));
  findBackward(doc, graph);
}

}  // namespace

std::shared_ptr<GraphDoc> buildGraphDoc(const GraphModule& module, const std::string& title,
                                        const std::string& sourceFile) {
  auto doc = std::make_shared<GraphDoc>();
  const Graph& graph = module.graph;
  doc->title = title;
  doc->hash = graph.contentHash().hex();
  fillNodes(*doc, graph, sourceFile);
  findBodies(*doc, module);
  doc->afterReading();
  doc->code = linesOf(printPythonCode(module, {}));
  doc->ops = calledOps(*doc);
  findCodeLines(*doc);
  for (const SymExpr& symbol : placeholderSymbols(module))
    doc->symbols.push_back({symbol.text, symbol.hint ? std::to_string(*symbol.hint) : std::string()});
  return doc;
}

}  // namespace kerf::workbench
