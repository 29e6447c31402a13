// Attention's ops on the device on the host, beside the op's own kernel.
#pragma once

#include <random>

#include "engine/ops/random/state.h"
#include "tests/support/device_on_host.h"
#include "tests/support/graph_fixture.h"

namespace kerf::testing_support {

inline constexpr std::int64_t noLimit = std::int64_t{256} << 20;
inline const std::string efficient = "aten._scaled_dot_product_efficient_attention.default";
inline const std::string efficientBackward = "aten._scaled_dot_product_efficient_attention_backward.default";
inline const std::string flash = "aten._scaled_dot_product_flash_attention.default";
inline const std::string flashGradients = "aten._scaled_dot_product_flash_attention_backward.default";

inline Tensor normal(DType dtype, const Sizes& sizes, std::mt19937& random) {
  Tensor tensor = *Tensor::zeros(DType::Float64, sizes);
  std::normal_distribution<double> draw;
  for (std::int64_t i = 0; i < tensor.numel(); ++i) tensor.data<double>()[i] = draw(random);
  return *tensor.to(dtype);
}

inline double toleranceOf(DType dtype) {
  return dtype == DType::BFloat16 ? 0.03 : dtype == DType::Float16 ? 0.005 : dtype == DType::Float32 ? 1e-5 : 1e-12;
}

/// The op on the device by products in memory, with at most `bytes` of scores; both draw the same random numbers.
inline ValueList onDevice(const std::string& op, const ValueList& args, std::int64_t bytes) {
  DeviceOnHost::get().limitScores(bytes);
  DeviceOnHost::get().fuseAttention(false);
  const RandomState before = randomState();
  const auto given = DeviceOnHost::get().run(op, args);
  randomState() = before;
  DeviceOnHost::get().limitScores(noLimit);
  DeviceOnHost::get().fuseAttention(true);
  if (!given || !*given) ADD_FAILURE() << op << ": " << (given ? "left to the host" : given.error().text());
  return given && *given ? (*given)->list() : ValueList();
}
inline ValueList byReference(const std::string& op, const ValueList& args) {
  const RandomState before = randomState();
  const auto given = referenceOps().call(OpTarget("torch.ops." + op), args, {});
  randomState() = before;
  if (!given) ADD_FAILURE() << op << ": " << given.error().text();
  return given ? given->list() : ValueList();
}
inline void expectSameTensors(const ValueList& wanted, const ValueList& given, double tolerance,
                              const std::string& what) {
  ASSERT_EQ(wanted.size(), given.size()) << what;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!wanted[i].isTensor()) continue;
    ASSERT_TRUE(given[i].isTensor()) << what;
    ASSERT_NO_FATAL_FAILURE(
        expectClose(wanted[i].tensor(), given[i].tensor(), tolerance, fmt::format("{} result {}", what, i)));
  }
}

}  // namespace kerf::testing_support
