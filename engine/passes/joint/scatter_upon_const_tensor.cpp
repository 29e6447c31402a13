#include "engine/passes/joint/joint_passes.h"

#include "engine/passes/call_arguments.h"
#include "engine/passes/call_replacement.h"
#include "engine/passes/node_facts.h"

namespace kerf::inline passes {

namespace {

struct UniformScatter {
  NodeId full, index;
  Argument background, number;
  std::int64_t dim = 0;
  Sizes sizes;
  TensorMeta meta;
};

std::optional<UniformScatter> uniformScatter(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (!node.isCall("aten.scatter.value"_op)) return std::nullopt;
  const auto full = nodeNamed(node, "self"), index = nodeNamed(node, "index");
  const TensorMeta* meta = node.meta().value.tensor();
  if (!full || !index || !meta || !graph.node(*full).isCall("aten.full.default"_op)) return std::nullopt;
  const Argument* background = argumentNamed(graph.node(*full), "fill_value");
  const Argument* number = argumentNamed(node, "value");
  const auto sizes = fixedSizes(*meta);
  const TensorMeta* places = tensorOf(graph, *index);
  const auto dim = integerNamed(node, "dim");
  if (!background || !numberOf(*background) || !number || !numberOf(*number) || !sizes || !places || !dim)
    return std::nullopt;
  const auto at = wrappedDim(*dim, sizes->size());
  Sizes wanted = *sizes;
  if (!at) return std::nullopt;
  wanted[std::size_t(*at)] = 1;
  if (fixedSizes(*places) != wanted || !isFixedRowMajor(*meta)) return std::nullopt;
  return UniformScatter{*full, *index, *background, *number, *at, *sizes, *meta};
}

Value filled(CallWriter& call, const Argument& number, const TensorMeta& meta) {
  const Value value = number.as<bool>()           ? Value(*number.as<bool>())
                      : number.as<std::int64_t>() ? Value(*number.as<std::int64_t>())
                                                  : Value(*number.as<double>());
  return call("aten.full.default"_op, {ValueList(), value},
              {{"dtype", meta.dtype}, {"layout", Layout::Strided}, {"device", meta.device}, {"pin_memory", false}});
}

Value written(CallWriter& call, const UniformScatter& scatter, const Value& index) {
  ValueList places(scatter.sizes.size(), Value(std::int64_t{1}));
  const std::int64_t length = scatter.sizes[std::size_t(scatter.dim)];
  places[std::size_t(scatter.dim)] = length;
  const Value positions = call("prims.iota.default"_op, {length},
                               {{"start", std::int64_t{0}},
                                {"step", std::int64_t{1}},
                                {"dtype", DType::Int64},
                                {"device", scatter.meta.device},
                                {"requires_grad", false}});
  const Value here = call("aten.view.default"_op, {positions, std::move(places)});
  const Value wanted = call("aten.expand.default"_op, {index, ValueList(scatter.sizes.begin(), scatter.sizes.end())});
  const Value hits = call("aten.eq.Tensor"_op, {wanted, here});
  const Value number = filled(call, scatter.number, scatter.meta);
  return call("aten.where.self"_op, {hits, number, filled(call, scatter.background, scatter.meta)});
}

Result<void> runScatterUponConstTensor(GraphModule& module, const PassContext&) {
  CallReplacement replacement(module);
  const std::vector<NodeId> order(module.graph.order().begin(), module.graph.order().end());
  for (const NodeId id : order) {
    const auto scatter = uniformScatter(module.graph, id);
    if (!scatter || AliasGroups(module.graph).touchesMutation(module.graph.node(id))) continue;
    KERF_CHECK(replacement.replace(
        id, {scatter->index},
        [&](CallWriter& call, std::span<const Value> inputs) { return written(call, *scatter, inputs[0]); },
        {scatter->full}));
  }
  replacement.finish();
  return {};
}

}  // namespace

Pass scatterUponConstTensorPass() {
  return {.name = "scatter_upon_const_tensor",
          .stage = PassStage::Joint,
          .description = "Compares positions where one number is scattered into a uniform tensor.",
          .run = runScatterUponConstTensor};
}

}  // namespace kerf::inline passes
