#include "engine/ir/symbolic_trace.h"

#include <algorithm>

#include "engine/ir/graph_copy.h"
#include "engine/ir/submodules.h"

namespace kerf::inline ir {
namespace {

constexpr int maximumDepth = 100;
constexpr std::size_t maximumNodes = 1'000'000;

std::string joined(std::string_view prefix, std::string_view path) {
  return prefix.empty() ? std::string(path) : fmt::format("{}.{}", prefix, path);
}

/// Item `i` of a tuple that the trace knows; null for what is no such getitem.
const Argument* knownItem(const Node& node, const NodeArguments& map) {
  if (!node.isCall("operator.getitem"_op) || node.args().size() != 2) return nullptr;
  const NodeId* tuple = node.args()[0].as<NodeId>();
  const auto* index = node.args()[1].as<std::int64_t>();
  const auto held = tuple && index ? map.find(*tuple) : map.end();
  const ListArgument* list = held == map.end() ? nullptr : held->second.asList();
  if (!list) return nullptr;
  const auto size = std::int64_t(list->items.size());
  const std::int64_t at = *index < 0 ? *index + size : *index;
  return at >= 0 && at < size ? &list->items[std::size_t(at)] : nullptr;
}

bool isSameTensor(const Tensor& a, const Tensor& b) {
  return a.defined() && b.defined() && a.storage() == b.storage() && a.offset() == b.offset() &&
         a.dtype() == b.dtype() && a.sizes() == b.sizes() && a.strides() == b.strides();
}

class Trace {
 public:
  Trace(const GraphModule& root, const TraceRules& rules) : m_root(root), m_rules(rules), m_result(root) {
    m_result.graph = Graph();
  }

  Result<GraphModule> run() {
    NodeArguments map;
    KERF_CHECK(bindConcrete(map));
    KERF_TRY(Argument value, inlineGraph(m_root, {}, map, 0));
    const NodeId output = m_root.graph.outputNode();
    if (output.valid())
      m_result.graph.setMeta(m_result.graph.output(std::move(value)), m_root.graph.node(output).meta());
    deleteAllUnusedSubmodules(m_result);
    return std::move(m_result);
  }

 private:
  Result<void> bindConcrete(NodeArguments& map) const {
    const auto inputs = m_root.graph.placeholders();
    for (const auto& [name, value] : m_rules.concreteArguments) {
      const auto input = std::ranges::find_if(inputs, [&](NodeId id) { return m_root.graph.node(id).name() == name; });
      if (input == inputs.end()) return fail(ErrorCode::BadUsage, "there is no input '{}' to give a value", name);
      bool isConstant = true;
      forEachNode(value, [&](NodeId) { isConstant = false; });
      if (!isConstant) return fail(ErrorCode::BadUsage, "the value of input '{}' must be a constant", name);
      map[*input] = value;
    }
    return {};
  }

  /// Copies the nodes; what the graph returns, as an argument of the trace.
  Result<Argument> inlineGraph(const GraphModule& module, const std::string& prefix, NodeArguments& map, int depth) {
    if (depth > maximumDepth) return fail(ErrorCode::TooLarge, "more than {} modules call each other", maximumDepth);
    const auto mapped = [&](NodeId id) { return map.at(id); };
    for (const NodeId id : module.graph.order()) {
      const Node& node = module.graph.node(id);
      if (map.contains(id)) continue;
      if (m_result.graph.size() > maximumNodes)
        return fail(ErrorCode::TooLarge, "the trace has more than {} nodes", maximumNodes);
      if (node.op() == Opcode::Output) return node.args().empty() ? Argument() : mapNodes(node.args().front(), mapped);
      if (const Argument* item = knownItem(node, map)) {
        map[id] = Argument(*item);
        continue;
      }
      KERF_TRY(map[id], visit(module, node, prefix, map, depth));
    }
    return Argument();
  }

  Result<Argument> visit(const GraphModule& module, const Node& node, const std::string& prefix,
                         const NodeArguments& map, int depth) {
    const auto mapped = [&](NodeId id) { return map.at(id); };
    const Submodule* called = node.op() == Opcode::CallModule ? module.submodule(node.target()) : nullptr;
    if (called && called->graph && !isLeaf(joined(prefix, node.target()), *called)) {
      KERF_TRY(NodeArguments inner, bind(node, called->graph->graph, mapped));
      return inlineGraph(*called->graph, m_rules.keepsPaths ? prefix : joined(prefix, node.target()), inner, depth + 1);
    }
    const NodeId copy = copyNode(m_result.graph, node, mapped);
    if (!prefix.empty() || m_rules.keepsPaths) takeAlong(module, node, copy, prefix);
    return Argument(copy);
  }

  bool isLeaf(const std::string& path, const Submodule& submodule) const {
    return m_rules.isLeaf && m_rules.isLeaf(path, submodule);
  }

  /// The inputs of a called graph: by position, then by name, then their defaults.
  static Result<NodeArguments> bind(const Node& call, const Graph& graph,
                                    const std::function<Argument(NodeId)>& mapped) {
    NodeArguments inner;
    std::size_t position = 0;
    for (const NodeId id : graph.placeholders()) {
      const Node& input = graph.node(id);
      const auto named = std::ranges::find(call.kwargs(), input.name(), [](const auto& entry) { return entry.first; });
      if (position < call.args().size())
        inner[id] = mapNodes(call.args()[position++], mapped);
      else if (named != call.kwargs().end())
        inner[id] = mapNodes(named->second, mapped);
      else if (!input.args().empty())
        inner[id] = input.args().front();
      else
        return fail(
            Error(ErrorCode::BadInput, fmt::format("the call gives no '{}'", input.name()), {}, 0, call.name()));
    }
    if (position == call.args().size()) return inner;
    return fail(Error(ErrorCode::BadInput,
                      fmt::format("the call gives {} arguments, but its module takes {}", call.args().size(), position),
                      {}, 0, call.name()));
  }

  /// Attributes and modules that a node of a nested module names.
  void takeAlong(const GraphModule& module, const Node& node, NodeId copy, const std::string& prefix) {
    if (node.op() != Opcode::GetAttr && node.op() != Opcode::CallModule) return;
    const std::string path = joined(prefix, node.target());
    if (const TensorAttribute* attribute = module.attribute(node.target()))
      m_result.graph.setTarget(copy, placed(node.target(), path, *attribute));
    else if (const Submodule* submodule = module.submodule(node.target())) {
      m_result.graph.setTarget(copy, path);
      if (!m_result.submodule(path)) m_result.submodules.add(path, *submodule);
    }
  }

  std::string placed(const std::string& own, const std::string& path, const TensorAttribute& attribute) {
    for (std::string candidate = m_rules.keepsPaths ? own : path;; candidate += "_") {
      const TensorAttribute* held = m_result.attribute(candidate);
      if (!held) m_result.attributes.add(candidate, attribute);
      if (!held || isSameTensor(held->tensor, attribute.tensor)) return candidate;
    }
  }

  const GraphModule& m_root;
  const TraceRules& m_rules;
  GraphModule m_result;
};

}  // namespace

Result<GraphModule> symbolicTrace(const GraphModule& root, const TraceRules& rules) { return Trace(root, rules).run(); }

}  // namespace kerf::inline ir
