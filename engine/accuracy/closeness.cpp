#include "engine/accuracy/closeness.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "engine/tensor/convert.h"
#include "engine/tensor/dispatch.h"

namespace kerf::inline accuracy {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

template <class T>
bool isNan(T value) {
  if constexpr (isComplexType<T>)
    return std::isnan(value.real()) || std::isnan(value.imag());
  else
    return std::isnan(static_cast<OpMath<T>>(value));
}

template <class T>
bool isInf(T value) {
  if constexpr (isComplexType<T>)
    return std::isinf(value.real()) || std::isinf(value.imag());
  else
    return std::isinf(static_cast<OpMath<T>>(value));
}

/// |value| as the dtype's real type.
template <class T>
auto magnitude(T value) {
  if constexpr (isComplexType<T>)
    return std::abs(value);
  else
    return T(std::fabs(static_cast<OpMath<T>>(value)));
}

/// One element of torch.isclose without its `self == other` shortcut: every operation rounds to T.
template <class T>
struct Tolerance {
  using Math = std::conditional_t<isComplexType<T>, T, OpMath<T>>;
  using Real = decltype(magnitude(T{}));
  using RealMath = OpMath<Real>;
  RealMath tolerance;

  Real allowed(T other) const {
    const Real scaled = magnitude(T(static_cast<Math>(other) * tolerance));
    return Real(static_cast<RealMath>(scaled) + tolerance);
  }
  static Real actual(T a, T b) { return magnitude(T(static_cast<Math>(a) - static_cast<Math>(b))); }
};

template <class T>
CloseReport compareElements(const T* a, const T* b, std::int64_t count, double tolerance, bool equalNan) {
  using Real = typename Tolerance<T>::Real;
  const Tolerance<T> rule{static_cast<typename Tolerance<T>::RealMath>(tolerance)};
  CloseReport report;
  for (std::int64_t i = 0; i < count; ++i) {
    if (a[i] == b[i] || (equalNan && isNan(a[i]) && isNan(b[i]))) continue;
    const Real actual = rule.actual(a[i], b[i]);
    const Real allowed = rule.allowed(b[i]);
    const bool finite = !isNan(actual) && !isInf(actual);
    const bool close =
        tolerance != 0 && finite && static_cast<OpMath<Real>>(actual) <= static_cast<OpMath<Real>>(allowed);
    report.close &= close;
    const double ratio = double(actual) / double(allowed);
    report.worstRatio = std::max(report.worstRatio, finite && !std::isnan(ratio) ? ratio : infinity);
  }
  return report;
}

/// Integers: equality is exact, the tolerance is applied to their float32 values.
Result<CloseReport> compareIntegers(const Tensor& a, const Tensor& b, double tolerance) {
  KERF_TRY(const Tensor floatA, a.to(DType::Float32));
  KERF_TRY(const Tensor floatB, b.to(DType::Float32));
  CloseReport report;
  KERF_CHECK(dispatchIntegral(a.dtype(), [&]<class T>() {
    for (std::int64_t i = 0, n = a.numel(); i < n; ++i) {
      if (a.data<T>()[i] == b.data<T>()[i]) continue;
      const auto one = compareElements(floatA.data<float>() + i, floatB.data<float>() + i, 1, tolerance, false);
      const bool collapsed = floatA.data<float>()[i] == floatB.data<float>()[i];  // close only where tolerances count
      report.close &= one.close && !(collapsed && tolerance == 0);
      report.worstRatio = std::max(report.worstRatio, one.worstRatio);
    }
  }));
  return report;
}

Result<Tensor> expand(const Tensor& tensor, const Sizes& sizes) {
  if (tensor.sizes() == sizes) return tensor.contiguous();
  Sizes strides(sizes.size(), 0);
  const std::size_t shift = sizes.size() - tensor.sizes().size();
  for (std::size_t d = shift; d < sizes.size(); ++d)
    if (tensor.sizes()[d - shift] != 1) strides[d] = tensor.strides()[d - shift];
  return tensor.viewAs(sizes, strides, tensor.offset()).clone();
}

/// 8-bit floats have no arithmetic of their own: they compare in float32.
Result<Tensor> comparable(const Tensor& tensor) {
  const bool tiny = isFloating(tensor.dtype()) && itemSize(tensor.dtype()) == 1;
  KERF_TRY(const Tensor converted, tensor.to(tiny ? DType::Float32 : tensor.dtype()));
  return converted.contiguous();
}

/// Sum of body(i) over [0, count) in blocks, so that rounding grows with the blocks and not with the elements.
template <class Body>
double blockSum(std::int64_t count, Body&& body) {
  constexpr std::int64_t block = 1024;
  double total = 0;
  for (std::int64_t begin = 0; begin < count; begin += block) {
    double sum = 0;
    for (std::int64_t i = begin, end = std::min(count, begin + block); i < end; ++i) sum += body(i);
    total += sum;
  }
  return total;
}

Result<Tensor> flatAs(const Tensor& tensor, DType dtype) {
  KERF_TRY(const Tensor converted, tensor.to(dtype));
  return converted.contiguous();
}

}  // namespace

Result<std::pair<Tensor, Tensor>> broadcastTogether(const Tensor& a, const Tensor& b) {
  Sizes sizes(std::size_t(std::max(a.dim(), b.dim())));
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    const auto sizeOf = [&](const Tensor& t) {
      const std::size_t missing = sizes.size() - t.sizes().size();
      return d < missing ? 1 : t.sizes()[d - missing];
    };
    if (sizeOf(a) != sizeOf(b) && sizeOf(a) != 1 && sizeOf(b) != 1)
      return fail(ErrorCode::ShapeMismatch, "shape [{}] does not fit [{}]", fmt::join(a.sizes(), ", "),
                  fmt::join(b.sizes(), ", "));
    sizes[d] = sizeOf(a) == 1 ? sizeOf(b) : sizeOf(a);
  }
  KERF_CHECK(checkedNumel(sizes));
  KERF_TRY(Tensor left, expand(a, sizes));
  KERF_TRY(Tensor right, expand(b, sizes));
  return std::pair(std::move(left), std::move(right));
}

Result<CloseReport> allClose(const Tensor& a, const Tensor& b, double tolerance, bool equalNan) {
  if (isIntegral(a.dtype())) return compareIntegers(a, b, tolerance);
  KERF_TRY(const Tensor left, comparable(a));
  KERF_TRY(const Tensor right, comparable(b));
  CloseReport report;
  const auto compare = [&]<class T>() {
    report = compareElements(left.data<T>(), right.data<T>(), left.numel(), tolerance, equalNan);
  };
  KERF_CHECK(dispatchOver(left.dtype(), compare, FloatTypes{}, ComplexTypes{}));
  return report;
}

Result<double> rootMeanSquareError(const Tensor& a, const Tensor& b) {
  KERF_TRY(const Tensor left, flatAs(a, DType::Float64));
  KERF_TRY(const Tensor right, flatAs(b, DType::Float64));
  const double* x = left.data<double>();
  const double* y = right.data<double>();
  const double sum = blockSum(left.numel(), [=](std::int64_t i) { return (x[i] - y[i]) * (x[i] - y[i]); });
  return std::sqrt(sum / double(left.numel()));
}

Result<float> cosineSimilarity(const Tensor& a, const Tensor& b) {
  KERF_TRY(const Tensor left, flatAs(a, DType::Float32));
  KERF_TRY(const Tensor right, flatAs(b, DType::Float32));
  const auto norm = [](const Tensor& t) {
    const float* x = t.data<float>();
    const double sum = blockSum(t.numel(), [=](std::int64_t i) { return double(x[i]) * x[i]; });
    const auto length = float(std::sqrt(sum));
    return length < 1e-6f ? 1e-6f : length;  // NaN stays NaN
  };
  const float normA = norm(left), normB = norm(right);
  const float* x = left.data<float>();
  const float* y = right.data<float>();
  return float(blockSum(left.numel(), [=](std::int64_t i) { return double((x[i] / normA) * (y[i] / normB)); }));
}

Result<double> maxAbsDifference(const Tensor& a, const Tensor& b) {
  const DType wide = isComplex(a.dtype()) ? DType::Complex128 : DType::Float64;
  KERF_TRY(const Tensor left, flatAs(a, wide));
  KERF_TRY(const Tensor right, flatAs(b, wide));
  double worst = 0;
  KERF_CHECK(dispatchOver(
      wide,
      [&]<class T>() {
        for (std::int64_t i = 0, n = left.numel(); i < n; ++i) {
          const auto difference = std::abs(left.data<T>()[i] - right.data<T>()[i]);
          if (std::isfinite(difference)) worst = std::max<double>(worst, difference);
        }
      },
      TypeList<double, std::complex<double>>{}));
  return worst;
}

Result<SpecialCounts> countSpecials(const Tensor& tensor) {
  SpecialCounts counts;
  if (isIntegral(tensor.dtype())) return counts;
  KERF_TRY(const Tensor dense, comparable(tensor));
  const auto count = [&]<class T>() {
    for (std::int64_t i = 0, n = dense.numel(); i < n; ++i) {
      counts.nan += isNan(dense.data<T>()[i]) ? 1 : 0;
      counts.inf += isInf(dense.data<T>()[i]) ? 1 : 0;
    }
  };
  KERF_CHECK(dispatchOver(dense.dtype(), count, FloatTypes{}, ComplexTypes{}));
  return counts;
}

}  // namespace kerf::inline accuracy
