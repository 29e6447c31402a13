#include "engine/autograd/decompose.h"

#include <algorithm>
#include <unordered_map>

#include "engine/ir/call_values.h"
#include "engine/ir/value_meta.h"
#include "engine/ops/core/graph_symbols.h"
#include "engine/ops/core/purity.h"
#include "engine/ops/core/symbolic_checks.h"
#include "engine/support/log.h"

namespace kerf::inline autograd {
namespace {

constexpr int deepestNesting = 64;

/// Makes a getitem for every result of an op, and a node for every quotient of sizes, as PyTorch's proxies do.
class EagerTracer : public OpTracer {
 public:
  using OpTracer::OpTracer;

  Result<Value> call(const OpTarget& target, const ValueList& args, const KeywordValues& kwargs) const override {
    KERF_TRY(Value result, OpTracer::call(target, args, kwargs));
    if (target.id != "operator.truediv"_op || result.as<SymNumber>() == nullptr) return result;
    ArgumentList arguments;
    for (const Value& value : args) {
      KERF_TRY(Argument argument, argumentOf(value));
      arguments.push_back(std::move(argument));
    }
    const NodeId node = module().graph.callFunction("operator.truediv", std::move(arguments), {}, "truediv");
    module().graph.setValueMeta(node, metaOf(result));
    return tag(result, node);
  }

 protected:
  Result<Value> record(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs) const override {
    KERF_TRY(Value result, OpTracer::record(op, args, kwargs));
    if (result.isList()) KERF_CHECK(argumentOf(result));
    return result;
  }
};

/// "add" of "torch.ops.aten.add.Tensor", "cond" of "torch.ops.higher_order.cond", "mul" of "operator.mul".
std::string_view baseName(std::string_view target) {
  constexpr std::string_view ops = "torch.ops.";
  const std::size_t dot = target.rfind('.');
  const bool hasOverload = target.starts_with(ops) && !target.starts_with("torch.ops.higher_order.") &&
                           std::ranges::count(target.substr(ops.size()), '.') == 2;
  if (!hasOverload) return dot == target.npos ? target : target.substr(dot + 1);
  const std::string_view name = target.substr(0, dot);
  return name.substr(name.rfind('.') + 1);
}

/// Whether a node gives a number that is known while tracing only as an expression of sizes.
bool givesSymbol(const Node& node) {
  const SymMeta* number = node.meta().value.sym();
  return number != nullptr && node.op() == Opcode::CallFunction;
}

class Decomposer {
 public:
  Decomposer(const GraphModule& source, DecompositionTable table, int depth)
      : m_source(source), m_table(table), m_depth(depth), m_target(source), m_tracer(m_target, decomposesBy(table)) {
    m_target.graph = Graph();
  }

  Result<GraphModule> run() {
    KERF_CHECK(decomposeNested());
    for (const NodeId id : m_source.graph.order()) {
      const Node& node = m_source.graph.node(id);
      const std::size_t before = graph().size();
      KERF_CHECK(withoutThrowing([&] { return visit(node); }));
      describe(node, before);
    }
    graph().eliminateDeadCode([](const Node& node) { return purityOf(node) != Purity::Pure; });
    KERF_CHECK(graph().lint());
    return std::move(m_target);
  }

 private:
  Graph& graph() { return m_target.graph; }

  Result<void> decomposeNested() {
    if (m_source.submodules.empty()) return {};
    for (auto& [path, nested] : m_target.submodules.edit()) {
      if (!nested.graph) continue;
      if (m_depth <= 0) return fail(ErrorCode::TooLarge, "graphs are nested too deeply");
      KERF_TRY(GraphModule module, Decomposer(*nested.graph, m_table, m_depth - 1).run());
      nested.graph = std::make_shared<const GraphModule>(std::move(module));
    }
    return {};
  }

  Result<void> visit(const Node& node) {
    if (node.op() == Opcode::Output) return addOutput(node);
    const bool isTraced = node.op() == Opcode::CallFunction && !givesSymbol(node) && takesKnownValues(node);
    if (isTraced) {
      if (auto value = trace(node)) {
        m_values.emplace(node.id(), std::move(*value));
        return {};
      } else if (value.error().code != ErrorCode::UnsupportedOp) {
        return std::unexpected(std::move(value).error());
      } else {
        logAt(LogCategory::Compile, LogLevel::Debug, "{} is kept: {}", node.name(), value.error().text());
      }
    }
    return copy(node);
  }

  bool takesKnownValues(const Node& node) const {
    return std::ranges::all_of(node.inputs(), [&](NodeId input) { return m_values.contains(input); });
  }

  Result<Value> trace(const Node& node) {
    KERF_TRY(const CallValues call, callValues(node, [&](NodeId id) -> const Value& { return m_values.at(id); }));
    return m_tracer.call(OpTarget(node.opId(), node.target()), call.args, call.kwargs);
  }

  /// The node as it is; what it gives is known by its meta, or only by its name.
  Result<void> copy(const Node& node) {
    KERF_TRY(Argument positional, mapped(Argument::list(node.args())));
    KeywordArguments keywords;
    for (const auto& [key, argument] : node.kwargs()) {
      KERF_TRY(Argument value, mapped(argument));
      keywords.emplace_back(key, std::move(value));
    }
    const bool keepsName = node.op() != Opcode::CallFunction;
    ArgumentList args = positional.asList()->items;
    const NodeId made =
        keepsName ? graph().createNamed(node.op(), node.target(), std::move(args), std::move(keywords), node.name())
                  : graph().createNode(node.op(), node.target(), std::move(args), std::move(keywords),
                                       baseName(node.target()));
    graph().setMeta(made, node.meta());
    m_nodes.emplace(node.id(), made);
    if (auto value = m_tracer.valueOfNode(made)) m_values.emplace(node.id(), std::move(*value));
    return {};
  }

  /// Nodes of the source as what they became, which for a list is a list.
  Result<Argument> mapped(const Argument& argument) {
    std::optional<Error> failure;
    Argument result = mapNodes(argument, [&](NodeId id) -> Argument {
      if (const auto node = m_nodes.find(id); node != m_nodes.end()) return node->second;
      auto made = m_tracer.argumentOf(m_values.at(id));
      if (!made) failure = std::move(made).error();
      return made.value_or(Argument());
    });
    if (failure) return fail(std::move(*failure));
    return result;
  }

  Result<void> addOutput(const Node& node) {
    KERF_TRY(Argument result, mapped(node.args().at(0)));
    const NodeId made = graph().output(std::move(result));
    graph().setMeta(made, node.meta());
    return {};
  }

  /// What was made comes from where `node` comes from.
  void describe(const Node& node, std::size_t before) {
    for (std::size_t i = before; i < graph().size(); ++i) {
      const NodeId id = graph().order()[i];
      NodeMeta meta = node.meta();
      if (meta.fromNodes.empty() && node.op() == Opcode::CallFunction) meta.fromNodes.push_back(node.name());
      meta.value = graph().node(id).meta().value;
      graph().setMeta(id, std::move(meta));
    }
  }

  const GraphModule& m_source;
  DecompositionTable m_table;
  int m_depth;
  GraphModule m_target;
  EagerTracer m_tracer;
  std::unordered_map<NodeId, Value> m_values;  ///< by nodes of the source
  std::unordered_map<NodeId, NodeId> m_nodes;  ///< of the source that were copied
};

}  // namespace

Result<GraphModule> decomposeGraph(const GraphModule& module, DecompositionTable table) {
  const auto run = [&] { return Decomposer(module, table, deepestNesting).run(); };
  if (ShapeEnv::current() != nullptr) return run();
  ShapeEnv env;
  addGraphSymbols(module, env);
  const ShapeEnv::Scope scope(env);
  return run();
}

}  // namespace kerf::inline autograd
