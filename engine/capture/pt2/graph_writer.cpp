#include "engine/capture/pt2/graph_writer.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "engine/capture/common/json.h"
#include "engine/capture/pt2/argument_writer.h"
#include "engine/capture/pt2/schema.h"
#include "engine/capture/pt2/value_kinds.h"
#include "engine/ops/core/op_registry.h"

namespace kerf::inline capture::pt2 {
namespace {

constexpr std::string_view getitem = "operator.getitem";
constexpr std::string_view higherOrderPrefix = "torch.ops.higher_order.";

bool isSequence(const Node& node) { return node.op() == Opcode::CallFunction && node.meta().value.list() != nullptr; }

std::unexpected<Error> failAt(const Node& node, std::string message) {
  Error error{ErrorCode::BadInput, std::move(message), {}, 0, {}, {}};
  error.atNode(node.name());
  return fail(std::move(error));
}

/// "operator.mul" → "_operator.mul".
std::string schemaTarget(const std::string& target) { return target.starts_with("operator.") ? "_" + target : target; }

class GraphWriter : public ArgumentNames {
 public:
  GraphWriter(const GraphModule& module, const Pt2Program* program, const std::string& scope)
      : m_module(module),
        m_graph(module.graph),
        m_kinds(module.graph, program, scope),
        m_program(program),
        m_scope(scope) {}

  Result<WrittenGraph> write(const std::vector<NodeId>& lifted) {
    m_lifted.insert(lifted.begin(), lifted.end());
    for (const NodeId id : lifted) KERF_CHECK(writeInput(m_graph.node(id)));
    for (const NodeId id : m_graph.placeholders()) KERF_CHECK(writeInput(m_graph.node(id)));
    for (const NodeId id : m_graph.order()) {
      if (auto written = writeNode(m_graph.node(id)); !written) {
        Error error = std::move(written.error());
        if (error.node.empty()) error.atNode(m_graph.node(id).name());
        return fail(std::move(error));
      }
    }
    m_out.json = fmt::format(
        "{{\"inputs\": [{}], \"outputs\": [{}], \"nodes\": [{}], \"tensor_values\": {{{}}}, \"sym_int_values\": "
        "{{{}}}, "
        "\"sym_bool_values\": {{{}}}, \"is_single_tensor_return\": {}, \"custom_obj_values\": {{{}}}, "
        "\"sym_float_values\": {{{}}}}}",
        joined(m_out.inputs), joined(m_out.outputs), joined(m_nodes), joined(m_values["as_tensor"]),
        joined(m_values["as_sym_int"]), joined(m_values["as_sym_bool"]), m_single, joined(m_values["as_custom_obj"]),
        joined(m_values["as_sym_float"]));
    return std::move(m_out);
  }

  std::string keyOf(NodeId id) const override {
    const Node& node = m_graph.node(id);
    if (node.op() == Opcode::GetAttr && !m_lifted.contains(id)) return "as_graph";
    return m_kinds.keyOf(node);
  }

  Result<std::string> valueOf(NodeId id) const override {
    const Node& node = m_graph.node(canonical(id));
    if (node.op() == Opcode::GetAttr && !m_lifted.contains(id)) return nestedGraph(node);
    if (isSequence(node)) return failAt(node, "a node that returns several values is used as one");
    const std::string key = m_kinds.keyOf(node);
    if (key.empty()) return failAt(node, "its value is used, but nothing is known of it");
    if (key == "as_tensor") return nameJson(node.name());
    if (key == "as_custom_obj") return objectJson(node.name());
    return quotedJson(node.name());
  }

 private:
  /// The first of the getitems that take the same element.
  NodeId canonical(NodeId id) const {
    const auto found = m_duplicates.find(id);
    return found == m_duplicates.end() ? id : found->second;
  }

  std::string objectJson(const std::string& name) const {
    return fmt::format("{{\"name\": {}, \"class_fqn\": {}}}", quotedJson(name), quotedJson(m_kinds.classOf(name)));
  }

  Result<std::string> nestedGraph(const Node& node) const {
    const Submodule* submodule = m_module.submodule(node.target());
    if (submodule == nullptr || !submodule->graph)
      return failAt(node, "an attribute that is not a nested graph has no place in an exported program");
    auto nested = GraphWriter(*submodule->graph, m_program, m_scope + node.target() + "/").write({});
    if (!nested) return fail(std::move(nested.error().while_(fmt::format("in the nested graph '{}'", node.target()))));
    return fmt::format("{{\"name\": {}, \"graph\": {}}}", quotedJson(node.target()), nested->json);
  }

  /// Adds a value's meta and returns its Argument object; `name` differs from the node's for unused results.
  Result<std::string> describe(const std::string& name, const std::string& key, const ValueMeta& value) {
    std::vector<std::string>& values = m_values[key];
    if (key == "as_tensor") {
      KERF_TRY(const std::string meta, tensorMetaJson(*value.tensor(), m_kinds.layoutOf(name)));
      values.push_back(quotedJson(name) + ": " + meta);
      return fmt::format("{{\"as_tensor\": {}}}", nameJson(name));
    }
    if (key == "as_custom_obj") {
      values.push_back(quotedJson(name) + ": " + objectJson(name));
      return fmt::format("{{\"as_custom_obj\": {}}}", objectJson(name));
    }
    const std::string hint = "as_" + key.substr(std::string_view("as_sym_").size());
    values.push_back(quotedJson(name) + ": " + symbolJson(value.sym()->expr, hint));
    return fmt::format("{{\"{}\": {{\"as_name\": {}}}}}", key, quotedJson(name));
  }

  Result<void> writeInput(const Node& node) {
    const std::string key = m_kinds.keyOf(node);
    if (key.empty()) {
      m_out.inputs.push_back(m_kinds.constantOf(node.name()));
      return {};
    }
    auto input = describe(node.name(), key, node.meta().value);
    if (!input) return failAt(node, input.error().message);
    m_out.inputs.push_back(std::move(*input));
    return {};
  }

  Result<void> writeNode(const Node& node) {
    if (node.op() == Opcode::Placeholder || node.op() == Opcode::GetAttr) return {};
    if (node.op() == Opcode::Output) return writeOutputs(node);
    if (node.op() != Opcode::CallFunction)
      return failAt(node,
                    fmt::format("{} has no place in an exported program, only calls of ops", opcodeName(node.op())));
    if (node.target() == getitem && isElement(node)) return {};
    KERF_TRY(const std::string inputs, inputsJson(node));
    KERF_TRY(const std::string outputs, outputsJson(node));
    const bool higherOrder = node.target().starts_with(higherOrderPrefix);
    m_nodes.push_back(
        fmt::format("{{\"target\": {}, \"inputs\": [{}], \"outputs\": [{}], \"metadata\": {{{}}}, "
                    "\"is_hop_single_tensor_return\": {}, "
                    "\"name\": {}}}",
                    quotedJson(schemaTarget(node.target())), inputs, outputs, metadataJson(node),
                    !higherOrder                                      ? "null"
                    : isSequence(node) || m_kinds.keyOf(node).empty() ? "false"
                                                                      : "true",
                    quotedJson(node.name())));
    return {};
  }

  /// Whether a getitem takes an element of a call's several results, which the schema lists with the call.
  bool isElement(const Node& node) const {
    const auto* source = node.args().empty() ? nullptr : node.args()[0].as<NodeId>();
    return source != nullptr && isSequence(m_graph.node(*source));
  }

  Result<void> writeOutputs(const Node& node) {
    if (node.args().empty()) return failAt(node, "the graph returns nothing");
    const Argument& value = node.args()[0];
    const ListArgument* list = value.asList();
    m_single = list == nullptr;
    for (const Argument& item : list != nullptr ? list->items : ArgumentList{value}) {
      KERF_TRY(std::string text, argumentJson(item, *this));
      m_out.outputs.push_back(std::move(text));
    }
    return {};
  }

  static std::string metadataJson(const Node& node) {
    std::vector<std::string> entries;
    bool traced = false;
    for (const auto& [key, value] : node.meta().extra) {
      entries.push_back(quotedJson(key) + ": " + quotedJson(value));
      traced = traced || key == "stack_trace";
    }
    if (!traced && !node.meta().stackTrace.empty())
      entries.push_back("\"stack_trace\": " + quotedJson(node.meta().stackTrace));
    return joined(entries);
  }

  Result<std::string> inputsJson(const Node& node) const {
    std::vector<std::string> inputs;
    for (std::size_t i = 0; i < node.args().size(); ++i) {
      KERF_TRY(const std::string name, m_kinds.argumentName(node, i));
      KERF_TRY(const std::string value, argumentJson(node.args()[i], *this));
      inputs.push_back(
          fmt::format("{{\"name\": {}, \"arg\": {}, \"kind\": {}}}", quotedJson(name), value, positionalKind));
    }
    for (const auto& [name, argument] : node.kwargs()) {
      KERF_TRY(const std::string value, argumentJson(argument, *this));
      inputs.push_back(
          fmt::format("{{\"name\": {}, \"arg\": {}, \"kind\": {}}}", quotedJson(name), value, keywordKind));
    }
    return joined(inputs);
  }

  Result<std::string> outputsJson(const Node& node) {
    if (isSequence(node)) {
      KERF_TRY(const auto elements, elementsJson(node, *node.meta().value.list()));
      // one result that is not said to be a list would be the call's own
      const bool lone = elements.size() == 1 && !node.target().starts_with(higherOrderPrefix);
      return lone || m_kinds.returnsList(node) ? tensorsJson(node, elements) : joined(elements);
    }
    const std::string key = m_kinds.keyOf(node);
    if (!key.empty()) return describe(node.name(), key, node.meta().value);
    if (m_kinds.returnsNothing(node)) return std::string();
    return failAt(node, "the shape of its value is not known, and an exported program must say it");
  }

  /// {"as_tensor": {"name": "x"}} → {"name": "x"}.
  static std::string innerOf(const std::string& argument) {
    const std::size_t colon = argument.find(": ");
    return argument.substr(colon + 2, argument.size() - colon - 3);
  }

  /// {"as_tensors": [{"name": …}, …]}: a list of tensors, all of them known.
  static Result<std::string> tensorsJson(const Node& node, const std::vector<std::string>& elements) {
    std::vector<std::string> names;
    for (const std::string& element : elements) {
      if (!element.starts_with("{\"as_tensor\""))
        return failAt(node,
                      "the shapes of the tensors in its list are not all known, and an exported program must say them");
      names.push_back(innerOf(element));
    }
    return fmt::format("{{\"as_tensors\": [{}]}}", joined(names));
  }

  /// One Argument object per element of a call's result, named after the getitem that takes it.
  Result<std::vector<std::string>> elementsJson(const Node& node, const std::vector<ValueMeta>& metas) {
    std::vector<const Node*> takers(metas.size(), nullptr);
    for (const NodeId id : node.users()) {
      const Node& user = m_graph.node(id);
      const auto* index = user.args().size() == 2 ? user.args()[1].as<std::int64_t>() : nullptr;
      if (user.target() != getitem || index == nullptr || *index < 0 || std::size_t(*index) >= metas.size())
        return failAt(user, "several results may only be taken apart by constant indices");
      const Node*& taker = takers[std::size_t(*index)];
      if (taker != nullptr) m_duplicates.emplace(id, taker->id());
      if (taker == nullptr) taker = &user;
    }
    std::vector<std::string> elements;
    for (std::size_t i = 0; i < metas.size(); ++i) {
      KERF_TRY(std::string element, elementJson(node, metas[i], takers[i], i));
      elements.push_back(std::move(element));
    }
    return elements;
  }

  Result<std::string> elementJson(const Node& node, const ValueMeta& meta, const Node* taker, std::size_t index) {
    const std::string name = taker != nullptr ? taker->name() : fmt::format("{}_unused_{}", node.name(), index);
    if (meta.list() != nullptr) {
      if (taker == nullptr) return failAt(node, "a list among several results is not taken apart");
      KERF_TRY(const auto inner, elementsJson(*taker, *meta.list()));
      return tensorsJson(node, inner);
    }
    const std::string key = taker != nullptr ? m_kinds.keyOf(*taker) : ValueKinds::keyOfMeta(meta);
    if (key.empty() && taker != nullptr && !m_kinds.isNoneResult(*taker))
      return failAt(*taker, "the shape of its value is not known, and an exported program must say it");
    if (key.empty()) return std::string("{\"as_none\": true}");
    return describe(name, key, meta);
  }

  const GraphModule& m_module;
  const Graph& m_graph;
  ValueKinds m_kinds;
  const Pt2Program* m_program;
  std::string m_scope;
  WrittenGraph m_out;
  bool m_single = false;
  std::vector<std::string> m_nodes;
  std::map<std::string, std::vector<std::string>, std::less<>> m_values;  ///< members of tensor_values, … by union key
  std::unordered_map<NodeId, NodeId> m_duplicates;
  std::unordered_set<NodeId> m_lifted;
};

}  // namespace

Result<WrittenGraph> pt2GraphJson(const GraphModule& module, const Pt2Program* program,
                                  const std::vector<NodeId>& lifted) {
  return GraphWriter(module, program, {}).write(lifted);
}

}  // namespace kerf::inline capture::pt2
