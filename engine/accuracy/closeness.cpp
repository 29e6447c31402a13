#include "engine/accuracy/closeness.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <numeric>

#include "engine/accuracy/difference_kernels.h"
#include "engine/accuracy/element_chunks.h"
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
template <class T>
CloseReport compareIntegers(const T* a, const T* b, std::int64_t count, double tolerance) {
  CloseReport report;
  for (std::int64_t i = 0; i < count; ++i) {
    if (a[i] == b[i]) continue;
    const auto left = convertElement<float>(a[i]), right = convertElement<float>(b[i]);
    const CloseReport one = compareElements(&left, &right, 1, tolerance, false);
    const bool collapsed = left == right;  // close only where tolerances count
    report.close &= one.close && !(collapsed && tolerance == 0);
    report.worstRatio = std::max(report.worstRatio, one.worstRatio);
  }
  return report;
}

/// Strides with which `tensor` is seen in the broadcast shape `sizes`.
Tensor expand(const Tensor& tensor, const Sizes& sizes) {
  if (tensor.sizes() == sizes) return tensor;
  Sizes strides(sizes.size(), 0);
  const std::size_t shift = sizes.size() - tensor.sizes().size();
  for (std::size_t d = shift; d < sizes.size(); ++d)
    if (tensor.sizes()[d - shift] != 1) strides[d] = tensor.strides()[d - shift];
  return tensor.viewAs(sizes, strides, tensor.offset());
}

/// 8-bit floats have no arithmetic of their own: they compare in float32.
DType comparedAs(DType dtype) { return isFloating(dtype) && itemSize(dtype) == 1 ? DType::Float32 : dtype; }

/// What `body` says of each piece, in order.
template <class A, class B, class Row, class Body>
Result<std::vector<Row>> rowsOver(const Tensor& a, const Tensor& b, Body&& body) {
  std::vector<Row> rows;
  KERF_CHECK((forChunks<A, B>(
      a, b, [&](std::int64_t chunks) { rows.resize(std::size_t(chunks)); },
      [&](std::int64_t chunk, const A* x, const B* y, std::int64_t count) {
        rows[std::size_t(chunk)] = body(x, y, count);
      })));
  return rows;
}

/// Sum over all elements, piece by piece, so that rounding grows with the pieces; whatever the threads.
template <class A, class B, class Body>
Result<double> sumOver(const Tensor& a, const Tensor& b, Body&& body) {
  KERF_TRY(const auto sums, (rowsOver<A, B, double>(a, b, body)));
  return std::accumulate(sums.begin(), sums.end(), 0.0);
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

template <class T>
PairFigures figuresOf(const T* a, const T* b, std::int64_t count) {
  PairFigures figures;
  if constexpr (!isComplexType<T>) {
    const DifferenceFigures got = differenceFigures(a, b, count);
    return {got.most, got.finite, {got.nanA, got.infA}, {got.nanB, got.infB}};
  } else {
    for (std::int64_t i = 0; i < count; ++i) {
      figures.a.nan += isNan(a[i]) ? 1 : 0;
      figures.a.inf += isInf(a[i]) ? 1 : 0;
      figures.b.nan += isNan(b[i]) ? 1 : 0;
      figures.b.inf += isInf(b[i]) ? 1 : 0;
      figures.finite += isNan(a[i]) || isInf(a[i]) || isNan(b[i]) || isInf(b[i]) ? 0 : 1;
      const double difference = std::abs(a[i] - b[i]);
      if (std::isfinite(difference)) figures.maxAbsDifference = std::max(figures.maxAbsDifference, difference);
    }
    return figures;
  }
}

/// The same bits are close, NaN too where it equals itself; most results of a graph are such.
template <class T>
CloseReport compareRun(const T* a, const T* b, std::int64_t count, double tolerance, bool equalNan) {
  if constexpr (std::is_integral_v<T>) {
    return compareIntegers(a, b, count, tolerance);
  } else {
    if (equalNan && std::memcmp(a, b, std::size_t(count) * sizeof(T)) == 0) return {};
    if constexpr (std::is_floating_point_v<T>) {
      if (T(tolerance) > 0) {
        const CloseFigures got = closeFigures(a, b, count, T(tolerance), equalNan);
        return {got.close, got.worst};
      }
    }
    return compareElements(a, b, count, tolerance, equalNan);
  }
}

void add(PairFigures& total, const PairFigures& more) {
  total.maxAbsDifference = std::max(total.maxAbsDifference, more.maxAbsDifference);
  total.finite += more.finite;
  for (const auto& [into, from] : {std::pair(&total.a, &more.a), std::pair(&total.b, &more.b)}) {
    into->nan += from->nan;
    into->inf += from->inf;
  }
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
  return std::pair(expand(a, sizes), expand(b, sizes));
}

Result<CloseReport> allClose(const Tensor& a, const Tensor& b, double tolerance, bool equalNan) {
  CloseReport report;
  const auto compare = [&]<class T>() -> Result<void> {
    const auto run = [&](const T* x, const T* y, std::int64_t count) {
      return compareRun(x, y, count, tolerance, equalNan);
    };
    KERF_TRY(const auto rows, (rowsOver<T, T, CloseReport>(a, b, run)));
    for (const CloseReport& row : rows) {
      report.close &= row.close;
      report.worstRatio = std::max(report.worstRatio, row.worstRatio);
    }
    return {};
  };
  Result<void> outcome;
  KERF_CHECK(
      dispatchAllAndComplex(comparedAs(a.dtype()), [&]<class T>() { outcome = compare.template operator()<T>(); }));
  KERF_CHECK(outcome);
  return report;
}

Result<double> rootMeanSquareError(const Tensor& a, const Tensor& b) {
  const auto squared = [](const double* x, const auto* y, std::int64_t count) {
    return squaredDifferences(x, y, count);
  };
  const bool single = b.dtype() == DType::Float32;  // converted in the loop itself
  KERF_TRY(const double sum, (single ? sumOver<double, float>(a, b, squared) : sumOver<double, double>(a, b, squared)));
  return std::sqrt(sum / double(a.numel()));
}

Result<float> cosineSimilarity(const Tensor& a, const Tensor& b) {
  const auto norm = [](const Tensor& t) -> Result<float> {
    KERF_TRY(const double sum, (sumOver<float, float>(t, t, [](const float* x, const float*, std::int64_t count) {
               return blockSum(count, [=](std::int64_t i) { return double(x[i]) * x[i]; });
             })));
    const auto length = float(std::sqrt(sum));
    return length < 1e-6f ? 1e-6f : length;  // NaN stays NaN
  };
  KERF_TRY(const float normA, norm(a));
  KERF_TRY(const float normB, norm(b));
  KERF_TRY(const double sum, (sumOver<float, float>(a, b, [=](const float* x, const float* y, std::int64_t count) {
             return blockSum(count, [=](std::int64_t i) { return double((x[i] / normA) * (y[i] / normB)); });
           })));
  return float(sum);
}

Result<PairFigures> pairFigures(const Tensor& a, const Tensor& b) {
  PairFigures total;
  const auto addUp = [&]<class T>() -> Result<void> {
    KERF_TRY(const auto rows, (rowsOver<T, T, PairFigures>(a, b, figuresOf<T>)));
    for (const PairFigures& row : rows) add(total, row);
    return {};
  };
  const bool single = a.dtype() == DType::Float32 && b.dtype() == DType::Float32;
  const bool complex = isComplex(a.dtype()) || isComplex(b.dtype());
  KERF_CHECK((complex  ? addUp.operator()<std::complex<double>>()
              : single ? addUp.operator()<float>()
                       : addUp.operator()<double>()));
  return total;
}

Result<double> maxAbsDifference(const Tensor& a, const Tensor& b) {
  KERF_TRY(const PairFigures figures, pairFigures(a, b));
  return figures.maxAbsDifference;
}

Result<SpecialCounts> countSpecials(const Tensor& tensor) {
  if (isIntegral(tensor.dtype())) return SpecialCounts{};
  KERF_TRY(const PairFigures figures, pairFigures(tensor, tensor));
  return figures.a;
}

}  // namespace kerf::inline accuracy
