#include "engine/tensor/tensor_figures.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace kerf::inline tensor {

namespace {

constexpr int bins = 64;
constexpr std::int64_t mostPatches = 512;  ///< in either direction

std::span<const double> elementsOf(const Tensor& wide) {
  return {wide.data<const double>(), std::size_t(wide.numel())};
}

/// The smallest normal number of a floating dtype; 0 for others, which have no subnormal ones.
double smallestNormal(DType dtype) {
  switch (dtype) {
    case DType::Float64:
      return std::numeric_limits<double>::min();
    case DType::Float32:
    case DType::BFloat16:
      return double(std::numeric_limits<float>::min());
    case DType::Float16:
      return 0x1p-14;
    case DType::Float8E4M3FN:
      return 0x1p-6;
    case DType::Float8E5M2:
      return 0x1p-14;
    case DType::Float8E4M3FNUZ:
      return 0x1p-7;
    case DType::Float8E5M2FNUZ:
      return 0x1p-15;
    default:
      return 0;
  }
}

/// Digits after which two neighbours of a floating dtype read differently.
int digitsOf(DType dtype) {
  switch (dtype) {
    case DType::Float64:
      return 17;
    case DType::Float32:
      return 9;
    case DType::Float16:
      return 5;
    default:
      return 4;
  }
}

void addHistogram(TensorFigures& figures, std::span<const double> elements) {
  if (figures.finite == 0) return;
  figures.histogram.assign(bins, 0);
  // Halves: the difference of the two may be beyond the largest number.
  const double low = figures.minimum / 2, width = figures.maximum / 2 - low;
  for (const double element : elements) {
    if (!std::isfinite(element)) continue;
    const double part = width > 0 ? (element / 2 - low) / width : 0;
    ++figures.histogram[std::size_t(std::clamp(int(part * bins), 0, bins - 1))];
  }
}

/// How much a number stands out of a patch.
double weightOf(double value) {
  if (std::isnan(value)) return std::numeric_limits<double>::infinity();
  if (std::isinf(value)) return std::numeric_limits<double>::max();
  return std::min(std::abs(value), std::numeric_limits<double>::max() / 2);
}

/// As float, without turning large numbers into infinities.
float patchOf(double value) {
  constexpr double most = std::numeric_limits<float>::max();
  return std::isfinite(value) ? float(std::clamp(value, -most, most)) : float(value);
}

/// Real and imaginary parts by turns; the imaginary ones of what is not complex are 0.
Result<Tensor> partsOf(const Tensor& dense) {
  if (isComplex(dense.dtype())) {
    const DType part = dense.dtype() == DType::Complex128  ? DType::Float64
                       : dense.dtype() == DType::Complex64 ? DType::Float32
                                                           : DType::Float16;
    KERF_TRY(const Tensor wide,
             Tensor(dense.storage(), part, {2 * dense.numel()}, {1}, 2 * dense.offset()).to(DType::Float64));
    return wide.contiguous();
  }
  KERF_TRY(const Tensor real, dense.to(DType::Float64));
  KERF_TRY(Tensor parts, Tensor::zeros(DType::Float64, {2 * dense.numel()}));
  for (std::int64_t i = 0; i < dense.numel(); ++i) parts.data<double>()[2 * i] = real.data<const double>()[i];
  return parts;
}

/// NaN where a part is.
double absolute(double real, double imaginary) {
  if (std::isnan(real) || std::isnan(imaginary)) return std::numeric_limits<double>::quiet_NaN();
  return std::hypot(real, imaginary);
}

/// `a` − `b`; equal infinities and NaNs do not differ.
double gapBetween(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)) ? 0 : a - b; }

Result<Tensor> complexDifference(const Tensor& a, const Tensor& b) {
  KERF_TRY(const Tensor left, partsOf(a));
  KERF_TRY(const Tensor right, partsOf(b));
  KERF_TRY(Tensor result, Tensor::zeros(DType::Float64, a.sizes()));
  const auto x = elementsOf(left), y = elementsOf(right);
  for (std::size_t i = 0; i < std::size_t(a.numel()); ++i)
    result.data<double>()[i] = absolute(gapBetween(x[2 * i], y[2 * i]), gapBetween(x[2 * i + 1], y[2 * i + 1]));
  return result;
}

}  // namespace

Result<TensorView> TensorView::of(const Tensor& tensor) {
  TensorView view;
  KERF_TRY(view.m_own, tensor.contiguous());
  if (isComplex(tensor.dtype())) {
    KERF_TRY(view.m_parts, partsOf(view.m_own));
    KERF_TRY(view.m_wide, Tensor::zeros(DType::Float64, tensor.sizes()));
    const auto parts = elementsOf(view.m_parts);
    for (std::size_t i = 0; i < std::size_t(tensor.numel()); ++i)
      view.m_wide.data<double>()[i] = absolute(parts[2 * i], parts[2 * i + 1]);
    return view;
  }
  KERF_TRY(view.m_wide, view.m_own.to(DType::Float64));
  return view;
}

TensorFigures TensorView::figures() const {
  TensorFigures figures;
  const auto elements = elementsOf(m_wide);
  figures.elements = std::ssize(elements);
  const double normal = smallestNormal(m_own.dtype());
  double sum = 0;
  for (const double element : elements) {
    figures.nans += std::isnan(element);
    figures.positiveInfinities += std::isinf(element) && element > 0;
    figures.negativeInfinities += std::isinf(element) && element < 0;
    figures.zeros += element == 0;
    figures.subnormals += element != 0 && std::abs(element) < normal;
    if (!std::isfinite(element)) continue;
    figures.minimum = figures.finite == 0 ? element : std::min(figures.minimum, element);
    figures.maximum = figures.finite == 0 ? element : std::max(figures.maximum, element);
    sum += element;
    ++figures.finite;
  }
  if (figures.finite > 0) figures.mean = sum / double(figures.finite);
  double squares = 0;
  for (const double element : elements)
    if (std::isfinite(element)) squares += (element - figures.mean) * (element - figures.mean);
  if (figures.finite > 0) figures.deviation = std::sqrt(squares / double(figures.finite));
  addHistogram(figures, elements);
  return figures;
}

std::int64_t TensorView::rows() const { return m_own.dim() < 2 ? 1 : m_own.size(m_own.dim() - 2); }

std::int64_t TensorView::columns() const { return m_own.dim() < 1 ? 1 : m_own.size(m_own.dim() - 1); }

std::int64_t TensorView::planeStart(const std::vector<std::int64_t>& slice) const {
  std::int64_t start = 0;
  for (std::int64_t i = 0; i + 2 < m_own.dim(); ++i)
    start = start * m_own.size(i) + (std::size_t(i) < slice.size() ? slice[std::size_t(i)] : 0);
  return start * rows() * columns();
}

Result<TensorPlane> TensorView::plane(const std::vector<std::int64_t>& slice) const {
  const auto leading = std::size_t(std::max<std::int64_t>(0, m_own.dim() - 2));
  if (slice.size() > leading)
    return fail(ErrorCode::BadUsage, "the slice has {} indices, but the value has {} dimensions before its last two",
                slice.size(), leading);
  TensorPlane plane{.slice = slice, .rows = rows(), .columns = columns()};
  plane.slice.resize(leading, 0);
  if (m_own.numel() == 0) return plane;
  for (std::size_t i = 0; i < leading; ++i)
    if (plane.slice[i] < 0 || plane.slice[i] >= m_own.size(std::int64_t(i)))
      return fail(ErrorCode::BadUsage, "index {} of the slice is {}, but that dimension has {} elements", i,
                  plane.slice[i], m_own.size(std::int64_t(i)));
  plane.shownRows = std::min(plane.rows, mostPatches);
  plane.shownColumns = std::min(plane.columns, mostPatches);
  const auto elements = elementsOf(m_wide).subspan(std::size_t(planeStart(plane.slice)));
  std::vector<double> heaviest(std::size_t(plane.shownRows * plane.shownColumns), 0);
  for (std::int64_t row = 0; row < plane.rows; ++row)
    for (std::int64_t column = 0; column < plane.columns; ++column) {
      const double value = elements[std::size_t(row * plane.columns + column)];
      auto& patch = heaviest[std::size_t(row * plane.shownRows / plane.rows * plane.shownColumns +
                                         column * plane.shownColumns / plane.columns)];
      if (weightOf(value) > weightOf(patch)) patch = value;
    }
  for (const double patch : heaviest) plane.patches.push_back(patchOf(patch));
  return plane;
}

std::string TensorView::cellText(std::int64_t element) const {
  if (m_own.dtype() == DType::Bool) return m_own.itemAsInt(element) != 0 ? "True" : "False";
  if (isComplex(m_own.dtype())) {
    const auto parts = elementsOf(m_parts).subspan(2 * std::size_t(element), 2);
    const int digits = m_own.dtype() == DType::Complex128 ? 17 : m_own.dtype() == DType::Complex64 ? 9 : 5;
    return fmt::format("{:.{}g}{:+.{}g}j", parts[0], digits, parts[1], digits);
  }
  if (!isFloating(m_own.dtype())) return std::to_string(m_own.itemAsInt(element));
  return fmt::format("{:.{}g}", elementsOf(m_wide)[std::size_t(element)], digitsOf(m_own.dtype()));
}

TensorWindow TensorView::window(const std::vector<std::int64_t>& slice, const TensorWindow& wanted) const {
  TensorWindow window;
  if (m_own.numel() == 0) return window;
  window.rows = std::clamp<std::int64_t>(wanted.rows, 0, std::min<std::int64_t>(rows(), mostPatches));
  window.columns = std::clamp<std::int64_t>(wanted.columns, 0, std::min<std::int64_t>(columns(), mostPatches));
  window.row = std::clamp<std::int64_t>(wanted.row, 0, rows() - window.rows);
  window.column = std::clamp<std::int64_t>(wanted.column, 0, columns() - window.columns);
  const std::int64_t start = planeStart(slice);
  for (std::int64_t row = window.row; row < window.row + window.rows; ++row)
    for (std::int64_t column = window.column; column < window.column + window.columns; ++column)
      window.cells.push_back(cellText(start + row * columns() + column));
  return window;
}

std::optional<std::vector<std::int64_t>> TensorView::oddBehind(std::int64_t after) const {
  const auto elements = elementsOf(m_wide);
  auto at = std::max<std::int64_t>(-1, after);
  if (at >= std::ssize(elements)) return std::nullopt;
  const auto rest = elements.subspan(std::size_t(++at));
  const auto found = std::ranges::find_if(rest, [](double value) { return !std::isfinite(value); });
  if (found == rest.end()) return std::nullopt;
  at += found - rest.begin();
  std::vector<std::int64_t> index(std::size_t(m_own.dim()));
  for (std::size_t i = index.size(); i-- > 0;) {
    const std::int64_t size = m_own.size(std::int64_t(i));
    index[i] = at % size;
    at /= size;
  }
  return index;
}

Result<Tensor> tensorDifference(const Tensor& value, const Tensor& other) {
  if (value.sizes() != other.sizes())
    return fail(ErrorCode::ShapeMismatch, "the two sides have other shapes: [{}] and [{}]",
                fmt::join(value.sizes(), ", "), fmt::join(other.sizes(), ", "));
  KERF_TRY(const Tensor dense, value.contiguous());
  KERF_TRY(const Tensor otherDense, other.contiguous());
  if (isComplex(value.dtype()) || isComplex(other.dtype())) return complexDifference(dense, otherDense);
  KERF_TRY(const Tensor left, dense.to(DType::Float64));
  KERF_TRY(const Tensor right, otherDense.to(DType::Float64));
  KERF_TRY(Tensor result, Tensor::zeros(DType::Float64, value.sizes()));
  const auto a = elementsOf(left), b = elementsOf(right);
  double* const out = result.data<double>();
  for (std::size_t i = 0; i < a.size(); ++i) out[i] = gapBetween(a[i], b[i]);
  return result;
}

}  // namespace kerf::inline tensor
