// The order in which the float64 run goes through a graph, and what it lets go.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>

#include "engine/accuracy/fp64_run.h"
#include "engine/accuracy/lazy_graph.h"
#include "engine/accuracy/lean_comparison.h"
#include "engine/accuracy/same_two_models.h"
#include "engine/ir/interpreter.h"
#include "engine/ops/core/op_registry.h"

namespace kerf {
namespace {

constexpr std::int64_t megabyte = 1 << 20;

/// The reference ops; with a look at the bytes that are alive, and unwilling to do `refused` in float64.
class WatchedOps : public OpCaller {
 public:
  explicit WatchedOps(std::string refused = {}) : m_refused(std::move(refused)) {}
  Result<Value> call(const OpTarget& target, const ValueList& args, const KeywordValues& kwargs) const override {
    const auto isWide = [](const Value& value) { return value.isTensor() && value.tensor().dtype() == DType::Float64; };
    if (target.text == m_refused && std::ranges::any_of(args, isWide))
      return fail(ErrorCode::UnsupportedOp, "not in float64");
    auto result = referenceOps().call(target, args, kwargs);
    most = std::max(most, liveStorageBytes() - m_start);
    if (std::ranges::any_of(args, isWide)) mostWide = std::max(mostWide, liveStorageBytes() - m_start);
    return result;
  }
  mutable std::int64_t most = 0;
  mutable std::int64_t mostWide = 0;  ///< after calls in float64

 private:
  std::string m_refused;
  std::int64_t m_start = liveStorageBytes();
};

Tensor ramp(Sizes sizes) {
  Tensor tensor = *Tensor::zeros(DType::Float32, std::move(sizes));
  for (std::int64_t i = 0; i < tensor.numel(); ++i) tensor.data<float>()[i] = float(i % 97) / 97;
  return tensor;
}

NodeId call(Graph& graph, std::string_view op, ArgumentList args, std::string_view name) {
  return graph.callFunction(fmt::format("torch.ops.aten.{}", op), std::move(args), {}, name);
}

std::vector<std::string> order(const LazyGraph& lazy) {
  std::vector<std::string> names;
  for (const NodeId id : lazy.module().graph.order()) names.push_back(lazy.module().graph.node(id).name());
  return names;
}

/// A tied embedding: its weight is read by rows first, and whole at the end; what backward needs is returned.
struct Tied {
  static constexpr std::int64_t words = 40'000, width = 64, tokens = 32;  // 9.8 MiB of weight
  GraphModule module;
  ValueList inputs{ramp({words, width}), *Tensor::zeros(DType::Int64, {tokens})};

  Tied() {
    Graph& graph = module.graph;
    const NodeId weight = graph.placeholder("weight"), ids = graph.placeholder("ids");
    for (std::int64_t i = 0; i < tokens; ++i) inputs[1].tensor().data<std::int64_t>()[i] = i * 1201 % words;
    const NodeId rows = call(graph, "embedding.default", {Argument(weight), Argument(ids)}, "rows");
    NodeId last = rows;
    for (int i = 0; i < 12; ++i)
      last = call(graph, "add.Tensor", {Argument(last), Argument(rows)}, fmt::format("sum{}", i));
    const ArgumentList turn{Argument(std::int64_t{1}), Argument(std::int64_t{0})};
    const NodeId turned = call(graph, "permute.default", {Argument(weight), Argument::list(turn)}, "turned");
    const NodeId logits = call(graph, "mm.default", {Argument(last), Argument(turned)}, "logits");
    const NodeId saved = call(graph, "permute.default", {Argument(rows), Argument::list(turn)}, "saved");
    graph.output(Argument::tuple({Argument(logits), Argument(saved), Argument(weight)}));
  }
};

TEST(LazyGraph, TakesRowsBeforeItConvertsAndComputesReturnedViewsAtOnce) {
  const Tied tied;
  LazyGraph lazy(tied.module, tied.inputs);
  lazy.takeOutputs();
  lazy.moveReturnedUp();
  lazy.splitLargeInputs();
  lazy.moveToFirstUses();
  const std::vector<std::string> names = order(lazy);
  const auto at = [&](std::string_view name) { return std::ranges::find(names, name) - names.begin(); };
  EXPECT_EQ(at("saved"), at("rows") + 1);
  EXPECT_GT(at("turned"), at("sum11"));
  const auto placeholders = lazy.module().graph.placeholders();
  ASSERT_EQ(lazy.inputs().size(), placeholders.size());
  EXPECT_EQ(placeholders.size(), 5u) << "ids, and weight as it came, for rows, for all of it, and returned";
  for (std::size_t i = 0; i < placeholders.size(); ++i) {
    const bool isIds = lazy.module().graph.node(placeholders[i]).name() == "ids";
    EXPECT_EQ(lazy.inputs()[i].tensor().storage(), tied.inputs[isIds ? 1 : 0].tensor().storage());
  }
  EXPECT_EQ(lazy.taken().size(), 3u);
}

TEST(LazyGraph, AFloat64RunKeepsNoLargeWeightBetweenItsUses) {
  const Tied tied;
  const WatchedOps ops;
  const OnOutput take = [&](std::size_t, const Value& value) { EXPECT_EQ(value.tensor().dtype(), DType::Float64); };
  Float64Run run = *Float64Run::start(tied.module, ops, tied.inputs, ResultNames(tied.module), take, {});
  std::int64_t early = 0;
  for (const NodeId id : tied.module.graph.order())
    if (tied.module.graph.node(id).name() == "sum11") early = (static_cast<void>(run.runTo(id)), ops.most);
  EXPECT_LE(early, megabyte) << "rows only";
  ASSERT_TRUE(run.finish());
}

/// Returns (neg(x), abs(x), exp(x)); the compiled side is off by `error` in the middle one.
ComparisonReport leanReport(double error) {
  GraphModule module;
  const NodeId x = module.graph.placeholder("x");
  ArgumentList outputs;
  for (const char* op : {"neg.default", "abs.default", "exp.default"})
    outputs.emplace_back(call(module.graph, op, {Argument(x)}, fmt::format("{:.3}", op)));
  module.graph.output(Argument::tuple(outputs));
  const RunModel compiled = [&](const ValueList& given) -> Result<Value> {
    KERF_TRY(const Value values, Interpreter(module, referenceOps()).run(given));
    values.list()[1].tensor().data<float>()[0] += float(error);
    return values;
  };
  return *sameTwoModelsLean(module, referenceOps(), compiled, {ramp({4, 4})}, {});
}

TEST(LeanComparison, WhatIsCloseNeedsNoFloat64Run) {
  const ComparisonReport report = leanReport(0);
  EXPECT_TRUE(report.same);
  EXPECT_FALSE(report.haveFp64);
  EXPECT_EQ(report.fp64Note, "every result is close enough without one");
  EXPECT_EQ(report.outputs.size(), 3u);
}

TEST(LeanComparison, WhatIsOffIsJudgedAgainstFloat64) {
  const ComparisonReport report = leanReport(100);
  EXPECT_FALSE(report.same);
  EXPECT_TRUE(report.haveFp64);
  ASSERT_EQ(report.outputs.size(), 3u);
  EXPECT_TRUE(report.outputs[0].same && report.outputs[2].same);
  EXPECT_FALSE(report.outputs[1].same);
  EXPECT_TRUE(report.outputs[1].reason.starts_with("RMSE")) << report.outputs[1].reason;
  EXPECT_EQ(report.outputs[1].multiplier, 3);
  EXPECT_NEAR(report.outputs[1].rmseRes, 25, 1e-5);
  EXPECT_EQ(report.outputs[0].multiplier, 0) << "no fp64 run of it";
}

/// Returns (neg(x), abs(x), exp(x)) of much memory; the compiled side adds `errors` to an element of each.
ComparisonReport largeLeanReport(std::array<float, 3> errors, const OpCaller& ops = referenceOps(),
                                 int* runs = nullptr) {
  GraphModule module;
  const NodeId x = module.graph.placeholder("x");
  ArgumentList outputs;
  for (const char* op : {"neg.default", "abs.default", "exp.default"})
    outputs.emplace_back(call(module.graph, op, {Argument(x)}, fmt::format("{:.3}", op)));
  module.graph.output(Argument::tuple(outputs));
  const RunModel compiled = [&](const ValueList& given) -> Result<Value> {
    if (runs != nullptr) ++*runs;
    KERF_TRY(const Value values, Interpreter(module, referenceOps()).run(given));
    for (std::size_t i = 0; i < errors.size(); ++i) values.list()[i].tensor().data<float>()[0] += errors[i];
    return values;
  };
  const ValueList inputs = {*Tensor::zeros(DType::Float32, {3000, 3000})};
  return *sameTwoModelsLean(module, ops, compiled, inputs, {});
}

TEST(LeanComparison, TheOthersAreGoneWhenOneIsComputedInFloat64) {
  const WatchedOps ops;
  int runs = 0;
  EXPECT_FALSE(largeLeanReport({9000, 9000, 9000}, ops, &runs).same);
  EXPECT_EQ(runs, 1);
  const std::int64_t tensor = std::int64_t{3000} * 3000 * 4;  // x; out0 of both sides; x and out0 in float64
  EXPECT_LE(ops.mostWide, 7 * tensor + megabyte) << "and not 11";
}

TEST(LeanComparison, OneLargeOutputThatFailsIsEnough) {
  const ComparisonReport report = largeLeanReport({0, 9000, 9000});
  EXPECT_FALSE(report.same);
  EXPECT_TRUE(report.haveFp64);
  ASSERT_EQ(report.outputs.size(), 2u) << "what is close, and the first that is not";
  EXPECT_EQ(report.outputs[0].name, "out0");
  EXPECT_TRUE(report.outputs[0].same);
  EXPECT_EQ(report.outputs[1].name, "out1");
  EXPECT_TRUE(report.outputs[1].reason.starts_with("RMSE")) << report.outputs[1].reason;
  EXPECT_NEAR(report.outputs[1].rmseRes, 3, 1e-5);
}

TEST(LeanComparison, ButNotWhereAnotherMayFailInAGraverWay) {
  const ComparisonReport report = largeLeanReport({0, 9000, std::numeric_limits<float>::quiet_NaN()});
  EXPECT_FALSE(report.same);
  ASSERT_EQ(report.outputs.size(), 3u);
  EXPECT_EQ(report.outputs[2].nanRes, 1);
  EXPECT_FALSE(report.outputs[1].same || report.outputs[2].same);
}

TEST(LeanComparison, WhatFloat64AbsolvesIsNoFailure) {
  int runs = 0;
  const ComparisonReport report = largeLeanReport({0, 0.2F, 0.2F}, referenceOps(), &runs);
  EXPECT_TRUE(report.same) << "RMSE 0.00007 each";
  EXPECT_EQ(runs, 2) << "what was let go is computed once more";
  EXPECT_EQ(report.outputs.size(), 3u);
}

TEST(ComparisonMemory, WhatWasComparedIsForgotten) {
  constexpr int count = 20;
  GraphModule module;
  ValueList inputs;
  ArgumentList outputs, parts;
  for (int i = 0; i < count; ++i) {
    const NodeId x = module.graph.placeholder(fmt::format("x{}", i));
    inputs.push_back(ramp({512, 512}));
    outputs.emplace_back(call(module.graph, "neg.default", {Argument(x)}, fmt::format("n{}", i)));
    outputs.emplace_back(call(module.graph, "abs.default", {Argument(x)}, fmt::format("a{}", i)));
    parts.emplace_back(x);
  }
  const NodeId whole = call(module.graph, "cat.default", {Argument::list(parts)}, "whole");
  outputs.emplace_back(call(module.graph, "mean.default", {Argument(whole)}, "mean"));
  module.graph.output(Argument::tuple(outputs));
  const WatchedOps ops;
  const RunModel compiled = [&](const ValueList& given) { return Interpreter(module, referenceOps()).run(given); };
  const ComparisonReport report = *sameTwoModels(module, ops, compiled, inputs, {});
  EXPECT_TRUE(report.same && report.haveFp64);
  ASSERT_EQ(report.outputs.size(), 2u * count + 1);
  EXPECT_EQ(report.outputs[39].multiplier, 2);
  const std::int64_t runs = 2 * 2 * count * megabyte, wide = 2 * 2 * count * megabyte;  // inputs and `whole`
  EXPECT_LE(ops.most, std::max(runs, wide) + 8 * megabyte);
}

TEST(ComparisonMemory, AFloat64RunThatFailsLateLeavesTheRowsOfARunWithoutIt) {
  constexpr int count = 24;
  GraphModule module;
  ValueList inputs;
  ArgumentList outputs;
  for (int i = 0; i < count; ++i) {
    const NodeId x = module.graph.placeholder(fmt::format("x{}", i));
    inputs.push_back(ramp({512, 512}));
    outputs.emplace_back(
        call(module.graph, i + 1 == count ? "neg.default" : "abs.default", {Argument(x)}, fmt::format("y{}", i)));
  }
  module.graph.output(Argument::tuple(outputs));
  int runs = 0;
  const RunModel compiled = [&](const ValueList& given) -> Result<Value> {
    ++runs;
    KERF_TRY(const Value value, Interpreter(module, referenceOps()).run(given));
    value.list()[5].tensor().data<float>()[8] += 50;
    return value;
  };
  const WatchedOps ops("torch.ops.aten.neg.default");
  const ComparisonReport report = *sameTwoModels(module, ops, compiled, inputs, {});
  EXPECT_FALSE(report.haveFp64);
  EXPECT_TRUE(report.fp64Note.contains("not in float64")) << report.fp64Note;
  EXPECT_GT(runs, 1) << "what was let go is computed again";
  const ComparisonReport plain = *sameTwoModels(module, ops, compiled, inputs, {.useFp64 = false});
  ASSERT_EQ(report.outputs.size(), plain.outputs.size());
  for (std::size_t i = 0; i < plain.outputs.size(); ++i) {
    EXPECT_EQ(report.outputs[i].same, plain.outputs[i].same) << i;
    EXPECT_EQ(report.outputs[i].maxAbsError, plain.outputs[i].maxAbsError) << i;
    EXPECT_EQ(report.outputs[i].same, i != 5);
  }
}

}  // namespace
}  // namespace kerf
