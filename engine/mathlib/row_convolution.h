// RowConvolution: a float32 convolution whose image and result lie channels last, computed in blocks of the rows of its
// result, each of which what follows may take over while it is in the cache.
//
//   for block of rows: convolve; follow(block)
#pragma once

#include <functional>
#include <memory>

#include "engine/mathlib/convolution.h"

namespace kerf::inline mathlib {

/// What is done with each block of a result as soon as it is there, on the thread that computed it.
struct RowFollower {
  /// Blocks begin and end at multiples of so many elements of the result.
  std::int64_t multiple = 1;
  /// Nobody else reads the result: blocks live on each thread's own memory, and the result is not written.
  bool takesAll = false;
  /// Elements [begin, end) of the result lie at `block`.
  std::function<void(std::int64_t begin, std::int64_t end, float* block)> run;
};

/// Geometry of aten::convolution over [N, C, H, W] images with [O, C/groups, kernel] filters.
struct RowGeometry {
  std::int64_t batch = 1, channels = 1, height = 1, width = 1;
  std::int64_t outChannels = 1, outHeight = 1, outWidth = 1, groups = 1;
  std::int64_t kernelHeight = 1, kernelWidth = 1;
  std::int64_t strideHeight = 1, strideWidth = 1, paddingHeight = 0, paddingWidth = 0;
  std::int64_t dilationHeight = 1, dilationWidth = 1;
  bool operator==(const RowGeometry&) const = default;
};

/// Strides of a dense [N, C, H, W] tensor whose channels lie side by side.
Sizes channelsLastStrides(const Sizes& sizes);
/// Whether elements lie so; strides of dimensions of size 1 do not matter.
bool liesChannelsLast(const Sizes& sizes, const Sizes& strides);

class RowConvolution {
 public:
  /// Null where the result is no float32 [N, O, H, W] that lies channels last, where oneDNN has no kernel that is fast
  /// for it or a product of patches is faster, and where sums must be exact. `multiple` and `threads` say how rows are
  /// divided into blocks.
  static std::unique_ptr<RowConvolution> make(const Tensor& image, const Tensor& filter, bool hasBias,
                                              const ConvolutionSpec& spec, const Tensor& out, std::int64_t multiple,
                                              int threads);
  ~RowConvolution();
  RowConvolution(const RowConvolution&) = delete;
  RowConvolution& operator=(const RowConvolution&) = delete;

  const RowGeometry& geometry() const;
  /// Blocks of equal rights; fewer than threads where `multiple` leaves no more.
  std::int64_t blockCount() const;
  /// The filter as the kernels read it; later runs may use it as long as the filter's elements are the same.
  Result<Tensor> packed(const Tensor& filter) const;
  /// An image of other strides is copied first. `follower` may be null.
  Result<void> run(const Tensor& image, const Tensor& packedFilter, const Tensor& bias, const Tensor& out,
                   const RowFollower* follower) const;

 private:
  struct Kernels;
  explicit RowConvolution(std::unique_ptr<Kernels> kernels);
  std::unique_ptr<Kernels> m_kernels;
};

}  // namespace kerf::inline mathlib
