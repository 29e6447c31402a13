#include "engine/ops/random/draws.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/tensor/convert.h"

namespace kerf::inline ops {
namespace {

double roundTo(DType dtype, double x) {
  if (dtype == DType::Float32) return float(x);
  if (dtype == DType::Float16) return Half(float(x));
  if (dtype == DType::BFloat16) return BFloat16(float(x));
  return x;
}

/// Bits of a uniform number: those of the significand.
int digitsOf(DType dtype) {
  if (dtype == DType::Float64) return 53;
  if (dtype == DType::Float16) return 11;
  return dtype == DType::BFloat16 ? 8 : 24;
}

// CPU

/// In [0, 1) with as many bits as the dtype has.
double cpuUnit(CpuGenerator& generator, DType dtype) {
  if (dtype == DType::Float64) return generator.uniformDouble();
  const int digits = digitsOf(dtype);
  return std::ldexp(double(generator.random() & ((1u << digits) - 1)), -digits);
}

/// Sixteen uniforms to sixteen normals in a dtype other than float32, every step rounded to it.
void fillSixteen(double* data, DType dtype, double mean, double std) {
  const auto r = [dtype](double x) { return roundTo(dtype, x); };
  for (int j = 0; j < 8; ++j) {
    const double first = r(1 - data[j]);
    const double radius = r(std::sqrt(r(-2 * r(std::log(first)))));
    const double angle = r(2.0f * M_PI * data[j + 8]);
    data[j] = r(r(r(radius * r(std::cos(angle))) * std) + mean);
    data[j + 8] = r(r(r(radius * r(std::sin(angle))) * std) + mean);
  }
}

/// Blocks of sixteen; a rest is drawn again as the last sixteen.
std::vector<double> cpuNormalBlocks(CpuGenerator& generator, DType dtype, std::int64_t count, double mean, double std) {
  auto values = std::vector<double>(std::size_t(count));
  for (double& value : values) value = roundTo(dtype, cpuUnit(generator, dtype));
  const auto block = [&](std::size_t at) {
    if (dtype != DType::Float32) return fillSixteen(values.data() + at, dtype, mean, std);
    float data[16];
    for (std::size_t i = 0; i < 16; ++i) data[i] = float(values[at + i]);
    normalFill16(data, float(mean), float(std));
    for (std::size_t i = 0; i < 16; ++i) values[at + i] = data[i];
  };
  for (std::size_t at = 0; at + 16 <= values.size(); at += 16) block(at);
  if (count % 16 == 0) return values;
  const std::size_t last = values.size() - 16;
  for (std::size_t i = last; i < values.size(); ++i) values[i] = roundTo(dtype, cpuUnit(generator, dtype));
  block(last);
  return values;
}

double cpuDraw(Distribution kind, CpuGenerator& generator, DType dtype, double a, double b) {
  switch (kind) {
    case Distribution::Uniform:
      return std::fma(cpuUnit(generator, dtype), b - a, a);
    case Distribution::Normal:
      return std::fma(generator.normal(), b, a);
    case Distribution::LogNormal:
      return std::exp(std::fma(generator.normal(), b, a));
    case Distribution::Exponential:
      return -1.0 / a * std::log1p(-generator.uniformDouble());
    case Distribution::Geometric:
      return std::ceil(std::log(generator.uniformDouble()) / std::log1p(-a));
    case Distribution::Cauchy:
      return std::fma(b, std::tan(M_PI * (generator.uniformDouble() - 0.5)), a);
    case Distribution::Bernoulli:
      return generator.uniformDouble() < a;
  }
  return 0;
}

// CUDA

/// (0, 1] in double from two words.
double curandUniformDouble(std::uint32_t x, std::uint32_t y) {
  const std::uint64_t bits = std::uint64_t{x} ^ (std::uint64_t{y} << 21);
  return double(bits) * 0x1p-53 + 0x1p-54;
}

struct Pair {
  double first, second;
};
Pair boxMuller(std::uint32_t x, std::uint32_t y) {
  const float u = curandUniform(x);
  constexpr float turn = 2.3283064e-10f * 6.2831855f;
  const float v = std::fma(float(y), turn, turn / 2);
  const float s = std::sqrt(-2.0f * std::log(u));
  return {std::sin(v) * s, std::cos(v) * s};
}
Pair boxMullerDouble(const PhiloxWords& w) {
  const double u = curandUniformDouble(w[0], w[1]);
  const std::uint64_t bits = std::uint64_t{w[2]} ^ (std::uint64_t{w[3]} << 21);
  const double v = (double(bits) * 0x1p-52 + 0x1p-53) * M_PI;
  const double s = std::sqrt(-2 * std::log(u));
  return {std::sin(v) * s, std::cos(v) * s};
}

/// The transformations of ATen, in the compute type's precision.
double cudaTransform(Distribution kind, DType dtype, double u, double a, double b) {
  const bool wide = dtype == DType::Float64;
  const double epsilon = wide ? 0x1p-52 : 0x1p-23;
  const auto r = [wide](double x) { return wide ? x : double(float(x)); };
  const auto logarithm = [&](double x) { return x >= 1 - epsilon / 2 ? -epsilon / 2 : r(std::log(x)); };
  switch (kind) {
    case Distribution::Uniform: {
      const double from = roundTo(dtype, a), to = roundTo(dtype, b), range = r(to - from);
      const double value = roundTo(dtype, r(std::fma(u, range, from)));
      return value == to ? from : value;
    }
    case Distribution::Exponential:
      return r(r(-1 / r(a)) * logarithm(u));
    case Distribution::Geometric:
      return std::ceil(r(r(std::log(u)) / r(std::log(r(1 - r(a))))));
    case Distribution::Cauchy: {
      const double clamped = std::clamp(u, epsilon, 1 - epsilon);
      return r(a + b * r(std::tan(r(r(M_PI) * r(clamped - 0.5)))));
    }
    case Distribution::Bernoulli:
      return u < r(a);
    case Distribution::LogNormal:
      return r(std::exp(r(u * b + a)));
    case Distribution::Normal:
      return r(u * r(b) + r(a));
  }
  return 0;
}

struct CudaGrid {
  std::int64_t threads = 0, rounds = 0;
};
CudaGrid gridFor(std::int64_t count, std::int64_t unroll) {
  const CudaLayout& layout = randomState().layout;
  constexpr std::int64_t block = 256;
  const std::int64_t blocks =
      std::min((count + block - 1) / block, layout.multiprocessors * (layout.threadsPerMultiprocessor / block));
  return {blocks * block, (count - 1) / (blocks * block * unroll) + 1};
}

/// sink(first element, words): the words of one call of one thread; elements lie `threads` apart.
template <class Sink>
void forCudaCalls(std::int64_t count, std::int64_t unroll, Sink&& sink) {
  if (count == 0) return;
  RandomState& state = randomState();
  const CudaGrid grid = gridFor(count, unroll);
  const std::uint64_t offset = state.takeCudaOffset(std::uint64_t(grid.rounds) * 4);
  for (std::int64_t thread = 0; thread < grid.threads; ++thread) {
    PhiloxStream stream(state.cudaSeed, std::uint64_t(thread), offset);
    for (std::int64_t round = 0; round < grid.rounds; ++round) {
      const std::int64_t first = thread + round * grid.threads * unroll;
      if (first >= count) break;
      sink(first, grid.threads, stream.next());
    }
  }
}

std::vector<double> cudaValues(Distribution kind, DType dtype, std::int64_t count, double a, double b) {
  auto values = std::vector<double>(std::size_t(count));
  const bool wide = dtype == DType::Float64;
  const bool normal = kind == Distribution::Normal || kind == Distribution::LogNormal;
  const std::int64_t unroll = wide ? 2 : 4;
  forCudaCalls(count, unroll, [&](std::int64_t first, std::int64_t step, const PhiloxWords& w) {
    double draws[4];
    if (wide) {
      const Pair pair =
          normal ? boxMullerDouble(w) : Pair{curandUniformDouble(w[0], w[1]), curandUniformDouble(w[2], w[3])};
      draws[0] = pair.first, draws[1] = pair.second;
    } else if (normal) {
      const Pair left = boxMuller(w[0], w[1]), right = boxMuller(w[2], w[3]);
      draws[0] = left.first, draws[1] = left.second, draws[2] = right.first, draws[3] = right.second;
    } else {
      for (std::size_t i = 0; i < 4; ++i) draws[i] = curandUniform(w[i]);
    }
    for (std::int64_t i = 0; i < unroll && first + i * step < count; ++i)
      values[std::size_t(first + i * step)] = roundTo(dtype, cudaTransform(kind, dtype, draws[i], a, b));
  });
  return values;
}

}  // namespace

float curandUniform(std::uint32_t word) {
  constexpr float scale = 2.3283064e-10f;
  return std::fma(float(word), scale, scale / 2);
}

void forCudaWords(std::int64_t count, std::int64_t unroll,
                  const std::function<void(std::int64_t, std::uint32_t, std::uint32_t)>& sink) {
  forCudaCalls(count, unroll, [&](std::int64_t first, std::int64_t step, const PhiloxWords& w) {
    for (std::int64_t i = 0; i < unroll && first + i * step < count; ++i) {
      const auto at = std::size_t(i);
      if (unroll == 4)
        sink(first + i * step, w[at], 0);
      else
        sink(first + i * step, w[2 * at], w[2 * at + 1]);
    }
  });
}

std::vector<double> drawValues(Distribution kind, DType dtype, std::int64_t count, double a, double b, bool cuda,
                               bool contiguous) {
  dtype = randomState().drawDtype(dtype);
  if (cuda) return cudaValues(kind, dtype, count, a, b);
  CpuGenerator& generator = randomState().cpu;
  if (kind == Distribution::Uniform) a = roundTo(dtype, a), b = roundTo(dtype, b);
  if (kind == Distribution::Normal && count >= 16 && contiguous)
    return cpuNormalBlocks(generator, dtype, count, roundTo(dtype, a), roundTo(dtype, b));
  auto values = std::vector<double>(std::size_t(count));
  for (double& value : values) value = roundTo(dtype, cpuDraw(kind, generator, dtype, a, b));
  return values;
}

std::vector<std::int64_t> drawIntegers(std::int64_t count, std::uint64_t range, std::int64_t base, bool cuda) {
  auto values = std::vector<std::int64_t>(std::size_t(count));
  const bool wide = range == 0 || range >= std::uint64_t{1} << 28;  // above, one word would be skewed
  const auto place = [=](std::uint64_t word) {
    return std::int64_t((range == 0 ? word : word % range) + std::uint64_t(base));
  };
  if (cuda) {
    forCudaWords(count, wide ? 2 : 4, [&](std::int64_t i, std::uint32_t x, std::uint32_t y) {
      values[std::size_t(i)] = place(wide ? std::uint64_t{x} << 32 | y : x);
    });
    return values;
  }
  CpuGenerator& generator = randomState().cpu;
  for (std::int64_t& value : values) value = place(wide ? generator.random64() : generator.random());
  return values;
}

std::vector<std::int64_t> drawAnyIntegers(DType dtype, std::int64_t count, bool cuda) {
  dtype = randomState().drawDtype(dtype);
  auto values = std::vector<std::int64_t>(std::size_t(count));
  const bool wide = dtype == DType::Int64 || dtype == DType::Float64;
  std::uint64_t range = isFloating(dtype) ? (std::uint64_t{1} << digitsOf(dtype)) + 1 : 0;
  if (dtype == DType::Bool) range = 2;
  const bool isUnsigned = dtype == DType::UInt8 || dtype == DType::UInt16 || dtype == DType::UInt32;
  if (range == 0) range = std::uint64_t{1} << (itemSize(dtype) * 8 - (isUnsigned ? 0 : 1));  // up to the largest value
  if (cuda) {
    forCudaWords(count, wide ? 2 : 4, [&](std::int64_t i, std::uint32_t x, std::uint32_t y) {
      values[std::size_t(i)] = std::int64_t((wide ? std::uint64_t{x} << 32 | y : x) % range);
    });
    return values;
  }
  CpuGenerator& generator = randomState().cpu;
  for (std::int64_t& value : values) value = std::int64_t((wide ? generator.random64() : generator.random()) % range);
  return values;
}

}  // namespace kerf::inline ops
