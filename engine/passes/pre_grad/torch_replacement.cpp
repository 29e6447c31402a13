#include "engine/passes/pre_grad/torch_replacement.h"

#include <algorithm>

#include "engine/ir/call_values.h"
#include "engine/ir/value_meta.h"
#include "engine/ops/core/graph_symbols.h"
#include "engine/ops/core/symbolic_checks.h"
#include "engine/passes/call_arguments.h"
#include "engine/passes/node_facts.h"
#include "engine/passes/pre_grad/torch_call.h"
#include "engine/support/log.h"

namespace kerf::inline passes {

namespace {

std::uint32_t nextIndex(const Graph& graph) {
  std::uint32_t next = 0;
  for (const NodeId id : graph.order()) next = std::max(next, id.index + 1);
  return next;
}

std::vector<NodeId> nodesFrom(const Graph& graph, std::uint32_t index) {
  std::vector<NodeId> made;
  for (const NodeId id : graph.order())
    if (id.index >= index) made.push_back(id);
  return made;
}

Device deviceOf(const ValueMeta& meta) { return meta.tensor() ? meta.tensor()->device : Device(); }

}  // namespace

NodeId TorchWriter::operator()(std::string_view target, ArgumentList args, KeywordArguments kwargs) {
  if (!m_state) return {};
  const NodeId node = m_module.graph.callFunction(target, std::move(args), std::move(kwargs));
  m_state = infer(node);
  return m_state ? node : NodeId{};
}

Result<void> TorchWriter::infer(NodeId id) {
  const Node& node = m_module.graph.node(id);
  std::unordered_map<NodeId, Value> operands;
  for (const NodeId input : node.inputs()) {
    auto value = valueOf(m_module.graph.node(input).meta().value);
    if (!value) return fail(ErrorCode::UnsupportedOp, "nothing is known of '{}'", m_module.graph.node(input).name());
    operands.emplace(input, *std::move(value));
  }
  KERF_TRY(const CallValues call, callValues(node, [&](NodeId input) -> const Value& { return operands.at(input); }));
  KERF_TRY(const Value result, shapeOps().call(OpTarget(node.opId(), node.target()), call.args, call.kwargs));
  ValueMeta meta = metaOf(result);
  if (auto* tensor = std::get_if<TensorMeta>(&meta.value); tensor && !node.inputs().empty())
    tensor->device = deviceOf(m_module.graph.node(node.inputs().front()).meta().value);
  m_module.graph.setValueMeta(id, std::move(meta));
  return {};
}

TorchReplacement::~TorchReplacement() = default;

Result<std::vector<NodeId>> TorchReplacement::write(const TorchProgram& program) {
  if (!m_symbols) {
    m_symbols = std::make_unique<ShapeEnv>();
    addGraphSymbols(m_module, *m_symbols);
  }
  const ShapeEnv::Scope scope(*m_symbols);
  return withoutThrowing([&]() -> Result<std::vector<NodeId>> {
    TorchWriter writer(m_module);
    std::vector<NodeId> results = program(writer);
    KERF_CHECK(writer.state());
    return results;
  });
}

bool TorchReplacement::fits(NodeId old, NodeId made) const {
  const TensorMeta* before = m_module.graph.node(old).meta().value.tensor();
  const TensorMeta* after = m_module.graph.node(made).meta().value.tensor();
  return before && after && before->dtype == after->dtype && sameLayout(*before, *after);
}

void TorchReplacement::describe(NodeId made, const std::vector<NodeId>& from) {
  Graph& graph = m_module.graph;
  NodeMeta meta = graph.node(from.back()).meta();
  meta.value = graph.node(made).meta().value;
  meta.fromNodes.clear();
  for (const NodeId id : from)
    for (const std::string& name : provenance(graph.node(id)))
      if (std::ranges::find(meta.fromNodes, name) == meta.fromNodes.end()) meta.fromNodes.push_back(name);
  graph.setMeta(made, std::move(meta));
}

Result<bool> TorchReplacement::replace(const std::vector<NodeId>& nodes, const TorchProgram& program,
                                       const std::vector<NodeId>& matched) {
  Graph& graph = m_module.graph;
  const std::uint32_t first = nextIndex(graph);
  std::vector<NodeId> results;
  {
    const InsertionScope scope(graph, InsertionScope::Where::Before, nodes.front());
    auto written = write(program);
    if (written) results = *std::move(written);
    if (!written) logAt(LogCategory::Passes, LogLevel::Trace, "not replaced: {}", written.error().text());
  }
  const std::vector<NodeId> made = nodesFrom(graph, first);
  bool good = results.size() == nodes.size();
  for (std::size_t i = 0; good && i < nodes.size(); ++i) good = fits(nodes[i], results[i]);
  if (!good) {
    for (auto id = made.rbegin(); id != made.rend(); ++id) KERF_CHECK(graph.eraseNode(*id));
    return false;
  }
  std::vector<NodeId> from = matched;
  from.insert(from.end(), nodes.begin(), nodes.end());
  for (const NodeId id : made) describe(id, from);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (results[i].index >= first) graph.setValueMeta(results[i], graph.node(nodes[i]).meta().value);
    graph.replaceAllUsesWith(nodes[i], results[i]);
    KERF_CHECK(graph.eraseNode(nodes[i]));
  }
  m_changed = true;
  return true;
}

void TorchReplacement::finish() {
  if (m_changed) dropUnreadTorchCalls(m_module.graph);
}

void dropUnreadTorchCalls(Graph& graph) {
  graph.eliminateDeadCode([](const Node& node) { return mustStay(node) && !isPureTorchCall(node); });
}

}  // namespace kerf::inline passes
