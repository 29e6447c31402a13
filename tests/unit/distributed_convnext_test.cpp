#include <gtest/gtest.h>

#include "engine/distributed/group/in_process.h"
#include "engine/distributed/modules/convnext_example.h"

namespace kerf {
namespace {

/// Loss and gradients of all ranks against those of one. Where every width is a multiple of the ranks nothing is gathered.
void expectEqualOnRanks(int ranks, ConvNextExample example, DType dtype, double tolerance, bool isEven = true) {
  example.dtype = dtype;
  const auto whole = trainConvNextWhole(example);
  ASSERT_TRUE(whole) << whole.error().text();
  EXPECT_TRUE(whole->collectives.empty());
  const auto mesh = DeviceMesh::ofSizes({ranks});
  std::vector<ExampleStep> steps{std::size_t(ranks)};
  const auto results = runRanks(ranks, [&](Communicator& link) -> Result<void> {
    MeshRank rank(*mesh, link);
    KERF_TRY(steps[std::size_t(link.rank())], trainConvNext(rank, example));
    return {};
  });
  const auto ran = firstCause(results);
  ASSERT_TRUE(ran) << ran.error().text();
  for (const ExampleStep& step : steps) {
    EXPECT_NEAR(step.loss, whole->loss, tolerance * (1 + std::abs(whole->loss)));
    EXPECT_LE(gradientDifference(step, *whole), tolerance);
  }
  if (isEven) {
    EXPECT_FALSE(steps[0].collectives.contains("c10d_functional.all_gather_into_tensor"));
  }
}

TEST(ConvNextExample, EqualsASingleRankInDouble) {
  expectEqualOnRanks(4, ConvNextExample::small(), DType::Float64, 1e-9);
}

TEST(ConvNextExample, EqualsASingleRankInFloat) {
  expectEqualOnRanks(4, ConvNextExample::small(), DType::Float32, 1e-4);
}

TEST(ConvNextExample, TakesNormLayersAndUnevenWidths) {
  ConvNextExample example = ConvNextExample::small();
  example.model.hasNormLayers = true;
  example.images = {1, 3, 32, 160};  // 40, 20, 10 and 5 columns on 3 ranks
  expectEqualOnRanks(3, example, DType::Float64, 1e-9, false);
}

TEST(ConvNextExample, HasTheSizesOfPyTorchsExample) {
  std::int64_t count = 0;
  for (const ConvNextParameter& parameter : convNextParameters(ConvNextExample::full().model)) {
    std::int64_t size = 1;
    for (const std::int64_t one : parameter.sizes) size *= one;
    count += size;
  }
  EXPECT_EQ(count, 350192872);
}

}  // namespace
}  // namespace kerf
