// Every shipped attention pattern: it matches its own trace at other sizes and behind other calls, a near miss does
// not, and what replaces it has the same values.
#include "engine/patterns/attention_patterns.h"
#include "engine/patterns/shipped_patterns.h"
#include "patterns_testing.h"

namespace kerf {
namespace {

using namespace testing;

/// The rule's inputs with other sizes; numbers for scalars. Dropout draws nothing where values are compared.
PatternInputs otherInputs(const ReplacementRule& rule) {
  PatternInputs inputs = rule.exampleInputs;
  const auto other = [](std::int64_t size) {
    return size == 1024 ? 6 : size == 128 ? 10 : size == 16 ? 12 : size == 8 ? 6 : size == 4 ? 5 : size == 2 ? 3 : size;
  };
  for (PatternInput& input : inputs) {
    Sizes sizes;
    for (Dim& size : input.tensor->sizes) sizes.push_back(other(*size.hint));
    const bool rowMajor = *input.tensor->concreteStrides() == contiguousStrides(*input.tensor->concreteSizes());
    Sizes strides = contiguousStrides(sizes);
    if (!rowMajor) strides = {sizes[1] * sizes[2] * sizes[3], sizes[2] * sizes[3], 1, sizes[2]};
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      input.tensor->sizes[i] = dim(sizes[i]);
      input.tensor->strides[i] = dim(strides[i]);
    }
    if (input.name == "inv_scale" || input.name == "scale_factor") {
      input.tensor.reset();
      input.value = 1.75;
    }
  }
  for (const auto& [name, value] : rule.scalarWorkaround)
    inputs.push_back({name, std::nullopt, name == "dropout_p" ? 0.25 : 1.75});
  return inputs;
}

/// The pattern behind and before other calls: tanh of each float input, sin of each result.
GraphModule embedded(const TracedPattern& traced) {
  GraphModule module = traced.module;
  Graph& graph = module.graph;
  for (const NodeId id : graph.placeholders()) {
    const TensorMeta* meta = graph.node(id).meta().value.tensor();
    if (meta == nullptr || isIntegral(meta->dtype)) continue;
    const InsertionScope scope(graph, InsertionScope::Where::After, graph.placeholders().back());
    const NodeId tanh = graph.callFunction("torch.ops.aten.tanh.default", {id}, {}, "before");
    graph.replaceAllUsesWith(id, tanh, [tanh](const Node& user) { return user.id() != tanh; });
  }
  const NodeId output = graph.outputNode();
  ArgumentList results;
  const ArgumentList old = graph.node(output).args()[0].asList()->items;
  graph.insertBefore(output);
  for (const Argument& item : old) {
    const NodeId* id = item.as<NodeId>();
    results.push_back(id == nullptr ? item
                                    : Argument(graph.callFunction("torch.ops.aten.sin.default", {*id}, {}, "after")));
  }
  graph.insertAtEnd();
  graph.setArgs(output, {Argument::tuple(std::move(results))});
  const auto shapes = propagateShapes(module);
  EXPECT_TRUE(shapes) << shapes.error().text();
  return module;
}

std::size_t calls(const Graph& graph, std::string_view part) {
  return std::size_t(std::ranges::count_if(
      graph.order(), [&](NodeId id) { return graph.node(id).target().find(part) != std::string::npos; }));
}

/// The forms that cast to float16 whatever they are given would change a float32 result's dtype.
bool mixesDtypes(const std::string& name) {
  return name.find("_half") == name.npos && ::testing::Matches(::testing::ContainsRegex("_(7|8|9|10)_"))(name);
}

class AttentionPattern : public ::testing::TestWithParam<std::size_t> {
 protected:
  void SetUp() override {
    const auto loaded = attentionMatcher();
    ASSERT_TRUE(loaded) << loaded.error().text();
    for (const PatternEntry& entry : (*loaded)->entries()) names.push_back(entry.name);
    matcher = *loaded;
  }
  std::vector<std::string> names;
  const PatternMatcherPass* matcher = nullptr;
};

TEST_P(AttentionPattern, MatchesAndKeepsValues) {
  const std::vector<ReplacementRule> rules = attentionRules();
  const ReplacementRule& rule = rules[GetParam()];
  if (std::ranges::find(names, rule.name) == names.end()) return;  // a duplicate of another one
  const auto traced = tracePattern(rule.search, otherInputs(rule), rule.trace);
  ASSERT_TRUE(traced) << rule.name << ": " << traced.error().text();
  const GraphModule before = embedded(*traced);
  GraphModule after = before;
  const auto replaced = matcher->apply(after);
  ASSERT_TRUE(replaced) << rule.name << ": " << replaced.error().text();
  if (replaced->empty()) {
    const auto miss = matcher->explain(before, rule.name);
    if (miss && *miss && mixesDtypes(rule.name)) {
      EXPECT_THAT((*miss)->reason, ::testing::HasSubstr("its replacement would be"));
      return;
    }
    FAIL() << rule.name << ": " << (miss && *miss ? (*miss)->reason : "matches, but is not replaced");
  }
  ASSERT_EQ(replaced->size(), 1u) << rule.name;
  ASSERT_TRUE(after.graph.lint()) << rule.name;
  EXPECT_LT(calls(after.graph, "aten.exp.default"), 1 + calls(before.graph, "aten.exp.default"));
  const bool draws = calls(before.graph, "aten.rand.") > 0;
  const bool half = rule.name.find("_half") != std::string::npos;
  if (!draws) expectSameValues(before, after, half ? 4e-2 : 1e-4);

  GraphModule near = before;
  const auto order = near.graph.order();
  const auto changed =
      std::ranges::find_if(order, [&](NodeId id) { return near.graph.node(id).isCall("aten.exp.default"_op); });
  ASSERT_NE(changed, order.end()) << rule.name;
  near.graph.setTarget(*changed, "torch.ops.aten.exp2.default");
  EXPECT_TRUE(matcher->apply(near)->empty()) << rule.name;
  const auto miss = matcher->explain(near, rule.name);
  ASSERT_TRUE(miss && *miss) << rule.name;
  EXPECT_EQ((*miss)->node, near.graph.node(*changed).name()) << rule.name << ": " << (*miss)->reason;
}

INSTANTIATE_TEST_SUITE_P(All, AttentionPattern, ::testing::Range<std::size_t>(0, attentionRules().size()),
                         [](const auto& info) { return attentionRules()[info.param].name; });

}  // namespace
}  // namespace kerf
