// Ops that the cuda backend runs by kernels of its own: their sources without a GPU, their results with one.
#include <gmock/gmock.h>

#include <map>
#include <numeric>

#include "engine/backend/cuda/device_ops.h"
#include "engine/codegen_cuda/nvrtc.h"
#include "engine/ir/parser.h"
#include "engine/ops/core/op_registry.h"
#include "tests/support/cuda_on_host.h"

namespace kerf {
namespace {

using ::testing::HasSubstr;

TEST(CudaOps, AreInTheOpTable) {
  for (const auto ops : allDeviceOps())
    for (const DeviceOp& row : ops) {
      EXPECT_NE(findOp("torch.ops." + std::string(row.op)), nullptr) << row.op;
      EXPECT_EQ(findDeviceOp(row.op), &row);
    }
  EXPECT_EQ(findDeviceOp("aten.nonzero.default"), nullptr);
}

struct KernelsOf {
  const char* subject;
  std::vector<LibraryKernel> (*kernels)();
  bool needsTensorCores = false;  ///< those of sm_80
};
class CudaOpSources : public ::testing::TestWithParam<KernelsOf> {};

/// Every source once for each set of macros: its kernels share them.
TEST_P(CudaOpSources, CompileForEveryType) {
  if (const auto version = nvrtcVersion(); !version) GTEST_SKIP() << version.error().text();
  std::map<std::string, std::vector<std::string>> sources;
  for (const LibraryKernel& kernel : GetParam().kernels())
    sources[librarySource(kernel.source, kernel.macros)].push_back(kernel.name);
  EXPECT_GE(sources.size(), 1u);
  for (const auto& [source, names] : sources) {
    const auto compiled = compileSource(source, "sm_90");
    ASSERT_TRUE(compiled) << names.front() << ": " << compiled.error().text();
    for (const std::string& name : names) EXPECT_THAT(compiled->ptx, HasSubstr(".visible .entry " + name));
  }
  for (const char* older : {"sm_75", "sm_80"}) {
    if (GetParam().needsTensorCores && older == std::string_view("sm_75")) continue;
    const auto compiled = compileSource(sources.begin()->first, older);
    EXPECT_TRUE(compiled) << older << ": " << compiled.error().text();
  }
}

std::vector<LibraryKernel> commonKernels() { return {checkKernel(), copyKernel(), readKernel()}; }

INSTANTIATE_TEST_SUITE_P(All, CudaOpSources,
                         ::testing::Values(KernelsOf{"attention", attentionKernels}, KernelsOf{"common", commonKernels},
                                           KernelsOf{"convolution", convolutionKernels},
                                           KernelsOf{"copies", copyKernels}, KernelsOf{"extrema", extremumKernels},
                                           KernelsOf{"flash", flashKernels, true},
                                           KernelsOf{"integers", integerKernels}, KernelsOf{"lines", lineKernels},
                                           KernelsOf{"linePuts", linePutKernels}, KernelsOf{"order", orderKernels},
                                           KernelsOf{"put", putKernels}, KernelsOf{"scans", scanKernels},
                                           KernelsOf{"sort", sortKernels}),
                         [](const auto& info) { return std::string(info.param.subject); });

/// The kernel of this name for float32, or for int64.
LibraryKernel kernelNamed(std::string_view name, std::string_view type, std::string_view macro = "") {
  for (LibraryKernel& kernel : libraryKernels()) {
    bool fits = kernel.name == name;
    for (const auto& [key, value] : kernel.macros)
      fits = fits && (key != "T" || value == type) && (key != "COMBINE(a, b)" || macro.empty() || value == macro);
    if (fits) return kernel;
  }
  ADD_FAILURE() << name;
  return {};
}
Result<testing_support::CudaOnHost> onHost(const LibraryKernel& kernel, const std::string& call) {
  return testing_support::CudaOnHost::compile(librarySource(kernel.source, kernel.macros), 256, call);
}

TEST(CudaOps, RunningSumsOfLinesAndOfLinesBesideEachOther) {
  constexpr std::int64_t lines = 37, size = 5000;
  auto along =
      onHost(kernelNamed("kerf_scan", "float", "((a) + (b))"),
             "KerfShape s = {2, {37, 1}, {5000, 1}}; kerf_scan((float*)kerfBuffers[0], (float*)kerfBuffers[1], "
             "s, s, 5000, 1, 1);");
  auto beside = onHost(kernelNamed("kerf_scan_lines", "float", "((a) + (b))"),
                       "KerfShape s = {2, {1, 37}, {37, 1}}; kerf_scan_lines((float*)kerfBuffers[0], "
                       "(float*)kerfBuffers[1], s, s, 5000, 37, 37, 37);");
  for (const auto* host : {&along, &beside}) {
    ASSERT_TRUE(*host) << host->error().text();
  }
  std::vector<float> x(lines * size), out(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = float(i * 2654435761u % 9) - 4;
  along->run({x, out}, lines);
  for (std::int64_t l = 0; l < lines; ++l) {
    float sum = 0;
    for (std::int64_t i = 0; i < size; ++i)
      ASSERT_EQ(out[std::size_t(l * size + i)], sum += x[std::size_t(l * size + i)]);
  }
  beside->run({x, out}, (lines + 31) / 32);
  for (std::int64_t l = 0; l < lines; ++l) {
    float sum = 0;
    for (std::int64_t i = 0; i < size; ++i)
      ASSERT_EQ(out[std::size_t(i * lines + l)], sum += x[std::size_t(i * lines + l)]);
  }
}

TEST(CudaOps, RunningLogarithmsOfSums) {
  auto host = onHost(
      kernelNamed("kerf_scan", "double", "kerf_log_add<A>(a, b)"),
      "KerfShape s = {1, {1}, {1}}; kerf_scan((double*)kerfBuffers[0], (double*)kerfBuffers[1], s, s, 300, 1, 1);");
  ASSERT_TRUE(host) << host.error().text();
  std::vector<double> x(300, -INFINITY), out(300);
  for (std::size_t i = 3; i < 290; ++i) x[i] = double(i * 37 % 11) - 700;
  x[290] = INFINITY, x[295] = NAN;
  host->run({x, out}, 1);
  double sum = 0;
  for (std::size_t i = 0; i < 290; ++i) {
    sum += std::exp(x[i] + 700);
    if (i < 3)
      EXPECT_EQ(out[i], -INFINITY);
    else
      ASSERT_NEAR(out[i], std::log(sum) - 700, 1e-9) << i;
  }
  for (std::size_t i = 290; i < 295; ++i) EXPECT_EQ(out[i], INFINITY);
  EXPECT_TRUE(std::isnan(out[295]) && std::isnan(out[299]));
}

TEST(CudaOps, ShapesOfKernelsHaveAtMostEightDimensions) {
  const auto shape = DeviceShape::of({2, 3}, {3, 1});
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->dims, 2);
  EXPECT_EQ(shape->sizes[1], 3);
  EXPECT_EQ(shape->strides[0], 3);
  const auto merged = DeviceShape::merged({2, 1, 3, 4}, {24, 7, 4, 1});
  EXPECT_EQ(merged->dims, 2);
  EXPECT_EQ(merged->sizes[1], 12);
  EXPECT_EQ(merged->strides[0], 24);
  EXPECT_FALSE(merged->isRow());
  EXPECT_TRUE(DeviceShape::merged({2, 3}, {3, 1})->isRow());
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
