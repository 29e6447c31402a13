#include "engine/verification/value_print.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "engine/support/thread_pool.h"
#include "engine/tensor/simd.h"

namespace kerf::inline verification {
namespace {

/// splitmix64.
std::uint64_t mixed(std::uint64_t index) {
  std::uint64_t value = (index + 1) * 0x9e3779b97f4a7c15u;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

constexpr std::int64_t chunk = 1 << 15;  ///< elements summed together: the same sums whatever the threads
constexpr std::int64_t lanes = 16;       ///< sums side by side, for vectors of any width

void addSpecial(ValuePrint& print, double element, std::int64_t index) {
  const int kind = std::isnan(element) ? 0 : element > 0 ? 1 : 2;
  ++(kind == 0 ? print.nans : print.infs);
  print.specials += mixed(std::uint64_t(index) * 3 + std::uint64_t(kind));
}

/// Of one chunk; NaNs and infinities count as zero in them.
struct LaneSums {
  double squares[lanes] = {}, sum[lanes] = {}, signedSums[4][lanes] = {};
  std::uint64_t finite[lanes] = {};
};

/// The signs of a chunk's elements come from 32-bit numbers, which every instruction set multiplies side by side;
/// `seed` is the chunk's own.
struct ChunkKernel {
  KERF_KERNEL void run(const double* elements, std::int64_t count, std::uint32_t seed, LaneSums* sums) {
    LaneSums local;
    for (std::int64_t i = 0; i + lanes <= count; i += lanes) addBlock(elements + i, seed + std::uint32_t(i), local);
    const std::int64_t rest = count % lanes;
    double padded[lanes] = {};
    for (std::int64_t i = 0; i < rest; ++i) padded[i] = elements[count - rest + i];
    if (rest > 0) addBlock(padded, seed + std::uint32_t(count - rest), local);
    *sums = local;
  }

  KERF_KERNEL void addBlock(const double* elements, std::uint32_t first, LaneSums& sums) {
    constexpr std::uint64_t sign = 1ull << 63, exponent = 0x7ffull << 52;
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      std::uint32_t hash = (first + std::uint32_t(lane)) * 0x9e3779b1u;
      hash = (hash ^ (hash >> 15)) * 0x85ebca77u;
      hash = (hash ^ (hash >> 13)) * 0xc2b2ae3du;
      const std::uint64_t signs = std::uint64_t(hash) << 32;
      std::uint64_t bits = std::bit_cast<std::uint64_t>(elements[lane]);
      const std::uint64_t finite = (bits & exponent) == exponent ? 0 : ~std::uint64_t(0);
      bits &= finite;
      const double element = std::bit_cast<double>(bits);
      sums.finite[lane] -= finite;
      sums.squares[lane] += element * element;
      sums.sum[lane] += element;
      sums.signedSums[0][lane] += std::bit_cast<double>(bits ^ (signs & sign));
      sums.signedSums[1][lane] += std::bit_cast<double>(bits ^ ((signs << 1) & sign));
      sums.signedSums[2][lane] += std::bit_cast<double>(bits ^ ((signs << 2) & sign));
      sums.signedSums[3][lane] += std::bit_cast<double>(bits ^ ((signs << 3) & sign));
    }
  }
};

/// With the sum of squares in `norm`.
ValuePrint chunkPrint(const double* elements, std::int64_t begin, std::int64_t end) {
  LaneSums sums;
  perIsa<ChunkKernel>(elements + begin, end - begin, std::uint32_t(mixed(std::uint64_t(begin))), &sums);
  ValuePrint print;
  std::int64_t finite = 0;
  for (std::int64_t lane = 0; lane < lanes; ++lane) {
    finite += std::int64_t(sums.finite[lane]);
    print.norm += sums.squares[lane];
    print.sum += sums.sum[lane];
    for (std::size_t k = 0; k < print.signedSums.size(); ++k) print.signedSums[k] += sums.signedSums[k][lane];
  }
  const std::int64_t padding = (lanes - (end - begin) % lanes) % lanes;  // zeros, which are finite
  if (finite - padding == end - begin) return print;
  for (std::int64_t i = begin; i < end; ++i)
    if (!std::isfinite(elements[i])) addSpecial(print, elements[i], i);
  return print;
}

void add(ValuePrint& total, const ValuePrint& part) {
  total.nans += part.nans;
  total.infs += part.infs;
  total.specials += part.specials;
  total.norm += part.norm;
  total.sum += part.sum;
  for (std::size_t k = 0; k < total.signedSums.size(); ++k) total.signedSums[k] += part.signedSums[k];
}

ValuePrint printOfDoubles(const double* elements, std::int64_t count) {
  std::vector<ValuePrint> parts(std::size_t((count + chunk - 1) / chunk));
  parallelFor(std::int64_t(parts.size()), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      parts[std::size_t(i)] = chunkPrint(elements, i * chunk, std::min(count, (i + 1) * chunk));
  });
  ValuePrint print;
  for (const auto& part : parts) add(print, part);
  print.norm = std::sqrt(print.norm);
  return print;
}

}  // namespace

Result<ValuePrint> printOf(const Value& value) {
  if (!value.isTensor() || !value.tensor().defined()) return ValuePrint();
  const Tensor& tensor = value.tensor();
  const bool complex = isComplex(tensor.dtype());
  KERF_TRY(const Tensor wide, tensor.to(complex ? DType::Complex128 : DType::Float64));
  KERF_TRY(const Tensor flat, wide.contiguous());
  const std::int64_t count = tensor.numel() * (complex ? 2 : 1);
  if (count == 0) return ValuePrint{.dtype = tensor.dtype(), .numel = 0};
  const auto* first = reinterpret_cast<const double*>(flat.storage()->data()) + flat.offset() * (complex ? 2 : 1);
  ValuePrint print = printOfDoubles(first, count);
  print.numel = count;
  print.dtype = tensor.dtype();
  return print;
}

double distance(const ValuePrint& a, const ValuePrint& b) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (a.numel != b.numel || a.nans != b.nans || a.infs != b.infs || a.specials != b.specials) return infinity;
  double squares = 0;
  for (std::size_t k = 0; k < a.signedSums.size(); ++k) {
    const double difference = a.signedSums[k] - b.signedSums[k];
    squares += difference * difference;
  }
  const double norm = std::max(a.norm, b.norm);
  const double apart = std::sqrt(squares / double(a.signedSums.size()));
  if (apart == 0 && a.norm == b.norm) return 0;
  return std::max(apart, std::abs(a.norm - b.norm)) / norm;
}

bool mayBeReordered(const ValuePrint& a, const ValuePrint& b, double tolerance) {
  if (a.numel != b.numel || a.nans != b.nans || a.infs != b.infs) return false;
  const double norm = std::max(a.norm, b.norm);
  return std::abs(a.norm - b.norm) <= tolerance * norm &&
         std::abs(a.sum - b.sum) <= tolerance * norm * std::sqrt(double(a.numel));
}

}  // namespace kerf::inline verification
