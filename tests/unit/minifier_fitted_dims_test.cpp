// Operands of another rank: what names dimensions follows, so that inputs of different ranks can become one.
#include <gtest/gtest.h>

#include "minifier/core/fitted_dims.h"
#include "minifier/reductions/reductions.h"
#include "tests/support/minifier_edits.h"

namespace kerf {
namespace {

using namespace kerf::testing;

constexpr const char* viewTarget = "torch.ops.aten.view.default";
constexpr const char* sumTarget = "torch.ops.aten.sum.dim_IntList";
constexpr const char* argmaxTarget = "torch.ops.aten.argmax.default";
constexpr const char* selectTarget = "torch.ops.aten.index_select.default";

Argument dims(std::initializer_list<std::int64_t> numbers) {
  ArgumentList items;
  for (const std::int64_t number : numbers) items.emplace_back(number);
  return Argument::list(std::move(items));
}

const Node& named(const GraphModule& module, std::string_view name) {
  return module.graph.node(*module.graph.find(name));
}

/// `call` made for x: [2, 3, 4], and then given y: [2, 3].
GraphModule givenLess(const char* target, ArgumentList rest) {
  CandidateBuilder b;
  const NodeId x = b.input("x", {2, 3, 4}), y = b.input("y", {2, 3});
  ArgumentList args{x};
  args.insert(args.end(), rest.begin(), rest.end());
  const NodeId call = b.call(target, std::move(args), "call");
  GraphModule module = b.finish({call}).module;
  module.graph.replaceInput(call, x, y);
  return module;
}

TEST(FittedDims, APermuteTakesTheOperandAsItIs) {
  GraphModule module = givenLess(permuteTarget, {dims({0, 2, 1})});
  ASSERT_TRUE(fitDims(module));
  EXPECT_EQ(named(module, "call").args()[1], dims({0, 1}));
}

TEST(FittedDims, AViewIsThatOfAllElements) {
  GraphModule module = givenLess(viewTarget, {dims({6, 4})});
  ASSERT_TRUE(fitDims(module));
  const Node& call = named(module, "call");
  EXPECT_EQ(call.args()[1], dims({-1}));
  EXPECT_EQ(call.meta().value.tensor()->sizes.at(0).hint, 6);
}

TEST(FittedDims, DimensionsThatAreGoneAreTheFirstOnce) {
  GraphModule module = givenLess(sumTarget, {dims({2, 1, -3})});
  ASSERT_TRUE(fitDims(module));
  EXPECT_EQ(named(module, "call").args()[1], dims({0, 1}));
}

TEST(FittedDims, WhatFitsStaysAndWhatCannotFitIsRefused) {
  GraphModule fitting = givenLess(sumTarget, {dims({1})});
  EXPECT_FALSE(fitDims(fitting));
  EXPECT_EQ(named(fitting, "call").args()[1], dims({1}));
  CandidateBuilder b;
  const NodeId x = b.input("x", {2, 3}), y = b.input("y", {5, 7});
  GraphModule module = b.finish({b.call(addTarget, {x, x}, "call")}).module;
  const NodeId call = *module.graph.find("call");
  module.graph.setArgs(call, {x, y});
  EXPECT_FALSE(fitDims(module));
}

TEST(MergeInputs, InputsOfDifferentRanksBecomeOne) {
  CandidateBuilder b;
  const NodeId x = b.input("x", {2, 2}), y = b.input("y", {2, 2, 2});
  const NodeId low = b.call(permuteTarget, {x, dims({1, 0})}, "low");
  const NodeId high = b.call(permuteTarget, {y, dims({2, 1, 0})}, "high");
  const auto list = built(mergeInputs(), b.finish({low, high}));
  const bool becomesOne = std::ranges::any_of(list, [](const Candidate& candidate) {
    return candidate.inputs.size() == 1 && candidate.inputs[0].tensor().sizes().size() == 2 &&
           named(candidate.module, "high").args()[1] == dims({0, 1});
  });
  EXPECT_TRUE(becomesOne);
}

TEST(MergeInputs, ACallFeedsWhatAnInputDid) {
  CandidateBuilder b;
  const NodeId x = b.input("x", {4});
  const NodeId index = b.graph.placeholder("index");
  Tensor zero = *Tensor::zeros(DType::Int64, {1});
  b.candidate.inputs.emplace_back(zero);
  b.graph.setValueMeta(index, metaOf(b.candidate.inputs.back()));
  const NodeId taken = b.call(selectTarget, {x, 0, index}, "taken");
  const NodeId best = b.call(argmaxTarget, {x}, "best");
  const auto list = built(mergeInputs(), b.finish({taken, best}));
  const auto fed = std::ranges::find_if(list, [](const Candidate& candidate) { return candidate.inputs.size() == 1; });
  ASSERT_NE(fed, list.end());
  EXPECT_EQ(targets(fed->module.graph), (std::vector<std::string>{argmaxTarget, selectTarget}));
}

TEST(MergeInputs, AFloatMayStandForAnInteger) {
  CandidateBuilder b;
  const NodeId x = b.input("x", {4});
  const NodeId count = b.graph.placeholder("count");
  Tensor zero = *Tensor::zeros(DType::Int64, {4});
  b.candidate.inputs.emplace_back(zero);
  b.graph.setValueMeta(count, metaOf(b.candidate.inputs.back()));
  const NodeId a = b.call("torch.ops.aten.neg.default", {x}, "a");
  const NodeId c = b.call("torch.ops.aten.abs.default", {count}, "c");
  const auto list = built(mergeInputs(), b.finish({a, c}));
  const auto one = std::ranges::find_if(list, [](const Candidate& candidate) { return candidate.inputs.size() == 1; });
  ASSERT_NE(one, list.end());
  EXPECT_EQ(one->inputs[0].tensor().dtype(), DType::Float32);
  EXPECT_EQ(named(one->module, "c").meta().value.tensor()->dtype, DType::Float32);
}

TEST(BypassOperand, AChainOfViewsAndPermutesLosesTheView) {
  CandidateBuilder b;
  const NodeId x = b.input("x", {1});
  const NodeId wide = b.call(viewTarget, {x, dims({1, 1})}, "wide");
  const auto list = built(bypassOperand(), b.finish({b.call(permuteTarget, {wide, dims({1, 0})}, "turned")}));
  const bool isShort = std::ranges::any_of(list, [](const Candidate& candidate) {
    return targets(candidate.module.graph) == std::vector<std::string>{permuteTarget};
  });
  EXPECT_TRUE(isShort);
}

}  // namespace
}  // namespace kerf
