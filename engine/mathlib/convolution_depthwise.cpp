#include "engine/mathlib/convolution_depthwise.h"

#include <atomic>

#include "engine/mathlib/columns.h"
#include "engine/mathlib/convolution_gemm.h"
#include "engine/mathlib/depthwise_kernels.h"
#include "engine/tensor/empty.h"

namespace kerf::inline mathlib {
namespace {

constexpr std::int64_t mostTaps = 1 << 20;       // that are kept for one axis
constexpr std::int64_t workPerThread = 1 << 17;  // multiplications
constexpr std::int64_t mostShares = 8;           // of the samples, in the gradient of the filter
constexpr std::int64_t enoughPieces = 32;        // to keep threads busy
constexpr std::int64_t largeFilter = 16;         // taps
constexpr std::int64_t smallImage = 96 * 96;     // a block of it fits the second cache

template <class Body>
Result<void> forFloats(DType dtype, Body&& body) {
  return dispatchOver(dtype, body, TypeList<float, double>{});
}

TapPlan tapPlan(const ConvolutionGeometry& g, bool gathers) {
  const auto taps = [&](std::size_t axis) { return gathers ? gatherTaps(g, axis) : scatterTaps(g, axis); };
  const Triple& read = gathers ? g.big : g.small;
  TapPlan plan{taps(0), taps(1), taps(2), {}, read[1], read[2], g.kernel[1], g.kernel[2]};
  plan.runs = tapRuns(plan.x, gathers ? 1 : g.stride[2]);
  return plan;
}

FilterPlan filterPlan(const ConvolutionGeometry& g) {
  FilterPlan plan{gatherTaps(g, 0), gatherTaps(g, 1), {},          g.big[1],      g.big[2],    g.small[2],
                  g.kernel[1],      g.kernel[2],      g.stride[2], g.dilation[2], g.padding[2]};
  for (std::int64_t tap = 0; tap < g.kernel[2]; ++tap) {
    const detail::Span span = detail::insideSpan(g, tap);
    plan.spans.push_back({span.begin, span.end});
  }
  return plan;
}

/// body(piece, scratch of `elements`) for all pieces, which are independent of one another; `work` is that of one.
template <class T, class Body>
Result<void> forPieces(std::int64_t pieces, std::int64_t work, std::int64_t elements, Body&& body) {
  std::atomic<bool> failed{false};
  const std::int64_t grain = std::max<std::int64_t>(1, workPerThread / std::max<std::int64_t>(1, work));
  parallelFor(pieces, grain, [&](std::int64_t begin, std::int64_t end) {
    auto scratch = emptyStorage(elements * std::int64_t(sizeof(T)));
    if (!scratch) failed = true;
    for (std::int64_t piece = begin; scratch && piece < end; ++piece)
      body(piece, reinterpret_cast<T*>((*scratch)->data()));
  });
  if (failed) return fail(ErrorCode::TooLarge, "convolution: no memory for a block of channels");
  return {};
}

/// The channels of the image in blocks; a channel has `multiplier` channels of the small tensor beside each other.
template <class T>
struct ChannelBlocks {
  const ConvolutionGeometry& g;
  std::int64_t count = (g.groups + blockLanes<T> - 1) / blockLanes<T>;
  std::int64_t multiplier = g.smallPerGroup();
  std::int64_t work = g.smallArea() * g.kernelArea() * multiplier * blockLanes<T>;  ///< of one sample's block
  std::int64_t bigElements = g.bigArea() * blockLanes<T>, smallElements = g.smallArea() * blockLanes<T>;
  std::int64_t filterElements = g.kernelArea() * blockLanes<T>;

  std::int64_t first(std::int64_t block) const { return block * blockLanes<T>; }
  std::int64_t channels(std::int64_t block) const { return std::min(blockLanes<T>, g.groups - first(block)); }
  T* big(const Tensor& t, std::int64_t n, std::int64_t block) const {
    return t.data<T>() + (n * g.bigChannels + first(block)) * g.bigArea();
  }
  T* small(const Tensor& t, std::int64_t n, std::int64_t block, std::int64_t m) const {
    return t.data<T>() + (n * g.smallChannels + first(block) * multiplier + m) * g.smallArea();
  }
  T* filter(const Tensor& t, std::int64_t block, std::int64_t m) const {
    return t.data<T>() + (first(block) * multiplier + m) * g.kernelArea();
  }
  void packBig(T* to, const Tensor& t, std::int64_t n, std::int64_t block) const {
    packChannels(to, big(t, n, block), g.bigArea(), channels(block), g.bigArea());
  }
  void packSmall(T* to, const Tensor& t, std::int64_t n, std::int64_t block, std::int64_t m) const {
    packChannels(to, small(t, n, block, m), multiplier * g.smallArea(), channels(block), g.smallArea());
  }
  void packFilter(T* to, const Tensor& t, std::int64_t block, std::int64_t m) const {
    packChannels(to, filter(t, block, m), multiplier * g.kernelArea(), channels(block), g.kernelArea());
  }
};

template <class T>
Result<void> gather(const ConvolutionGeometry& g, const Tensor& image, const Tensor& weight, const Tensor& result) {
  const ChannelBlocks<T> blocks{g};
  const TapPlan plan = tapPlan(g, true);
  const std::int64_t elements = blocks.bigElements + blocks.smallElements + blocks.filterElements;
  return forPieces<T>(g.batch * blocks.count, blocks.work, elements, [&](std::int64_t piece, T* big) {
    const std::int64_t n = piece / blocks.count, block = piece % blocks.count;
    T* const small = big + blocks.bigElements;
    T* const filter = small + blocks.smallElements;
    blocks.packBig(big, image, n, block);
    for (std::int64_t m = 0; m < blocks.multiplier; ++m) {
      blocks.packFilter(filter, weight, block, m);
      perWidth<WriteByTaps, T>(&plan, static_cast<const T*>(big), static_cast<const T*>(filter), small, false);
      unpackChannels(blocks.small(result, n, block, m), blocks.multiplier * g.smallArea(), small,
                     blocks.channels(block), g.smallArea());
    }
  });
}

template <class T>
Result<void> scatter(const ConvolutionGeometry& g, const Tensor& grad, const Tensor& weight, const Tensor& result) {
  const ChannelBlocks<T> blocks{g};
  const TapPlan plan = tapPlan(g, false);
  const std::int64_t elements = blocks.bigElements + blocks.smallElements + blocks.filterElements;
  return forPieces<T>(g.batch * blocks.count, blocks.work, elements, [&](std::int64_t piece, T* big) {
    const std::int64_t n = piece / blocks.count, block = piece % blocks.count;
    T* const small = big + blocks.bigElements;
    T* const filter = small + blocks.smallElements;
    for (std::int64_t m = 0; m < blocks.multiplier; ++m) {
      blocks.packSmall(small, grad, n, block, m);
      blocks.packFilter(filter, weight, block, m);
      perWidth<WriteByTaps, T>(&plan, static_cast<const T*>(small), static_cast<const T*>(filter), big, m > 0);
    }
    unpackChannels(blocks.big(result, n, block), g.bigArea(), big, blocks.channels(block), g.bigArea());
  });
}

/// Gradients of the filter's blocks, [share][block][multiplier][tap][lane].
template <class T>
class FilterSums {
 public:
  FilterSums(const ConvolutionGeometry& g, const Tensor& image, const Tensor& grad)
      : m_g(g), m_image(image), m_grad(grad) {}

  Result<void> into(const Tensor& weight) {
    m_shares = std::min({m_g.batch, mostShares, (enoughPieces + m_blocks.count - 1) / m_blocks.count});
    KERF_TRY(const StoragePtr sums,
             Storage::allocate(m_shares * m_blocks.count * blockSize() * std::int64_t(sizeof(T))));
    m_sums = reinterpret_cast<T*>(sums->data());
    const std::int64_t samples = (m_g.batch + m_shares - 1) / m_shares;
    KERF_CHECK(forPieces<T>(m_shares * m_blocks.count, m_blocks.work * samples,
                            m_blocks.bigElements + m_blocks.smallElements,
                            [&](std::int64_t piece, T* scratch) { sum(piece, scratch); }));
    for (std::int64_t block = 0; block < m_blocks.count; ++block) combine(block, weight);
    return {};
  }

 private:
  std::int64_t blockSize() const { return m_blocks.multiplier * m_blocks.filterElements; }

  void sum(std::int64_t piece, T* big) {
    const std::int64_t share = piece / m_blocks.count, block = piece % m_blocks.count;
    T* const small = big + m_blocks.bigElements;
    for (std::int64_t n = share * m_g.batch / m_shares; n < (share + 1) * m_g.batch / m_shares; ++n) {
      m_blocks.packBig(big, m_image, n, block);
      for (std::int64_t m = 0; m < m_blocks.multiplier; ++m) {
        m_blocks.packSmall(small, m_grad, n, block, m);
        perWidth<SumByTaps, T>(&m_plan, static_cast<const T*>(small), static_cast<const T*>(big),
                               m_sums + piece * blockSize() + m * m_blocks.filterElements);
      }
    }
  }

  void combine(std::int64_t block, const Tensor& weight) {
    T* const total = m_sums + block * blockSize();
    for (std::int64_t share = 1; share < m_shares; ++share)
      for (std::int64_t i = 0; i < blockSize(); ++i)
        total[i] += m_sums[(share * m_blocks.count + block) * blockSize() + i];
    for (std::int64_t m = 0; m < m_blocks.multiplier; ++m)
      unpackChannels(m_blocks.filter(weight, block, m), m_blocks.multiplier * m_g.kernelArea(),
                     total + m * m_blocks.filterElements, m_blocks.channels(block), m_g.kernelArea());
  }

  const ConvolutionGeometry& m_g;
  const Tensor &m_image, &m_grad;
  ChannelBlocks<T> m_blocks{m_g};
  FilterPlan m_plan = filterPlan(m_g);
  std::int64_t m_shares = 1;
  T* m_sums = nullptr;
};

bool isEmpty(const ConvolutionGeometry& g) { return g.batch == 0 || g.smallArea() == 0 || g.bigArea() == 0; }

}  // namespace

bool filtersByChannel(const ConvolutionGeometry& g, DType dtype) {
  if (g.groups < 2 || g.bigPerGroup() != 1 || (dtype != DType::Float32 && dtype != DType::Float64)) return false;
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (double(std::max(g.small[axis], g.big[axis])) * double(g.kernel[axis]) > double(mostTaps)) return false;
  return true;
}

/// Not over large images where filters are small, or where most lanes of a block would be empty: these also take memory.
bool filtersByChannelFaster(const ConvolutionGeometry& g, DType dtype) {
  const bool fillsBlock = g.groups * std::int64_t(itemSize(dtype)) * 2 >= blockBytes;
  return filtersByChannel(g, dtype) && (g.bigArea() <= smallImage || (fillsBlock && g.kernelArea() >= largeFilter));
}

Result<void> depthwiseGather(const ConvolutionGeometry& g, const Tensor& big, const Tensor& weight,
                             const Tensor& small) {
  if (isEmpty(g)) return {};
  Result<void> done;
  KERF_CHECK(forFloats(big.dtype(), [&]<class T>() { done = gather<T>(g, big, weight, small); }));
  return done;
}

Result<void> depthwiseScatter(const ConvolutionGeometry& g, const Tensor& small, const Tensor& weight,
                              const Tensor& big) {
  if (isEmpty(g)) return {};
  Result<void> done;
  KERF_CHECK(forFloats(big.dtype(), [&]<class T>() { done = scatter<T>(g, small, weight, big); }));
  return done;
}

Result<void> depthwiseWeightGradient(const ConvolutionGeometry& g, const Tensor& big, const Tensor& small,
                                     const Tensor& weight) {
  if (isEmpty(g)) return {};
  Result<void> done;
  KERF_CHECK(forFloats(big.dtype(), [&]<class T>() { done = FilterSums<T>(g, big, small).into(weight); }));
  return done;
}

}  // namespace kerf::inline mathlib
