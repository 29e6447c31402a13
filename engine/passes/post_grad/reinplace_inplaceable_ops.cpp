#include "engine/passes/post_grad/post_grad_passes.h"

#include <algorithm>

#include "engine/ir/interpreter.h"
#include "engine/ops/core/op_tracer.h"
#include "engine/passes/call_arguments.h"
#include "engine/passes/forwarding.h"
#include "engine/passes/post_grad/dying_memory.h"

namespace kerf::inline passes {

namespace {

struct ScatterRow {
  std::string_view target, view;
  bool onlyGiven = false;  ///< fused with its neighbours unless both ends are in memory anyway
};
constexpr ScatterRow scatters[] = {
    {"torch.ops.aten.as_strided_scatter.default", "torch.ops.aten.as_strided.default"},
    {"torch.ops.aten.diagonal_scatter.default", "torch.ops.aten.diagonal.default"},
    {"torch.ops.aten.slice_scatter.default", "torch.ops.aten.slice.Tensor", true},
    {"torch.ops.aten.select_scatter.default", "torch.ops.aten.select.int", true},
};

/// copy_(x, op_(x, …)) copies nothing.
Result<void> dropCopyBack(Graph& graph, NodeId copy) {
  if (copy.valid()) KERF_CHECK(graph.eraseNode(copy));
  return {};
}

Result<bool> writeIndexed(Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (!node.isCall("aten.index_put.default"_op)) return false;
  const NodeId* operand = node.args().empty() ? nullptr : node.args()[0].as<NodeId>();
  if (!operand || !sameTensorMeta(graph.node(*operand), node)) return false;
  const NodeId written = *operand;
  const DyingMemory dying(graph);
  if (!dying.mayBeWritten(id, written)) return false;
  KERF_CHECK(dropCopyBack(graph, dying.copyBack(id, written)));
  graph.setTarget(id, "torch.ops.aten.index_put_.default");
  return true;
}

/// Writes the source into a view of the operand, right before the scatter.
Result<void> writeThroughView(GraphModule& module, const ScatterRow& row, NodeId id) {
  Graph& graph = module.graph;
  OpTracer tracer(module);
  const InsertionScope scope(graph, InsertionScope::Where::Before, id);
  ValueList args;
  for (const Argument& argument : graph.node(id).args()) {
    if (const NodeId* node = argument.as<NodeId>()) {
      KERF_TRY(Value value, tracer.valueOfNode(*node));
      args.push_back(std::move(value));
    } else {
      KERF_TRY(Value value, argumentToValue(argument, [](NodeId) -> const Value& { std::abort(); }));
      args.push_back(std::move(value));
    }
  }
  const Value source = args[1];
  args.erase(args.begin() + 1);
  KERF_TRY(const Value view, tracer.call(row.view, args, {}));
  KERF_TRY(const Value copied, tracer.call("aten.copy_.default"_op, {view, source}, {}));
  for (const Value& value : {view, copied}) {
    KERF_TRY(const Argument made, tracer.argumentOf(value));
    NodeMeta meta = graph.node(id).meta();
    meta.fromNodes = provenance(graph.node(id));
    meta.value = graph.node(*made.as<NodeId>()).meta().value;
    if (auto* tensor = std::get_if<TensorMeta>(&meta.value.value)) tensor->device = tensorOf(graph, id)->device;
    graph.setMeta(*made.as<NodeId>(), std::move(meta));
  }
  return {};
}

bool hasNumbersOnly(const Node& node) {
  const auto isPlain = [](const Argument& argument) {
    bool plain = true;
    forEachNode(argument, [&](NodeId) { plain = false; });
    return plain && !argument.as<SymExpr>();
  };
  return node.kwargs().empty() && std::all_of(node.args().begin() + 2, node.args().end(), isPlain);
}

Result<bool> writeScattered(GraphModule& module, NodeId id) {
  Graph& graph = module.graph;
  const Node& node = graph.node(id);
  const auto row = std::ranges::find(scatters, node.target(), &ScatterRow::target);
  if (node.op() != Opcode::CallFunction || row == std::end(scatters) || node.args().size() < 2) return false;
  const NodeId* operand = node.args()[0].as<NodeId>();
  const NodeId* source = node.args()[1].as<NodeId>();
  if (!operand || !source || !hasNumbersOnly(node) || !sameTensorMeta(graph.node(*operand), node)) return false;
  const NodeId base = *operand;
  const DyingMemory dying(graph);
  const NodeId back = dying.copyBack(id, base);
  if ((row->onlyGiven && !back.valid()) || !dying.mayBeWritten(id, base)) return false;
  KERF_CHECK(dropCopyBack(graph, back));
  KERF_CHECK(writeThroughView(module, *row, id));
  graph.replaceAllUsesWith(id, base);
  KERF_CHECK(graph.eraseNode(id));
  return true;
}

Result<void> runReinplaceInplaceableOps(GraphModule& module, const PassContext& context) {
  if (!context.options.value<bool>("enabled")) return {};
  const std::vector<NodeId> order(module.graph.order().begin(), module.graph.order().end());
  for (const NodeId id : order) {
    if (!module.graph.contains(id)) continue;
    KERF_TRY(const bool written, writeIndexed(module.graph, id));
    if (!written) KERF_CHECK(writeScattered(module, id));
  }
  return {};
}

}  // namespace

Pass reinplaceInplaceableOpsPass() {
  return {.name = "reinplace_inplaceable_ops",
          .stage = PassStage::PostGrad,
          .description = "Lets ops write into operands that nobody reads afterwards.",
          .options = {{"enabled", false, "Whether it runs; a write keeps kernels from being fused."}},
          .run = runReinplaceInplaceableOps};
}

}  // namespace kerf::inline passes
