#include "engine/accuracy/bit_distance.h"

#include <cmath>
#include <limits>

#include "engine/accuracy/element_chunks.h"

namespace kerf::inline accuracy {

namespace {

/// Digits behind the leading one, and the exponent of the smallest normal number.
struct FloatForm {
  DType dtype;
  int digits, leastExponent;
};
constexpr FloatForm floatForms[] = {
    {DType::Float64, 52, -1022},    {DType::Float32, 23, -126},      {DType::Float16, 10, -14},
    {DType::BFloat16, 7, -126},     {DType::Float8E4M3FN, 3, -6},    {DType::Float8E5M2, 2, -14},
    {DType::Float8E4M3FNUZ, 3, -7}, {DType::Float8E5M2FNUZ, 2, -15}, {DType::Complex32, 10, -14},
    {DType::Complex64, 23, -126},   {DType::Complex128, 52, -1022},
};

const FloatForm* formOf(DType dtype) {
  const auto found = std::ranges::find(floatForms, dtype, &FloatForm::dtype);
  return found == std::end(floatForms) ? nullptr : found;
}

/// Of two dtypes the one with fewer digits.
const FloatForm* coarserForm(DType a, DType b) {
  const FloatForm *first = formOf(a), *second = formOf(b);
  if (first == nullptr || second == nullptr) return first == nullptr ? second : first;
  return first->digits <= second->digits ? first : second;
}

/// Sums of one piece; pieces are added in their order, so that figures do not depend on threads.
struct PieceSums {
  BitDistance distance;
  double differences = 0, squares = 0;
};

class PieceCount {
 public:
  explicit PieceCount(const FloatForm* form) : m_form(form) {}

  PieceSums of(const double* a, const double* b, std::int64_t count) const {
    PieceSums sums = empty();
    for (std::int64_t i = 0; i < count; ++i) add(sums, a[i], b[i]);
    return sums;
  }
  /// Whole numbers that a double may not hold.
  PieceSums of(const std::int64_t* a, const std::int64_t* b, std::int64_t count) const {
    PieceSums sums = empty();
    for (std::int64_t i = 0; i < count; ++i) {
      const double nudge = double(a[i]) == double(b[i]) && a[i] != b[i] ? 1 : 0;
      add(sums, nudge == 0 ? double(a[i]) : 0, nudge == 0 ? double(b[i]) : nudge);
    }
    return sums;
  }

 private:
  static PieceSums empty() {
    PieceSums sums;
    sums.distance.histogram.assign(ulpLimits.size() + 1, 0);
    return sums;
  }

  void add(PieceSums& sums, double a, double b) const {
    BitDistance& distance = sums.distance;
    const bool bothNan = std::isnan(a) && std::isnan(b);
    if (bothNan || (a == b && std::signbit(a) == std::signbit(b))) {
      ++distance.equal;
      ++distance.histogram[0];
      if (std::isfinite(a)) sums.squares += a * a;
      return;
    }
    if (!std::isfinite(a) || !std::isfinite(b)) {
      ++distance.unordered;
      ++distance.histogram.back();
      return;
    }
    const double gap = std::abs(a - b), ulps = gap / unit(std::max(std::abs(a), std::abs(b)));
    distance.maxAbsError = std::max(distance.maxAbsError, gap);
    distance.mostUlps = std::max(distance.mostUlps, ulps);
    const auto limit =
        std::ranges::find_if(ulpLimits.begin() + 1, ulpLimits.end(), [&](double most) { return ulps <= most; });
    ++distance.histogram[std::size_t(limit - ulpLimits.begin())];
    sums.differences += gap * gap;
    sums.squares += a * a;
  }

  double unit(double magnitude) const {
    if (m_form == nullptr) return 1;
    const int exponent =
        magnitude == 0 ? m_form->leastExponent : std::max(std::ilogb(magnitude), m_form->leastExponent);
    return std::ldexp(1.0, exponent - m_form->digits);
  }

  const FloatForm* m_form;
};

/// Complex tensors as real ones with one more dimension.
Tensor realView(const Tensor& tensor) {
  if (!isComplex(tensor.dtype())) return tensor;
  const DType part = tensor.dtype() == DType::Complex128  ? DType::Float64
                     : tensor.dtype() == DType::Complex64 ? DType::Float32
                                                          : DType::Float16;
  Sizes sizes = tensor.sizes(), strides = tensor.strides();
  for (auto& stride : strides) stride *= 2;
  sizes.push_back(2);
  strides.push_back(1);
  return Tensor(tensor.storage(), part, SymSizes(sizes), SymSizes(strides), tensor.offset() * 2);
}

void add(BitDistance& total, const BitDistance& piece) {
  total.equal += piece.equal;
  total.unordered += piece.unordered;
  total.mostUlps = std::max(total.mostUlps, piece.mostUlps);
  total.maxAbsError = std::max(total.maxAbsError, piece.maxAbsError);
  for (std::size_t i = 0; i < piece.histogram.size(); ++i) total.histogram[i] += piece.histogram[i];
}

}  // namespace

Result<BitDistance> bitDistance(const Tensor& a, const Tensor& b) {
  if (a.sizes() != b.sizes() || isComplex(a.dtype()) != isComplex(b.dtype()))
    return fail(ErrorCode::ShapeMismatch, "tensors of other shapes have no distance in bits");
  const Tensor left = realView(a), right = realView(b);
  std::vector<PieceSums> pieces;
  const PieceCount counting(coarserForm(left.dtype(), right.dtype()));
  const auto prepare = [&](std::int64_t count) { pieces.resize(std::size_t(count)); };
  const auto count = [&](std::int64_t piece, const auto* x, const auto* y, std::int64_t elements) {
    pieces[std::size_t(piece)] = counting.of(x, y, elements);
  };
  if (isIntegral(left.dtype()) && isIntegral(right.dtype()))
    KERF_CHECK((forChunks<std::int64_t, std::int64_t>(left, right, prepare, count)));
  else
    KERF_CHECK((forChunks<double, double>(left, right, prepare, count)));
  BitDistance total;
  total.elements = left.numel();
  total.histogram.assign(ulpLimits.size() + 1, 0);
  double differences = 0, squares = 0;
  for (const PieceSums& piece : pieces) {
    if (piece.distance.histogram.empty()) continue;
    add(total, piece.distance);
    differences += piece.differences;
    squares += piece.squares;
  }
  total.relativeError = differences == 0 ? 0
                        : squares == 0   ? std::numeric_limits<double>::infinity()
                                         : std::sqrt(differences / squares);
  return total;
}

std::string bitDistanceText(const BitDistance& distance) {
  if (distance.same()) return fmt::format("all {} elements equal in their bits", distance.elements);
  std::string text = fmt::format("{} of {} elements equal in their bits", distance.equal, distance.elements);
  for (std::size_t i = 1; i < distance.histogram.size(); ++i) {
    std::int64_t count = distance.histogram[i];
    if (i == ulpLimits.size()) count -= distance.unordered;
    if (count <= 0) continue;
    text += i == ulpLimits.size() ? fmt::format(", {} more than {} ulp", count, ulpLimits.back())
                                  : fmt::format(", {} up to {} ulp", count, ulpLimits[i]);
  }
  if (distance.unordered > 0) text += fmt::format(", {} NaN or infinite on one side", distance.unordered);
  return text;
}

double unitRoundoff(DType dtype) {
  const FloatForm* form = formOf(dtype);
  return form == nullptr ? 0 : std::ldexp(1.0, -form->digits);
}

}  // namespace kerf::inline accuracy
