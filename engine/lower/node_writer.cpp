#include "engine/lower/node_writer.h"

#include <algorithm>
#include <set>

#include "engine/ir/value_meta.h"
#include "engine/ops/core/memory_use.h"
#include "engine/ops/core/op_call.h"
#include "engine/ops/core/purity.h"
#include "engine/ops/core/shared_memory.h"
#include "engine/ops/core/strides.h"
#include "engine/ops/core/symbolic_checks.h"
#include "engine/ops/core/written_operands.h"
#include "engine/support/log.h"

namespace kerf::inline lower {
namespace {

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

/// A trace that knows which nodes look at one memory, so that a call which PyTorch refuses for that is not written: it stays
/// a call, and a run refuses it.
class MemoryTracer : public OpTracer, public FollowsMemory {
 public:
  MemoryTracer(GraphModule& module, Decomposes decomposes) : OpTracer(module, std::move(decomposes)) {}
  bool shareMemory(const Tensor& a, const Tensor& b) const override { return rootOf(nodeOf(a)) == rootOf(nodeOf(b)); }

 protected:
  Result<Value> record(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs) const override {
    if (const ReadOfWritten read = readOfWritten(op); read != ReadOfWritten::Any) {
      KERF_TRY(const BoundArguments bound, bindArguments(op, args, kwargs));
      KERF_CHECK(checkReadOfWritten(bound, read, *this));
    }
    return OpTracer::record(op, args, kwargs);
  }

 private:
  /// The node whose memory a node looks at: what its views and writes begin with.
  NodeId rootOf(NodeId id) const {
    while (const auto next = lookedAt(module().graph.node(id))) id = *next;
    return id;
  }

  std::optional<NodeId> lookedAt(const Node& node) const {
    const OpInfo* op = findOp(node);
    if (op == nullptr || isCopy(*op, node)) return {};
    const bool isItem = op->id == "operator.getitem"_op;
    for (std::size_t i = 0; i < op->schema.arguments.size(); ++i) {
      if (!isItem && !resultLooksAt(*op, i)) continue;
      const Argument* argument = boundArgument(node, *op, i);
      const NodeId* id = argument != nullptr ? argument->as<NodeId>() : nullptr;
      if (id != nullptr) return !isItem || isListOfViews(module().graph.node(*id)) ? std::optional(*id) : std::nullopt;
    }
    return {};
  }

  /// split and unbind; the items of other tuples lie apart.
  static bool isListOfViews(const Node& node) {
    const OpInfo* op = findOp(node);
    if (op == nullptr) return false;
    for (std::size_t i = 0; i < op->schema.arguments.size(); ++i)
      if (resultLooksAt(*op, i)) return true;
    return false;
  }

  /// reshape is a view only where strides allow it.
  bool isCopy(const OpInfo& op, const Node& node) const {
    if (op.id != "aten.reshape.default"_op) return false;
    const Argument* argument = boundArgument(node, op, 0);
    const NodeId* id = argument != nullptr ? argument->as<NodeId>() : nullptr;
    const auto from = id != nullptr ? ir::valueOf(module().graph.node(*id).meta().value) : std::nullopt;
    const auto to = ir::valueOf(node.meta().value);
    const bool areTensors = from && to && from->isTensor() && to->isTensor();
    return !areTensors || !viewStrides(from->tensor(), to->tensor().symSizes());
  }
};

}  // namespace

NodeWriter::NodeWriter(GraphModule& module, Decomposes decomposes)
    : m_module(module),
      m_decomposes(std::move(decomposes)),
      m_tracer(std::make_unique<MemoryTracer>(module, m_decomposes)) {}

Result<std::optional<Argument>> NodeWriter::replace(NodeId id, const Program& program, const Check& accepts) {
  const std::size_t before = graph().size();
  auto written = withoutThrowing([&] { return write(id, program, accepts); });
  if (written) return std::optional(std::move(*written));
  logAt(LogCategory::Compile, LogLevel::Debug, "{} is not written out: {}", graph().node(id).name(),
        written.error().text());
  KERF_CHECK(takeBack(id, graph().size() - before));
  return std::nullopt;
}

void NodeWriter::dropUnread() {
  const std::set<NodeId> made(m_made.begin(), m_made.end());
  graph().eliminateDeadCode(
      [&](const Node& node) { return !made.contains(node.id()) || purityOf(node) != Purity::Pure; });
}

Result<Argument> NodeWriter::write(NodeId id, const Program& program, const Check& accepts) {
  const InsertionScope scope(graph(), InsertionScope::Where::Before, id);
  const std::size_t before = graph().size();
  KERF_TRY(const Value result, trace(graph().node(id), program));
  KERF_TRY(Argument replacement, m_tracer->argumentOf(result));
  const std::vector<NodeId> made = graph().nodesBefore(id, graph().size() - before);
  if (std::ranges::any_of(made, [&](NodeId node) { return isNumberedByData(graph().node(node)); }))
    return fail(ErrorCode::UnsupportedOp, "it computes with a size that only running the graph tells");
  if (accepts && !accepts({made, replacement})) return fail(ErrorCode::UnsupportedOp, "its parts would not do");
  describe(id, made);
  KERF_CHECK(putInPlace(id, replacement, made));
  m_made.insert(m_made.end(), made.begin(), made.end());
  return replacement;
}

Result<Value> NodeWriter::trace(const Node& node, const Program& program) {
  std::optional<Error> unknown;
  Value current;
  const auto lookup = [&](NodeId id) -> const Value& {
    auto value = valueOf(id);
    if (!value && !unknown) unknown = value.error();
    return current = value.value_or(Value());
  };
  KERF_TRY(const CallValues call, callValues(node, lookup));
  if (unknown) return fail(*unknown);
  return program(*m_tracer, call);
}

Result<Value> NodeWriter::valueOf(NodeId id) {
  const auto known = m_values.find(id);
  if (known != m_values.end()) return known->second;
  KERF_TRY(Value value, m_tracer->valueOfNode(id));
  return m_values.emplace(id, std::move(value)).first->second;
}

/// What was made comes from where `id` comes from.
void NodeWriter::describe(NodeId id, std::span<const NodeId> made) {
  const NodeMeta like = graph().node(id).meta();
  for (const NodeId node : made) {
    NodeMeta meta = like;
    if (meta.fromNodes.empty()) meta.fromNodes.push_back(graph().node(id).name());
    meta.value = graph().node(node).meta().value;
    graph().setMeta(node, std::move(meta));
  }
}

/// The node that gives the result now goes by the name of the one that did.
Result<void> NodeWriter::putInPlace(NodeId id, const Argument& replacement, const std::vector<NodeId>& made) {
  const std::vector<NodeId> users(graph().node(id).users().begin(), graph().node(id).users().end());
  for (const NodeId user : users) graph().replaceInput(user, id, replacement);
  const std::string name = graph().node(id).name();
  KERF_CHECK(graph().eraseNode(id));
  const NodeId* result = replacement.as<NodeId>();
  if (result && std::ranges::find(made, *result) != made.end()) graph().rename(*result, name);
  return {};
}

/// The tracer may speak of what is taken back.
Result<void> NodeWriter::takeBack(NodeId id, std::size_t count) {
  m_values.clear();
  m_tracer = std::make_unique<MemoryTracer>(m_module, m_decomposes);
  std::vector<NodeId> made = graph().nodesBefore(id, count);
  for (auto last = made.rbegin(); last != made.rend(); ++last) KERF_CHECK(graph().eraseNode(*last));
  return {};
}

}  // namespace kerf::inline lower
