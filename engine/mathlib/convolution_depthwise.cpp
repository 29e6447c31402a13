#include "engine/mathlib/convolution_depthwise.h"

#include "engine/mathlib/columns.h"
#include "engine/mathlib/convolution_gemm.h"
#include "engine/tensor/simd.h"

namespace kerf::inline mathlib {
namespace {

/// small[x] += weight * big[x * stride]
struct GatherKernel {
  template <class T>
  KERF_KERNEL void run(T* small, const T* big, T weight, std::int64_t stride, std::int64_t count) {
    if (stride == 1)
      for (std::int64_t x = 0; x < count; ++x) small[x] += weight * big[x];
    else
      for (std::int64_t x = 0; x < count; ++x) small[x] += weight * big[x * stride];
  }
};

/// big[x * stride] += weight * small[x]
struct ScatterKernel {
  template <class T>
  KERF_KERNEL void run(T* big, const T* small, T weight, std::int64_t stride, std::int64_t count) {
    if (stride == 1)
      for (std::int64_t x = 0; x < count; ++x) big[x] += weight * small[x];
    else
      for (std::int64_t x = 0; x < count; ++x) big[x * stride] += weight * small[x];
  }
};

/// Sum of small[x] * big[x * stride].
template <class T>
T product(const T* small, const T* big, std::int64_t stride, std::int64_t count) {
  T sums[4] = {};
  std::int64_t x = 0;
  for (; x + 4 <= count; x += 4)
    for (std::int64_t k = 0; k < 4; ++k) sums[k] += small[x + k] * big[(x + k) * stride];
  for (; x < count; ++x) sums[0] += small[x] * big[x * stride];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// visit(tap, small row start, big row start, count) for all runs in which a tap of the filter meets the image.
template <class Visit>
void forTaps(const ConvolutionGeometry& g, Visit&& visit) {
  for (std::int64_t t = 0; t < g.kernelArea(); ++t) {
    const detail::Tap tap = detail::tapOf(g, t);
    const detail::Span span = detail::insideSpan(g, tap.x);
    const std::int64_t shift = tap.x * g.dilation[2] - g.padding[2];
    detail::forImageRows(g, tap.z, tap.y, [&](std::int64_t smallRow, std::int64_t bigRow) {
      if (bigRow >= 0 && span.end > span.begin)
        visit(t, smallRow * g.small[2] + span.begin, bigRow * g.big[2] + shift + span.begin * g.stride[2],
              span.end - span.begin);
    });
  }
}

/// body(first channel image, one past the last) over sample × channel.
template <class Body>
void forChannels(const ConvolutionGeometry& g, std::int64_t count, Body&& body) {
  const std::int64_t perChannel = std::max<std::int64_t>(1, g.smallArea() * g.kernelArea());
  parallelFor(count, std::max<std::int64_t>(1, 65536 / perChannel), body);
}

template <class Body>
Result<void> forTypes(DType dtype, Body&& body) {
  return dispatchOver(dtype, body, ConvolutionTypes{});
}

}  // namespace

Result<void> depthwiseGather(const ConvolutionGeometry& g, const Tensor& big, const Tensor& weight,
                             const Tensor& small) {
  return forTypes(big.dtype(), [&]<class T>() {
    forChannels(g, g.batch * g.groups, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t c = begin; c < end; ++c) {
        const T* image = big.data<T>() + c * g.bigArea();
        const T* filter = weight.data<T>() + c % g.groups * g.kernelArea();
        T* out = small.data<T>() + c * g.smallArea();
        std::fill_n(out, g.smallArea(), T(0));
        forTaps(g, [&](std::int64_t tap, std::int64_t smallAt, std::int64_t bigAt, std::int64_t count) {
          perIsa<GatherKernel>(out + smallAt, image + bigAt, filter[tap], g.stride[2], count);
        });
      }
    });
  });
}

Result<void> depthwiseScatter(const ConvolutionGeometry& g, const Tensor& small, const Tensor& weight,
                              const Tensor& big) {
  return forTypes(big.dtype(), [&]<class T>() {
    forChannels(g, g.batch * g.groups, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t c = begin; c < end; ++c) {
        T* image = big.data<T>() + c * g.bigArea();
        const T* filter = weight.data<T>() + c % g.groups * g.kernelArea();
        const T* grad = small.data<T>() + c * g.smallArea();
        forTaps(g, [&](std::int64_t tap, std::int64_t smallAt, std::int64_t bigAt, std::int64_t count) {
          perIsa<ScatterKernel>(image + bigAt, grad + smallAt, filter[tap], g.stride[2], count);
        });
      }
    });
  });
}

Result<void> depthwiseWeightGradient(const ConvolutionGeometry& g, const Tensor& big, const Tensor& small,
                                     const Tensor& weight) {
  return forTypes(big.dtype(), [&]<class T>() {
    forChannels(g, g.groups, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t c = begin; c < end; ++c) {
        T* filter = weight.data<T>() + c * g.kernelArea();
        for (std::int64_t n = 0; n < g.batch; ++n) {
          const T* image = big.data<T>() + (n * g.groups + c) * g.bigArea();
          const T* grad = small.data<T>() + (n * g.groups + c) * g.smallArea();
          forTaps(g, [&](std::int64_t tap, std::int64_t smallAt, std::int64_t bigAt, std::int64_t count) {
            filter[tap] += product(grad + smallAt, image + bigAt, g.stride[2], count);
          });
        }
      }
    });
  });
}

}  // namespace kerf::inline mathlib
