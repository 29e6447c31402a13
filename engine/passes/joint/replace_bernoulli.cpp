#include "engine/passes/joint/joint_passes.h"

#include "engine/passes/call_arguments.h"
#include "engine/passes/call_replacement.h"
#include "engine/passes/node_facts.h"

namespace kerf::inline passes {

namespace {

struct Draw {
  NodeId like;
  Sizes sizes;
  double probability = 0;
};

std::optional<Draw> drawOf(const Graph& graph, const Node& node) {
  if (!node.isCall("aten.bernoulli.p"_op)) return std::nullopt;
  const auto like = nodeNamed(node, "self");
  const auto probability = numberNamed(node, "p");
  const Argument* generator = argumentNamed(node, "generator");
  const TensorMeta* meta = node.meta().value.tensor();
  const auto sizes = meta && isFixedRowMajor(*meta) ? fixedSizes(*meta) : std::nullopt;
  const bool isDefault = !generator || generator->isNone();
  if (!like || !tensorOf(graph, *like) || !probability || !sizes || !isDefault) return std::nullopt;
  return Draw{*like, *sizes, *probability};
}

Result<void> runReplaceBernoulli(GraphModule& module, const PassContext& context) {
  if (!context.options.value<bool>("inductor_numbers")) return {};
  CallReplacement replacement(module);
  const std::vector<NodeId> order(module.graph.order().begin(), module.graph.order().end());
  for (const NodeId id : order) {
    const auto draw = drawOf(module.graph, module.graph.node(id));
    if (!draw) continue;
    const TensorMeta meta = *module.graph.node(id).meta().value.tensor();
    KERF_CHECK(replacement.replace(id, {draw->like}, [&](CallWriter& call, std::span<const Value>) {
      const Value sizes(ValueList(draw->sizes.begin(), draw->sizes.end()));
      const Value uniform = call("aten.rand.default"_op, {sizes}, {{"dtype", DType::Float32}, {"device", meta.device}});
      const Value hits = call("aten.lt.Scalar"_op, {uniform, draw->probability});
      return call("prims.convert_element_type.default"_op, {hits, meta.dtype});
    }));
  }
  replacement.finish();
  return {};
}

}  // namespace

Pass replaceBernoulliPass() {
  return {.name = "replace_bernoulli",
          .stage = PassStage::Joint,
          .description = "Draws 0 and 1 by comparing uniform numbers.",
          .options = {{"inductor_numbers", false, "Whether it runs, with other numbers than eager's."}},
          .run = runReplaceBernoulli};
}

}  // namespace kerf::inline passes
