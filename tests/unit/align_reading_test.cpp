// Readers of recordings: what a step is in each format, and that nothing hostile harms.
#include <cmath>

#include <gmock/gmock.h>

#include "engine/align/log_steps.h"
#include "engine/align/printed_values.h"
#include "tests/unit/align_testing.h"

namespace kerf {
namespace {

using testing::ElementsAre;

std::vector<std::string> opsOf(const RunRecording& recording) {
  std::vector<std::string> ops;
  for (const RunStep& step : recording.steps) ops.push_back(step.op);
  return ops;
}

TEST(PrintedValues, AreTensorsWithNumberDtypeAndShape) {
  const auto printed =
      printedValues("t$2: f32[32], 1e-05, dt: bf16[4, 8]{grad_fn=None}| S(0), 'set: [x]', ft$7: i64[]");
  ASSERT_EQ(printed.tensors.size(), 3U);
  EXPECT_EQ(printed.tensors[0].id, 2);
  EXPECT_EQ(printed.tensors[0].text(), "f32[32]");
  EXPECT_EQ(printed.tensors[1].text(), "bf16[4, 8]");
  EXPECT_EQ(printed.tensors[1].id, -1);
  EXPECT_EQ(printed.tensors[2].elements(), 1);
  EXPECT_EQ(printed.constants, "·, 1e-05, ·{grad_fn=None}| S(0), 'set: [x]', ·");
}

TEST(PrintedValues, TakeOneHashOfEachFunction) {
  auto tensors = printedValues("t: f32[2], t: f32[3]").tensors;
  giveHashes(tensors, {"1.5", "17", "nan", "-4"});
  EXPECT_EQ(tensors[0].l1, 1.5);
  EXPECT_EQ(tensors[0].hash, "hash_tensor:17");
  EXPECT_TRUE(std::isnan(*tensors[1].l1));
  giveHashes(tensors, {"1", "2", "3"});  // three do not come out even
  EXPECT_EQ(tensors[0].hash, "hash_tensor:17");
}

TEST(PrintedValues, LiteralsAreFlattenedByKey) {
  const auto members =
      literalLeaves("  # {'input_hash': (((1.0, 2), [None, 3.5]), {'out': (0.0, 7)}), 'hash': (inf, 9)}");
  ASSERT_EQ(members.size(), 2U);
  EXPECT_EQ(members[0].first, "input_hash");
  EXPECT_THAT(members[0].second, ElementsAre("1.0", "2", "3.5", "0.0", "7"));
  EXPECT_THAT(members[1].second, ElementsAre("inf", "9"));
}

TEST(DebugModeLog, OfEagerModeHasEachCallWithModuleAndValues) {
  const auto recording = recordedRun("mlp-eager.json");
  EXPECT_THAT(opsOf(recording), ElementsAre("aten.t", "aten.addmm", "aten.native_layer_norm", "aten.gelu", "aten.t",
                                            "aten.addmm", "aten._softmax"));
  const RunStep& norm = recording.steps[2];
  EXPECT_EQ(norm.name, "aten.native_layer_norm #1");
  EXPECT_EQ(norm.module, "Mlp.norm");
  EXPECT_EQ(norm.constants, "·, [32], ·, ·, 1e-05");
  ASSERT_EQ(norm.inputs.size(), 3U);
  ASSERT_EQ(norm.outputs.size(), 3U);
  EXPECT_EQ(norm.outputs[1].text(), "f32[4, 1]");
  EXPECT_TRUE(norm.outputs[2].l1.has_value());
  EXPECT_EQ(norm.inputs[0].hash, recording.steps[1].outputs[0].hash);
}

TEST(DebugModeLog, TextSaysWhatJsonSays) {
  for (const std::string name : {"mlp-eager", "mlp-inductor"}) {
    const auto json = recordedRun(name + ".json"), text = recordedRun(name + ".txt");
    ASSERT_EQ(json.steps.size(), text.steps.size()) << name;
    for (std::size_t i = 0; i < json.steps.size(); ++i) {
      const RunStep &a = json.steps[i], &b = text.steps[i];
      EXPECT_EQ(a.name, b.name);
      EXPECT_EQ(a.constants, b.constants);
      EXPECT_EQ(a.module, b.module);
      ASSERT_EQ(a.inputs.size(), b.inputs.size()) << a.name;
      ASSERT_EQ(a.outputs.size(), b.outputs.size()) << a.name;
      for (std::size_t k = 0; k < a.inputs.size(); ++k) EXPECT_EQ(a.inputs[k].hash, b.inputs[k].hash) << a.name;
      for (std::size_t k = 0; k < a.outputs.size(); ++k) EXPECT_EQ(a.outputs[k].l1, b.outputs[k].l1) << a.name;
    }
  }
}

TEST(DebugModeLog, OfInductorHasKernelsAndNotTheCallsThatHashThem) {
  const auto recording = recordedRun("mlp-inductor.json");
  EXPECT_THAT(opsOf(recording), ElementsAre("aten.addmm", "triton_per_fused_gelu_native_layer_norm_0", "aten.addmm",
                                            "triton_per_fused__softmax_exp_prepare_softmax_online_sub_1"));
  EXPECT_EQ(recording.steps[0].inputs.size(), 3U);  // without what out= is given
  const RunStep& kernel = recording.steps[1];
  EXPECT_TRUE(kernel.kernel);
  ASSERT_EQ(kernel.outputs.size(), 1U);
  EXPECT_EQ(kernel.outputs[0].name, "in_out_ptr0");
  ASSERT_EQ(kernel.inputs.size(), 3U);
  EXPECT_EQ(kernel.inputs[0].hash, recording.steps[0].outputs[0].hash);
  EXPECT_NE(kernel.inputs[0].hash, kernel.outputs[0].hash);
}

TEST(DebugModeLog, StacksAreTheUsersLines) {
  const auto recording = recordedRun("mlp-eager-stacks.txt");
  ASSERT_EQ(recording.steps.size(), 7U);
  EXPECT_EQ(recording.steps[3].source, "/home/user/models.py:16 in forward, code: h = F.gelu(self.norm(self.up(x)))");
  EXPECT_EQ(userLine("  File \"/a/torch/nn/x.py\", line 3, in g\n    y = 1\n"), "");
  EXPECT_EQ(
      userLine(
          "  File \"/a/m.py\", line 8, in f\n    z = g(x)\n  File \"/a/torch/nn/x.py\", line 3, in g\n    y = 1\n"),
      "/a/m.py:8 in f, code: z = g(x)");
}

TEST(DebugModeLog, InPlaceOpsAndOverloadsHaveOneName) {
  EXPECT_EQ(baseOpName("aten::add_.Tensor"), "aten.add_");
  EXPECT_TRUE(writesInPlace("aten.add_"));
  EXPECT_FALSE(writesInPlace("aten.__and__"));
  EXPECT_EQ(baseOpName("torch.ops.aten.addmm.default"), "aten.addmm");
  EXPECT_EQ(baseOpName("torch.nn.functional.linear"), "torch.nn.functional.linear");
}

TEST(DebugModeLog, AnotherVersionIsRefused) {
  const auto other =
      readDebugModeJson(R"({"format": "torch.utils._debug_mode.DebugMode.logs", "version": 2, "logs": []})");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::BadInput);
  EXPECT_EQ(other.error().message, "version 2 of DebugMode's logs is not known, only 1");
  EXPECT_FALSE(readDebugModeJson(R"({"format": "torch.utils._debug_mode.DebugMode.logs", "version": 1, "logs": [)"));
}

TEST(DebugModeLog, RecognisersTellFormatsApart) {
  EXPECT_TRUE(isDebugModeJson(recordedText("mlp-eager.json")));
  EXPECT_TRUE(isDebugModeText(recordedText("mlp-eager.txt")));
  EXPECT_TRUE(isDebugModeText(recordedText("mlp-inductor.txt")));
  EXPECT_FALSE(
      isDebugModeText("class GraphModule(torch.nn.Module):\n  def forward(self, x):\n    aten::relu(t: f32[2])\n"));
  EXPECT_FALSE(isDebugModeText("just a note about aten::relu\n"));
}

TEST(TorchtitanLog, HasOpsWithModuleLineFiguresAndWhereInputsComeFrom) {
  const auto recording = recordedRun("titan-eager.log");
  EXPECT_THAT(opsOf(recording),
              ElementsAre("aten.embedding", "aten.mm", "aten.silu", "aten.mm", "aten.mm", "aten._fused_adam_"));
  const RunStep& silu = recording.steps[2];
  EXPECT_EQ(silu.name, "aten.silu #1");
  EXPECT_EQ(silu.module, "layers.0.feed_forward");
  EXPECT_EQ(silu.source, "common/feed_forward.py:40");
  ASSERT_EQ(silu.outputs.size(), 1U);
  EXPECT_EQ(silu.outputs[0].text(), "bf16[32, 64]");
  EXPECT_EQ(silu.outputs[0].l1, 320.1562);
  ASSERT_TRUE(silu.outputs[0].stats);
  EXPECT_EQ(silu.outputs[0].stats->norm, 9.125);
  EXPECT_EQ(silu.outputs[0].stats->max, 1.648438);
  ASSERT_EQ(silu.inputs.size(), 1U);
  EXPECT_EQ(silu.inputs[0].id, recording.steps[1].outputs[0].id);
  EXPECT_EQ(silu.inputs[0].l1, 815);
  EXPECT_EQ(recording.steps[3].inputs[1].id, -1) << "a weight";
  EXPECT_EQ(recording.steps[4].constants, "backward");
  EXPECT_TRUE(recording.steps[5].inPlace);
  EXPECT_TRUE(recording.steps[5].outputs.empty());
  EXPECT_THAT(recording.notes, ElementsAre("not recorded, but called: detach, t, view"));
}

TEST(TorchtitanLog, OlderAndOddLinesAreReadAsFarAsTheyGo) {
  const std::string text =
      "[a/op_0_mm]\n  Shape: torch.Size([]), Dtype: torch.float32\n  L1 norm: 2.5\n  Mean: text\n\n"
      "[b/op_1_native_layer_norm]\n  Shape: torch.Size([4, -3]), Dtype: torch.odd\n"
      "  Output hash: nan, 1.000000e+00, inf\n[c/op_x_mm]\n[/op_0_mm\n";
  EXPECT_TRUE(isTorchtitanLog(text));
  const auto recording = readTorchtitanLog(text);
  ASSERT_TRUE(recording);
  ASSERT_EQ(recording->steps.size(), 2U);
  EXPECT_EQ(recording->steps[0].outputs[0].text(), "f32[]");
  EXPECT_EQ(recording->steps[0].outputs[0].l1, 2.5);
  EXPECT_FALSE(recording->steps[0].outputs[0].stats);
  ASSERT_EQ(recording->steps[1].outputs.size(), 3U);
  EXPECT_FALSE(recording->steps[1].outputs[0].shaped);
  EXPECT_TRUE(std::isnan(*recording->steps[1].outputs[0].l1));
  EXPECT_TRUE(std::isinf(*recording->steps[1].outputs[2].l1));
  EXPECT_FALSE(isTorchtitanLog("[a/op_0_mm]\nnothing\n"));
  EXPECT_FALSE(isTorchtitanLog(recordedText("mlp-eager.txt")));
  EXPECT_FALSE(isDebugModeText(text));
}

/// The log writes figures of the first floating result of at least 1,000 elements, whichever that is.
TEST(TorchtitanLog, FiguresBelongToAResultThatTheyFit) {
  const auto read = [](const std::string& hashes) {
    return *readTorchtitanLog(
        "[a/op_0_topk]\n  Shape: torch.Size([32, 64]), Dtype: torch.bfloat16\n  L2 norm: 2.2e+01\n"
        "  Min: -1.9\n  Max: 1.8\n  Mean: 0.0\n  Output hash: " +
        hashes + "\n");
  };
  const RunRecording second = read("5.0e+06, 8.15e+02");
  EXPECT_FALSE(second.steps[0].outputs[0].stats);
  EXPECT_EQ(second.steps[0].outputs[0].l1, 5e6);
  ASSERT_TRUE(second.steps[0].outputs[1].stats);
  EXPECT_EQ(second.steps[0].outputs[1].text(), "bf16[32, 64]");
  EXPECT_EQ(second.steps[0].outputs[1].l1, 815);
  const RunRecording none = read("5.0e+06, 1.0e+01");
  EXPECT_FALSE(none.steps[0].outputs[0].stats || none.steps[0].outputs[1].stats);
  EXPECT_THAT(none.notes, ElementsAre("the figures of 1 ops fit none of their results and are left out"));
}

TEST(TorchtitanLog, ResultsWithoutDtypeHaveThatOfWhatTheyComeFrom) {
  const auto recording = *readTorchtitanLog(
      "[a/op_0_mm]\n  Shape: torch.Size([4]), Dtype: torch.bfloat16\n  Output hash: 5.0\n"
      "[a/op_1_add_]\n  Output hash: 6.0\n  Input hashes: 5.0\n  Input producers: a/op_0_mm\n"
      "[a/op_2_mul_]\n  Output hash: 6.0\n  Input hashes: 7.0\n");
  EXPECT_EQ(recording.steps[1].outputs[0].dtype, "bf16");
  EXPECT_EQ(recording.steps[2].outputs[0].dtype, "f32");
}

TEST(TorchtitanLog, CommasAreNoValuesAndValuesHaveABound) {
  const auto commas = *readTorchtitanLog("[a/op_0_mm]\n  Output hash: 1.0" + std::string(100'000, ',') + "\n");
  EXPECT_EQ(commas.steps[0].outputs.size(), 1U);
  std::string many;
  for (int i = 0; i < 3; ++i) many += "[a/op_0_mm]\n  Input hashes: " + std::string(900'000, ',') + "\n";
  const auto refused = readTorchtitanLog(many);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::TooLarge);
}

TEST(ValueRows, AreInputsAndNodesOfOneSide) {
  const std::string rows = recordedText("mlp-stats/values.jsonl");
  const auto compiled = readValueRows(rows, {}, RecordSide::Compiled),
             eager = readValueRows(rows, {}, RecordSide::Eager);
  ASSERT_TRUE(compiled && eager);
  ASSERT_EQ(compiled->steps.size(), 8U);
  EXPECT_TRUE(compiled->steps[0].input);
  EXPECT_EQ(compiled->steps[0].name, "0_0-inference/arg0_1");
  EXPECT_EQ(compiled->steps[0].outputs[0].hash, "kerf:3ea838b0b40160cb");
  EXPECT_EQ(compiled->steps[7].name, "0_0-inference/div");
  EXPECT_NE(compiled->steps[7].outputs[0].stats->norm, eager->steps[7].outputs[0].stats->norm);
}

TEST(ValueRows, WithValuesHaveThem) {
  const auto folder = std::filesystem::path(KERF_SOURCE_DIR) / "tests/data/alignment/mlp-full";
  const auto recording = readValueRows(recordedText("mlp-full/values.jsonl"), folder / "values", RecordSide::Compiled);
  ASSERT_TRUE(recording);
  for (const RunStep& step : recording->steps) EXPECT_TRUE(step.outputs[0].data.has_value()) << step.name;
}

TEST(ValueRows, BrokenRowsAreLeftOut) {
  const auto recording = readValueRows("{\"graph\": \"g\", \"call\": 0, \"node\": \"a\"}\n{\"graph\": \nnull\n[1]\n\n",
                                       {}, RecordSide::Eager);
  ASSERT_TRUE(recording);
  EXPECT_EQ(recording->steps.size(), 1U);
  EXPECT_THAT(recording->notes, ElementsAre("3 rows of values.jsonl cannot be read and are left out"));
}

/// Every reader takes any text: a result or an error, and nothing else.
void readAll(const std::string& text) {
  (void)isDebugModeJson(text);
  (void)isDebugModeText(text);
  (void)readDebugModeJson(text);
  (void)readDebugModeText(text);
  (void)isTorchtitanLog(text);
  (void)readTorchtitanLog(text);
  (void)readValueRows(text, {}, RecordSide::Compiled);
}

TEST(HostileRecordings, CutAndChangedAnywhereHarmNothing) {
  for (const char* name :
       {"mlp-eager.json", "mlp-eager.txt", "mlp-inductor.txt", "mlp-stats/values.jsonl", "titan-eager.log"}) {
    const std::string whole = recordedText(name);
    for (std::size_t cut = 0; cut < whole.size(); cut += 97) readAll(whole.substr(0, cut));
    std::uint64_t state = 7;
    for (int round = 0; round < 300; ++round) {
      std::string changed = whole;
      for (int k = 0; k < 8; ++k) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        const std::size_t at = std::size_t(state >> 33) % changed.size();
        changed[at] = "(){}[]'\",:=$\\\n0t-\0\xFF"[(state >> 20) % 19];
      }
      readAll(changed);
    }
  }
}

TEST(HostileRecordings, DeepAndLongOnesEnd) {
  readAll("aten::f(" + std::string(200'000, '(') + "\n");
  readAll("aten::f(" + std::string(200'000, '\'') + ")\n");
  std::string tensors = "[triton] k(";
  for (int i = 0; i < 100'000; ++i) tensors += "=t: f32[";
  readAll(tensors);
  std::string nested = R"({"format": "torch.utils._debug_mode.DebugMode.logs", "version": 1, "logs": [{"log": )";
  for (int i = 0; i < 100'000; ++i) nested += R"({"items":[)";
  readAll(nested);
  std::string hashes = "[a/op_0_mm]\n  Input hashes: ";
  for (int i = 0; i < 200'000; ++i) hashes += "1, ";
  readAll(hashes + "\n  Input producers: " + std::string(200'000, ';') + "\n");
  readAll("Total captured activations: 99999999999999999999999\n[a/op_99999999999999999999_mm]\n");
  EXPECT_EQ(printedValues("t: f32[99999999999999999999]").tensors[0].elements(), -1);
  EXPECT_EQ(printedValues("t: f32[9223372036854775807, 4]").tensors[0].elements(), -1);
}

}  // namespace
}  // namespace kerf
