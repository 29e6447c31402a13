// kerf align: a wrong step run alone in float64, written as a repro, and minified.
#include <cmath>

#include "engine/tensor/safetensors.h"
#include "tests/support/cli_test.h"

namespace kerf::cli {
namespace {

using ::testing::HasSubstr;

class AlignTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    graph = write("graph.txt",
                  "class GraphModule(torch.nn.Module):\n"
                  "    def forward(self, x: \"f32[4, 8][8, 1]cpu\", w: \"f32[8][1]cpu\"):\n"
                  "        mul: \"f32[4, 8][8, 1]cpu\" = torch.ops.aten.mul.Tensor(x, w)\n"
                  "        exp: \"f32[4, 8][8, 1]cpu\" = torch.ops.aten.exp.default(mul)\n"
                  "        sum_1: \"f32[4][1]cpu\" = torch.ops.aten.sum.dim_IntList(exp, [1])\n"
                  "        return (sum_1,)\n");
    SafetensorsFile file;
    Tensor x = filled({4, 8}, [](int i) { return float(i % 7) * 0.25F - 0.5F; });
    Tensor w = filled({8}, [](int i) { return 0.5F + float(i) * 0.125F; });
    Tensor sum = filled({4}, [&](int row) {
      float total = 0;
      for (int k = 0; k < 8; ++k) total += std::exp(at(x, row * 8 + k) * at(w, k));
      return total;
    });
    file.tensors = {{"x", x}, {"w", w}, {"sum_1", sum}};
    ASSERT_TRUE(writeSafetensors(folder / "eager.safetensors", file));
    file.tensors[2].second = filled({4}, [&](int row) { return at(sum, row) * (row == 2 ? 1.01F : 1.0F); });
    ASSERT_TRUE(writeSafetensors(folder / "wrong.safetensors", file));
    file.tensors[2].second = filled({4}, [&](int row) { return std::nextafter(at(sum, row), row == 1 ? 100.F : 0.F); });
    ASSERT_TRUE(writeSafetensors(folder / "rounded.safetensors", file));
  }
  template <class Value>
  static Tensor filled(Sizes sizes, const Value& value) {
    Tensor tensor = *Tensor::zeros(DType::Float32, sizes);
    for (std::int64_t i = 0; i < tensor.numel(); ++i) tensor.data<float>()[i] = value(int(i));
    return tensor;
  }
  static float at(const Tensor& tensor, int index) { return tensor.data<float>()[index]; }
  std::vector<std::string> align(const std::string& other, std::vector<std::string> more = {}) const {
    std::vector<std::string> command{"align", (folder / "eager.safetensors").string(), (folder / other).string(),
                                     "--graph", graph.string()};
    command.insert(command.end(), more.begin(), more.end());
    return command;
  }
  fs::path graph;
};

TEST_F(AlignTest, AWrongStepIsRunInFloat64OnTheRecordedInputs) {
  const auto doc = runJson(align("wrong.safetensors"), 1);
  ASSERT_EQ(doc["rows"].size(), 1U);
  const auto& row = doc["rows"][0];
  EXPECT_EQ(row["role"], "first");
  EXPECT_EQ(row["node"], "sum_1");
  EXPECT_EQ(row["graph"], graph.string());
  EXPECT_EQ(row["fp64"]["reference"], "float64");
  EXPECT_LT(row["fp64"]["a"].get<double>(), 1e-6);
  EXPECT_GT(row["fp64"]["a"].get<double>(), 0);
  EXPECT_NEAR(row["fp64"]["b"].get<double>(), 0.005, 0.003);
  EXPECT_EQ(row["fp64"]["same"], false);
  EXPECT_EQ(row["ulps"].size(), 8U);
  const auto words = run(align("wrong.safetensors")).output;
  EXPECT_THAT(words, HasSubstr("same() refuses B"));
  EXPECT_THAT(words, HasSubstr("elements by ulp: 0: 3, more: 1"));
}

TEST_F(AlignTest, RoundingIsAsNearToFloat64OnBothSides) {
  const auto doc = runJson(align("rounded.safetensors"), 0);
  EXPECT_EQ(doc["verdict"], "rounding");
  const auto& fp64 = doc["rows"][0]["fp64"];
  EXPECT_EQ(fp64["same"], true);
  EXPECT_LT(fp64["b"].get<double>(), 1e-6);
}

TEST_F(AlignTest, TheFirstWrongStepIsWrittenAloneAndMinifiedWhereItFails) {
  const auto small = folder / "small";
  const auto doc =
      runJson(align("wrong.safetensors", {"--minify", "-o", small.string(), "--plant", "exp=accuracy"}), 1);
  EXPECT_EQ(doc["repro"], (small / "repro.py").string());
  EXPECT_TRUE(fs::exists(small / "repro.py"));
  EXPECT_THAT(std::string(doc["repro_says"]), HasSubstr("accuracy"));
  ASSERT_FALSE(doc["minified"].is_null());
  EXPECT_TRUE(fs::exists(std::string(doc["minified"]["repro"])));
  EXPECT_LT(doc["minified"]["best"].get<int>(), doc["minified"]["start"].get<int>());
  EXPECT_THAT(textOf(small / "repro.py"), HasSubstr("torch.ops.aten.sum.dim_IntList"));
}

TEST_F(AlignTest, AStepThatDoesNotFailAloneIsKeptAndSaidSo) {
  const auto small = folder / "small";
  const auto doc = runJson(align("wrong.safetensors", {"--minify", "-o", small.string()}), 1);
  EXPECT_TRUE(fs::exists(small / "repro.py"));
  EXPECT_TRUE(doc["minified"].is_null());
  EXPECT_THAT(std::string(doc["repro_note"]), HasSubstr("alone the step passes by the oracle engine"));
  const auto rounded = runJson(align("rounded.safetensors", {"--minify", "-o", (folder / "none").string()}), 0);
  EXPECT_THAT(std::string(rounded["repro_note"]), HasSubstr("no step is wrong"));
  EXPECT_FALSE(fs::exists(folder / "none"));
  const auto exact =
      runJson(align("rounded.safetensors", {"--exact", "--minify", "-o", (folder / "bits").string()}), 1);
  EXPECT_EQ(exact["repro"], (folder / "bits/repro.py").string());
}

/// The second run's weight is apart by 1e-5, and the sum is computed from that: times `fault`.
class AlignRerunTest : public AlignTest {
 protected:
  /// Rows are scaled by `scale`: exp() of large numbers makes more of the difference.
  void record(const std::string& name, float scale, float apart, float fault) {
    SafetensorsFile file;
    Tensor x = filled({4, 8}, [&](int i) { return (float(i % 7) * 0.25F - 0.5F) * scale; });
    Tensor w = filled({8}, [&](int i) { return (0.5F + float(i) * 0.125F) * (1 + apart); });
    Tensor sum = filled({4}, [&](int row) {
      double total = 0;
      for (int k = 0; k < 8; ++k) total += std::exp(double(at(x, row * 8 + k)) * at(w, k));
      return float(total) * fault;
    });
    file.tensors = {{"x", x}, {"w", w}, {"sum_1", sum}};
    ASSERT_TRUE(writeSafetensors(folder / (name + ".safetensors"), file));
  }
};

TEST_F(AlignRerunTest, InputsThatDifferExcuseWhatTheStepMakesOfThemAndNoMore) {
  record("eager", 1, 0, 1);
  record("near", 1, 1e-5F, 1);
  record("fault", 1, 1e-5F, 1.0002F);
  EXPECT_EQ(runJson(align("near.safetensors"), 0)["verdict"], "rounding");
  const auto fault = runJson(align("fault.safetensors"), 1);
  ASSERT_EQ(fault["rows"].size(), 2U);
  EXPECT_EQ(fault["rows"][1]["role"], "first");
  EXPECT_EQ(fault["rows"][1]["node"], "sum_1");
  EXPECT_NEAR(fault["rows"][1]["own"].get<double>(), 2e-4, 2e-5);
  EXPECT_THAT(run(align("fault.safetensors")).output, HasSubstr("run again on what each took"));
}

TEST_F(AlignRerunTest, AStepThatMakesMuchOfItsInputsDifferenceIsNoFault) {
  record("eager", 40, 0, 1);
  record("near", 40, 1e-5F, 1);
  record("fault", 40, 1e-5F, 3);
  const auto near = runJson(align("near.safetensors"), 0);
  EXPECT_EQ(near["verdict"], "rounding");
  const auto fault = runJson(align("fault.safetensors"), 1);
  EXPECT_EQ(fault["rows"].back()["node"], "sum_1");
  EXPECT_EQ(fault["rows"].back()["role"], "first");
}

TEST_F(AlignTest, WithoutAGraphThereIsNothingToRun) {
  const auto doc = runJson({"align", (folder / "eager.safetensors").string(), (folder / "wrong.safetensors").string(),
                            "--minify", "-o", (folder / "small").string()},
                           1);
  EXPECT_THAT(std::string(doc["repro_note"]), HasSubstr("no recorded graph has the step"));
  EXPECT_THAT(std::string(doc["rows"][0]["fp64"]["reason"]), HasSubstr("no recorded graph has the step"));
}

}  // namespace
}  // namespace kerf::cli
