#include "engine/passes/call_replacement.h"

#include <algorithm>
#include <optional>

#include "engine/ops/core/graph_symbols.h"
#include "engine/ops/core/symbolic_checks.h"
#include "engine/passes/call_arguments.h"
#include "engine/passes/node_facts.h"
#include "engine/support/log.h"

namespace kerf::inline passes {

namespace {

std::uint32_t nextIndex(const Graph& graph) {
  std::uint32_t next = 0;
  for (const NodeId id : graph.order()) next = std::max(next, id.index + 1);
  return next;
}

void addSource(std::vector<std::string>& names, const Node& node) {
  for (const std::string& name : provenance(node))
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
}

}  // namespace

Value CallWriter::operator()(const OpTarget& op, const ValueList& args, const KeywordValues& kwargs) {
  if (!m_state) return {};
  auto result = m_tracer.call(op, args, kwargs);
  if (result) return std::move(*result);
  m_state = fail(std::move(result).error());
  return {};
}

CallReplacement::~CallReplacement() = default;

std::vector<NodeId> CallReplacement::nodesFrom(std::uint32_t index) const {
  std::vector<NodeId> made;
  for (const NodeId id : m_module.graph.order())
    if (id.index >= index) made.push_back(id);
  return made;
}

Result<std::vector<NodeId>> CallReplacement::write(const std::vector<NodeId>& inputs,
                                                   const ReplacementProgram& program) {
  if (!m_symbols) {
    m_symbols = std::make_unique<ShapeEnv>();
    addGraphSymbols(m_module, *m_symbols);
  }
  const ShapeEnv::Scope scope(*m_symbols);
  return withoutThrowing([&]() -> Result<std::vector<NodeId>> {
    OpTracer tracer(m_module);
    ValueList values;
    for (const NodeId input : inputs) {
      KERF_TRY(Value value, tracer.valueOfNode(input));
      values.push_back(std::move(value));
    }
    CallWriter writer(tracer);
    const Value result = program(writer, values);
    KERF_CHECK(writer.state());
    const ValueList results = result.isList() ? result.list() : ValueList(1, result);
    std::vector<NodeId> nodes;
    for (const Value& value : results) {
      KERF_TRY(const Argument argument, tracer.argumentOf(value));
      const NodeId* node = argument.as<NodeId>();
      if (!node) return fail(ErrorCode::UnsupportedOp, "a replacement must be a node");
      nodes.push_back(*node);
    }
    return nodes;
  });
}

bool CallReplacement::fits(NodeId old, NodeId made) const {
  const TensorMeta* before = m_module.graph.node(old).meta().value.tensor();
  const TensorMeta* after = m_module.graph.node(made).meta().value.tensor();
  return before && after && before->dtype == after->dtype && sameLayout(*before, *after);
}

void CallReplacement::describe(const std::vector<NodeId>& made, const std::vector<NodeId>& from) {
  Graph& graph = m_module.graph;
  NodeMeta meta = graph.node(from.back()).meta();
  meta.fromNodes.clear();
  for (const NodeId id : from) addSource(meta.fromNodes, graph.node(id));
  const TensorMeta* old = meta.value.tensor();
  const Device device = old ? old->device : Device();
  for (const NodeId id : made) {
    NodeMeta own = meta;
    own.value = graph.node(id).meta().value;
    if (auto* tensor = std::get_if<TensorMeta>(&own.value.value)) tensor->device = device;
    graph.setMeta(id, std::move(own));
  }
}

Result<bool> CallReplacement::replace(NodeId node, const std::vector<NodeId>& inputs, const ReplacementProgram& program,
                                      const std::vector<NodeId>& matched) {
  return replaceAll({node}, inputs, program, matched);
}

Result<bool> CallReplacement::replaceAll(const std::vector<NodeId>& nodes, const std::vector<NodeId>& inputs,
                                         const ReplacementProgram& program, const std::vector<NodeId>& matched) {
  Graph& graph = m_module.graph;
  const std::uint32_t first = nextIndex(graph);
  std::optional<std::vector<NodeId>> results;
  {
    const InsertionScope scope(graph, InsertionScope::Where::Before, nodes.front());
    auto written = write(inputs, program);
    if (written) results = std::move(*written);
    if (!written) logAt(LogCategory::Passes, LogLevel::Trace, "not replaced: {}", written.error().text());
  }
  const std::vector<NodeId> made = nodesFrom(first);
  bool good = results && results->size() == nodes.size();
  for (std::size_t i = 0; good && i < nodes.size(); ++i) good = fits(nodes[i], (*results)[i]);
  if (!good) {
    for (auto id = made.rbegin(); id != made.rend(); ++id) KERF_CHECK(graph.eraseNode(*id));
    return false;
  }
  std::vector<NodeId> from = matched;
  from.insert(from.end(), nodes.begin(), nodes.end());
  describe(made, from);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const NodeId result = (*results)[i];
    if (result.index >= first) graph.setValueMeta(result, graph.node(nodes[i]).meta().value);
    graph.replaceAllUsesWith(nodes[i], result);
    KERF_CHECK(graph.eraseNode(nodes[i]));
  }
  m_changed = true;
  return true;
}

void CallReplacement::finish() {
  if (m_changed) m_module.graph.eliminateDeadCode(mustStay);
}

}  // namespace kerf::inline passes
