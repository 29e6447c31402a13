// The exported repro, read again.
#include "engine/capture/repro/writer.h"
#include "engine/ir/printer.h"
#include "engine/ops/core/op_registry.h"
#include "engine/process/temporary_folder.h"
#include "tests/differential/fuzzgraph/checks.h"

namespace kerf::fuzzgraph {
namespace {

Result<Capture> throughFile(const Candidate& candidate) {
  KERF_TRY(CapturedGraph graph, makeCapturedGraph(candidate.module, candidate.inputs, nullptr));
  Capture like;
  like.kind = "repro";
  KERF_TRY(const TemporaryFolder folder, TemporaryFolder::create());
  KERF_TRY(const auto file, exportRepro(makeCapture(std::move(graph), like), 0, folder.path() / "repro"));
  KERF_TRY(Capture again, importCapture(file));
  if (again.graphs.size() != 1) return fail(ErrorCode::Internal, "{} graphs came back", again.graphs.size());
  KERF_CHECK(again.graphs[0].ensureLoaded());
  KERF_CHECK(again.graphs[0].annotateShapes());
  KERF_TRY(const ValueList inputs, again.graphs[0].loadInputs(true, nullptr));
  if (!identical(Value(inputs), Value(candidate.inputs))) return fail(ErrorCode::Internal, "other inputs came back");
  return again;
}

std::string dimText(const Dim& dim) {
  const std::string number = dim.hint ? fmt::to_string(*dim.hint) : "?";
  return dim.text.empty() ? number : fmt::format("{}={}", dim.text, number);
}

/// With what annotations leave out: hints, the offset, whether it has a gradient.
std::string metaText(const ValueMeta& meta) {
  std::string text;
  if (const SymMeta* sym = meta.sym()) return dimText(sym->expr);
  if (const auto* list = meta.list()) {
    for (const ValueMeta& item : *list) text += (text.empty() ? "" : ", ") + metaText(item);
    return "(" + text + ")";
  }
  const TensorMeta* tensor = meta.tensor();
  if (!tensor) return "nothing";
  const auto add = [&](const std::vector<Dim>& dims) {
    text += '[';
    for (const Dim& dim : dims) text += (text.back() == '[' ? "" : ", ") + dimText(dim);
    text += ']';
  };
  text = dtypeInfo(tensor->dtype).shortCode;
  add(tensor->sizes);
  add(tensor->strides);
  return text + fmt::format(" offset {} {}{}", tensor->storageOffset, tensor->device.text(),
                            tensor->requiresGrad ? " requires_grad" : "");
}

std::string firstDifference(const Graph& a, const Graph& b) {
  if (a.size() != b.size()) return fmt::format("{} nodes became {}", a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    const Node &x = a.node(a.order()[i]), &y = b.node(b.order()[i]);
    if (x.name() != y.name() || x.target() != y.target())
      return fmt::format("{} became {} ({})", x.name(), y.name(), y.target());
    const auto places = [](const Graph& graph, const ArgumentList& args) {
      ArgumentList result;
      for (const Argument& arg : args)
        result.push_back(mapNodes(arg, [&](NodeId id) { return Argument("%" + graph.node(id).name()); }));
      return result;
    };
    if (places(a, x.args()) != places(b, y.args())) return fmt::format("other arguments of {}", x.name());
    if (!(x.meta().value == y.meta().value))
      return fmt::format("other metadata of {}: {} became {}", x.name(), metaText(x.meta().value),
                         metaText(y.meta().value));
  }
  return "keywords or nested graphs differ";
}

/// A repro annotates nothing, so how many chunks a size from data makes is unknown until the graph runs: where that is
/// all that a node lost, it gets its metadata back.
void forgiveSizesFromData(const Graph& graph, Graph& again) {
  if (graph.size() != again.size()) return;
  std::set<NodeId> fromData;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const NodeId id = again.order()[i];
    const Node& node = again.node(id);
    const OpInfo* op = findOp(node);
    const auto depends = [&](NodeId input) { return fromData.contains(input); };
    if (!(op && has(op->traits, OpTrait::DataDependent)) && std::ranges::none_of(node.inputs(), depends)) continue;
    fromData.insert(id);
    const ValueMeta& meant = graph.node(graph.order()[i]).meta().value;
    if (!node.meta().value.known() && meant.known()) again.setValueMeta(id, meant);
  }
}

}  // namespace

std::vector<Disagreement> checkExport(const Candidate& candidate, const Value& reference) {
  auto again = throughFile(candidate);
  if (!again) return {{"", "export error", again.error().text()}};
  GraphModule& module = again->graphs[0].module;
  forgiveSizesFromData(candidate.module.graph, module.graph);
  if (module.graph.contentHash() != candidate.module.graph.contentHash())
    return {{"", "hash", firstDifference(candidate.module.graph, module.graph)}};
  for (const auto& [path, nested] : candidate.module.submodules) {  // whose metadata a repro does not write
    const Submodule* other = module.submodule(path);
    if (!other || !other->graph || printGraphText(other->graph->graph) != printGraphText(nested.graph->graph))
      return {
          {"", "hash",
           fmt::format("{}: {}", path,
                       other && other->graph ? firstDifference(nested.graph->graph, other->graph->graph) : "missing")}};
  }
  const auto result = interpreted(module, candidate.inputs, false);
  if (!result) return {{"", "export error", result.error().text()}};
  if (!identical(result->outputs, reference)) return {{"", "values", "the graph that came back gives other results"}};
  return {};
}

}  // namespace kerf::fuzzgraph
