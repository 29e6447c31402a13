// CUDA C++ of single kernels: how loops become blocks and threads, and what NVRTC makes of every operation.
#include <gmock/gmock.h>

#include "engine/codegen_cuda/kernel_source.h"
#include "engine/codegen_cuda/nvrtc.h"
#include "engine/loops/expr_builder.h"

namespace kerf {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

LoopKernel kernelOver(std::vector<LoopVariable> variables, DType dtype = DType::Float32) {
  LoopKernel kernel;
  kernel.name = "cpp_fused_test_0";
  kernel.variables = std::move(variables);
  kernel.buffers = {{dtype, "x"}, {dtype, "y"}};
  return kernel;
}

LoopKernel scaled(std::int64_t size) {
  LoopKernel kernel = kernelOver({{size, false}});
  ExprBuilder b(kernel);
  const int x = b.load(0, Affine::variable(0));
  kernel.stores = {{1, Affine::variable(0), b.binary(ExprOp::Mul, x, b.constant(0.5, DType::Float32)), true}};
  return kernel;
}

LoopKernel softmax(std::int64_t rows, std::int64_t columns) {
  LoopKernel kernel = kernelOver({{rows, false}, {columns, true}});
  ExprBuilder b(kernel);
  const Affine at = Affine::variable(0) * columns + Affine::variable(1);
  const int x = b.load(0, at), most = b.reduce(ExprOp::ReduceMax, x);
  const int e = b.unary(ExprOp::Exp, b.binary(ExprOp::Sub, x, most));
  const int sum = b.reduce(ExprOp::ReduceSum, e);
  kernel.stores = {{1, at, b.binary(ExprOp::Div, e, sum), true}};
  return kernel;
}

LoopKernel columnSums(std::int64_t rows, std::int64_t columns) {
  LoopKernel kernel = kernelOver({{columns, false}, {rows, true}});
  ExprBuilder b(kernel);
  const int sum = b.reduce(ExprOp::ReduceSum, b.load(0, Affine::variable(1) * columns + Affine::variable(0)));
  kernel.stores = {{1, Affine::variable(0), sum, false}};
  return kernel;
}

CudaKernel generated(const LoopKernel& kernel, const std::vector<std::string>& origins = {}) {
  auto result = generateKernel(kernel, {"mul"}, origins);
  EXPECT_TRUE(result) << result.error().text();
  return result ? std::move(*result) : CudaKernel();
}

TEST(CudaSource, OfAPointwiseKernel) {
  const CudaKernel kernel = generated(scaled(1000), {"x", "mul", "mul"});
  EXPECT_EQ(kernel.name, "cuda_fused_test_0");
  EXPECT_EQ(kernel.text(), R"(// cuda_fused_test_0: mul
using Index = int;
template <int V>
__device__ __forceinline__ void cuda_fused_test_0_with(
    const float* __restrict__ b0 /* x */,
    float* __restrict__ b1 /* y */) {
  const Index step = (Index)gridDim.x * blockDim.x;
  for (Index t = (Index)blockIdx.x * blockDim.x + threadIdx.x; t < (Index)1000 / V; t += step) {
    const Index x0 = (t) * V;
    // x
    const auto p0 = kerf_load<float, V>(b0 + x0);
    KerfPack<float, V> s0;
    #pragma unroll
    for (int q = 0; q < V; ++q) {
      const Index i0 = x0 + q;
      const float v0 = p0.at[q];
      // mul
      const float v2 = (v0 * 0.5f);
      s0.at[q] = v2;  // y
    }
    kerf_store(b1 + x0, s0);
  }
}
extern "C" __global__ void __launch_bounds__(256) cuda_fused_test_0(
    const float* __restrict__ b0 /* x */,
    float* __restrict__ b1 /* y */) {
  if ((unsigned long long)b0 % 16 == 0 && (unsigned long long)b1 % 16 == 0)
    cuda_fused_test_0_with<4>(b0, b1);
  else
    cuda_fused_test_0_with<1>(b0, b1);
}
)");
  EXPECT_EQ(kernel.shape.blocks({}, 4096), 1);
  EXPECT_EQ(generated(scaled(1 << 20)).shape.blocks({}, 4096), 1024);
  EXPECT_EQ(generated(scaled(1 << 20)).shape.blocks({}, 132), 132);
  EXPECT_EQ(generated(scaled(0)).shape.blocks({}, 132), 0);
}

TEST(CudaSource, OddSizesAreNotReadInPacks) {
  EXPECT_THAT(generated(scaled(1001)).text(), Not(HasSubstr("KerfPack")));
  EXPECT_THAT(generated(scaled(1002)).text(), HasSubstr("_with<2>"));
}

TEST(CudaSource, RowsAreReducedByTeamsAndReadOnce) {
  const CudaKernel kernel = generated(softmax(128, 1024));
  EXPECT_EQ(kernel.shape.layout, KernelLayout::Rows);
  EXPECT_EQ(kernel.shape.team, 128);
  EXPECT_EQ(kernel.shape.blocks({}, 4096), 128);
  const std::string text = kernel.text();
  EXPECT_THAT(text, HasSubstr("v1 = kerf_team<128>(v1, [](float a, float b) { return (float)(kerf_max(a, b)); });"));
  EXPECT_THAT(text, HasSubstr("float v1 = __uint_as_float(0xff800000u);"));
  const std::string load = "kerf_load<float, V>(b0 + ";
  EXPECT_EQ(text.find(load), text.rfind(load));
  EXPECT_EQ(generated(softmax(4096, 20)).shape.team, 8);
}

TEST(CudaSource, ColumnsBesideEachOtherAreReducedTogether) {
  const CudaKernel kernel = generated(columnSums(4096, 768));
  EXPECT_EQ(kernel.shape.layout, KernelLayout::Columns);
  EXPECT_EQ(kernel.shape.columns * kernel.shape.vector, 32);
  EXPECT_EQ(kernel.shape.splits, 22) << "528 blocks for 24 pieces of 32 columns";
  EXPECT_EQ(kernel.shape.blocks({}, 4096), 768 / 32 * 22);
  EXPECT_THAT(kernel.text(), HasSubstr("kerf_load<float, V>(b0 + x0 + i1 * (Index)768);"));
  EXPECT_EQ(generated(columnSums(8, 1 << 20)).shape.team, 1) << "a thread for each column";
}

TEST(CudaSource, LargeBuffersHaveWidePositions) {
  EXPECT_THAT(generated(scaled(std::int64_t{1} << 33)).text(), HasSubstr("using Index = long long;"));
}

/// One after the other, each on the result of the one before.
LoopKernel everyOperation() {
  LoopKernel kernel = kernelOver({{64, false}});
  ExprBuilder b(kernel);
  int x = b.load(0, Affine::variable(0));
  for (int op = int(ExprOp::Neg); op <= int(ExprOp::RoundEven); ++op) x = b.unary(ExprOp(op), x);
  for (int op = int(ExprOp::Add); op <= int(ExprOp::Minimum); ++op)
    if (ExprOp(op) != ExprOp::Philox) x = b.binary(ExprOp(op), x, b.constant(1.5, DType::Float32));
  for (const DType dtype : {DType::Float64, DType::Float16, DType::BFloat16, DType::Int64, DType::Int32, DType::Int16,
                            DType::Int8, DType::UInt64, DType::UInt32, DType::UInt16, DType::UInt8, DType::Bool}) {
    int value = b.convert(x, dtype);
    if (!isFloating(dtype))
      for (const ExprOp op :
           {ExprOp::Add, ExprOp::Sub, ExprOp::Mul, ExprOp::And, ExprOp::Or, ExprOp::Xor, ExprOp::Maximum})
        value = b.binary(op, value, b.integer(1, dtype));
    if (!isFloating(dtype)) value = b.select(b.binary(ExprOp::Lt, value, b.unary(ExprOp::Not, value)), value, value);
    x = b.convert(value, DType::Float32);
  }
  const int bits = b.philox(b.integer(3, DType::Int64), b.index(Affine::variable(0)), 2);
  x = b.fma(x, b.convert(bits, DType::Float32), b.constant(-INFINITY, DType::Float32));
  x = b.select(b.unary(ExprOp::IsNan, x), b.constant(NAN, DType::Float32), x);
  kernel.stores = {{1, Affine::variable(0), x, true}};
  return kernel;
}

TEST(CudaSource, AGuardedKernelDoesNothingOnceAnIndexWasFoundOutside) {
  const auto kernel = generateKernel(softmax(64, 128), {}, {}, KernelGuard::Indices);
  ASSERT_TRUE(kernel) << kernel.error().text();
  EXPECT_THAT(kernel->text(), HasSubstr(", const unsigned long long* found)"));
  EXPECT_THAT(kernel->text(), HasSubstr("if (*found != 0) return;"));
  EXPECT_EQ(generated(softmax(64, 128)).text().find("found"), std::string::npos);
  if (const auto version = nvrtcVersion(); !version) GTEST_SKIP() << version.error().text();
  const auto compiled = compileSource(kernel->source, "sm_90");
  ASSERT_TRUE(compiled) << compiled.error().text();
}

TEST(CudaSource, EveryOperationCompiles) {
  if (const auto version = nvrtcVersion(); !version) GTEST_SKIP() << version.error().text();
  for (const std::string architecture : {"sm_75", "sm_80", "sm_90"})
    for (const LoopKernel& kernel : {everyOperation(), softmax(64, 50257), columnSums(4096, 768)}) {
      const KernelTarget target = KernelTarget::of(architecture, *nvrtcVersion());
      const auto source = generateKernel(kernel, {}, {}, KernelGuard::None, target);
      ASSERT_TRUE(source) << source.error().text();
      const auto compiled = compileSource(source->source, architecture);
      ASSERT_TRUE(compiled) << compiled.error().text();
      EXPECT_THAT(compiled->ptx, HasSubstr(".visible .entry " + source->name));
      EXPECT_THAT(compiled->ptx, HasSubstr(".target " + architecture));
      EXPECT_EQ(compiled->cubin.substr(0, 4),
                "\x7f"
                "ELF");
    }
}

TEST(CudaSource, LongRowsAreForClustersWhereTheDeviceHasThem) {
  const auto of = [](std::int64_t columns, std::string_view architecture) {
    return generateKernel(softmax(64, columns), {}, {}, KernelGuard::None, KernelTarget::of(architecture))->text();
  };
  EXPECT_THAT(of(50257, "sm_90"),
              HasSubstr("void __cluster_dims__(8, 1, 1) __launch_bounds__(256, 4) cuda_fused_test_0("));
  EXPECT_THAT(of(50257, "sm_90"), HasSubstr("v1 = kerf_cluster<256, 8>(v1, "));
  EXPECT_THAT(of(50257, "sm_120"), HasSubstr("__cluster_dims__(8, 1, 1)"));
  EXPECT_THAT(of(65536, "sm_90"),
              HasSubstr("void __cluster_dims__(8, 1, 1) __launch_bounds__(512, 3) cuda_fused_test_0("));
  EXPECT_THAT(of(131072, "sm_90"),
              HasSubstr("void __cluster_dims__(8, 1, 1) __launch_bounds__(512, 2) cuda_fused_test_0("));
  EXPECT_THAT(of(131071, "sm_90"),
              HasSubstr("void __cluster_dims__(8, 1, 1) __launch_bounds__(1024) cuda_fused_test_0("));
  for (const std::string_view older : {"sm_75", "sm_80", "sm_89", ""})
    EXPECT_THAT(of(50257, older), Not(HasSubstr("cluster")));
  EXPECT_THAT(of(8192, "sm_90"), Not(HasSubstr("cluster")));
}

/// Blocks send each other words in a way that CUDA 12.0 cannot write.
TEST(CudaSource, ClustersNeedACompilerOfCuda12_1) {
  EXPECT_EQ(KernelTarget::of("sm_90", "12.0").mostCluster, 1);
  for (const std::string_view later : {"12.1", "12.9", "12.10", "13.0", "14.2"})
    EXPECT_EQ(KernelTarget::of("sm_90", later).mostCluster, 8) << later;
  for (const std::string_view strange : {"11.8", "12", "", "cuda"})
    EXPECT_EQ(KernelTarget::of("sm_90", strange).mostCluster, 1) << strange;
  EXPECT_EQ(KernelTarget::of("sm_80", "13.0").mostCluster, 1);
  const auto older = generateKernel(softmax(64, 50257), {}, {}, KernelGuard::None, KernelTarget::of("sm_90", "12.0"));
  EXPECT_THAT(older->text(), Not(HasSubstr("cluster")));
  if (const auto version = nvrtcVersion(); !version) GTEST_SKIP() << version.error().text();
  const auto compiled = compileSource(older->source, "sm_90");
  ASSERT_TRUE(compiled) << compiled.error().text();
  EXPECT_THAT(compiled->ptx, Not(HasSubstr("st.async"))) << "nothing of it is left of the functions above the kernel";
}

TEST(CudaSource, WhatDoesNotCompileSaysWhy) {
  if (const auto version = nvrtcVersion(); !version) GTEST_SKIP() << version.error().text();
  const auto compiled = compileSource("__global__ void f() { return 1; }", "sm_90");
  ASSERT_FALSE(compiled);
  EXPECT_EQ(compiled.error().code, ErrorCode::CompileFailed);
  EXPECT_THAT(compiled.error().text(), HasSubstr("kernel.cu(1)"));
}

TEST(CudaSource, IntegerDivisionHasNoForm) {
  LoopKernel kernel = kernelOver({{8, false}}, DType::Int64);
  ExprBuilder b(kernel);
  const int x = b.load(0, Affine::variable(0));
  kernel.stores = {{1, Affine::variable(0), b.binary(ExprOp::Div, x, x), true}};
  const auto result = generateKernel(kernel, {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::UnsupportedOp);
  EXPECT_EQ(result.error().message, "kernel cpp_fused_test_0: div of i64 has no CUDA form");
}

}  // namespace
}  // namespace kerf
