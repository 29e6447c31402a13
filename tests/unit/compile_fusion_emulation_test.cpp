// bfloat16 graphs whose fused kernels keep float32: what that explains of a difference, and what it does not.
#include <gtest/gtest.h>

#include "engine/accuracy/closeness.h"
#include "engine/capture/common/recorded_fusion.h"
#include "engine/ir/interpreter.h"
#include "engine/ir/printer.h"
#include "engine/ops/core/op_registry.h"
#include "engine/pipeline/emulate_fusion.h"
#include "engine/pipeline/fusion_verdict.h"
#include "tests/unit/fusion_captures.h"

namespace kerf {
namespace {

using testing::attentionLog;
using testing::chainLog;
using testing::layerNormLog;

/// Values of a range that matters to softmax and cancellation, in bfloat16.
Tensor spread(const Sizes& sizes, double scale, std::uint32_t seed) {
  Tensor wide = Tensor::zeros(DType::Float32, sizes).value();
  for (std::int64_t i = 0; i < wide.numel(); ++i) {
    seed = seed * 1664525u + 1013904223u;
    wide.data<float>()[i] = float((double(seed >> 8) / double(1u << 24) * 2 - 1) * scale);
  }
  return wide.to(DType::BFloat16).value();
}

/// A log's graph with its groups and inputs.
struct Recorded {
  testing::TemporaryFolder folder;
  GraphModule module;
  std::vector<RecordedFusionGroup> groups;
  ValueList inputs;

  Recorded(const std::string& log, double scale) {
    auto capture = testing::importTraceText(folder, log);
    EXPECT_TRUE(capture.has_value()) << capture.error().text();
    auto part = compiledPartOf(*capture, 0);
    EXPECT_TRUE(part.has_value()) << part.error().text();
    if (!part) return;
    groups = part->groups;
    CapturedGraph& graph = capture->graphs[0];
    EXPECT_TRUE(graph.ensureLoaded().has_value());
    EXPECT_TRUE(graph.annotateShapes().has_value());
    module = graph.module;
    std::uint32_t seed = 7;
    for (const NodeId id : module.graph.placeholders())
      inputs.emplace_back(spread(*module.graph.node(id).meta().value.tensor()->concreteSizes(), scale, ++seed * 77));
  }

  FusionReport compare(const std::string& plant = {}, bool useFp64 = false, bool own = false) const {
    FusionCompareOptions options;
    options.compare.useFp64 = useFp64;
    if (!plant.empty()) options.compile.faults.faults.push_back(parseFault(plant).value());
    auto report = compareFused(module, own ? std::vector<RecordedFusionGroup>() : groups, inputs, options);
    EXPECT_TRUE(report.has_value()) << report.error().text();
    return report ? *report : FusionReport{};
  }
};

std::vector<FusionVerdict> verdicts(const FusionReport& report) {
  std::vector<FusionVerdict> result;
  for (const OutputVerdict& row : report.plain.outputs)
    if (row.kind == ResultKind::Output) result.push_back(fusionVerdict(row, rowNamed(report.emulated, row.name)));
  return result;
}

using Verdicts = std::vector<FusionVerdict>;
constexpr auto expected = FusionVerdict::Expected;
constexpr auto open = FusionVerdict::NotExplained;

struct Case {
  const char* name;
  std::string (*log)();
  double scale;
  const char* plant;
  std::int64_t kernels, fused, unrounded;
};

const Case cases[] = {{"chain", chainLog, 3, "sigmoid=accuracy", 1, 7, 6},
                      {"layer norm", layerNormLog, 3, "rsqrt=accuracy", 2, 24, 4},
                      {"attention", attentionLog, 3, "exp=accuracy", 1, 9, 3}};

TEST(FusionEmulation, ExplainsWhatFusedKernelsDoNotRound) {
  for (const Case& one : cases) {
    const FusionReport report = Recorded(one.log(), one.scale).compare();
    EXPECT_FALSE(report.plain.same) << one.name;
    EXPECT_EQ(verdicts(report), (Verdicts{expected, expected})) << one.name;
    for (const OutputVerdict& row : report.emulated.outputs) {
      EXPECT_TRUE(row.same) << one.name << " " << row.name;
      EXPECT_EQ(row.maxAbsError, 0) << one.name << " " << row.name;
    }
    EXPECT_EQ(report.kernels, one.kernels) << one.name;
    EXPECT_EQ(report.fused, one.fused) << one.name;
    EXPECT_EQ(report.unrounded, one.unrounded) << one.name;
    EXPECT_EQ(report.missing, 0) << one.name;
  }
}

TEST(FusionEmulation, DoesNotExplainAFault) {
  for (const Case& one : cases) {
    const FusionReport report = Recorded(one.log(), one.scale).compare(one.plant);
    const Verdicts found = verdicts(report);
    EXPECT_NE(std::ranges::find(found, open), found.end()) << one.name;
    EXPECT_EQ(std::ranges::find(found, FusionVerdict::Same), found.end()) << one.name;
  }
}

TEST(FusionEmulation, JudgesGivenResultsToo) {
  const Recorded recorded(chainLog(), 3);
  const auto emulated = emulateFusion(recorded.module, recorded.groups);
  ASSERT_TRUE(emulated.has_value()) << emulated.error().text();
  const auto values = Interpreter(emulated->module, referenceOps()).run(recorded.inputs);
  ASSERT_TRUE(values.has_value()) << values.error().text();
  FusionCompareOptions options;
  options.compare.useFp64 = false;
  options.results = *values;
  const auto good = compareFused(recorded.module, recorded.groups, recorded.inputs, options);
  ASSERT_TRUE(good.has_value()) << good.error().text();
  EXPECT_EQ(verdicts(*good), (Verdicts{expected, expected}));

  Tensor shifted = values->list()[0].tensor().to(DType::Float32).value();
  shifted.data<float>()[5] += 1;
  options.results = Value(ValueList{Value(shifted.to(DType::BFloat16).value()), values->list()[1]});
  const auto bad = compareFused(recorded.module, recorded.groups, recorded.inputs, options);
  ASSERT_TRUE(bad.has_value()) << bad.error().text();
  EXPECT_EQ(verdicts(*bad), (Verdicts{open, expected}));
}

TEST(FusionEmulation, TakesTheKernelsOfTheCompiledSideWithoutRecordedOnes) {
  for (const Case& one : cases) {
    const FusionReport report = Recorded(one.log(), one.scale).compare({}, false, true);
    EXPECT_EQ(verdicts(report), (Verdicts{expected, expected})) << one.name;
  }
}

TEST(FusionEmulation, RoundsOnceWhereAKernelStores) {
  const Recorded recorded(layerNormLog(), 1);
  const auto emulated = emulateFusion(recorded.module, recorded.groups);
  ASSERT_TRUE(emulated.has_value()) << emulated.error().text();
  const Graph& graph = emulated->module.graph;
  const auto targetOf = [&](std::string_view name) {
    const auto id = graph.find(name);
    return id ? graph.node(*id).target() : std::string("(none)");
  };
  const std::string convert = "torch.ops.prims.convert_element_type.default";
  EXPECT_EQ(targetOf("add"), convert);     // stored
  EXPECT_EQ(targetOf("normed"), convert);  // stored
  EXPECT_EQ(targetOf("add_fp32"), "torch.ops.aten.add.Tensor");
  const Node& wide = graph.node(*graph.find("to_float"));  // its own kernel sees the unrounded sum
  EXPECT_EQ(graph.node(*wide.args()[0].as<NodeId>()).name(), "add_fp32");
  const Node& next = graph.node(*graph.find("add_1_fp32"));  // the next kernel loads the rounded one
  EXPECT_EQ(graph.node(*next.args()[1].as<NodeId>()).name(), "add_fp32_1");
  const Node& loaded = graph.node(*next.args()[1].as<NodeId>());
  EXPECT_EQ(graph.node(*loaded.args()[0].as<NodeId>()).name(), "add");
}

TEST(FusionEmulation, LeavesFloat32GraphsAsTheyAre) {
  std::string log = chainLog();
  for (std::size_t at = log.find("bf16"); at != std::string::npos; at = log.find("bf16", at)) log.replace(at, 4, "f32");
  const Recorded recorded(log, 1);
  const auto emulated = emulateFusion(recorded.module, recorded.groups);
  ASSERT_TRUE(emulated.has_value()) << emulated.error().text();
  EXPECT_EQ(emulated->unrounded, 0u);
  EXPECT_EQ(printGraphText(emulated->module.graph), printGraphText(recorded.module.graph));
}

TEST(FusionEmulation, RefusesGroupsOfAnotherGraph) {
  Recorded recorded(chainLog(), 1);
  for (RecordedFusionGroup& group : recorded.groups) group.postGradNodes = {"nowhere"};
  const auto emulated = emulateFusion(recorded.module, recorded.groups);
  ASSERT_FALSE(emulated.has_value());
  EXPECT_EQ(emulated.error().code, ErrorCode::BadInput);
}

/// Without ops in between, rounding in kernels is the compile option's choice.
TEST(FusionEmulation, KernelsRoundEachOpUnlessTold) {
  const Recorded recorded(chainLog(), 3);
  for (const bool rounds : {true, false}) {
    CompileOptions options;
    options.roundsEachOp = rounds;
    const auto compiled = compileFx(recorded.module, options);
    ASSERT_TRUE(compiled.has_value()) << compiled.error().text();
    const auto res = (*compiled)->run(recorded.inputs);
    const auto ref = Interpreter(recorded.module, referenceOps()).run(recorded.inputs);
    ASSERT_TRUE(res.has_value() && ref.has_value());
    EXPECT_EQ(maxAbsDifference(ref->list()[0].tensor(), res->list()[0].tensor()).value() == 0, rounds);
  }
}

}  // namespace
}  // namespace kerf
