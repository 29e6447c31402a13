#include "engine/passes/post_grad/post_grad_passes.h"

#include <algorithm>
#include <map>

#include "engine/ops/core/op_tracer.h"
#include "engine/passes/call_arguments.h"
#include "engine/passes/post_grad/dying_memory.h"

namespace kerf::inline passes {

namespace {

bool isWritten(const SchemaArgument& argument) { return argument.alias.find('!') != std::string::npos; }

const Argument* keywordOf(const Node& node, std::string_view name) {
  const auto found = std::ranges::find(node.kwargs(), name, &KeywordArguments::value_type::first);
  return found == node.kwargs().end() ? nullptr : &found->second;
}

/// The op that is wrapped; null if it has no row, or writes lists.
const OpInfo* wrappedOp(const Node& node) {
  const PythonName* name = node.args().size() == 1 ? node.args()[0].as<PythonName>() : nullptr;
  const OpInfo* op = name ? findOp(OpTarget(name->text)) : nullptr;
  const auto isSingle = [](const SchemaArgument& a) { return !isWritten(a) || a.type.starts_with("Tensor"); };
  const bool isPlain = op && std::ranges::all_of(op->schema.arguments, isSingle);
  return isPlain && std::ranges::none_of(
                        op->schema.arguments,
                        [](const auto& a) { return isWritten(a) && a.type.find('[') != std::string::npos; })
             ? op
             : nullptr;
}

/// One wrapped call on its way: what is written, and what the wrapper's results become.
class Unwrapping {
 public:
  Unwrapping(Graph& graph, NodeId id, const OpInfo& op, bool reinplace)
      : m_graph(graph), m_id(id), m_op(op), m_reinplace(reinplace), m_dying(graph) {}

  Result<bool> run() {
    const bool bases = keywordOf(node(), "_all_bases") != nullptr;
    if (!(bases ? readBases() : readArguments()) || !readResults()) return false;
    const InsertionScope scope(m_graph, InsertionScope::Where::Before, m_id);
    for (NodeId& operand : m_written)
      if (!m_reinplace || !m_dying.mayBeWritten(m_id, operand)) operand = copyOf(operand);
    KeywordArguments kwargs;
    for (const SchemaArgument& argument : m_op.schema.arguments)
      if (auto value = valueFor(argument)) kwargs.emplace_back(argument.name, std::move(*value));
    const NodeId call = m_graph.callFunction("torch.ops." + m_op.schema.qualifiedName(), {}, std::move(kwargs),
                                             m_op.schema.name.substr(m_op.schema.name.rfind(':') + 1));
    describe(call, resultMeta());
    return forwardResults(call);
  }

 private:
  const Node& node() const { return m_graph.node(m_id); }
  std::size_t resultCount() const { return std::max<std::size_t>(1, m_op.schema.returns.size()); }

  /// auto_functionalized(op, x=a): each written argument is a base of its own.
  bool readArguments() {
    for (const SchemaArgument& argument : m_op.schema.arguments) {
      if (!isWritten(argument)) continue;
      const Argument* given = keywordOf(node(), argument.name);
      if (!given || given->isNone()) return false;
      const NodeId* operand = given->as<NodeId>();
      if (!operand || !tensorOf(m_graph, *operand)) return false;
      m_base[argument.name] = m_written.size();
      m_written.push_back(*operand);
    }
    return !m_written.empty();
  }

  /// auto_functionalized_v2(op, _x_base_index=0, _all_bases=[a]): written arguments are bases, or none.
  bool readBases() {
    const ListArgument* all = keywordOf(node(), "_all_bases")->asList();
    if (!all) return false;
    for (const Argument& base : all->items) {
      const NodeId* operand = base.as<NodeId>();
      if (!operand || !tensorOf(m_graph, *operand)) return false;
      m_written.push_back(*operand);
    }
    for (const SchemaArgument& argument : m_op.schema.arguments) {
      if (!isWritten(argument)) continue;
      const Argument* index = keywordOf(node(), "_" + argument.name + "_base_index");
      const auto* at = index ? index->as<std::int64_t>() : nullptr;
      const bool isView =
          keywordOf(node(), "_" + argument.name + "_size") || keywordOf(node(), "_" + argument.name + "_slice_dim");
      if (!at || isView || *at < 0 || std::size_t(*at) >= m_written.size()) return false;
      m_base[argument.name] = std::size_t(*at);
    }
    return !m_base.empty();
  }

  /// All users are getitems of a number.
  bool readResults() const {
    return std::ranges::all_of(node().users(), [&](NodeId user) {
      const Node& item = m_graph.node(user);
      return item.isCall("operator.getitem"_op) && item.args().size() == 2 && item.args()[1].as<std::int64_t>() &&
             *item.args()[1].as<std::int64_t>() >= 0;
    });
  }

  NodeId copyOf(NodeId operand) {
    const NodeId copy = m_graph.callFunction("torch.ops.aten.clone.default", {operand}, {}, "clone");
    describe(copy, m_graph.node(operand).meta().value);
    return copy;
  }

  void describe(NodeId made, const ValueMeta& value) {
    NodeMeta meta = node().meta();
    meta.fromNodes = provenance(node());
    meta.value = value;
    m_graph.setMeta(made, std::move(meta));
  }

  std::optional<Argument> valueFor(const SchemaArgument& argument) const {
    if (const auto base = m_base.find(argument.name); base != m_base.end()) return m_written[base->second];
    const Argument* given = keywordOf(node(), argument.name);
    return given ? std::optional(*given) : std::nullopt;
  }

  ValueMeta resultMeta() const {
    const auto* all = node().meta().value.list();
    if (!all || m_op.schema.returns.empty()) return {};
    if (m_op.schema.returns.size() == 1) return all->front();
    return {std::vector<ValueMeta>(all->begin(), all->begin() + std::ptrdiff_t(resultCount()))};
  }

  /// The first results are the op's own, then come the written tensors.
  Result<bool> forwardResults(NodeId call) {
    const std::vector<NodeId> items = node().users();
    for (const NodeId item : items) {
      const auto index = std::size_t(*m_graph.node(item).args()[1].as<std::int64_t>());
      if (index >= resultCount() + m_written.size())
        return fail(ErrorCode::BadInput, "{} has no result {}", node().name(), index);
      if (index >= resultCount()) {
        m_graph.replaceAllUsesWith(item, m_written[index - resultCount()]);
        KERF_CHECK(m_graph.eraseNode(item));
      } else if (m_op.schema.returns.size() == 1) {
        m_graph.replaceAllUsesWith(item, call);
        KERF_CHECK(m_graph.eraseNode(item));
      } else {
        m_graph.setArgs(item, {call, std::int64_t(index)});
      }
    }
    KERF_CHECK(m_graph.eraseNode(m_id));
    return true;
  }

  Graph& m_graph;
  NodeId m_id;
  const OpInfo& m_op;
  bool m_reinplace;
  DyingMemory m_dying;
  std::vector<NodeId> m_written;              ///< bases, then what stands for them
  std::map<std::string, std::size_t> m_base;  ///< of each written argument
};

Result<void> runDecomposeAutoFunctionalized(GraphModule& module, const PassContext& context) {
  if (!context.options.value<bool>("enabled")) return {};
  const bool reinplace = context.options.value<bool>("reinplace");
  const std::vector<NodeId> order(module.graph.order().begin(), module.graph.order().end());
  for (const NodeId id : order) {
    if (!module.graph.contains(id)) continue;
    const Node& node = module.graph.node(id);
    if (!node.target().starts_with("torch.ops.higher_order.auto_functionalized")) continue;
    if (const OpInfo* op = wrappedOp(node)) KERF_CHECK(Unwrapping(module.graph, id, *op, reinplace).run());
  }
  return {};
}

}  // namespace

Pass decomposeAutoFunctionalizedPass() {
  return {.name = "decompose_auto_functionalized",
          .stage = PassStage::PostGrad,
          .description = "Calls the op that writes in place of its functional wrapper.",
          .options = {{"enabled", false, "Whether it runs; a write keeps kernels from being fused."},
                      {"reinplace", true, "Writes into operands that nobody reads afterwards, without a copy."}},
          .run = runDecomposeAutoFunctionalized};
}

}  // namespace kerf::inline passes
