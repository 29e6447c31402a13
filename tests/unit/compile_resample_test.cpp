// Linear and cubic resampling and their gradients in generated loops, beside the ops' own kernels.
#include <limits>

#include "engine/ir/parser.h"
#include "engine/pipeline/compile_fx.h"
#include "tests/support/graph_fixture.h"

namespace kerf {
namespace {

using testing_support::expectClose;
using testing_support::GraphFixture;

Argument wholeNumbers(const Sizes& values) {
  ArgumentList items;
  for (const std::int64_t value : values) items.emplace_back(value);
  return Argument::list(std::move(items));
}

enum class Runs : std::uint8_t { InLoops, AsCall, Either };

void expectResampledAlike(const GraphFixture& f, double tolerance, const std::string& what, Runs runs = Runs::InLoops) {
  const auto graph = compileFx(f.module, {});
  ASSERT_TRUE(graph) << what << ": " << graph.error().text();
  bool isCall = false;
  for (const KernelInfo& kernel : (*graph)->kernels()) isCall = isCall || kernel.kind == "extern";
  EXPECT_TRUE(runs == Runs::Either || isCall == (runs == Runs::AsCall)) << what;
  const auto reference = f.interpret(), result = (*graph)->run(f.inputs);
  ASSERT_TRUE(reference) << what << ": " << reference.error().text();
  ASSERT_TRUE(result) << what << ": " << result.error().text();
  expectClose(reference->list()[0].tensor(), result->list()[0].tensor(), tolerance, what);
}

struct Images {
  const char* name;
  Sizes in, out;  ///< spatial
  std::vector<double> factors{};
};
const Images images[] = {
    {"row twice", {7}, {14}},
    {"row down", {9}, {4}},
    {"row to one", {5}, {1}},
    {"row of one", {1}, {6}},
    {"row as it is", {6}, {6}},
    {"row by a factor", {6}, {13}, {2.2}},
    {"twice", {4, 6}, {8, 12}},
    {"three halves", {4, 6}, {6, 9}},
    {"down", {9, 8}, {5, 3}},
    {"one side only", {5, 4}, {5, 8}},
    {"odd", {3, 5}, {7, 4}},
    {"by factors", {4, 5}, {9, 12}, {2.3, 2.4}},
    {"factors of other sizes", {4, 4}, {8, 8}, {1.0, 4.0}},
    {"box", {3, 2, 4}, {4, 4, 5}},
};
const DType resampledTypes[] = {DType::Float32, DType::Float64, DType::BFloat16};

double toleranceFor(DType dtype) {
  return dtype == DType::Float64 ? 1e-12 : dtype == DType::Float32 ? 1e-6 : dtype == DType::BFloat16 ? 8e-3 : 1e-3;
}

std::string linearName(std::size_t dims) {
  return dims == 1 ? "aten.upsample_linear1d" : dims == 2 ? "aten.upsample_bilinear2d" : "aten.upsample_trilinear3d";
}

ArgumentList withFactors(ArgumentList args, const Images& image) {
  for (const double factor : image.factors) args.emplace_back(factor);
  return args;
}

Sizes wholeSizes(const Sizes& spatial) {
  Sizes sizes{2, 3};
  sizes.insert(sizes.end(), spatial.begin(), spatial.end());
  return sizes;
}

/// Nothing is looked through place by place, whatever a text says its sizes are.
TEST(Resampling, GradientsOfMoreThanAnyMemoryHoldsAreCallsAtOnce) {
  const auto module = parseReadable(R"py(class joint(torch.nn.Module):
    def forward(self, g: "f32[1, 1, 1099511627776][1099511627776, 1099511627776, 1]cpu"):
        b: "f32[1, 1, 549755813888]cpu" = torch.ops.aten.upsample_linear1d_backward.default(g, [1099511627776], [1, 1, 549755813888], False)
        return [b]
)py");
  ASSERT_TRUE(module) << module.error().text();
  const auto graph = compileFx(*module, {});
  ASSERT_TRUE(graph) << graph.error().text();
  ASSERT_EQ((*graph)->kernels().size(), 1u);
  EXPECT_EQ((*graph)->kernels()[0].kind, "extern");
}

TEST(Resampling, ForwardOfEverySize) {
  for (const DType dtype : resampledTypes)
    for (const Images& image : images)
      for (const bool corners : {false, true})
        for (const bool cubic : {false, true}) {
          if (cubic && image.in.size() != 2) continue;
          GraphFixture f;
          const NodeId x = f.input("x", dtype, wholeSizes(image.in));
          const std::string op = cubic ? "aten.upsample_bicubic2d" : linearName(image.in.size());
          f.output({f.call(op + ".default", withFactors({x, wholeNumbers(image.out), Argument(corners)}, image))});
          expectResampledAlike(f, toleranceFor(dtype), fmt::format("{} {} {}", op, image.name, corners));
        }
}

TEST(Resampling, GradientsOfEverySize) {
  for (const DType dtype : resampledTypes)
    for (const Images& image : images)
      for (const bool corners : {false, true})
        for (const bool cubic : {false, true}) {
          if (cubic && image.in.size() != 2) continue;
          GraphFixture f;
          const NodeId grad = f.input("g", dtype, wholeSizes(image.out));
          const std::string op = cubic ? "aten.upsample_bicubic2d" : linearName(image.in.size());
          f.output({f.call(
              op + "_backward.default",
              withFactors({grad, wholeNumbers(image.out), wholeNumbers(wholeSizes(image.in)), Argument(corners)},
                          image))});
          expectResampledAlike(f, 4 * toleranceFor(dtype), fmt::format("{} {} {}", op, image.name, corners),
                               Runs::Either);
        }
}

TEST(Resampling, CommonGradientsAreLoops) {
  for (const bool cubic : {false, true}) {
    GraphFixture f;
    const NodeId grad = f.input("g", DType::Float32, {2, 3, 16, 12});
    const std::string op = cubic ? "aten.upsample_bicubic2d" : "aten.upsample_bilinear2d";
    f.output({f.call(op + "_backward.default",
                     {grad, wholeNumbers({16, 12}), wholeNumbers({2, 3, 8, 6}), Argument(false)})});
    expectResampledAlike(f, 1e-5, op);
  }
}

TEST(Resampling, GradientsOfNearestExact) {
  for (const DType dtype : resampledTypes)
    for (const Images& image : images) {
      GraphFixture f;
      const NodeId grad = f.input("g", dtype, wholeSizes(image.out));
      const std::string op = fmt::format("aten._upsample_nearest_exact{}d_backward.default", image.in.size());
      f.output({f.call(op, withFactors({grad, wholeNumbers(image.out), wholeNumbers(wholeSizes(image.in))}, image))});
      expectResampledAlike(f, toleranceFor(dtype), op + image.name, Runs::Either);
    }
}

TEST(Resampling, GradientsThatAreNotFinite) {
  Tensor values = *Tensor::zeros(DType::Float32, {1, 1, 8, 8});
  for (int i = 0; i < 64; ++i) values.data<float>()[i] = float(i % 5);
  values.data<float>()[9] = std::numeric_limits<float>::infinity();
  values.data<float>()[44] = std::numeric_limits<float>::quiet_NaN();
  for (const bool corners : {false, true}) {
    GraphFixture f;
    f.output({f.call("aten.upsample_bilinear2d_backward.default",
                     {f.input("g", values), wholeNumbers({8, 8}), wholeNumbers({1, 1, 4, 4}), Argument(corners)})});
    expectResampledAlike(f, 1e-6, "not finite");
  }
}

TEST(Resampling, StridedInputsAndWhatFollows) {
  GraphFixture f;
  Tensor values = testing_support::randomTensor(DType::Float32, {2, 8, 6, 3}, f.random);
  const NodeId x = f.input("x", values.viewAs({2, 3, 8, 6}, {144, 1, 18, 3}, 0));  // channels last
  const NodeId up = f.call("aten.upsample_bilinear2d.default", {x, wholeNumbers({16, 12}), Argument(false)});
  f.output({f.call("aten.relu.default", {up})});
  expectResampledAlike(f, 1e-6, "channels last");
}

}  // namespace
}  // namespace kerf
