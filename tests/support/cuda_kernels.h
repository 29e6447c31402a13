// Loop kernels of tests, generated for CUDA and compiled for the host.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <stdexcept>

#include <fmt/format.h>

#include "engine/codegen_cuda/nvrtc.h"
#include "engine/loops/expr_builder.h"
#include "tests/support/cuda_on_host.h"

namespace kerf::testing_support {

inline LoopKernel kernelOn(std::vector<LoopVariable> variables, std::vector<DType> buffers) {
  LoopKernel kernel{.name = "cpp_fused_host_0", .variables = std::move(variables)};
  for (std::size_t b = 0; b < buffers.size(); ++b) kernel.buffers.push_back({buffers[b], fmt::format("b{}", b)});
  return kernel;
}

inline Affine at(std::initializer_list<std::int64_t> factors) {
  Affine index;
  for (const std::int64_t f : factors) index.coefficients.push_back(SymInt(f));
  index.trim();
  return index;
}

/// Small whole numbers: their float sums are exact in any order.
inline std::vector<float> wholeNumbers(std::size_t count, int seed = 1) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = float(int((i * 2654435761u + unsigned(seed) * 40503u) >> 7) % 17 - 8);
  return values;
}
inline std::uint16_t bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return std::uint16_t((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}
inline float fromBf16(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t(bits) << 16); }

struct Made {
  CudaKernel kernel;
  Result<CudaOnHost> host;
};
inline Made made(const LoopKernel& loops, KernelTarget target = {}) {
  auto kernel = generateKernel(loops, {"made"}, {}, KernelGuard::None, target);
  if (!kernel) throw std::runtime_error(kernel.error().text());  // which ends the test
  const auto version = nvrtcVersion();
  if (version && kernel->shape.cluster <= KernelTarget::of("sm_90", *version).mostCluster) {
    const auto compiled = compileSource(kernel->source, "sm_90");
    EXPECT_TRUE(compiled) << compiled.error().text() << kernel->text();
  }
  auto host = CudaOnHost::compile(*kernel, loops);
  EXPECT_TRUE(host) << host.error().text() << kernel->text();
  return {std::move(*kernel), std::move(host)};
}

}  // namespace kerf::testing_support
