#include "app/workbench/export/render.h"

#include "engine/ir/printer.h"

namespace kerf::workbench {

namespace {

/// null instead of an empty text.
Json orNull(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json dimsJson(const std::vector<Dim>& dims) {
  Json list = Json::array();
  for (const auto& dim : dims) {
    if (!dim.text.empty())
      list.push_back(dim.text);
    else
      list.push_back(dim.hint ? Json(*dim.hint) : Json());
  }
  return list;
}

Json valueJson(const ValueMeta& value) {
  if (const auto* tensor = value.tensor()) {
    return {{"kind", "tensor"},
            {"dtype", dtypeInfo(tensor->dtype).torchName},
            {"shape", dimsJson(tensor->sizes)},
            {"stride", dimsJson(tensor->strides)},
            {"device", tensor->device.text()}};
  }
  if (const auto* sym = value.sym())
    return {{"kind", "symint"}, {"expr", sym->expr.text}, {"hint", sym->expr.hint ? Json(*sym->expr.hint) : Json()}};
  if (const auto* list = value.list()) {
    Json entries = Json::array();
    for (const auto& entry : *list) entries.push_back(valueJson(entry));
    return {{"kind", "tuple"}, {"values", std::move(entries)}};
  }
  return nullptr;
}

Json nodeJson(const Graph& graph, const Node& node) {
  Json args = Json::array();
  Json kwargs = Json::object();
  Json users = Json::array();
  for (const auto& argument : node.args()) args.push_back(printArgument(graph, argument, ArgumentStyle::Python));
  for (const auto& [name, value] : node.kwargs()) kwargs[name] = printArgument(graph, value, ArgumentStyle::Python);
  for (const auto user : node.users()) users.push_back(graph.node(user).name());
  return {{"name", node.name()},
          {"op", opcodeName(node.op())},
          {"target", node.target()},
          {"args", std::move(args)},
          {"kwargs", std::move(kwargs)},
          {"users", std::move(users)},
          {"value", valueJson(node.meta().value)},
          {"source_file", node.meta().sourceFile},
          {"source_line", node.meta().sourceLine}};
}

constexpr std::string_view inputKinds[] = {"tensor", "symint", "const", "unsupported", "generator", "opaque"};

Json inputJson(const GraphInput& input) {
  Json object{{"name", input.name}, {"kind", inputKinds[std::size_t(input.kind)]}};
  if (input.kind == GraphInput::Kind::Tensor) {
    object["dtype"] = dtypeInfo(input.dtype).torchName;
    object["shape"] = input.sizes;
    object["stride"] = input.strides;
  }
  return object;
}

Json originJson(const GraphOrigin& origin) {
  return {{"file", orNull(origin.file.string())},
          {"line", origin.line > 0 ? Json(origin.line) : Json()},
          {"compile_id", orNull(origin.compileId)},
          {"rank", origin.rank < 0 ? Json() : Json(origin.rank)},
          {"stage", orNull(origin.stage)}};
}

Json symbolsJson(const CapturedGraph& graph) {
  Json list = Json::array();
  for (const auto& symbol : graph.symbols())
    list.push_back({{"name", symbol.text}, {"hint", symbol.hint ? Json(*symbol.hint) : Json()}});
  return list;
}

Json entriesJson(const std::vector<GraphSignature::Entry>& entries) {
  Json list = Json::array();
  for (const auto& entry : entries) {
    list.push_back({{"kind", entry.kind},
                    {"name", entry.name},
                    {"target", orNull(entry.target)},
                    {"persistent", entry.persistent}});
  }
  return list;
}

}  // namespace

Json signatureJson(const CapturedGraph& graph) {
  if (!graph.signature) return nullptr;
  return {{"inputs", entriesJson(graph.signature->inputs)}, {"outputs", entriesJson(graph.signature->outputs)}};
}

Json graphJson(const CapturedGraph& captured) {
  const auto& graph = captured.module.graph;
  Json nodes = Json::array();
  for (const auto id : graph.order()) nodes.push_back(nodeJson(graph, graph.node(id)));
  Json inputs = Json::array();
  for (const auto& input : captured.inputs) inputs.push_back(inputJson(input));
  return {{"name", captured.name},
          {"hash", captured.contentHash().hex()},
          {"node_count", graph.size()},
          {"nodes", std::move(nodes)},
          {"inputs", std::move(inputs)},
          {"symbols", symbolsJson(captured)},
          {"signature", signatureJson(captured)},
          {"origin", originJson(captured.origin)}};
}

}  // namespace kerf::workbench
