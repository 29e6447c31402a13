#include "engine/passes/joint/joint_passes.h"

#include <cmath>

#include "engine/passes/call_arguments.h"
#include "engine/passes/call_replacement.h"
#include "engine/passes/node_facts.h"

namespace kerf::inline passes {

namespace {

struct RunningSum {
  NodeId node;
  double number = 0;  ///< every element
  std::int64_t dim = 0;
  Sizes sizes;
  DType dtype = DType::Int64;
};

/// The largest integer up to which all are exact; 0: not a type that is replaced.
double exactUpTo(DType dtype) {
  switch (dtype) {
    case DType::Int64:
    case DType::Float64:
      return 0x1p53;
    case DType::Float32:
      return 0x1p24;
    case DType::Float16:
      return 0x1p11;
    case DType::BFloat16:
      return 0x1p8;
    default:
      return 0;
  }
}

std::optional<RunningSum> runningSum(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (!node.isCall("aten.cumsum.default"_op)) return std::nullopt;
  const auto source = nodeNamed(node, "self");
  const TensorMeta* meta = node.meta().value.tensor();
  if (!source || !meta || !graph.node(*source).isCall("aten.full.default"_op)) return std::nullopt;
  const auto number = numberNamed(graph.node(*source), "fill_value");
  const TensorMeta* filled = tensorOf(graph, *source);
  const auto sizes = fixedSizes(*meta);
  const auto dim = integerNamed(node, "dim");
  if (!number || !filled || !sizes || sizes->empty() || !dim) return std::nullopt;
  const auto at = wrappedDim(*dim, sizes->size());
  if (!at || *number != std::floor(*number)) return std::nullopt;
  const double value = filled->dtype == DType::Bool ? double(*number != 0) : *number;
  if (std::abs(value) * double((*sizes)[std::size_t(*at)]) > exactUpTo(meta->dtype)) return std::nullopt;
  return RunningSum{id, value, *at, *sizes, meta->dtype};
}

/// iota, times the number, in the sum's dtype, along its dimension, repeated along the others.
Value written(CallWriter& call, const RunningSum& sum, const Device& device) {
  const std::int64_t length = sum.sizes[std::size_t(sum.dim)];
  Value value = call("prims.iota.default"_op, {length},
                     {{"start", std::int64_t{1}},
                      {"step", std::int64_t{1}},
                      {"dtype", DType::Int64},
                      {"device", device},
                      {"requires_grad", false}});
  if (sum.dtype != DType::Int64) value = call("prims.convert_element_type.default"_op, {value, sum.dtype});
  if (sum.number != 1) {
    const bool isWhole = sum.dtype == DType::Int64;
    value = call("aten.mul.Tensor"_op, {value, isWhole ? Value(std::int64_t(sum.number)) : Value(sum.number)});
  }
  if (sum.sizes.size() == 1) return value;
  ValueList places, sizes;
  for (std::size_t d = 0; d < sum.sizes.size(); ++d) {
    places.push_back(std::int64_t(d) == sum.dim ? length : std::int64_t{1});
    sizes.push_back(sum.sizes[d]);
  }
  value = call("aten.view.default"_op, {value, std::move(places)});
  value = call("aten.expand.default"_op, {value, std::move(sizes)});
  return call("aten.clone.default"_op, {value}, {{"memory_format", MemoryFormat::Contiguous}});
}

Result<void> runPointlessCumsumReplacement(GraphModule& module, const PassContext&) {
  CallReplacement replacement(module);
  const std::vector<NodeId> order(module.graph.order().begin(), module.graph.order().end());
  for (const NodeId id : order) {
    const auto sum = runningSum(module.graph, id);
    if (!sum || AliasGroups(module.graph).touchesMutation(module.graph.node(id))) continue;
    const Device device = module.graph.node(id).meta().value.tensor()->device;
    KERF_CHECK(replacement.replace(
        id, {}, [&](CallWriter& call, std::span<const Value>) { return written(call, *sum, device); }));
  }
  replacement.finish();
  return {};
}

}  // namespace

Pass pointlessCumsumReplacementPass() {
  return {.name = "pointless_cumsum_replacement",
          .stage = PassStage::Joint,
          .description = "Counts where equal numbers are summed up.",
          .run = runPointlessCumsumReplacement};
}

}  // namespace kerf::inline passes
