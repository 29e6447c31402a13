// Both patterns as expressions: the draw itself stays where it is, so that random numbers come in the same order.
#include "engine/patterns/randperm_patterns.h"

#include "engine/ops/core/op_registry.h"
#include "engine/passes/call_arguments.h"
#include "engine/passes/call_replacement.h"

namespace kerf::inline patterns {

namespace {

/// What a slice is taken from, the node itself for other calls.
const Node& unsliced(const Graph& graph, const Node& node) {
  const NodeId* whole = node.isCall("aten.slice.Tensor"_op) ? node.args()[0].as<NodeId>() : nullptr;
  return whole == nullptr ? node : graph.node(*whole);
}

/// The matched argument `name` where it is a node.
const Node* nodeOf(const MatchContext& context, std::string_view name) {
  const Argument* value = context.match.find(name);
  const NodeId* id = value == nullptr ? nullptr : value->as<NodeId>();
  return id == nullptr ? nullptr : &context.module.graph.node(*id);
}

std::string refusal(const MatchContext& context) {
  const Node *index = nodeOf(context, "index"), *x = nodeOf(context, "x");
  if (index == nullptr || x == nullptr) return "an index is not a tensor";
  const Node& drawn = unsliced(context.module.graph, *index);
  if (!drawn.isCall("aten.randperm.default"_op))
    return fmt::format("the index {} is not a permutation from randperm", index->name());
  const auto count = integerNamed(drawn, "n");
  const TensorMeta* meta = x->meta().value.tensor();
  const auto sizes = meta == nullptr ? std::nullopt : fixedSizes(*meta);
  if (!count || !sizes || sizes->empty() || *count > sizes->front())
    return fmt::format("{} is not known to be within the bounds of {}", drawn.name(), x->name());
  return {};
}

/// Writes `program` in the place of the match's result.
auto writing(std::vector<std::string> inputs, ReplacementProgram program) {
  return [inputs = std::move(inputs),
          program = std::move(program)](const MatchContext& context) -> Result<std::vector<NodeId>> {
    std::vector<NodeId> nodes, made;
    std::uint32_t first = 0;
    for (const NodeId id : context.module.graph.order()) first = std::max(first, id.index + 1);
    for (const std::string& name : inputs) nodes.push_back(nodeOf(context, name)->id());
    CallReplacement replacement(context.module);
    KERF_CHECK(replacement.replace(context.anchor, nodes, program));
    for (const NodeId id : context.module.graph.order())
      if (id.index >= first) made.push_back(id);
    return made;
  };
}

}  // namespace

std::vector<PatternEntry> randpermEntries() {
  const auto picked = [] { return listPattern({keywordArg("index")}); };
  PatternEntry read{.name = "randperm_index",
                    .description = "x[randperm(n)[:k]], whose indices need no check",
                    .pattern = callFunction("aten.index.Tensor"_op, {keywordArg("x"), picked()})};
  read.checks.push_back(refusal);
  read.replace = writing({"x", "index"}, [](CallWriter& call, std::span<const Value> inputs) {
    return call("aten._unsafe_index.Tensor"_op, {inputs[0], ValueList(1, inputs[1])});
  });
  PatternEntry add{.name = "randperm_index_add",
                   .description = "x[randperm(n)[:k]] += source, whose indices are each there but once",
                   .pattern = callFunction("aten.index_put.default"_op,
                                           {keywordArg("x"), picked(), keywordArg("source"), literal(true)})};
  add.checks.push_back(refusal);
  add.replace = writing({"x", "index", "source"}, [](CallWriter& call, std::span<const Value> inputs) {
    const Value index(ValueList(1, inputs[1]));
    const Value old = call("aten._unsafe_index.Tensor"_op, {inputs[0], index});
    const Value sum = call("aten.add.Tensor"_op, {old, inputs[2]});
    return call("aten._unsafe_index_put.default"_op, {inputs[0], index, sum});
  });
  std::vector<PatternEntry> entries;
  entries.push_back(std::move(read));
  entries.push_back(std::move(add));
  return entries;
}

}  // namespace kerf::inline patterns
