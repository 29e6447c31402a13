#include "engine/passes/joint/joint_passes.h"

#include <algorithm>

#include "engine/passes/call_arguments.h"
#include "engine/passes/forwarding.h"

namespace kerf::inline passes {

namespace {

bool isUsualFloat(DType dtype) {
  return dtype == DType::Float16 || dtype == DType::BFloat16 || dtype == DType::Float32 || dtype == DType::Float64;
}

/// Of one operand, with nothing but a dtype given.
bool isConversion(const Node& node) {
  if (node.isCall("prims.convert_element_type.default"_op)) return node.args().size() == 2 && node.kwargs().empty();
  return node.isCall("aten._to_copy.default"_op) && node.args().size() == 1 && node.kwargs().size() == 1 &&
         node.kwargs()[0].first == "dtype";
}

/// Whether every value of `from` is one of `to`.
bool isWider(DType from, DType to) {
  if (from == to || to == DType::Float64) return true;
  return to == DType::Float32 && from != DType::Float64;
}

/// What a conversion of a conversion may read instead.
std::optional<NodeId> sourceBelow(const Graph& graph, const Node& node, bool dropRounding) {
  if (node.op() != Opcode::CallFunction || !isConversion(node)) return std::nullopt;
  const NodeId* below = node.args()[0].as<NodeId>();
  if (!below || !isConversion(graph.node(*below))) return std::nullopt;
  const NodeId* source = graph.node(*below).args()[0].as<NodeId>();
  if (!source) return std::nullopt;
  const TensorMeta* first = tensorOf(graph, *source);
  const TensorMeta* between = tensorOf(graph, *below);
  const TensorMeta* last = node.meta().value.tensor();
  if (!first || !between || !last || first->strides != between->strides) return std::nullopt;
  if (!std::ranges::all_of(std::array{first->dtype, between->dtype, last->dtype}, isUsualFloat)) return std::nullopt;
  if (isWider(first->dtype, between->dtype)) return *source;
  const bool narrower = itemSize(between->dtype) < itemSize(last->dtype);  // may be worth being in memory
  return dropRounding && !narrower ? std::optional(*source) : std::nullopt;
}

Result<void> runPointlessConvert(GraphModule& module, const PassContext& context) {
  Graph& graph = module.graph;
  const bool dropRounding = context.options.value<bool>("drop_rounding");
  std::optional<Forwarding> forwarding;
  const std::vector<NodeId> order(graph.order().begin(), graph.order().end());
  for (const NodeId id : order) {
    const auto source = sourceBelow(graph, graph.node(id), dropRounding);
    if (!source) continue;
    if (!forwarding) forwarding.emplace(graph);
    const Node& node = graph.node(id);
    const NodeId below = *node.args()[0].as<NodeId>();
    if (forwarding->aliases().touchesMutation(node) || forwarding->aliases().mutated(*source)) continue;
    mergeProvenance(graph, graph.node(below), id);
    if (forwarding->allows(node, *source)) {
      forwarding->forward(graph, id, *source);
      continue;
    }
    ArgumentList args = node.args();
    args[0] = *source;
    graph.setArgs(id, std::move(args));
  }
  if (forwarding) graph.eliminateDeadCode(mustStay);
  return {};
}

}  // namespace

Pass pointlessConvertPass() {
  return {.name = "pointless_convert",
          .stage = PassStage::Joint,
          .description = "Drops a dtype conversion between two others that lose nothing by it.",
          .options = {{"drop_rounding", false, "Also drop one that rounds, as Inductor does by default."}},
          .run = runPointlessConvert};
}

}  // namespace kerf::inline passes
