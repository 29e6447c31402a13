// What single edits make of small graphs: nested graphs, dimensions, dtypes, values, arguments, and shorter ways.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "engine/ir/interpreter.h"
#include "minifier/core/complexity.h"
#include "minifier/core/shorter_paths.h"
#include "minifier/core/verdict_cache.h"
#include "minifier/reductions/dim_classes.h"
#include "minifier/reductions/drop_dims.h"
#include "minifier/reductions/reductions.h"
#include "minifier/reductions/simplify_all.h"
#include "minifier/reductions/smaller_values.h"
#include "tests/support/minifier_edits.h"
#include "tests/support/minifier_graphs.h"

namespace kerf {
namespace {

using namespace kerf::testing;

constexpr const char* mmTarget = "torch.ops.aten.mm.default";

Value resultOf(const Candidate& candidate) {
  const auto result = Interpreter(candidate.module, referenceOps()).run(candidate.inputs);
  EXPECT_TRUE(result.has_value());
  return result ? result->list().at(0) : Value();
}

/// body(a, b) = relu(exp(a)) + b
GraphModule body() {
  GraphModule module;
  const NodeId a = module.graph.placeholder("a_1"), b = module.graph.placeholder("b_1");
  const NodeId inner =
      module.graph.callFunction(reluTarget, {module.graph.callFunction(expTarget, {a}, {}, "e")}, {}, "r");
  module.graph.output(Argument::tuple({module.graph.callFunction(addTarget, {inner, b}, {}, "s")}));
  return module;
}

Candidate conditional(double limit) {
  CandidateBuilder b;
  const NodeId x = b.input("x", {4}), y = b.input("y", {4});
  GraphModule other;
  const NodeId a = other.graph.placeholder("a_1");
  other.graph.placeholder("b_1");
  other.graph.output(Argument::tuple({other.graph.callFunction(tanhTarget, {a}, {}, "t")}));
  b.candidate.module.submodules.add("yes", {std::make_shared<const GraphModule>(body()), {}});
  b.candidate.module.submodules.add("no", {std::make_shared<const GraphModule>(std::move(other)), {}});
  const NodeId yes = b.graph.getAttr("yes"), no = b.graph.getAttr("no");
  const NodeId predicate =
      b.call("torch.ops.aten.lt.Scalar", {b.call("torch.ops.aten.sum.default", {x}, "sum_1"), limit}, "lt");
  const NodeId cond = b.call("torch.ops.higher_order.cond", {predicate, yes, no, Argument::tuple({x, y})}, "cond");
  return b.finish({b.call("operator.getitem", {cond, 0}, "first")});
}

TEST(FlattenGraphs, WritesTheBranchThatWasTaken) {
  for (const auto& [limit, expected] : {std::pair(1e9, std::vector<std::string>{expTarget, reluTarget, addTarget}),
                                        std::pair(-1e9, std::vector<std::string>{tanhTarget})}) {
    const Candidate start = conditional(limit);
    const Value before = resultOf(start);
    const auto list = built(flattenGraphs(), start);
    ASSERT_FALSE(list.empty());
    EXPECT_EQ(targets(list[0].module.graph), expected);
    EXPECT_TRUE(list[0].module.submodules.empty());
    EXPECT_LT(measure(list[0]), measure(start));
    const Value after = resultOf(list[0]);
    for (std::int64_t i = 0; i < 4; ++i) EXPECT_EQ(after.tensor().itemAsDouble(i), before.tensor().itemAsDouble(i));
  }
}

TEST(FlattenGraphs, WritesOneTurnOfALoop) {
  CandidateBuilder b;
  const NodeId x = b.input("x", {4});
  GraphModule condition, turn;
  const NodeId c = condition.graph.placeholder("c_1");
  condition.graph.output(condition.graph.callFunction(
      "torch.ops.aten.lt.Scalar", {condition.graph.callFunction("torch.ops.aten.sum.default", {c}), 50.0}));
  const NodeId t = turn.graph.placeholder("t_1");
  turn.graph.output(Argument::tuple({turn.graph.callFunction(expTarget, {t}, {}, "grown")}));
  b.candidate.module.submodules.add("condition", {std::make_shared<const GraphModule>(std::move(condition)), {}});
  b.candidate.module.submodules.add("turn", {std::make_shared<const GraphModule>(std::move(turn)), {}});
  const NodeId first = b.graph.getAttr("condition"), second = b.graph.getAttr("turn");
  const NodeId loop =
      b.call("torch.ops.higher_order.while_loop", {first, second, Argument::tuple({x}), Argument::tuple({})}, "loop");
  const NodeId item = b.call("operator.getitem", {loop, 0}, "item");
  const Candidate start = b.finish({b.call(tanhTarget, {item}, "out")});
  GraphOracle oracle([](const Candidate& candidate) {
    if (calls(candidate.module.graph, expTarget)) return fails("exp");
    for (const auto& [path, submodule] : candidate.module.submodules)
      if (submodule.graph && calls(submodule.graph->graph, expTarget)) return fails("exp");
    return passes();
  });
  MemoryVerdictCache cache;
  const auto list = built(flattenGraphs(), start);
  ASSERT_FALSE(list.empty());
  EXPECT_EQ(
      targets(list[0].module.graph),
      (std::vector<std::string>{"torch.ops.aten.sum.default", "torch.ops.aten.lt.Scalar", expTarget, tanhTarget}));
  const auto result = minify(start, oracle, cache, {}, {}, {});
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(targets(result->candidate.module.graph), std::vector<std::string>{expTarget});
  EXPECT_TRUE(result->candidate.module.submodules.empty());
  EXPECT_EQ(measure(result->candidate).nodes, 3u);
  EXPECT_TRUE(result->candidate.module.graph.lint());
}

TEST(ReduceNested, ShortensABodyThatMustStay) {
  GraphOracle oracle([](const Candidate& candidate) {
    for (const auto& [path, submodule] : candidate.module.submodules)
      if (submodule.graph && calls(submodule.graph->graph, reluTarget)) return fails("nested relu");
    return passes();
  });
  MemoryVerdictCache cache;
  const auto result = minify(conditional(1e9), oracle, cache, {}, {}, {});
  ASSERT_TRUE(result) << result.error().text();
  const Submodule* yes = result->candidate.module.submodule("yes");
  ASSERT_NE(yes, nullptr);
  EXPECT_EQ(targets(yes->graph->graph), std::vector<std::string>{reluTarget});
}

TEST(DimClasses, AreWhatTheCallsMakeEqual) {
  CandidateBuilder b;
  const NodeId x = b.input("x", {16, 8}), w = b.input("w", {8, 4});
  const Candidate candidate = b.finish({b.call(mmTarget, {x, w}, "mm")});
  std::set<std::set<std::pair<std::size_t, std::size_t>>> found;
  for (const DimClass& dims : dimClasses(candidate)) {
    EXPECT_FALSE(dims.symbol.empty());
    std::set<std::pair<std::size_t, std::size_t>> places;
    for (const auto& place : dims.places) places.emplace(place.input, place.dim);
    found.insert(places);
  }
  EXPECT_EQ(found, (std::set<std::set<std::pair<std::size_t, std::size_t>>>{{{0, 0}}, {{0, 1}, {1, 0}}, {{1, 1}}}));
}

TEST(SmallerValues, HalveTowardsThePresentOne) {
  EXPECT_EQ(smallerValues(1, 16), (std::vector<std::int64_t>{1, 9, 13, 15}));
  EXPECT_EQ(smallerValues(1, 2), (std::vector<std::int64_t>{1}));
  EXPECT_TRUE(smallerValues(1, 1).empty());
  for (std::int64_t needed = 1; needed <= 300; ++needed) {  // asked again after each success, it ends at the least
    std::int64_t present = 300;
    std::set<std::int64_t> asked;
    for (bool smaller = true; smaller;) {
      smaller = false;
      for (const std::int64_t value : smallerValues(1, present)) {
        asked.insert(value);
        if (value < needed) continue;
        present = value;
        smaller = true;
        break;
      }
    }
    EXPECT_EQ(present, needed);
    EXPECT_LE(asked.size(), 12u);
  }
}

TEST(ShrinkDims, EndsAtTheLeastSizeOfEachClass) {
  CandidateBuilder b;
  const NodeId x = b.input("x", {16, 40}), w = b.input("w", {40, 16});
  const Candidate start = b.finish({b.call(mmTarget, {x, w}, "mm")});
  GraphOracle oracle([](const Candidate& candidate) {
    for (const NodeId id : candidate.module.graph.order()) {
      const Node& node = candidate.module.graph.node(id);
      if (!node.isCall(knownOp(mmTarget))) continue;
      const auto* meta = candidate.module.graph.node(node.inputs()[0]).meta().value.tensor();
      if (meta->sizes[0].hint.value_or(0) > 12 && meta->sizes[1].hint.value_or(0) >= 3) return fails("size");
    }
    return passes();
  });
  MemoryVerdictCache cache;
  const auto result = minify(start, oracle, cache, {}, {}, {});
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(measure(result->candidate).calls, 1u);
  const Graph& graph = result->candidate.module.graph;
  const auto call = callNodes(graph)[0];
  const TensorMeta* operand = graph.node(graph.node(call).inputs()[0]).meta().value.tensor();
  EXPECT_EQ(operand->concreteSizes(), (Sizes{13, 3}));
  EXPECT_EQ(graph.node(call).meta().value.tensor()->concreteSizes(), (Sizes{13, 1}));
}

TEST(SimplifyInputs, MakesThemPlain) {
  CandidateBuilder b;
  const NodeId x = b.graph.placeholder("x");
  b.candidate.inputs.emplace_back(*filled({1, 4, 1}, 3).to(DType::Float16));
  b.graph.setValueMeta(x, metaOf(b.candidate.inputs.back()));
  const Candidate start = b.finish({b.call(reluTarget, {x}, "relu")});
  EXPECT_EQ(valueComplexity(start.inputs[0]), 3);
  const auto zeros = allZeros(start);
  ASSERT_TRUE(zeros);
  EXPECT_EQ(valueComplexity(zeros->inputs[0]), 0);
  const auto usual = allUsualDtypes(start);
  ASSERT_TRUE(usual);
  EXPECT_EQ(usual->inputs[0].tensor().dtype(), DType::Float32);
  EXPECT_EQ(usual->module.graph.node(*usual->module.graph.find("relu")).meta().value.tensor()->dtype, DType::Float32);
  const auto flat = allDimsDropped(start);
  ASSERT_TRUE(flat);
  EXPECT_EQ(flat->inputs[0].tensor().sizes(), (Sizes{4}));
  const auto ones = allDimsOne(start);
  ASSERT_TRUE(ones);
  EXPECT_EQ(ones->inputs[0].tensor().sizes(), (Sizes{1, 1, 1}));
}

TEST(SimplifyOps, TurnsAFusedOpIntoAMember) {
  CandidateBuilder b;
  const NodeId bias = b.input("b", {4}), x = b.input("x", {4, 4}), w = b.input("w", {4, 4});
  const auto list = built(simplifyOps(), b.finish({b.call(addmmTarget, {bias, x, w}, "addmm")}));
  ASSERT_FALSE(list.empty());
  EXPECT_EQ(targets(list[0].module.graph), std::vector<std::string>{mmTarget});
  EXPECT_EQ(list[0].inputs.size(), 2u);
}

TEST(ShorterPaths, FindOneOfFewerCalls) {
  CandidateBuilder b;
  const NodeId x = b.input("x", {4});
  const NodeId a = b.call(tanhTarget, {x}, "a");
  const NodeId p = b.call(expTarget, {a}, "p");
  const NodeId q = b.call(expTarget, {p}, "q");
  const NodeId r = b.call(reluTarget, {a}, "r");
  const Candidate candidate = b.finish({b.call(addTarget, {q, r}, "z")});
  const ShorterPaths shorterPaths(candidate.module.graph, callUnits(candidate.module.graph));
  EXPECT_EQ(shorterPaths.around({0, 1, 2, 4}), (std::vector<UnitSet>{{0, 3, 4}}));
  EXPECT_TRUE(shorterPaths.around({0, 3, 4}).empty());
}

TEST(BypassOperand, LeadsOnFromWhatCameBefore) {
  CandidateBuilder b;
  const NodeId x = b.input("x", {4, 2});
  const NodeId a = b.call(tanhTarget, {x}, "a");
  const NodeId v = b.call("torch.ops.aten.view.default", {a, Argument::list({8})}, "v");
  const NodeId e = b.call(expTarget, {v}, "e");
  const auto list = built(bypassOperand(), b.finish({b.call(reluTarget, {e}, "z")}));
  const auto shortest = std::ranges::find_if(list, [](const Candidate& candidate) {
    return targets(candidate.module.graph) == std::vector<std::string>{tanhTarget, reluTarget};
  });
  ASSERT_NE(shortest, list.end());
  EXPECT_EQ(resultOf(*shortest).tensor().sizes(), (Sizes{4, 2}));
}

TEST(Minify, WhatCannotBeRunGetsValuesMadeUp) {
  // A graph that the interpreter cannot run to its end: values behind the unknown op are made up after annotations.
  CandidateBuilder b;
  const NodeId x = b.input("x", {4});
  const NodeId a = b.call(tanhTarget, {x}, "a");
  const NodeId odd = b.graph.callFunction("torch.ops.mine.odd.default", {a}, {}, "odd");
  b.graph.setValueMeta(odd, b.graph.node(x).meta().value);
  const NodeId r = b.graph.callFunction(reluTarget, {odd}, {}, "r");
  b.graph.setValueMeta(r, b.graph.node(x).meta().value);
  b.graph.output(Argument::tuple({r}));
  GraphOracle oracle(
      [](const Candidate& candidate) { return calls(candidate.module.graph, reluTarget) ? fails("relu") : passes(); });
  MemoryVerdictCache cache;
  const auto result = minify(std::move(b.candidate), oracle, cache, {}, {}, {});
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(measure(result->candidate).nodes, 3u);
  EXPECT_FALSE(result->editSet.empty());
}

}  // namespace
}  // namespace kerf
