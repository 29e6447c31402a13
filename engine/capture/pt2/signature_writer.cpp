#include "engine/capture/pt2/signature_writer.h"

#include <algorithm>
#include <array>
#include <map>

#include "engine/capture/common/json.h"
#include "engine/capture/pt2/argument_writer.h"
#include "engine/ops/core/op_registry.h"
#include "engine/symbolic/shape_env.h"

namespace kerf::inline capture::pt2 {
namespace {

constexpr std::string_view leaf = R"({"type": null, "context": null, "children_spec": []})";

/// Field that holds the target of a kind of entry; "" for those that have an argument only.
struct TargetRow {
  std::string_view kind, field;
};
constexpr auto targetRows = std::to_array<TargetRow>({{"parameter", "parameter_name"},
                                                      {"buffer", "buffer_name"},
                                                      {"tensor_constant", "tensor_constant_name"},
                                                      {"custom_obj", "custom_obj_name"},
                                                      {"buffer_mutation", "buffer_name"},
                                                      {"parameter_mutation", "parameter_name"},
                                                      {"gradient_to_parameter", "parameter_name"},
                                                      {"gradient_to_user_input", "user_input_name"},
                                                      {"user_input_mutation", "user_input_name"}});

/// {"as_tensor": {"name": "x"}} → {"name": "x"}: what all entries but the caller's hold.
std::string innerOf(const std::string& argument) {
  const std::size_t colon = argument.find(": ");
  return argument.substr(colon + 2, argument.size() - colon - 3);
}

bool isConstant(const std::string& argument) {
  return !argument.starts_with("{\"as_tensor\"") && !argument.starts_with("{\"as_sym_") &&
         !argument.starts_with("{\"as_custom_obj\"");
}

/// One entry, from its kind, its target and the Argument object of its input or output.
std::string entryJson(const GraphSignature::Entry& entry, const std::string& argument) {
  const auto row = std::ranges::find(targetRows, entry.kind, &TargetRow::kind);
  if (row != targetRows.end()) {
    const std::string persistent = entry.kind == "buffer" ? fmt::format(", \"persistent\": {}", entry.persistent) : "";
    return fmt::format("{{\"{}\": {{\"arg\": {}, \"{}\": {}{}}}}}", entry.kind, innerOf(argument), row->field,
                       quotedJson(entry.target), persistent);
  }
  if (entry.kind == "constant_input")
    return fmt::format("{{\"constant_input\": {{\"name\": {}, \"value\": {}}}}}", quotedJson(entry.name), argument);
  const bool user = entry.kind == "user_input" || entry.kind == "user_output";
  return fmt::format("{{\"{}\": {{\"arg\": {}}}}}", entry.kind, user ? argument : innerOf(argument));
}

std::string tuple(std::size_t leaves) {
  std::vector<std::string> children(leaves, std::string(leaf));
  return fmt::format(R"({{"type": "builtins.tuple", "context": "null", "children_spec": [{}]}})", joined(children));
}

const Argument* returned(const Graph& graph) {
  const NodeId output = graph.outputNode();
  if (!output.valid() || graph.node(output).args().empty()) return nullptr;
  return &graph.node(output).args()[0];
}

}  // namespace

bool keepsProgram(const CapturedGraph& graph) {
  if (!graph.program || !graph.signature) return false;
  const std::vector<NodeId> placeholders = graph.module.graph.placeholders();
  const Argument* value = returned(graph.module.graph);
  const ListArgument* list = value == nullptr ? nullptr : value->asList();
  if (list == nullptr || list->items.size() != graph.signature->outputs.size() ||
      placeholders.size() != graph.signature->inputs.size())
    return false;
  for (std::size_t i = 0; i < placeholders.size(); ++i)
    if (const std::string& name = graph.signature->inputs[i].name;
        !name.empty() && name != graph.module.graph.node(placeholders[i]).target())
      return false;
  return true;
}

Result<std::string> signatureJson(const CapturedGraph& graph, const WrittenGraph& written,
                                  const std::vector<std::string>& constants) {
  const bool known = keepsProgram(graph);
  std::vector<std::string> inputs, outputs;
  for (std::size_t i = 0; i < constants.size(); ++i)
    inputs.push_back(entryJson({"tensor_constant", constants[i], constants[i], true}, written.inputs[i]));
  const std::vector<NodeId> placeholders = graph.module.graph.placeholders();
  for (std::size_t i = 0; i < placeholders.size(); ++i) {
    const std::string& argument = written.inputs[constants.size() + i];
    const std::string& name = graph.module.graph.node(placeholders[i]).name();
    GraphSignature::Entry entry{isConstant(argument) ? "constant_input" : "user_input", name, {}, true};
    if (known) entry = graph.signature->inputs[i];
    inputs.push_back(entryJson(entry, argument));
  }
  for (std::size_t i = 0; i < written.outputs.size(); ++i)
    outputs.push_back(entryJson(
        known ? graph.signature->outputs[i] : GraphSignature::Entry{"user_output", {}, {}, true}, written.outputs[i]));
  return fmt::format("{{\"input_specs\": [{}], \"output_specs\": [{}]}}", joined(inputs), joined(outputs));
}

std::string moduleCallGraphJson(const std::vector<std::string>& names, std::size_t outputs) {
  std::vector<std::string> quoted;
  for (const std::string& name : names) quoted.push_back(quotedJson(name));
  const std::string in = fmt::format(
      R"([1, {{"type": "builtins.tuple", "context": "null", "children_spec": [{}, {{"type": "builtins.dict", "context": "[]", "children_spec": []}}]}}])",
      tuple(names.size()));
  const std::string out = fmt::format("[1, {}]", tuple(outputs));
  return fmt::format(
      "[{{\"fqn\": \"\", \"signature\": {{\"inputs\": [], \"outputs\": [], \"in_spec\": {}, \"out_spec\": {}, "
      "\"forward_arg_names\": [{}]}}}}]",
      quotedJson(in), quotedJson(out), joined(quoted));
}

std::string rangeConstraintsJson(const GraphModule& module) {
  ShapeEnv env;
  GraphModule shaped = module;
  (void)propagateShapes(shaped, env);  // as far as it comes: ranges that were recorded are known from the start
  const auto end = [](bool known, std::int64_t value) { return known ? std::to_string(value) : std::string("null"); };
  std::map<std::string, std::string> entries;
  for (const ShapeSymbol& symbol : env.symbols())
    if (isPythonIdentifier(symbol.name))
      entries[symbol.name] = fmt::format("{}: {{\"min_val\": {}, \"max_val\": {}}}", quotedJson(symbol.name),
                                         end(symbol.range.hasLower(), symbol.range.lower),
                                         end(symbol.range.hasUpper(), symbol.range.upper));
  std::vector<std::string> texts;
  for (auto& [name, text] : entries) texts.push_back(std::move(text));
  return "{" + joined(texts) + "}";
}

}  // namespace kerf::inline capture::pt2
