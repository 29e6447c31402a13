// Ops that the cuda backend runs by kernels of its own: their sources without a GPU, their results with one.
#include <gmock/gmock.h>

#include <map>

#include "engine/backend/cuda/device_ops.h"
#include "engine/codegen_cuda/nvrtc.h"
#include "engine/ir/parser.h"
#include "engine/ops/core/op_registry.h"

namespace kerf {
namespace {

using ::testing::HasSubstr;

TEST(CudaOps, AreInTheOpTable) {
  for (const auto ops : {attentionDeviceOps(), convolutionDeviceOps(), indexDeviceOps()})
    for (const DeviceOp& row : ops) {
      EXPECT_NE(findOp("torch.ops." + std::string(row.op)), nullptr) << row.op;
      EXPECT_EQ(findDeviceOp(row.op), &row);
    }
  EXPECT_EQ(findDeviceOp("aten.sort.default"), nullptr);
}

/// Every source once for each set of macros: its kernels share them.
TEST(CudaOps, TheirKernelsCompileForEveryType) {
  if (const auto version = nvrtcVersion(); !version) GTEST_SKIP() << version.error().text();
  std::map<std::string, std::vector<std::string>> sources;
  for (const LibraryKernel& kernel : libraryKernels())
    sources[librarySource(kernel.source, kernel.macros)].push_back(kernel.name);
  EXPECT_GE(sources.size(), 30u);
  for (const auto& [source, names] : sources) {
    const auto compiled = compileSource(source, "sm_90");
    ASSERT_TRUE(compiled) << names.front() << ": " << compiled.error().text();
    for (const std::string& name : names) EXPECT_THAT(compiled->ptx, HasSubstr(".visible .entry " + name));
  }
}

TEST(CudaOps, ShapesOfKernelsHaveAtMostEightDimensions) {
  const auto shape = DeviceShape::of({2, 3}, {3, 1});
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->dims, 2);
  EXPECT_EQ(shape->sizes[1], 3);
  EXPECT_EQ(shape->strides[0], 3);
  const auto tooMany = DeviceShape::of(Sizes(9, 1), Sizes(9, 1));
  ASSERT_FALSE(tooMany);
  EXPECT_EQ(tooMany.error().code, ErrorCode::TooLarge);
}

TEST(CudaOps, ArgumentsKeepTheirValuesAndPlaces) {
  KernelArguments arguments;
  arguments.add(std::int64_t{7}).add(int{3}).add(*DeviceShape::of({5}, {1}));
  const std::vector<void*> places = arguments.pointers();
  ASSERT_EQ(places.size(), 3u);
  EXPECT_EQ(*static_cast<std::int64_t*>(places[0]), 7);
  EXPECT_EQ(*static_cast<int*>(places[1]), 3);
  EXPECT_EQ(static_cast<DeviceShape*>(places[2])->sizes[0], 5);
}

}  // namespace
}  // namespace kerf
