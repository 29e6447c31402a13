// Patterns of layers, activations and random permutations: each matches what is written out at other sizes, keeps its
// values, and leaves a near miss alone.
#include "engine/ops/random/state.h"
#include "engine/patterns/example_meta.h"
#include "engine/patterns/layer_patterns.h"
#include "engine/patterns/shipped_patterns.h"
#include "patterns_testing.h"

namespace kerf {
namespace {

using namespace testing;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> targets(const Graph& graph) {
  std::vector<std::string> names;
  for (const NodeId id : graph.order())
    if (graph.node(id).op() == Opcode::CallFunction) names.push_back(canonicalOpName(graph.node(id).target()));
  return names;
}

/// Other sizes than those of the examples, another dimension and epsilon.
PatternInputs otherInputs(const ReplacementRule& rule) {
  PatternInputs inputs = rule.exampleInputs;
  for (PatternInput& input : inputs) {
    const bool isMatrix = input.tensor->sizes.size() > 1;
    const Sizes sizes = isMatrix ? Sizes{3, 5, 2, 6} : Sizes{6};
    const Sizes strides = contiguousStrides(sizes);
    input.tensor->sizes.clear();
    input.tensor->strides.clear();
    for (const std::int64_t size : sizes) input.tensor->sizes.push_back(dim(size));
    for (const std::int64_t stride : strides) input.tensor->strides.push_back(dim(stride));
  }
  for (const auto& [name, value] : rule.scalarWorkaround)
    inputs.push_back({name, std::nullopt, name == "dim" ? Argument(1) : Argument(1e-4)});
  return inputs;
}

class LayerPattern : public ::testing::TestWithParam<std::size_t> {};

TEST_P(LayerPattern, MatchesAndKeepsValues) {
  const ReplacementRule rule = layerRules()[GetParam()];
  const auto matcher = layerMatcher();
  ASSERT_TRUE(matcher) << matcher.error().text();
  const auto has = [&](const PatternEntry& entry) { return entry.name == rule.name; };
  if (std::ranges::none_of((*matcher)->entries(), has)) return;  // a duplicate of another one
  const auto traced = tracePattern(rule.search, otherInputs(rule), rule.trace);
  ASSERT_TRUE(traced) << rule.name << ": " << traced.error().text();
  GraphModule after = traced->module;
  const auto replaced = (*matcher)->apply(after);
  ASSERT_TRUE(replaced) << rule.name << ": " << replaced.error().text();
  if (replaced->empty()) {
    const auto miss = (*matcher)->explain(traced->module, rule.name);
    FAIL() << rule.name << ": " << (miss && *miss ? (*miss)->reason : "matches, but is not replaced");
  }
  std::vector<std::string> names;
  for (const ReplacedMatch& match : *replaced) names.push_back(match.pattern);
  EXPECT_THAT(names, ElementsAre(rule.name));
  EXPECT_TRUE(after.graph.lint()) << rule.name;
  EXPECT_LT(after.graph.size(), traced->module.graph.size()) << rule.name;
  const bool half = rule.name.find("_half") != std::string::npos;
  expectSameValues(traced->module, after, half ? 4e-2 : 1e-4);

  GraphModule near = traced->module;
  const std::vector<std::pair<std::string_view, const char*>> others{{"aten.exp.default", "exp2.default"},
                                                                     {"aten.erf.default", "sin.default"},
                                                                     {"aten.tanh.default", "sin.default"},
                                                                     {"aten.rsqrt.default", "sqrt.default"}};
  for (const NodeId id : near.graph.order())
    for (const auto& [op, other] : others)
      if (near.graph.node(id).target() == fmt::format("torch.ops.{}", op))
        near.graph.setTarget(id, fmt::format("torch.ops.aten.{}", other));
  EXPECT_TRUE((*matcher)->apply(near)->empty()) << rule.name;
}

INSTANTIATE_TEST_SUITE_P(All, LayerPattern, ::testing::Range<std::size_t>(0, layerRules().size()),
                         [](const auto& info) { return layerRules()[info.param].name; });

TEST(LayerPatterns, GivesTheOpItsDimensionAndEpsilon) {
  const std::vector<ReplacementRule> rules = layerRules();
  const ReplacementRule& rule = *std::ranges::find(rules, "softmax_inference", &ReplacementRule::name);
  auto traced = tracePattern(rule.search, otherInputs(rule), rule.trace);
  ASSERT_TRUE(traced);
  ASSERT_EQ((*layerMatcher())->apply(traced->module)->size(), 1u);
  const NodeId x = traced->module.graph.placeholders().front();
  const auto softmax = std::ranges::find_if(traced->module.graph.order(), [&](NodeId id) {
    return traced->module.graph.node(id).isCall("aten._softmax.default"_op);
  });
  ASSERT_NE(softmax, traced->module.graph.order().end());
  EXPECT_EQ(traced->module.graph.node(*softmax).args(), (ArgumentList{x, 1, false}));
}

/// gelu's parts, or relu, of addmm(bias, x, weight) that is viewed before.
GraphModule activated(bool viewed, bool readTwice) {
  GraphFixture g;
  const NodeId bias = g.input("bias", DType::Float32, {4}), x = g.input("x", DType::Float32, {6, 3}),
               weight = g.input("weight", DType::Float32, {3, 4});
  const NodeId product = g.call("aten.addmm.default", {bias, x, weight});
  const NodeId read = viewed ? g.call("aten.view.default", {product, Argument::list({2, 3, 4})}) : product;
  const NodeId relu = g.call("aten.relu.default", {read});
  if (readTwice)
    g.output({relu, g.call("aten.sum.default", {product})});
  else
    g.output({relu});
  return g.module;
}

TEST(ActivationPatterns, MakeOneCallOfProductAndActivation) {
  for (const bool viewed : {false, true}) {
    const GraphModule before = activated(viewed, false);
    GraphModule after = before;
    const auto replaced = (*activationMatcher())->apply(after);
    ASSERT_TRUE(replaced) << replaced.error().text();
    ASSERT_EQ(replaced->size(), 1u);
    EXPECT_THAT(targets(after.graph), Contains("aten._addmm_activation.default"));
    EXPECT_THAT(targets(after.graph), Not(Contains("aten.addmm.default")));
    EXPECT_TRUE(after.graph.lint());
    expectSameValues(before, after, 1e-6);
  }
}

TEST(ActivationPatterns, KeepProductsThatOthersRead) {
  GraphModule module = activated(false, true);
  EXPECT_TRUE((*activationMatcher())->apply(module)->empty());
  const auto miss = (*activationMatcher())->explain(module, "addmm_relu");
  ASSERT_TRUE(miss && *miss);
  EXPECT_THAT((*miss)->reason, HasSubstr("addmm has 2 users"));
}

/// index(x, [i]) and index_put(x, [i], source, accumulate), where i is a permutation or given.
GraphModule indexed(bool drawn, std::int64_t rows, bool accumulate = true) {
  GraphFixture g;
  const NodeId x = g.input("x", DType::Float32, {rows, 2}), source = g.input("source", DType::Float32, {4, 2}),
               given = g.input("given", DType::Int64, {4});
  NodeId index = given;
  if (drawn) {
    const NodeId permutation = g.call("aten.randperm.default", {6}, {{"device", Device{"cpu"}}, {"pin_memory", false}});
    index = g.call("aten.slice.Tensor", {permutation, 0, 0, 4});
  }
  const NodeId read = g.call("aten.index.Tensor", {x, Argument::list({index})});
  const NodeId sum = g.call("aten.index_put.default", {x, Argument::list({index}), source, accumulate});
  g.output({read, sum});
  return g.module;
}

TEST(RandpermPatterns, NeitherCheckNorAddUp) {
  const GraphModule before = indexed(true, 6);
  GraphModule after = before;
  const auto replaced = (*randpermMatcher())->apply(after);
  ASSERT_TRUE(replaced) << replaced.error().text();
  ASSERT_EQ(replaced->size(), 2u);
  EXPECT_EQ((*replaced)[0].pattern, "randperm_index_add");
  EXPECT_EQ((*replaced)[1].pattern, "randperm_index");
  EXPECT_THAT(targets(after.graph), Not(Contains("aten.index.Tensor")));
  EXPECT_THAT(targets(after.graph), Contains("aten._unsafe_index_put.default"));
  EXPECT_TRUE(after.graph.lint());
  const ValueList inputs = inputsOf(before.graph);
  const auto drawnAlike = [&](const GraphModule& module) {
    const RandomScope random;
    return run(module, inputs);
  };
  const ValueList a = drawnAlike(before), b = drawnAlike(after);
  ASSERT_EQ(a.size(), 2u);
  for (std::size_t i = 0; i < a.size(); ++i)
    testing_support::expectClose(a[i].tensor(), b[i].tensor(), 0, fmt::format("output {}", i));
}

TEST(RandpermPatterns, KeepIndicesThatMayRepeatOrBeOutside) {
  for (GraphModule module : {indexed(false, 6), indexed(true, 5)}) {
    EXPECT_TRUE((*randpermMatcher())->apply(module)->empty());
  }
  GraphModule written = indexed(true, 6, false);
  EXPECT_EQ((*randpermMatcher())->apply(written)->size(), 1u) << "the read alone";
  const GraphModule larger = indexed(true, 5);
  const auto miss = (*randpermMatcher())->explain(larger, "randperm_index");
  ASSERT_TRUE(miss && *miss);
  EXPECT_EQ((*miss)->reason, "randperm is not known to be within the bounds of x");
}

TEST(Registration, TracesARuleOnceForSeveralPasses) {
  int traces = 0;
  const ReplacementRule rule{.name = "twice",
                             .description = "x + x as 2x",
                             .search =
                                 [&traces](const PatternArguments& a) {
                                   ++traces;
                                   return std::vector{a.tensor("x") + a.tensor("x")};
                                 },
                             .replace = [](const PatternArguments& a) { return std::vector{a.tensor("x") * 2.0}; },
                             .exampleInputs = {{"x", exampleMeta(DType::Float32, {4, 4}), {}}},
                             .skipDuplicates = true};
  PatternMatcherPass first, second;
  PatternMatcherPass* const passes[] = {&first, &second};
  const auto added = registerReplacement(passes, rule);
  ASSERT_TRUE(added) << added.error().text();
  EXPECT_TRUE(*added);
  EXPECT_EQ(traces, 1);
  EXPECT_EQ(first.entries().size() + second.entries().size(), 2u);
  EXPECT_FALSE(*registerReplacement(passes, rule));
  ReplacementRule again = rule;
  again.skipDuplicates = false;
  const auto refused = registerReplacement(first, again);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::BadUsage);
}

TEST(Registration, KeepsExclusiveArgumentsApart) {
  const ReplacementRule rule{
      .name = "apart",
      .description = "x + y the other way round",
      .search = [](const PatternArguments& a) { return std::vector{a.tensor("x") + a.tensor("y")}; },
      .replace = [](const PatternArguments& a) { return std::vector{a.tensor("y") + a.tensor("x")}; },
      .exampleInputs = {{"x", exampleMeta(DType::Float32, {4, 4}), {}}, {"y", exampleMeta(DType::Float32, {4, 4}), {}}},
      .exclusiveArgNames = {"x", "y"}};
  PatternMatcherPass pass;
  const auto added = registerReplacement(pass, rule);
  ASSERT_TRUE(added) << added.error().text();
  for (const bool same : {false, true}) {
    GraphFixture g;
    const NodeId x = g.input("x", DType::Float32, {4, 4}), y = g.input("y", DType::Float32, {4, 4});
    g.output({g.call("aten.add.Tensor", {x, same ? x : y})});
    EXPECT_EQ(pass.apply(g.module)->size(), same ? 0u : 1u);
  }
}

}  // namespace
}  // namespace kerf
