#include "engine/mathlib/panel_blocks.h"

#include <limits>

#include "engine/support/thread_pool.h"
#include "engine/tensor/empty.h"
#include "engine/tensor/simd.h"

namespace kerf::inline mathlib {
namespace {

constexpr std::int64_t mostRows = 64;          // beyond, sums of all blocks are no small part of the right matrix
constexpr std::int64_t largeMatrix = 1 << 20;  // elements: more than a second cache
constexpr std::int64_t sumsAtOnce = 16 << 20;  // bytes
constexpr std::int64_t together = 8;  // panels: a kilobyte of each row, and a block of them fills a second cache

struct AddBlocks {
  template <class T>
  KERF_KERNEL void run(const T* sums, std::int64_t apart, std::int64_t blocks, T keep, T* c, std::int64_t count) {
    constexpr std::int64_t lanes = 64;
    T sum[lanes];
    for (std::int64_t j = 0; j < count; j += lanes) {
      const std::int64_t some = std::min(lanes, count - j);
      const auto add = [&](std::int64_t block) __attribute__((always_inline)) {
        const T* const from = sums + block * apart + j;
        if (some == lanes)
          for (std::int64_t i = 0; i < lanes; ++i) sum[i] += from[i];
        else
          for (std::int64_t i = 0; i < some; ++i) sum[i] += from[i];
      };
      for (std::int64_t i = 0; i < some; ++i) sum[i] = sums[j + i];
      if (keep != 0)
        for (std::int64_t i = 0; i < some; ++i) sum[i] += c[j + i] * keep;
      for (std::int64_t block = 1; block < blocks; ++block) add(block);
      for (std::int64_t i = 0; i < some; ++i) c[j + i] = sum[i];
    }
  }
};

/// Some blocks of a product and the place of their sums, [blocks, m, n].
template <class T>
struct BlockSums {
  const Part<T>& whole;
  std::int64_t first, count;
  T* sums;

  /// Panels [begin, end) of columns of one of the blocks.
  void multiply(std::int64_t i, std::int64_t begin, std::int64_t end) const {
    const PanelProduct<T>& g = *whole.product;
    const PanelSpan steps = whole.block(first + i);
    const std::int64_t width = tileSize<T>().columns;
    PanelProduct<T> block = g;
    block.k = steps.end - steps.begin, block.beta = 0, block.ldc = g.n;
    Part<T> part = whole;
    part.product = &block;
    part.a += steps.begin * (g.transposedA ? g.lda : 1), part.b += steps.begin * g.ldb;
    part.c = sums + i * g.m * g.n;
    part.steps = {0, block.k};
    part.columns = {begin * width, std::min(g.n, end * width)};
    part.streamFrom = std::numeric_limits<std::int64_t>::max();
    multiplyPart(part, true, true);
  }
};

}  // namespace

template <class T>
void addBlocks(const T* sums, std::int64_t apart, std::int64_t blocks, T keep, T* c, std::int64_t count) {
  perIsa<AddBlocks>(sums, apart, blocks, keep, c, count);
}

template <class T>
bool suitsBlocks(const Part<T>& whole, bool packsA, bool packsB) {
  const PanelProduct<T>& g = *whole.product;
  return packsA && packsB && !g.transposedB && g.m <= mostRows && g.n * g.k >= largeMatrix && whole.blocks() > 1;
}

template <class T>
void multiplyBlocks(const Part<T>& whole) {
  const PanelProduct<T>& g = *whole.product;
  const std::int64_t blocks = whole.blocks(), panels = whole.columns.panels(tileSize<T>().columns);
  const std::int64_t atOnce = std::clamp<std::int64_t>(sumsAtOnce / (g.m * g.n * std::int64_t(sizeof(T))), 1, blocks);
  constexpr DType dtype = sizeof(T) == 4 ? DType::Float32 : DType::Float64;
  Result<Tensor> memory = emptyTensor(dtype, {atOnce, g.m, g.n});
  if (!memory) return multiplyPart(whole, true, true);
  for (std::int64_t first = 0; first < blocks; first += atOnce) {
    const BlockSums<T> some{whole, first, std::min(atOnce, blocks - first), memory->data<T>()};
    const std::int64_t across = divideUp(panels, together);
    parallelFor(some.count * across, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t panel = i % across * together;
        some.multiply(i / across, panel, std::min(panels, panel + together));
      }
    });
    parallelFor(g.m, std::max<std::int64_t>(1, largeMatrix / 16 / (g.n * some.count)),
                [&](std::int64_t begin, std::int64_t end) {
                  for (std::int64_t i = begin; i < end; ++i)
                    addBlocks(some.sums + i * g.n, g.m * g.n, some.count, first == 0 ? g.beta : T(1),
                              whole.c + i * g.ldc, g.n);
                });
  }
}

template void addBlocks(const float*, std::int64_t, std::int64_t, float, float*, std::int64_t);
template void addBlocks(const double*, std::int64_t, std::int64_t, double, double*, std::int64_t);
template bool suitsBlocks(const Part<float>&, bool, bool);
template bool suitsBlocks(const Part<double>&, bool, bool);
template void multiplyBlocks(const Part<float>&);
template void multiplyBlocks(const Part<double>&);

}  // namespace kerf::inline mathlib
