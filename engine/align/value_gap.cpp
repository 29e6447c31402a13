#include "engine/align/value_gap.h"

#include <cmath>

namespace kerf::inline align {

namespace {

/// How much more than what it was given a step's difference may be before it counts as the step's own.
constexpr double amplification = 30;

/// Sums over tensors: errors of single elements mostly cancel, so these are finer than tolerances of elements.
struct RoundingRow {
  std::string_view dtype;
  double figure;   ///< of a sum over all elements
  double element;  ///< root of mean squares, relative
};
constexpr RoundingRow roundings[] = {
    {"f64", 1e-11, 1e-11},  {"f32", 1e-6, 2e-5}, {"f16", 2e-3, 4e-3},     {"bf16", 5e-3, 2e-2},
    {"c128", 1e-11, 1e-11}, {"c64", 1e-6, 2e-5}, {"f8e4m3fn", 0.05, 0.2}, {"f8e5m2", 0.1, 0.3},
};

const RoundingRow* roundingRow(std::string_view dtype) {
  const auto found = std::ranges::find(roundings, dtype, &RoundingRow::dtype);
  return found == std::end(roundings) ? nullptr : found;
}

double relativeDifference(double a, double b) {
  if (a == b) return 0;
  return std::abs(a - b) / std::max({std::abs(a), std::abs(b), 1e-30});
}

bool sameNumber(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// Beyond this many times its dtype's rounding no difference is taken for rounding that has grown.
constexpr double mostGrowth = 3000;
/// Nor this much, whatever the dtype is.
constexpr double mostGrown = 0.25;

/// `rounding`: of the dtype, which limits what it may have grown to.
GapKind judged(double relative, double allowed, double rounding, const Growth& growth) {
  if (std::isnan(relative)) return GapKind::Wrong;
  const double most = std::min(mostGrowth * std::max(rounding, growth.rounding), mostGrown);
  const double grown = std::min(amplification * growth.given, most);
  return relative <= std::max(allowed, grown) ? GapKind::Rounding : GapKind::Wrong;
}

/// The coarser dtype of both decides.
double allowedFor(const StepValue& a, const StepValue& b, double RoundingRow::* of) {
  const RoundingRow *first = roundingRow(a.dtype), *second = roundingRow(b.dtype);
  return std::max(first == nullptr ? 0 : first->*of, second == nullptr ? 0 : second->*of);
}

GapKind judgedByElement(double relative, const StepValue& a, const StepValue& b, const Growth& growth) {
  const double rounding = allowedFor(a, b, &RoundingRow::element);
  return judged(relative, rounding, rounding, growth);
}

ValueGap gapOfData(const StepValue& a, const StepValue& b, const Growth& growth) {
  ValueGap gap{.basis = "bits"};
  const auto distance = bitDistance(*a.data, *b.data);
  if (!distance) return {.basis = "shape"};
  gap.bits = *distance;
  gap.relative = distance->relativeError;
  if (distance->same())
    gap.kind = GapKind::Equal;
  else if (distance->unordered > 0)
    gap.kind = GapKind::Wrong;
  else
    gap.kind = judgedByElement(gap.relative, a, b, growth);
  return gap;
}

/// Errors of few elements cancel less.
double allowedOfSum(const StepValue& a, const StepValue& b) {
  const double count = b.shaped ? double(std::max<std::int64_t>(b.elements(), 1)) : HUGE_VAL;
  return std::max(allowedFor(a, b, &RoundingRow::figure), allowedFor(a, b, &RoundingRow::element) / std::sqrt(count));
}

ValueGap gapOfSums(const StepValue& a, const StepValue& b, const Growth& growth) {
  ValueGap gap{.basis = "sum of magnitudes"};
  // One NaN or infinity on both sides hides all other elements, and its place.
  if (!std::isfinite(*a.l1) && sameNumber(*a.l1, *b.l1)) return {};
  if (sameNumber(*a.l1, *b.l1)) return {GapKind::Equal, gap.basis, 0};
  gap.relative = relativeDifference(*a.l1, *b.l1);
  gap.kind = judged(gap.relative, allowedOfSum(a, b), allowedFor(a, b, &RoundingRow::figure), growth);
  return gap;
}

ValueGap gapOfStats(const StepValue& a, const StepValue& b, const Growth& growth) {
  const ElementStats &x = *a.stats, &y = *b.stats;
  ValueGap gap{.basis = "figures"};
  if (x.nan != y.nan || x.inf != y.inf) return {GapKind::Wrong, gap.basis};
  if (sameNumber(x.min, y.min) && sameNumber(x.max, y.max) && sameNumber(x.mean, y.mean) && sameNumber(x.norm, y.norm))
    return x.nan + x.inf > 0 ? ValueGap{} : ValueGap{GapKind::Equal, gap.basis, 0};  // as many, but where?
  // An infinite figure is no scale for others: what is not finite is the same on both sides, or wrong.
  double scale = 1e-30;
  for (const double figure : {x.min, x.max, y.min, y.max})
    if (std::isfinite(figure)) scale = std::max(scale, std::abs(figure));
  const std::pair<double, double> figures[] = {{x.norm, y.norm}, {x.mean, y.mean}, {x.min, y.min}, {x.max, y.max}};
  for (const auto& [p, q] : figures)
    if (!sameNumber(p, q) && !(std::isfinite(p) && std::isfinite(q))) return {GapKind::Wrong, gap.basis};
  const auto apart = [&](double p, double q) { return sameNumber(p, q) ? 0.0 : std::abs(p - q) / scale; };
  gap.relative = std::max({sameNumber(x.norm, y.norm) ? 0.0 : relativeDifference(x.norm, y.norm), apart(x.mean, y.mean),
                           apart(x.min, y.min), apart(x.max, y.max)});
  gap.kind = judgedByElement(gap.relative, a, b, growth);
  return gap;
}

std::string_view kindOfHash(const StepValue& value) {
  return std::string_view(value.hash).substr(0, value.hash.find(':'));
}

/// Figures and a sum of magnitudes each see what the other does not: the worse of both counts. Figures that say nothing
/// (NaN at places that they do not tell) leave no sum that agrees a verdict.
ValueGap gapOfFigures(const StepValue& a, const StepValue& b, const Growth& growth) {
  ValueGap stats = gapOfStats(a, b, growth);
  if (!a.l1 || !b.l1) return stats;
  ValueGap sums = gapOfSums(a, b, growth);
  if (stats.kind == GapKind::Unknown) return sums.kind == GapKind::Wrong ? sums : stats;
  const bool worse = sums.kind > stats.kind || (sums.kind == stats.kind && sums.relative > stats.relative);
  return worse ? sums : stats;
}

ValueGap measuredGap(const StepValue& a, const StepValue& b, const Growth& growth) {
  if (a.data && b.data) return gapOfData(a, b, growth);
  if (a.stats && b.stats) return gapOfFigures(a, b, growth);
  if (a.l1 && b.l1) return gapOfSums(a, b, growth);
  return {};
}

}  // namespace

std::string_view gapKindName(GapKind kind) {
  constexpr std::string_view names[] = {"unknown", "equal", "rounding", "unequal", "wrong"};
  return names[std::size_t(kind)];
}

double roundingOf(std::string_view dtype) {
  const RoundingRow* row = roundingRow(dtype);
  return row == nullptr ? 0 : row->figure;
}

double elementRoundingOf(std::string_view dtype) {
  const RoundingRow* row = roundingRow(dtype);
  return row == nullptr ? 0 : row->element;
}

ValueGap gapBetween(const StepValue& a, const StepValue& b, const Growth& growth) {
  if (a.shaped && b.shaped && a.elements() != b.elements()) return {GapKind::Unknown, "shape"};
  ValueGap gap = measuredGap(a, b, growth);
  if (gap.bits || a.hash.empty() || b.hash.empty() || kindOfHash(a) != kindOfHash(b)) return gap;
  // Checksums of values in another dtype, or laid out anew, say nothing where they differ.
  // hash_tensor is an XOR: it is 0 of everything that is repeated evenly, and sums tell such values apart.
  if (a.hash == b.hash) return differs(gap.kind) && !namesValue(a.hash) ? gap : ValueGap{GapKind::Equal, "checksum", 0};
  if (gap.kind == GapKind::Unknown) return {GapKind::Unequal, "checksum"};
  if (gap.kind == GapKind::Equal) gap = {GapKind::Rounding, "checksum", 0};
  return gap;
}

std::string ValueGap::text() const {
  constexpr std::string_view heads[] = {"not compared", "equal", "rounding only", "other bits", "wrong"};
  std::string text(heads[std::size_t(kind)]);
  if (bits && kind != GapKind::Equal)
    return fmt::format("{}: {}, relative {:.3g}", text, bitDistanceText(*bits), relative);
  if (basis == "absent") return text + ": the other run gives no such value";
  if (kind == GapKind::Unknown) return basis == "shape" ? text + ": other shapes" : text;
  if (relative > 0)
    return fmt::format("{}: {} differ{} by {:.3g}", text, basis, basis == "figures" ? "" : "s", relative);
  if (kind == GapKind::Equal) return fmt::format("{} ({})", text, basis);
  return fmt::format("{} ({} differs)", text, basis);
}

}  // namespace kerf::inline align
