#include "engine/autograd/linearize.h"

#include <algorithm>
#include <unordered_set>

#include "engine/autograd/aot_interpreter.h"
#include "engine/autograd/decompose.h"
#include "engine/ir/graph_copy.h"
#include "engine/ir/value_meta.h"
#include "engine/ops/core/autocast.h"
#include "engine/ops/core/graph_symbols.h"
#include "engine/ops/core/symbolic_checks.h"

namespace kerf::inline autograd {
namespace {

/// Traces a flat functional graph once more and writes the tangents behind it.
class JvpTrace {
 public:
  JvpTrace(const GraphModule& source, const AotOptions& options, LinearizedGraph& result)
      : m_source(source), m_options(options), m_result(result), m_tracer(result.jvp, {true, true}) {}

  Result<void> run() {
    ShapeEnv env;
    addGraphSymbols(m_source, env);
    const ShapeEnv::Scope scope(env);
    const AutocastScope autocast;
    KERF_CHECK(addInputs());
    const LiftedAttributes none;
    AotInterpreter interpreter(m_source, m_tracer, none);
    KERF_TRY(const Value result, interpreter.run(m_values, m_options.stop));
    m_tracer.setSource(nullptr);
    const ValueList outputs = result.isList() ? result.list() : ValueList{result};
    m_tracer.beginBackward();
    return writeTangents(outputs);
  }

 private:
  Graph& graph() { return m_result.jvp.graph; }

  Result<void> addInputs() {
    for (const NodeId id : m_source.graph.placeholders()) {
      const Node& node = m_source.graph.node(id);
      const NodeId made = graph().placeholder(node.name());
      graph().setMeta(made, node.meta());
      Value value;
      if (node.meta().value.known()) {
        KERF_TRY(value, m_tracer.valueOfNode(made));
      }
      if (value.isTensor() && m_result.inputs[m_values.size()].requiresGrad) m_tracer.tape().addLeaf(value.tensor());
      m_values.push_back(std::move(value));
    }
    return {};
  }

  Result<void> writeTangents(const ValueList& outputs) {
    const OpRunner run(m_tracer);
    Gradients tangents(m_tracer.tape().names());
    KERF_CHECK(seed(tangents, run));
    KERF_CHECK(m_tracer.tape().pushForward(tangents, run));
    ArgumentList items;
    for (const Value& output : outputs) {
      KERF_TRY(Argument item, m_tracer.argumentOf(output));
      items.push_back(std::move(item));
    }
    m_result.outputs = outputs.size();
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const Value tangent = outputs[i].isTensor() ? tangents.of(outputs[i].tensor()) : Value();
      if (tangent.isNone()) continue;
      m_result.tangentOutputs.push_back(i);
      KERF_TRY(Argument item, m_tracer.argumentOf(tangent));
      items.push_back(std::move(item));
    }
    graph().output(Argument::list(std::move(items)));
    return graph().lint();
  }

  /// Tangents stand behind the primals, before everything else.
  Result<void> seed(Gradients& tangents, const OpRunner& run) {
    const auto order = graph().order();
    const auto first =
        std::ranges::find_if(order, [&](NodeId id) { return graph().node(id).op() != Opcode::Placeholder; });
    std::optional<InsertionScope> scope;
    if (first != order.end()) scope.emplace(graph(), InsertionScope::Where::Before, *first);
    std::vector<std::pair<std::size_t, Value>> made;
    for (std::size_t i = 0; i < m_values.size(); ++i) {
      if (!m_values[i].isTensor() || !m_result.inputs[i].requiresGrad) continue;
      const NodeId node = graph().placeholder(fmt::format("tangents_{}", made.size() + 1));
      graph().setValueMeta(node, {metaOf(m_values[i].tensor())});
      KERF_TRY(Value tangent, m_tracer.valueOfNode(node));
      made.emplace_back(i, std::move(tangent));
    }
    scope.reset();
    for (const auto& [input, tangent] : made) {
      m_result.tangentInputs.push_back(input);
      KERF_CHECK(tangents.add(m_values[input].tensor(), tangent, run));
    }
    return {};
  }

  const GraphModule& m_source;
  const AotOptions& m_options;
  LinearizedGraph& m_result;
  AotTracer m_tracer;
  ValueList m_values;
};

/// Takes the nodes of a graph apart into those that depend on tangents and the others.
class Split {
 public:
  explicit Split(LinearizedGraph& result) : m_result(result), m_graph(result.jvp.graph) {}

  Result<void> run() {
    mark();
    m_result.primal.attributes = m_result.jvp.attributes;
    m_result.primal.submodules = m_result.jvp.submodules;
    m_result.tangent.submodules = m_result.jvp.submodules;
    m_result.tangent.attributes = m_result.jvp.attributes;
    KERF_CHECK(writePrimal());
    return writeTangent();
  }

 private:
  const ArgumentList& outputs() const { return m_graph.node(m_graph.outputNode()).args()[0].asList()->items; }

  void mark() {
    std::size_t placeholders = 0;
    for (const NodeId id : m_graph.order()) {
      const Node& node = m_graph.node(id);
      const bool isTangent = node.op() == Opcode::Placeholder && placeholders++ >= m_result.inputs.size();
      const auto inputs = node.inputs();
      if (isTangent || std::ranges::any_of(inputs, [&](NodeId input) { return m_late.contains(input); }))
        m_late.insert(id);
    }
    std::unordered_set<NodeId> seen;
    for (const NodeId id : m_graph.order()) {
      if (!m_late.contains(id) || m_graph.node(id).op() == Opcode::Output) continue;
      for (const NodeId input : m_graph.node(id).inputs())
        if (!m_late.contains(input) && seen.insert(input).second) m_residuals.push_back(input);
    }
    for (std::size_t i = m_result.outputs; i < outputs().size(); ++i)
      if (const NodeId* node = outputs()[i].as<NodeId>(); node && !m_late.contains(*node) && seen.insert(*node).second)
        m_residuals.push_back(*node);
  }

  /// Copies those nodes that depend on tangents (`late`), or those that do not.
  void copyCalls(bool late, Graph& to, NodeArguments& map) const {
    const auto mapped = [&](NodeId id) { return map.at(id); };
    for (const NodeId id : m_graph.order())
      if (m_late.contains(id) == late && m_graph.node(id).op() != Opcode::Output)
        map.emplace(id, copyNode(to, m_graph.node(id), mapped, CopyName::Same));
  }

  Result<void> writePrimal() {
    Graph& to = m_result.primal.graph;
    NodeArguments map;
    copyCalls(false, to, map);
    const auto mapped = [&](NodeId id) { return map.at(id); };
    ArgumentList items;
    for (std::size_t i = 0; i < m_result.outputs; ++i) items.push_back(mapNodes(outputs()[i], mapped));
    for (const NodeId residual : m_residuals) items.push_back(map.at(residual));
    to.output(Argument::list(std::move(items)));
    return to.lint();
  }

  Result<void> writeTangent() {
    Graph& to = m_result.tangent.graph;
    NodeArguments map;
    for (const NodeId residual : m_residuals) {
      const Node& node = m_graph.node(residual);
      const NodeId made = to.placeholder(node.name());
      to.setValueMeta(made, node.meta().value);
      map.emplace(residual, made);
    }
    copyCalls(true, to, map);
    const auto mapped = [&](NodeId id) { return map.at(id); };
    ArgumentList items;
    for (std::size_t i = m_result.outputs; i < outputs().size(); ++i) items.push_back(mapNodes(outputs()[i], mapped));
    to.output(Argument::list(std::move(items)));
    return to.lint();
  }

  LinearizedGraph& m_result;
  const Graph& m_graph;
  std::unordered_set<NodeId> m_late;  ///< depend on tangents
  std::vector<NodeId> m_residuals;
};

}  // namespace

Result<LinearizedGraph> linearize(const GraphModule& module, std::vector<AotInput> inputs, const AotOptions& options) {
  AotOptions forward = options;
  forward.stage = AotStage::Functional;
  forward.keepsMutations = false;
  KERF_TRY(AotGraph functional, aotTrace(module, std::move(inputs), forward));
  KERF_TRY(const GraphModule flat, decomposeGraph(functional.module, DecompositionTable::Core));
  LinearizedGraph result;
  result.inputs = std::move(functional.metadata.inputs);
  chooseGradients(result.inputs, flat.graph, options.requiresGrad);
  return withoutThrowing([&]() -> Result<LinearizedGraph> {
    KERF_CHECK(JvpTrace(flat, options, result).run());
    KERF_CHECK(Split(result).run());
    return std::move(result);
  });
}

}  // namespace kerf::inline autograd
