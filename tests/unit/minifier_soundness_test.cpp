// What a minifier must not get wrong: who wrote where, what is held, shapes behind unknown ops, expanded inputs, loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/ir/value_meta.h"
#include "minifier/core/candidate_editor.h"
#include "minifier/core/complexity.h"
#include "minifier/core/held_values.h"
#include "minifier/core/subset_builder.h"
#include "minifier/core/verdict_cache.h"
#include "minifier/reductions/reductions.h"
#include "minifier/reductions/simplify_all.h"
#include "tests/support/minifier_edits.h"

namespace kerf {
namespace {

using namespace kerf::testing;

constexpr const char* negTarget = "torch.ops.aten.neg.default";
constexpr const char* viewTarget = "torch.ops.aten.view.default";
constexpr const char* writeTarget = "torch.ops.aten.add_.Tensor";

Argument flat() { return Argument::list({2}); }
double firstOf(const Value& value) { return value.list().at(0).tensor().itemAsDouble(0); }

/// The unit whose call is `name`.
UnitSet unitsOf(const Candidate& base, const SubsetBuilder& builder, const std::vector<std::string>& names) {
  UnitSet set;
  for (std::size_t i = 0; i < builder.units().size(); ++i)
    if (std::ranges::find(names, base.module.graph.node(builder.units()[i].call).name()) != names.end())
      set.push_back(i);
  EXPECT_EQ(set.size(), names.size());
  return set;
}

TEST(HeldValues, CountsAStorageOnceAndOnlyWhileItIsHeld) {
  HeldValues held(100);
  const Tensor a = filled({10}, 1), b = filled({5}, 2), c = filled({12}, 3);
  const ValueVersion first{NodeId{0}, 0}, second{NodeId{1}, 0}, third{NodeId{2}, 0};
  held.hold(first, a);
  held.hold(second, a.viewAs({5}, {1}, 0));
  EXPECT_EQ(held.bytes(), 40);
  held.hold(second, b);  // in place of the view
  EXPECT_EQ(held.bytes(), 60);
  held.hold(first, *a.clone());
  EXPECT_EQ(held.bytes(), 60);
  EXPECT_FALSE(held.overflowed());
  held.hold(third, c);  // 108 bytes: the largest goes
  EXPECT_TRUE(held.overflowed());
  EXPECT_EQ(held.bytes(), 60);
  EXPECT_EQ(held.find(third), nullptr);
  EXPECT_NE(held.find(first), nullptr);
  held.restart({third});
  EXPECT_EQ(held.bytes(), 0);
  held.hold(third, c);
  held.hold(first, Value(ValueList{Value(c), Value(a)}));
  EXPECT_EQ(held.bytes(), 88);
  held.hold(second, b);  // 108: the list goes, the pinned one stays
  EXPECT_EQ(held.bytes(), 68);
  EXPECT_NE(held.find(third), nullptr);
}

TEST(HeldValues, WhatLivesAnywayCountsNothing) {
  HeldValues held(10);
  const Tensor a = filled({10}, 1);
  held.exempt(a);
  held.hold({NodeId{0}, 0}, a);
  EXPECT_EQ(held.bytes(), 0);
  EXPECT_FALSE(held.overflowed());
}

TEST(RecordedValues, AWriteDoesNotMakeEverythingOverflow) {
  CandidateBuilder b;
  const NodeId x = b.input("x", {16});
  NodeId current = b.call(expTarget, {x}, "y");
  for (int i = 0; i < 8; ++i) b.call(writeTarget, {current, 1});
  for (int i = 0; i < 8; ++i) current = b.call(tanhTarget, {current});
  const Candidate base = b.finish({current});
  RecordedValues values(base, {}, 64 * 25);  // y and what the others see of it after each write, add_ and tanh
  for (const NodeId id : callNodes(base.module.graph)) {
    const ValueVersion version{id, 0};
    if (base.module.graph.node(id).isCall(knownOp(tanhTarget))) values.require({&version, 1});
  }
  EXPECT_EQ(values.runs(), 1);
}

TEST(SubsetBuilder, WhoWroteWhereDoesNotDependOnWhatWasAskedBefore) {
  CandidateBuilder b;
  const NodeId x = b.input("x", {2});
  const NodeId y = b.call(expTarget, {x}, "y");
  const NodeId v = b.call(viewTarget, {y, flat()}, "v");
  const NodeId u = b.call(viewTarget, {y, flat()}, "u");
  const NodeId w = b.call(writeTarget, {v, 100}, "w");
  const Candidate base = b.finish({w, b.call(negTarget, {u}, "z")});
  const double before = std::exp(base.inputs[0].tensor().itemAsDouble(0));
  for (const bool askWriterFirst : {false, true}) {
    RecordedValues values(base, {}, 1);
    SubsetBuilder builder(base, values);
    const auto writer = builder.build(unitsOf(base, builder, {askWriterFirst ? "w" : "v"}));
    EXPECT_TRUE(writer.has_value());
    const auto reader = builder.build(unitsOf(base, builder, {"z"}));
    ASSERT_TRUE(reader);
    EXPECT_NEAR(firstOf(runOnCopies(*reader).result), -before - 100, 1e-4) << askWriterFirst;
  }
}

/// n1 = neg(y) before, n2 = exp(y) after a write through a view of y.
Candidate writtenThroughAView() {
  CandidateBuilder b;
  const NodeId x = b.input("x", {2});
  const NodeId y = b.call(tanhTarget, {x}, "y");
  const NodeId v = b.call(viewTarget, {y, flat()}, "v");
  const NodeId n1 = b.call(negTarget, {y}, "n1");
  const NodeId w = b.call(writeTarget, {v, 3}, "w");
  return b.finish({n1, w, b.call(expTarget, {y}, "n2")});
}

TEST(SubsetBuilder, AWriteCountsOnlyWhereItReachesTheInput) {
  const Candidate base = writtenThroughAView();
  const double before = std::tanh(base.inputs[0].tensor().itemAsDouble(0));
  RecordedValues values(base, {});
  SubsetBuilder builder(base, values);
  // Without the view, what is written is an input of its own: exp needs the later value from outside.
  const auto cut = builder.build(unitsOf(base, builder, {"n1", "w", "n2"}));
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->inputs.size(), 3u);
  EXPECT_NEAR(runOnCopies(*cut).result.list().back().tensor().itemAsDouble(0), std::exp(before + 3), 1e-3);
  // With it, the write is what makes the later value.
  const auto whole = builder.build(unitsOf(base, builder, {"v", "n1", "w", "n2"}));
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->inputs.size(), 1u);
  EXPECT_NEAR(runOnCopies(*whole).result.list().back().tensor().itemAsDouble(0), std::exp(before + 3), 1e-3);
}

TEST(SubsetBuilder, ItemsOfAListSeeWritesToo) {
  CandidateBuilder b;
  const NodeId x = b.input("x", {4});
  const NodeId y = b.call(tanhTarget, {x}, "y");
  const NodeId parts = b.call("torch.ops.aten.split.Tensor", {y, 2}, "parts");
  const NodeId w = b.call(writeTarget, {y, 3}, "w");
  const Candidate base = b.finish({w, b.call("torch.ops.aten.cat.default", {parts}, "cat")});
  const double before = std::tanh(base.inputs[0].tensor().itemAsDouble(0));
  RecordedValues values(base, {});
  SubsetBuilder builder(base, values);
  const auto reader = builder.build(unitsOf(base, builder, {"cat"}));
  ASSERT_TRUE(reader);
  EXPECT_NEAR(firstOf(runOnCopies(*reader).result), before + 3, 1e-5);
}

TEST(ShrinkDims, ShrinksExpandedInputsExactly) {
  CandidateBuilder b;
  const NodeId x = b.input("x", {1, 16});
  const NodeId e = b.call("torch.ops.aten.expand.default", {x, Argument::list({16, 16})}, "e");
  const Candidate start = b.finish({b.call(reluTarget, {e}, "r")});
  GraphOracle oracle([](const Candidate& candidate) {
    for (const NodeId id : callNodes(candidate.module.graph)) {
      const Node& node = candidate.module.graph.node(id);
      const TensorMeta* meta = candidate.module.graph.node(node.inputs()[0]).meta().value.tensor();
      if (node.isCall(knownOp(reluTarget)) && meta && meta->sizes.size() == 2 && meta->sizes[1].hint.value_or(0) > 12)
        return fails("wide");
    }
    return passes();
  });
  MemoryVerdictCache cache;
  const auto result = minify(start, oracle, cache, {}, {}, {});
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(targets(result->candidate.module.graph), std::vector<std::string>{reluTarget});
  EXPECT_EQ(result->candidate.inputs.at(0).tensor().sizes(), (Sizes{1, 13}));
}

TEST(ShrinkDims, KeepsWhatIsExpandedExpanded) {
  CandidateBuilder b;
  const NodeId x = b.graph.placeholder("x");
  const Tensor row = filled({1, 8}, 3);
  b.candidate.inputs.emplace_back(row.viewAs({6, 8}, {0, 1}, 0));
  b.graph.setValueMeta(x, metaOf(b.candidate.inputs.back()));
  const Candidate start = b.finish({b.call(reluTarget, {x}, "r")});
  bool found = false;
  for (const Candidate& candidate : built(shrinkDims(), start)) {
    const Tensor& tensor = candidate.inputs[0].tensor();
    if (tensor.sizes() != Sizes{5, 8}) continue;
    found = true;
    EXPECT_EQ(tensor.strides(), (Sizes{0, 1}));
    EXPECT_EQ(tensor.storage()->bytes(), 32);
    for (std::int64_t i = 0; i < 40; ++i) EXPECT_EQ(tensor.itemAsDouble(i), row.itemAsDouble(i % 8));
  }
  EXPECT_TRUE(found);
  const auto zeros = allZeros(start);
  ASSERT_TRUE(zeros);
  EXPECT_EQ(zeros->inputs[0].tensor().strides(), (Sizes{0, 1}));
}

TEST(ShrinkDims, LeavesAxesAloneAndResizesKeywords) {
  CandidateBuilder b;
  const NodeId x = b.input("x", {4, 6, 8});
  const NodeId turned = b.call(permuteTarget, {x, Argument::list({0, 2, 1})}, "turned");
  const NodeId full = b.graph.callFunction("torch.ops.aten.full.default", {}, {}, "filled");
  b.graph.setKwargs(full, {{"size", Argument::list({4, 8, 6})}, {"fill_value", 2.0}});
  const auto one = allDimsOne(b.finish({b.call(addTarget, {turned, full}, "total")}));
  ASSERT_TRUE(one);
  const Graph& graph = one->module.graph;
  EXPECT_EQ(graph.node(*graph.find("turned")).args()[1], Argument::list({0, 2, 1}));
  EXPECT_EQ(graph.node(*graph.find("filled")).kwargs()[0].second, Argument::list({1, 1, 1}));
  EXPECT_EQ(graph.node(*graph.find("total")).meta().value.tensor()->concreteSizes(), (Sizes{1, 1, 1}));
}

/// relu(x), and a chain over y behind an op that nobody knows.
Candidate withUnknownOp(DType dtype) {
  CandidateBuilder b;
  for (const char* name : {"x", "y"}) {
    const NodeId id = b.graph.placeholder(name);
    b.candidate.inputs.emplace_back(*filled({8}, 1).to(dtype));
    b.graph.setValueMeta(id, metaOf(b.candidate.inputs.back()));
  }
  const NodeId x = *b.graph.find("x"), y = *b.graph.find("y");
  const NodeId relu = b.call(reluTarget, {x}, "relu");
  const NodeId odd = b.call("torch.ops.mine.odd.default", {y}, "odd");
  b.graph.setValueMeta(odd, b.graph.node(y).meta().value);
  const NodeId odder = b.call("torch.ops.mine.odd.default", {b.call(tanhTarget, {odd}, "tanh")}, "odder");
  b.graph.setValueMeta(odder, b.graph.node(y).meta().value);
  return b.finish({relu, b.call(expTarget, {odder}, "exp")});
}

TEST(UpdateShapes, AnUnknownOpKeepsItsMetaWhereItsOperandsDo) {
  const Candidate start = withUnknownOp(DType::Float32);
  const auto halved = [&](const char* name) {
    CandidateEditor editor(start);
    editor.setInput(*start.module.graph.find(name), filled({3}, 5));
    return editor.finishWithShapes();
  };
  const auto sizeOf = [](const Candidate& candidate, const char* name) {
    return candidate.module.graph.node(*candidate.module.graph.find(name)).meta().value.tensor()->concreteSizes();
  };
  const auto known = halved("x");
  ASSERT_TRUE(known);
  EXPECT_EQ(sizeOf(*known, "relu"), Sizes{3});
  EXPECT_EQ(sizeOf(*known, "odder"), Sizes{8});
  EXPECT_EQ(sizeOf(*known, "exp"), Sizes{8});
  EXPECT_FALSE(halved("y")) << "nobody can tell what the unknown op makes of it";
  CandidateEditor editor(start);  // the first unknown op goes, the second sees what it saw
  const Graph& graph = start.module.graph;
  editor.graph().replaceAllUsesWith(*graph.find("odd"), *graph.find("y"));
  const auto shorter = editor.finishWithShapes();
  ASSERT_TRUE(shorter);
  EXPECT_FALSE(shorter->module.graph.find("odd"));
  EXPECT_EQ(sizeOf(*shorter, "odder"), Sizes{8});
  EXPECT_EQ(sizeOf(*shorter, "exp"), Sizes{8});
}

TEST(SimplifyValues, LargeInputsBecomeZerosOrOnes) {
  CandidateBuilder b;
  const NodeId x = b.input("x", {300, 300});
  const Candidate start = b.finish({b.call(reluTarget, {x}, "r")});
  EXPECT_EQ(valueComplexity(start.inputs[0]), 3);
  std::vector<int> complexities;
  for (const Candidate& candidate : built(simplifyValues(), start))
    complexities.push_back(valueComplexity(candidate.inputs[0]));
  EXPECT_EQ(complexities, (std::vector<int>{0, 1}));
}

}  // namespace
}  // namespace kerf
