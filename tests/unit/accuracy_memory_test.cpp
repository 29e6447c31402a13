// What a comparison takes of memory: counted over the live storages, at every call of an op.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/accuracy/fp64_run.h"
#include "engine/accuracy/run_inputs.h"
#include "engine/accuracy/same_two_models.h"
#include "engine/ir/interpreter.h"
#include "engine/ops/core/op_registry.h"

namespace kerf {
namespace {

constexpr std::int64_t elements = 1 << 18;
constexpr std::int64_t megabyte = 1 << 20;  // of such a tensor in float32

/// The reference ops, with a look at how many bytes are alive.
class MeasuringOps : public OpCaller {
 public:
  Result<Value> call(const OpTarget& target, const ValueList& args, const KeywordValues& kwargs) const override {
    auto result = referenceOps().call(target, args, kwargs);
    m_most = std::max(m_most, liveStorageBytes());
    return result;
  }
  /// Most bytes above those that were alive when this object was made.
  std::int64_t most() const { return m_most - m_start; }

 private:
  std::int64_t m_start = liveStorageBytes();
  mutable std::int64_t m_most = m_start;
};

Tensor filled(float value) {
  Tensor tensor = *Tensor::zeros(DType::Float32, {elements});
  std::fill_n(tensor.data<float>(), elements, value);
  return tensor;
}

/// total = x0 + x1 + … ; returned with, if `saves`, every partial sum.
struct Sums {
  GraphModule module;
  ValueList inputs;

  Sums(int count, bool saves) {
    Graph& graph = module.graph;
    std::vector<NodeId> given;
    for (int i = 0; i < count; ++i) {
      given.push_back(graph.placeholder(fmt::format("x{}", i)));
      inputs.push_back(filled(float(i) + 0.5f));
    }
    ArgumentList outputs;
    NodeId total = given[0];
    for (int i = 1; i < count; ++i) {
      total = graph.callFunction("torch.ops.aten.add.Tensor", {Argument(total), Argument(given[std::size_t(i)])}, {},
                                 fmt::format("sum{}", i));
      if (saves || i + 1 == count) outputs.emplace_back(total);
    }
    graph.output(Argument::tuple(std::move(outputs)));
  }
  RunModel compiled() const {
    return [this](const ValueList& given) { return Interpreter(module, referenceOps()).run(given); };
  }
};

TEST(ComparisonMemory, InputsThatTheGraphOnlyReadsAreNotCopied) {
  const Sums sums(16, false);
  const ResultNames names(sums.module);
  const std::int64_t before = liveStorageBytes();
  const ValueList given = *inputsForRun(sums.inputs, names);
  EXPECT_EQ(liveStorageBytes(), before);
  EXPECT_EQ(given[3].tensor().storage(), sums.inputs[3].tensor().storage());
}

TEST(ComparisonMemory, TheFloat64RunConvertsAnInputWhenItComesToIt) {
  const Sums sums(16, false);
  const MeasuringOps ops;
  Float64Run run = *Float64Run::start(sums.module, ops, sums.inputs, ResultNames(sums.module), {}, {});
  const RunResults results = *run.finish();
  EXPECT_EQ(results.outputs.list()[0].tensor().dtype(), DType::Float64);
  EXPECT_EQ(results.outputs.list()[0].tensor().itemAsDouble(7), 128);
  EXPECT_LE(ops.most(), 3 * 2 * megabyte + megabyte) << "two operands and a sum, each of twice the size";
}

TEST(ComparisonMemory, OutputsOfTheFloat64RunAreComparedAndFreed) {
  const Sums sums(24, true);
  const std::int64_t outputs = 23 * megabyte;
  const MeasuringOps ops;
  const ComparisonReport report = *sameTwoModels(sums.module, ops, sums.compiled(), sums.inputs, {});
  EXPECT_TRUE(report.same);
  EXPECT_TRUE(report.haveFp64);
  ASSERT_EQ(report.outputs.size(), 23u);
  EXPECT_EQ(report.outputs[22].name, "out22");
  EXPECT_EQ(report.outputs[22].rmseRes, 0);
  EXPECT_LE(ops.most(), 2 * outputs + 8 * megabyte) << "of reference and compiled side, and some sums in float64";
}

/// As a forward graph of AOTAutograd returns the parameters that backward needs.
TEST(ComparisonMemory, InputsThatAreReturnedDoNotStayInFloat64) {
  Sums sums(16, false);
  Graph& graph = sums.module.graph;
  const NodeId output = graph.outputNode();
  ArgumentList items = graph.node(output).args()[0].asList()->items;
  for (const NodeId id : graph.placeholders()) items.emplace_back(id);
  graph.setArgs(output, {Argument::tuple(std::move(items))});
  const MeasuringOps ops;
  const ComparisonReport report = *sameTwoModels(sums.module, ops, sums.compiled(), sums.inputs, {});
  EXPECT_TRUE(report.same);
  ASSERT_GE(report.outputs.size(), 17u);
  EXPECT_EQ(report.outputs[1 + 3].name, "out4");
  EXPECT_EQ(report.outputs[1 + 3].rmseRes, 0);
  EXPECT_EQ(report.outputs[1 + 3].multiplier, 2) << "it was compared with its float64 form";
  EXPECT_LE(ops.most(), 2 * megabyte + 3 * 2 * megabyte + megabyte);
}

TEST(ComparisonMemory, RowsAreThoseOfACompareOfWholeOutputs) {
  Sums sums(4, true);
  const auto wrong = [&](const ValueList& given) -> Result<Value> {
    KERF_TRY(const Value value, Interpreter(sums.module, referenceOps()).run(given));
    value.list()[1].tensor().data<float>()[5] += 100;
    return value;
  };
  const ComparisonReport with = *sameTwoModels(sums.module, referenceOps(), wrong, sums.inputs, {});
  ASSERT_EQ(with.outputs.size(), 3u);
  EXPECT_TRUE(with.outputs[0].same);
  EXPECT_FALSE(with.outputs[1].same);
  EXPECT_TRUE(with.outputs[2].same);
  EXPECT_EQ(with.outputs[1].maxAbsError, 100);
  EXPECT_DOUBLE_EQ(with.outputs[1].rmseRes, 100 / std::sqrt(double(elements)));
  EXPECT_EQ(with.outputs[1].rmseRef, 0);
  const ComparisonReport without = *sameTwoModels(sums.module, referenceOps(), wrong, sums.inputs, {.useFp64 = false});
  EXPECT_FALSE(without.haveFp64);
  EXPECT_FALSE(without.outputs[1].same);
}

TEST(ComparisonMemory, ACompiledSideThatWritesIntoASharedInputIsCaught) {
  const Sums sums(3, false);
  const auto stray = [&](const ValueList& given) -> Result<Value> {
    auto value = Interpreter(sums.module, referenceOps()).run(given);
    given[1].tensor().data<float>()[0] = 7;
    return value;
  };
  const ComparisonReport report = *sameTwoModels(sums.module, referenceOps(), stray, sums.inputs, {});
  EXPECT_FALSE(report.same);
  EXPECT_EQ(report.outputs.back().name, "mutates x1");
  EXPECT_EQ(report.outputs.back().kind, ResultKind::Mutation);
  EXPECT_FALSE(report.outputs.back().same);
}

TEST(ComparisonMemory, InputsThatShareMemoryWithAWrittenOneAreCopiedTogether) {
  GraphModule module;
  const NodeId x = module.graph.placeholder("x"), view = module.graph.placeholder("view"),
               other = module.graph.placeholder("other");
  const NodeId written =
      module.graph.callFunction("torch.ops.aten.mul_.Tensor", {Argument(x), Argument(2.0)}, {}, "mul_");
  const NodeId sum =
      module.graph.callFunction("torch.ops.aten.add.Tensor", {Argument(view), Argument(other)}, {}, "sum");
  module.graph.output(Argument::tuple({Argument(sum), Argument(written)}));
  const Tensor base = filled(1);
  const ValueList inputs{base, base.viewAs({2}, {1}, 4), *Tensor::zeros(DType::Float32, {2})};
  const ResultNames names(module);
  EXPECT_EQ(needOwnMemory(inputs, names), (std::vector<bool>{true, true, false}));
  const ValueList given = *inputsForRun(inputs, names);
  EXPECT_NE(given[0].tensor().storage(), base.storage());
  EXPECT_EQ(given[0].tensor().storage(), given[1].tensor().storage());
  EXPECT_EQ(given[2].tensor().storage(), inputs[2].tensor().storage());
  Float64Run run = *Float64Run::start(module, referenceOps(), inputs, names, {}, {});
  const RunResults wide = *run.finish();
  EXPECT_EQ(wide.outputs.list()[0].tensor().itemAsDouble(0), 2) << "the view sees what was written";
  EXPECT_EQ(base.itemAsDouble(0), 1);
}

TEST(InFloat64, KeepsStridesAndOverlaps) {
  Tensor base = *Tensor::zeros(DType::Float32, {6});
  for (int i = 0; i < 6; ++i) base.data<float>()[i] = float(i);
  const Tensor turned = *inFloat64(base.viewAs({2, 2}, {1, 2}, 1));
  EXPECT_EQ(turned.dtype(), DType::Float64);
  EXPECT_EQ(turned.strides(), (Sizes{1, 2}));
  EXPECT_EQ(turned.itemAsDouble(1), 3);
  const Tensor expanded = *inFloat64(base.viewAs({3, 2}, {0, 1}, 2));
  EXPECT_EQ(expanded.strides(), (Sizes{0, 1}));
  EXPECT_EQ(expanded.itemAsDouble(5), 3);
  EXPECT_EQ(expanded.storage()->bytes(), 16);
  EXPECT_EQ(inFloat64(Tensor::scalarInt(3, DType::Int64))->dtype(), DType::Int64);
  EXPECT_EQ(inFloat64(base.viewAs({0, 3}, {3, 1}, 0))->numel(), 0);
}

}  // namespace
}  // namespace kerf
