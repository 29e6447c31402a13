#include "app/workbench/graphs/graph_doc.h"

#include <set>
#include <unordered_map>

#include "app/workbench/captures/graph_source.h"
#include "app/workbench/captures/recorded_settings.h"
#include "app/workbench/compile/aot_passes.h"
#include "app/workbench/compile/pass_trace.h"
#include "app/workbench/graphs/input_modules.h"
#include "app/workbench/graphs/nested_graph.h"
#include "app/workbench/graphs/node_doc.h"
#include "engine/capture/inputs/generated_inputs.h"
#include "engine/capture/repro/export_text.h"
#include "engine/ir/printer.h"

namespace kerf::workbench {

namespace {

using Stages = std::vector<std::pair<std::string, StageChoice>>;

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
}

/// Shapes that cannot be found are a note, not a failure: the rest can still be read.
std::vector<std::string> annotated(GraphSource& source) {
  const auto shapes = annotateShapes(source);
  return shapes ? std::vector<std::string>() : std::vector{"Shapes: " + shapes.error().text()};
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

Result<GraphDocPtr> perform(Workbench& bench, const GraphRequest& request, const Job& job) {
  KERF_TRY(const auto asked, splitStage(request.graph));
  const auto stages = asked.stage ? stagesUpTo(*asked.stage) : Stages();
  const int pass = request.afterPass - int(stages.size());
  if (request.afterPass >= 0 && pass < 0) {
    GraphRequest earlier{asked.captured, -1, request.title};
    earlier.graph.stage = stageText(stages[std::size_t(request.afterPass)].second);
    return perform(bench, earlier, job);
  }
  KERF_TRY(auto source, resolveGraph(bench, request.graph, job));
  auto notes = annotated(source);
  for (auto& note : leftOutNotes(source.capture, source.index)) notes.push_back(std::move(note));
  for (const auto& setting : recordedSettings(source)) notes.push_back("PyTorch's minifier was set: " + setting);
  const auto& graph = source.graph();
  const auto file = graph.origin.file.empty() ? source.capture.path : graph.origin.file;
  auto title = request.title.empty() ? graph.name : request.title;
  if (!stages.empty()) title += fmt::format(" ({})", stages.back().first);
  if (request.afterPass >= 0) {
    if (!request.body.empty())
      return fail(ErrorCode::BadUsage, "nested graphs are shown as they were captured, not after passes");
    KERF_TRY(const auto after, graphAfterPass(graph.module, std::size_t(pass), title, file.string(), job));
    const auto named = std::make_shared<GraphDoc>(*after);
    nameInputModules(*named, source);
    return named;
  }
  KERF_TRY(const auto* shown, nestedGraph(graph.module, request.body));
  if (!request.body.empty()) title += " / " + request.body;
  auto doc = buildGraphDoc(*shown, title, file.string());
  doc->notes = std::move(notes);
  if (request.body.empty()) nameInputModules(*doc, source);
  return doc;
}

}  // namespace kerf::workbench
