#include "engine/passes/joint/joint_passes.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/passes/call_arguments.h"
#include "engine/passes/call_replacement.h"
#include "engine/passes/node_facts.h"

namespace kerf::inline passes {

namespace {

struct ScaledMaximum {
  NodeId node;             ///< the subtraction
  NodeId scaled, maximum;  ///< what it subtracts, and from what
  NodeId source;           ///< before scaling
  double factor = 1;
  std::optional<NodeId> by;  ///< the factor where it is a tensor, one number for each row that is reduced
  bool divides = false;
  std::optional<DType> converted;  ///< after scaling
  Sizes dims;
};

/// Whether `by`, broadcast to `source`, is the same along all of `dims`.
bool isUniformAlong(const Sizes& dims, const TensorMeta& source, const TensorMeta* by) {
  const std::size_t rank = source.sizes.size();
  if (!by || !isFloating(by->dtype) || by->sizes.size() > rank) return false;
  return std::ranges::all_of(dims, [&](std::int64_t given) {
    const auto at = wrappedDim(given, rank);
    const std::size_t left = rank - by->sizes.size();  // dimensions that it lacks
    return at && (std::size_t(*at) < left || by->sizes[std::size_t(*at) - left] == dim(1));
  });
}

/// mul or div by a number or a tensor, maybe converted.
bool readScaling(const Graph& graph, NodeId id, ScaledMaximum& found) {
  const Node* node = &graph.node(id);
  if (node->isCall("prims.convert_element_type.default"_op)) {
    const DType* dtype = node->args().size() > 1 ? node->args()[1].as<DType>() : nullptr;
    const auto below = nodeNamed(*node, "a");
    if (!dtype || !below) return false;
    found.converted = *dtype;
    node = &graph.node(*below);
  }
  found.divides = node->isCall("aten.div.Tensor"_op);
  if ((!found.divides && !node->isCall("aten.mul.Tensor"_op)) || node->args().size() != 2) return false;
  for (const std::size_t at : {1u, 0u}) {
    const NodeId* source = node->args()[1 - at].as<NodeId>();
    const TensorMeta* meta = source ? tensorOf(graph, *source) : nullptr;
    if (!meta || !isFloating(meta->dtype) || (found.divides && at == 0)) continue;
    found.source = *source;
    if (const auto factor = numberOf(node->args()[at])) {
      found.factor = *factor;
      return std::isfinite(*factor) && *factor != 0;
    }
    const NodeId* by = node->args()[at].as<NodeId>();
    const TensorMeta* scaled = node->meta().value.tensor();
    if (!by || !scaled || scaled->sizes != meta->sizes || !isUniformAlong(found.dims, *meta, tensorOf(graph, *by)))
      continue;
    found.by = *by;
    return true;
  }
  return false;
}

std::optional<ScaledMaximum> scaledMaximum(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (!node.isCall("aten.sub.Tensor"_op) || node.args().size() != 2 || !node.kwargs().empty()) return std::nullopt;
  const NodeId* scaled = node.args()[0].as<NodeId>();
  const NodeId* maximum = node.args()[1].as<NodeId>();
  if (!scaled || !maximum || !graph.node(*maximum).isCall("aten.amax.default"_op)) return std::nullopt;
  const Node& amax = graph.node(*maximum);
  const Argument* keeps = argumentNamed(amax, "keepdim");
  const auto dims = integersNamed(amax, "dim");
  if (nodeNamed(amax, "self") != *scaled || !keeps || keeps->as<bool>() == nullptr || !*keeps->as<bool>() || !dims)
    return std::nullopt;
  ScaledMaximum found{.node = id, .scaled = *scaled, .maximum = *maximum, .source = {}, .converted = {}, .dims = *dims};
  return readScaling(graph, *scaled, found) ? std::optional(found) : std::nullopt;
}

class Writing {
 public:
  Writing(CallWriter& call, const ScaledMaximum& found)
      : m_call(call),
        m_found(found),
        m_dims(found.dims.begin(), found.dims.end()),
        m_scale(found.divides ? "aten.div.Tensor"_op : "aten.mul.Tensor"_op) {}

  Value byNumber(const Value& source) {
    Value turned = converted(source);
    if (m_found.factor < 0) turned = m_call("aten.neg.default"_op, {turned});
    return m_call(m_scale, {belowMaximum(turned), std::abs(m_found.factor)});
  }

  /// Rows that are not finite once they are scaled keep what they had: infinities times zero.
  Value byTensor(const Value& source, const Value& by) {
    const Value scaled = converted(m_call(m_scale, {source, by}));
    const Value sizes = m_call("aten.abs.default"_op, {scaled});
    const Value numbers = m_call("aten.lt.Scalar"_op, {sizes, std::numeric_limits<double>::infinity()});
    const Value finite = m_call("aten.all.dims"_op, {numbers, m_dims, true});
    const Value turned = m_call("aten.mul.Tensor"_op, {converted(source), signsOf(by)});
    const Value stable = m_call(m_scale, {belowMaximum(turned), m_call("aten.abs.default"_op, {by})});
    return m_call("aten.where.self"_op, {finite, stable, belowMaximum(scaled)});
  }

 private:
  Value converted(const Value& value) {
    return m_found.converted ? m_call("prims.convert_element_type.default"_op, {value, *m_found.converted}) : value;
  }
  Value belowMaximum(const Value& value) {
    return m_call("aten.sub.Tensor"_op, {value, m_call("aten.amax.default"_op, {value, m_dims, true})});
  }
  /// -1 for what is below zero, else 1.
  Value signsOf(const Value& value) {
    if (!value.isTensor()) return {};
    const Value below = m_call("aten.lt.Scalar"_op, {value, 0});
    const Value ones = m_call("prims.convert_element_type.default"_op, {below, value.tensor().dtype()});
    return m_call("aten.add.Tensor"_op, {m_call("aten.mul.Tensor"_op, {ones, -2}), 1});
  }

  CallWriter& m_call;
  const ScaledMaximum& m_found;
  ValueList m_dims;
  OpId m_scale;
};

Result<void> runMulSoftmaxPattern(GraphModule& module, const PassContext& context) {
  if (!context.options.value<bool>("enabled")) return {};
  CallReplacement replacement(module);
  const AliasGroups aliases(module.graph);
  const std::vector<NodeId> order(module.graph.order().begin(), module.graph.order().end());
  for (const NodeId id : order) {
    const auto found = scaledMaximum(module.graph, id);
    if (!found || aliases.touchesMutation(module.graph.node(found->node)) || aliases.mutated(found->source)) continue;
    if (found->by && aliases.mutated(*found->by)) continue;
    std::vector<NodeId> inputs{found->source};
    if (found->by) inputs.push_back(*found->by);
    KERF_CHECK(replacement.replace(id, inputs,
                                   [&](CallWriter& call, std::span<const Value> values) {
                                     Writing writing(call, *found);
                                     return found->by ? writing.byTensor(values[0], values[1])
                                                      : writing.byNumber(values[0]);
                                   },
                                   {found->scaled, found->maximum}));
  }
  replacement.finish();
  return {};
}

}  // namespace

Pass mulSoftmaxPatternPass() {
  return {.name = "mul_softmax_pattern",
          .stage = PassStage::Joint,
          .description = "Scales scores after their maximum was subtracted.",
          .options = {{"enabled", false, "Whether it runs; values change in the last digits."}},
          .run = runMulSoftmaxPattern};
}

}  // namespace kerf::inline passes
