// NodeValueRequest: a node's value on every side, figures and planes of it, and what is refused.
#include <complex>

#include "app/workbench/workbench.h"
#include "engine/tensor/safetensors.h"
#include "engine/tensor/tensor_figures.h"
#include "tests/support/small_repro.h"
#include "tests/support/workbench_fixture.h"

namespace kerf::workbench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Tensor tensorOf(const Sizes& sizes, const std::vector<float>& values) {
  Tensor tensor = *Tensor::zeros(DType::Float32, sizes);
  std::ranges::copy(values, tensor.data<float>());
  return tensor;
}

constexpr float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();

TEST(TensorFigures, CountWhatIsNotFiniteApart) {
  const auto view = *TensorView::of(tensorOf({2, 4}, {1, nan, -inf, 0, 3, inf, 1e-40F, 2}));
  const auto figures = view.figures();
  EXPECT_EQ(figures.elements, 8);
  EXPECT_EQ(figures.finite, 5);
  EXPECT_EQ(figures.nans, 1);
  EXPECT_EQ(figures.positiveInfinities, 1);
  EXPECT_EQ(figures.negativeInfinities, 1);
  EXPECT_EQ(figures.zeros, 1);
  EXPECT_EQ(figures.subnormals, 1);
  EXPECT_EQ(figures.minimum, 0);
  EXPECT_EQ(figures.maximum, 3);
  EXPECT_DOUBLE_EQ(figures.mean, 1.2);
  EXPECT_NEAR(figures.deviation, std::sqrt((1.44 + 0.04 + 0.64 + 1.44 + 3.24) / 5), 1e-12);
  ASSERT_EQ(figures.histogram.size(), 64u);
  EXPECT_EQ(figures.histogram.front(), 2);
  EXPECT_EQ(figures.histogram.back(), 1);
  EXPECT_EQ(view.oddBehind(-1), std::vector<std::int64_t>({0, 1}));
  EXPECT_EQ(view.oddBehind(1), std::vector<std::int64_t>({0, 2}));
  EXPECT_EQ(view.oddBehind(2), std::vector<std::int64_t>({1, 1}));
  EXPECT_FALSE(view.oddBehind(5));
}

TEST(TensorFigures, APlaneIsDrawnSmallWithoutLosingAnOutlier) {
  Tensor large = *Tensor::zeros(DType::Float32, {2, 1024, 2048});
  large.data<float>()[1024 * 2048 + 1000 * 2048 + 2047] = -7;
  large.data<float>()[1024 * 2048] = nan;
  const auto view = *TensorView::of(large);
  const auto plane = view.plane({1});
  ASSERT_TRUE(plane);
  EXPECT_EQ(plane->rows, 1024);
  EXPECT_EQ(plane->shownRows, 512);
  EXPECT_EQ(plane->shownColumns, 512);
  EXPECT_EQ(plane->patches[500 * 512 + 511], -7);
  EXPECT_TRUE(std::isnan(plane->patches[0]));
  EXPECT_EQ(view.plane({})->patches[0], 0) << "without indices the first plane";
  EXPECT_THAT(view.plane({2}).error().text(), HasSubstr("index 0 of the slice is 2"));
  EXPECT_THAT(view.plane({0, 0}).error().text(), HasSubstr("1 dimensions before its last two"));
  const auto window = view.window({1}, {.row = 1023, .column = 2046, .rows = 3, .columns = 2});
  EXPECT_EQ(window.row, 1021) << "moved into the plane";
  EXPECT_THAT(window.cells, ElementsAre("0", "0", "0", "0", "0", "0"));
  EXPECT_THAT(view.window({1}, {.row = 1000, .column = 2047, .rows = 1, .columns = 1}).cells, ElementsAre("-7"));
}

TEST(TensorFigures, EmptyAndScalarTensorsHaveAPlaneToo) {
  const auto empty = *TensorView::of(*Tensor::zeros(DType::Float32, {0, 4}));
  EXPECT_EQ(empty.plane({})->shownRows, 0);
  EXPECT_TRUE(empty.window({}, {.rows = 2, .columns = 2}).cells.empty());
  const auto scalar = *TensorView::of(Tensor::scalarInt(std::int64_t(1) << 60, DType::Int64));
  EXPECT_EQ(scalar.plane({})->patches.size(), 1u);
  EXPECT_THAT(scalar.window({}, {.rows = 2, .columns = 2}).cells, ElementsAre("1152921504606846976"));
}

TEST(TensorFigures, EqualInfinitiesDoNotDiffer) {
  const auto difference = tensorDifference(tensorOf({4}, {1, inf, nan, inf}), tensorOf({4}, {0.5, inf, nan, -inf}));
  ASSERT_TRUE(difference);
  const auto figures = TensorView::of(*difference)->figures();
  EXPECT_EQ(figures.zeros, 2);
  EXPECT_EQ(figures.positiveInfinities, 1);
  EXPECT_EQ(figures.maximum, 0.5);
  EXPECT_EQ(tensorDifference(tensorOf({1}, {1}), tensorOf({2}, {1, 2})).error().code, ErrorCode::ShapeMismatch);
}

class NodeValueTest : public WorkbenchTest {
 protected:
  NodeValueRequest request(const std::string& node) const {
    return {{write("small.py", test::smallRepro("        exp = torch.ops.aten.exp.default(arg0_1);  arg0_1 = None\n"
                                                "        add = torch.ops.aten.add.Tensor(exp, 2)\n"
                                                "        mul = torch.ops.aten.mul_.Tensor(exp, 10)\n"
                                                "        max_1 = torch.ops.aten.max.dim(add, 1)\n"
                                                "        getitem = max_1[1]\n        return (add, mul, getitem)\n"))
                 .string()},
            node};
  }
  Result<NodeValue> ask(const NodeValueRequest& asked) { return m_bench->perform(asked); }
  void SetUp() override {
    WorkbenchTest::SetUp();
    m_bench = std::make_unique<Workbench>(WorkbenchOptions{store(), kerf, 4});
  }
  std::unique_ptr<Workbench> m_bench;
};

TEST_F(NodeValueTest, IsWhatTheNodeGaveBeforeItWasWrittenInto) {
  auto asked = request("exp");
  for (const char* side : {"compiled", "interpreter", "fp64"}) {
    asked.side = side;
    const auto value = ask(asked);
    ASSERT_TRUE(value) << side << ": " << value.error().text();
    EXPECT_EQ(value->dtype, side == std::string("fp64") ? "f64" : "f32");
    EXPECT_THAT(value->shape, ElementsAre(2, 4));
    EXPECT_THAT(value->strides, ElementsAre(4, 1));
    EXPECT_EQ(value->window.cells.size(), 8u);
    EXPECT_LT(value->figures.maximum, 100) << "later it is ten times as large";
    EXPECT_GT(value->figures.minimum, 0);
  }
  asked.minus = "interpreter";
  const auto difference = ask(asked);
  ASSERT_TRUE(difference) << difference.error().text();
  EXPECT_LT(std::abs(difference->figures.maximum), 1e-5);
}

TEST_F(NodeValueTest, APlantedFaultShowsInTheDifference) {
  auto asked = request("add");
  asked.minus = "fp64";
  asked.plants = {"add=accuracy"};
  const auto value = ask(asked);
  ASSERT_TRUE(value) << value.error().text();
  EXPECT_GT(std::max(std::abs(value->figures.maximum), std::abs(value->figures.minimum)), 1e-4);
}

TEST_F(NodeValueTest, IsWrittenWhole) {
  auto asked = request("getitem");
  asked.side = "interpreter";
  asked.save = (folder() / "value.safetensors").string();
  const auto value = ask(asked);
  ASSERT_TRUE(value) << value.error().text();
  EXPECT_EQ(value->dtype, "i64");
  const auto file = readSafetensors(asked.save);
  ASSERT_TRUE(file) << file.error().text();
  EXPECT_THAT(file->find("getitem")->sizes(), ElementsAre(2));
  asked.save = (folder() / "value.txt").string();
  EXPECT_EQ(ask(asked).error().code, ErrorCode::BadUsage);
  EXPECT_FALSE(fs::exists(asked.save));
}

TEST_F(NodeValueTest, TheRecordedSideIsWhatAFileOfExpectedValuesHas) {
  auto asked = request("add");
  asked.side = "recorded";
  EXPECT_THAT(ask(asked).error().text(), HasSubstr("no value of add is recorded"));
  EXPECT_EQ(ask(asked).error().code, ErrorCode::NotFound);
  SafetensorsFile file;
  file.tensors.emplace_back("in0", tensorOf({2, 4}, {0, 1, 0, 1, 0, 1, 0, 1}));
  file.tensors.emplace_back("out0", tensorOf({2, 4}, {3, 4, 3, 4, 3, 4, 3, 4}));
  file.tensors.emplace_back("exp", tensorOf({2, 4}, {1, 2, 1, 2, 1, 2, 1, 2}));
  ASSERT_TRUE(writeSafetensors((folder() / "small_io.safetensors").string(), file));
  const auto beside = ask(asked);
  ASSERT_TRUE(beside) << beside.error().text();
  EXPECT_EQ(beside->source, "out0 of small_io.safetensors");
  EXPECT_EQ(beside->figures.maximum, 4);
  asked.minus = "interpreter";  // runs on the file's in0: exp(0) + 2 = 3
  const auto difference = ask(asked);
  ASSERT_TRUE(difference) << difference.error().text();
  EXPECT_EQ(difference->figures.zeros, 4);
  EXPECT_NEAR(difference->figures.minimum, 4 - (std::exp(1.0) + 2), 1e-6);
  asked = request("exp");
  asked.side = "recorded";
  EXPECT_EQ(ask(asked)->source, "exp of small_io.safetensors") << "a node by its own name";
  asked.expect = (folder() / "nowhere.safetensors").string();
  EXPECT_EQ(ask(asked).error().code, ErrorCode::NotFound);
}

TEST_F(NodeValueTest, ACapturesInputsAreRecordedUnlessTheyAreMadeUp) {
  auto asked = request("arg0_1");
  asked.side = "recorded";
  EXPECT_THAT(ask(asked).error().text(), HasSubstr("made up")) << "the repro has no storage for it";
  NodeValueRequest stored{{sample}, "arg0_1"};
  stored.side = "recorded";
  const auto value = ask(stored);
  ASSERT_TRUE(value) << value.error().text();
  EXPECT_EQ(value->source, "input arg0_1 of the capture");
  stored.minus = "compiled";
  const auto difference = ask(stored);
  ASSERT_TRUE(difference) << difference.error().text();
  EXPECT_EQ(difference->figures.zeros, difference->figures.elements) << "what runs is what is recorded";
}

TEST(TensorFigures, ComplexValuesAreLookedAtByTheirSize) {
  Tensor complex = *Tensor::zeros(DType::Complex64, {3});
  auto* parts = reinterpret_cast<float*>(complex.data<std::complex<float>>());
  std::ranges::copy(std::vector<float>{3, -4, 0, 0, nan, 1}, parts);
  const auto view = *TensorView::of(complex);
  EXPECT_EQ(view.figures().maximum, 5);
  EXPECT_EQ(view.figures().nans, 1);
  EXPECT_EQ(view.figures().zeros, 1);
  EXPECT_THAT(view.window({}, {.rows = 1, .columns = 3}).cells, ElementsAre("3-4j", "0+0j", "nan+1j"));
  Tensor other = *Tensor::zeros(DType::Complex64, {3});
  const auto difference = tensorDifference(complex, other);
  ASSERT_TRUE(difference) << difference.error().text();
  EXPECT_EQ(TensorView::of(*difference)->figures().maximum, 5);
}

TEST_F(NodeValueTest, SaysWhatHasNoValue) {
  EXPECT_EQ(ask(request("nowhere")).error().code, ErrorCode::NotFound);
  auto tuple = request("max_1");
  tuple.side = "interpreter";
  EXPECT_THAT(ask(tuple).error().text(), HasSubstr("several values"));
  auto side = request("exp");
  side.side = "gpu";
  EXPECT_EQ(ask(side).error().code, ErrorCode::BadUsage);
}

}  // namespace
}  // namespace kerf::workbench
