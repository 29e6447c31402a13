// Inductor's random numbers: seeds drawn from the generator, then one Philox counter per element.
#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/ops/core/op_registration.h"
#include "engine/ops/random/draws.h"
#include "engine/support/thread_pool.h"
#include "engine/tensor/dispatch.h"

namespace kerf::inline ops {
namespace {

bool onCuda(const Tensor& tensor) { return std::string_view(tensor.device().type) == "cuda"; }

Result<Value> checkedSizes(const BoundArguments& args, DType dtype, const SymSizes& sizes) {
  for (const SymInt size : sizes)
    if (guardOrFalse(size < 0)) return mismatch(args, "size {} is negative", size);
  return Value(metaTensor(dtype, sizes));
}

Result<Value> seedsShape(const BoundArguments& args) {
  const bool several = args.op->id == "prims.inductor_seeds.default"_op;
  return checkedSizes(args, DType::Int64, several ? SymSizes{args.symInteger(0)} : SymSizes{});
}
/// torch.randint(iinfo(int64).min, iinfo(int64).max, [count])
Result<Value> seedsKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  const auto seeds =
      drawIntegers(out.numel(), ~std::uint64_t{0}, std::numeric_limits<std::int64_t>::min(), onCuda(out));
  std::ranges::copy(seeds, out.data<std::int64_t>());
  return Value(std::move(out));
}

Result<Value> lookupShape(const BoundArguments& args) {
  if (args.tensor(0).dim() != 1 || guardOrFalse(args.symInteger(1) < 0) ||
      guardOrFalse(args.symInteger(1) >= args.tensor(0).symSize(0)))
    return mismatch(args, "index {} is out of range", args.symInteger(1));
  return Value(metaTensor(args.tensor(0).dtype(), Sizes{}));
}
Result<Value> lookupKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  out.data<std::int64_t>()[0] = args.tensor(0).itemAsInt(args.integer(1));
  return Value(std::move(out));
}

/// In [0, 1): 31 bits scaled.
float unitOf(std::uint32_t word) {
  constexpr float scale = 4.6566127342e-10f;
  return float(word & 0x7FFFFFFFu) * scale;
}
/// Triton folds negative words by inverting them.
float tritonUnit(std::uint32_t word) { return unitOf(word & 0x80000000u ? ~word : word); }

float cpuNormal(const PhiloxWords& words) {
  const float first = 1 - unitOf(words[0]), second = 1 - unitOf(words[1]);
  return float(std::sqrt(-2.0 * std::log(first)) * std::cos(2.0 * M_PI * second));
}
float tritonNormal(const PhiloxWords& words) {
  const float first = std::max(1.0e-7f, tritonUnit(words[0]));
  const float angle = 6.283185307179586f * tritonUnit(words[1]);
  return std::sqrt(-2.0f * std::log(first)) * std::cos(angle);
}

/// The C++ code keys Philox with the low 32 bits of the seed, Triton with all 64.
std::uint64_t keyOf(const Tensor& seed) {
  const auto value = std::uint64_t(seed.itemAsInt());
  return onCuda(seed) ? value : value & 0xFFFFFFFFu;
}

Result<Value> drawShape(const BoundArguments& args) {
  const std::string mode = args.text(2);
  if (mode != "rand" && mode != "randn") return mismatch(args, "mode must be 'rand' or 'randn', got '{}'", mode);
  return checkedSizes(args, DType::Float32, args.symSizes(0));
}
Result<Value> drawKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  if (args.tensor(1).numel() != 1) return mismatch(args, "argument 'seed' must hold one number");
  const std::uint64_t key = keyOf(args.tensor(1));
  const bool triton = onCuda(args.tensor(1)), gaussian = args.text(2) == "randn";
  float* const data = out.data<float>();
  parallelFor(out.numel(), 1 << 13, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const PhiloxWords words = philox(key, std::uint32_t(i), 0);
      if (gaussian)
        data[i] = triton ? tritonNormal(words) : cpuNormal(words);
      else
        data[i] = triton ? tritonUnit(words[0]) : unitOf(words[0]);
    }
  });
  return Value(std::move(out));
}

Result<Value> integersShape(const BoundArguments& args) { return checkedSizes(args, DType::Int64, args.symSizes(2)); }
Result<Value> integersKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  if (args.tensor(3).numel() != 1) return mismatch(args, "argument 'seed' must hold one number");
  const std::int64_t low = args.integer(0), high = args.integer(1);
  if (low >= high) return mismatch(args, "low {} is not below high {}", low, high);
  const std::uint64_t range = std::uint64_t(high) - std::uint64_t(low);
  const std::uint64_t key = keyOf(args.tensor(3));
  for (std::int64_t i = 0; i < out.numel(); ++i) {
    const PhiloxWords words = philox(key, std::uint32_t(i), 0);
    const std::uint64_t draw = words[0] | std::uint64_t{words[1]} << 32;
    out.data<std::int64_t>()[i] = std::int64_t(draw % range + std::uint64_t(low));
  }
  return Value(std::move(out));
}

constexpr OpTrait random = OpTrait::Random;
constexpr OpRow inductorRandomRows[] = {
    {"prims::inductor_seed(Device device) -> Tensor", random, seedsShape, seedsKernel},
    {"prims::inductor_seeds(int count, Device device) -> Tensor", random, seedsShape, seedsKernel},
    {"prims::inductor_lookup_seed(Tensor seeds, int index) -> Tensor", OpTrait::None, lookupShape, lookupKernel},
    {"prims::inductor_random(SymInt[] size, Tensor seed, str mode) -> Tensor", OpTrait::None, drawShape, drawKernel},
    {"prims::inductor_randint(SymInt low, SymInt high, SymInt[] size, Tensor seed) -> Tensor", OpTrait::None,
     integersShape, integersKernel},
};

const OpRegistration inductorRandomOps({.rows = inductorRandomRows});

}  // namespace

}  // namespace kerf::inline ops
