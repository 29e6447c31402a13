#include "engine/lower/write_out.h"

#include <algorithm>
#include <set>

#include "engine/ir/call_values.h"
#include "engine/lower/value_table.h"
#include "engine/ops/core/op_tracer.h"
#include "engine/ops/core/symbolic_checks.h"
#include "engine/ops/python/python_level.h"
#include "engine/support/log.h"

namespace kerf::inline lower {
namespace {

bool isGetitem(const Node& node) { return node.isCall("operator.getitem"_op) && !node.args().empty(); }

/// An item of a list that was written out, or an index into a tensor.
bool indexesKnownValue(const Graph& graph, const Node& node) {
  if (!isGetitem(node)) return false;
  const NodeId* source = node.args()[0].as<NodeId>();
  return source == nullptr || graph.node(*source).meta().value.tensor() != nullptr;
}

/// An operator of Python that gives a tensor.
bool isTensorOperator(const Node& node) {
  return node.op() == Opcode::CallFunction && node.meta().value.tensor() && !tensorOperator(node.target()).empty();
}

bool isWrittenOut(const GraphModule& module, const Node& node) {
  if (node.op() == Opcode::CallMethod) return true;
  if (node.op() == Opcode::CallModule) {
    const Submodule* found = module.submodule(node.target());
    return found != nullptr && !found->graph;
  }
  if (node.op() != Opcode::CallFunction) return false;
  if (isGetitem(node)) return indexesKnownValue(module.graph, node);
  if (isTensorOperator(node)) return true;
  const OpInfo* op = findOp(node);
  return op ? isComposite(*op) && !op->lowering : runsAsPython(node.target());
}

std::string targetOf(const GraphModule& module, const Node& node) {
  if (node.op() == Opcode::CallMethod) return "method." + node.target();
  if (isTensorOperator(node)) return fmt::format("torch.ops.{}", tensorOperator(node.target()));
  if (node.op() == Opcode::CallFunction) return node.target();
  return fmt::format("module:{}={}", node.target(), module.submodule(node.target())->repr);
}

/// Whether an argument is written with a size that only running the graph tells: nothing gives it a value before.
bool mentionsDataSize(const Argument& argument) {
  if (const ListArgument* list = argument.asList()) return std::ranges::any_of(list->items, mentionsDataSize);
  const SymExpr* number = argument.as<SymExpr>();
  if (number == nullptr) return false;
  std::set<std::string> names;
  collectSymbols(number->text, names);
  return std::ranges::any_of(names, [](const std::string& name) { return name.front() == 'u'; });
}

bool isNumberedByData(const Node& node) {
  const auto named = [](const auto& argument) { return mentionsDataSize(argument.second); };
  return std::ranges::any_of(node.args(), mentionsDataSize) || std::ranges::any_of(node.kwargs(), named);
}

class Writer {
 public:
  explicit Writer(GraphModule& module) : m_module(module), m_tracer(std::in_place, module) {}

  Result<void> run() {
    for (const NodeId id : std::vector<NodeId>(graph().order().begin(), graph().order().end())) {
      if (!isWrittenOut(m_module, graph().node(id))) continue;
      askFor(graph().node(id));
      const std::size_t before = graph().order().size();
      const auto written = withoutThrowing([&] { return write(id); });
      if (written) continue;
      logAt(LogCategory::Compile, LogLevel::Debug, "{} is not written out: {}", graph().node(id).name(),
            written.error().text());
      KERF_CHECK(takeBack(id, graph().order().size() - before));
    }
    return {};
  }

 private:
  Graph& graph() { return m_module.graph; }

  Result<void> write(NodeId id) {
    const InsertionScope scope(graph(), InsertionScope::Where::Before, id);
    const std::size_t before = graph().order().size();
    KERF_TRY(const Value result, trace(graph().node(id)));
    KERF_TRY(const Argument replacement, m_tracer->argumentOf(result));
    const std::vector<NodeId> made = madeBefore(id, graph().order().size() - before);
    if (std::ranges::any_of(made, [&](NodeId node) { return isNumberedByData(graph().node(node)); }))
      return fail(ErrorCode::UnsupportedOp, "it computes with a size that only running the graph tells");
    describe(id, made);
    return replace(id, replacement, made);
  }

  Result<Value> trace(const Node& node) {
    std::optional<Error> unknown;
    Value current;
    const auto lookup = [&](NodeId id) -> const Value& {
      auto value = valueOf(id);
      if (!value && !unknown) unknown = value.error();
      return current = value.value_or(Value());
    };
    KERF_TRY(CallValues call, callValues(node, lookup));
    if (unknown) return fail(*unknown);
    if (node.op() == Opcode::CallModule)
      for (auto& [key, value] : std::exchange(call.kwargs, {})) call.args.push_back(std::move(value));
    const std::string target = targetOf(m_module, node);
    return m_tracer->call(target, call.args, call.kwargs);
  }

  /// Each node has one value in the tracer, or its symbols would have several sources.
  Result<Value> valueOf(NodeId id) {
    const auto known = m_values.find(id);
    if (known != m_values.end()) return known->second;
    KERF_TRY(Value value, m_tracer->valueOfNode(id));
    return m_values.emplace(id, std::move(value)).first->second;
  }

  /// What was made comes from where `id` comes from.
  void describe(NodeId id, const std::vector<NodeId>& made) {
    const NodeMeta like = graph().node(id).meta();
    for (const NodeId node : made) {
      NodeMeta meta = like;
      if (meta.fromNodes.empty()) meta.fromNodes.push_back(graph().node(id).name());
      meta.value = graph().node(node).meta().value;
      graph().setMeta(node, std::move(meta));
    }
  }

  std::vector<NodeId> madeBefore(NodeId id, std::size_t count) {
    const auto order = graph().order();
    const auto at = std::ranges::find(order, id);
    return {at - std::ptrdiff_t(count), at};
  }

  /// The node that gives the result now goes by the name of the one that did.
  Result<void> replace(NodeId id, const Argument& replacement, const std::vector<NodeId>& made) {
    const std::vector<NodeId> users(graph().node(id).users().begin(), graph().node(id).users().end());
    for (const NodeId user : users) graph().replaceInput(user, id, replacement);
    const std::string name = graph().node(id).name();
    KERF_CHECK(graph().eraseNode(id));
    const NodeId* result = replacement.as<NodeId>();
    if (result && std::ranges::find(made, *result) != made.end()) graph().rename(*result, name);
    return {};
  }

  /// The tracer may speak of what is taken back.
  Result<void> takeBack(NodeId id, std::size_t count) {
    m_values.clear();
    m_tracer.emplace(m_module);
    std::vector<NodeId> made = madeBefore(id, count);
    for (auto last = made.rbegin(); last != made.rend(); ++last) KERF_CHECK(graph().eraseNode(*last));
    return {};
  }

  GraphModule& m_module;
  std::optional<OpTracer> m_tracer;
  std::unordered_map<NodeId, Value> m_values;
};

}  // namespace

Result<std::shared_ptr<const GraphModule>> writeOut(std::shared_ptr<const GraphModule> module) {
  const bool any = std::ranges::any_of(module->graph.order(),
                                       [&](NodeId id) { return isWrittenOut(*module, module->graph.node(id)); });
  if (!any) return module;
  auto written = std::make_shared<GraphModule>(*module);
  KERF_CHECK(Writer(*written).run());
  return written;
}

}  // namespace kerf::inline lower
