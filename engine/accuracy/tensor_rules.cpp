#include "engine/accuracy/tensor_rules.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/accuracy/bit_distance.h"
#include "engine/accuracy/closeness.h"
#include "engine/accuracy/element_chunks.h"
#include "engine/ir/argument.h"

namespace kerf::inline accuracy {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double looseTolerance = 0.04;
constexpr double cosineThreshold = 0.99;

std::string shapeText(const Tensor& tensor) { return fmt::format("torch.Size([{}])", fmt::join(tensor.sizes(), ", ")); }

/// The three tensors of one comparison while the rules look at them.
struct ComparedTensors {
  Tensor ref, res, fp64;
  const SameOptions& options;
  OutputVerdict& verdict;

  bool haveFp64() const { return fp64.defined() && fp64.dtype() == DType::Float64; }
  Result<void> accept() const {
    verdict.same = true;
    return {};
  }
  Result<void> reject(std::string reason) const {
    if (verdict.ratioToLimit <= 1) verdict.ratioToLimit = infinity;  // failed by kind, not by size
    verdict.reason = std::move(reason);
    return {};
  }
};

double multiplierFor(const ComparedTensors& t) {
  const bool isPixel = t.ref.dim() == 4 && t.ref.size(2) == 1 && t.ref.size(3) == 1;
  return std::max(multiplierOf(t.res.dtype(), t.fp64.numel(), isPixel, t.options), t.options.leastMultiplier);
}

/// Special values of `tensor`, which were counted in its broadcast form.
Result<SpecialCounts> specialsOf(const Tensor& tensor, const Tensor& broadcast, const SpecialCounts& counted) {
  if (tensor.numel() == broadcast.numel()) return counted;
  return countSpecials(tensor);
}

/// Figures that are shown whatever rule decides.
Result<void> fillFigures(const ComparedTensors& t) {
  KERF_TRY(const auto pair, broadcastTogether(t.ref, t.res));
  KERF_TRY(const PairFigures figures, pairFigures(pair.first, pair.second));
  t.verdict.maxAbsError = figures.maxAbsDifference;
  KERF_TRY(const SpecialCounts ref, specialsOf(t.ref, pair.first, figures.a));
  KERF_TRY(const SpecialCounts res, specialsOf(t.res, pair.second, figures.b));
  t.verdict.nanRef = ref.nan;
  t.verdict.infRef = ref.inf;
  t.verdict.nanRes = res.nan;
  t.verdict.infRes = res.inf;
  t.verdict.elements = t.ref.numel();
  t.verdict.finite = figures.finite;
  t.verdict.rmseRef = t.verdict.rmseRes = nan;
  if (!t.haveFp64()) return {};
  KERF_TRY(const auto withRef, broadcastTogether(t.fp64, t.ref));
  KERF_TRY(const auto withRes, broadcastTogether(t.fp64, t.res));
  KERF_TRY(t.verdict.rmseRef, rootMeanSquareError(withRef.first, withRef.second));
  const bool equal = figures.maxAbsDifference == 0 && figures.finite == t.ref.numel() && t.ref.sizes() == t.res.sizes();
  if (equal) {
    t.verdict.rmseRes = t.verdict.rmseRef;
  } else {
    KERF_TRY(t.verdict.rmseRes, rootMeanSquareError(withRes.first, withRes.second));
  }
  t.verdict.multiplier = multiplierFor(t);
  return {};
}

/// Intersection over union of two masks.
Result<void> compareMasks(const ComparedTensors& t) {
  KERF_TRY(const auto pair, broadcastTogether(t.ref, t.res));
  KERF_TRY(const Tensor ref, pair.first.contiguous());
  KERF_TRY(const Tensor res, pair.second.contiguous());
  std::int64_t both = 0, any = 0;
  for (std::int64_t i = 0, n = ref.numel(); i < n; ++i) {
    const bool a = ref.data<bool>()[i], b = res.data<bool>()[i];
    both += a && b ? 1 : 0;
    any += a || b ? 1 : 0;
  }
  const float ratio = any == 0 ? 1.0f : float(both) / float(any);
  t.verdict.ratioToLimit = ratio > 0 ? t.options.iouThreshold / ratio : infinity;
  if (double(ratio) >= t.options.iouThreshold) return t.accept();
  return t.reject(fmt::format("IoU accuracy failed: {:.4f} < {:.2f} (intersection={}, union={}, shape={})", ratio,
                              t.options.iouThreshold, both, any, shapeText(t.ref)));
}

/// Rule 2: bool tensors.
Result<void> compareBools(const ComparedTensors& t) {
  if (t.options.ignoreNonFloat) return t.accept();
  if (t.options.boolIou) return compareMasks(t);
  KERF_TRY(const auto pair, broadcastTogether(t.ref, t.res));
  KERF_TRY(const CloseReport close, allClose(pair.first, pair.second, t.options.tolerance, t.options.equalNan));
  t.verdict.ratioToLimit = close.worstRatio;
  return close.close ? t.accept() : t.reject("Accuracy failed: uint8 tensor did not match");
}

/// Rule 3: cosine mode.
Result<void> compareCosine(const ComparedTensors& t) {
  if (t.ref.numel() != t.res.numel() && t.ref.numel() != 1 && t.res.numel() != 1)
    return fail(ErrorCode::ShapeMismatch, "{} and {} elements have no cosine", t.ref.numel(), t.res.numel());
  const auto flatten = [](const Tensor& tensor) -> Result<Tensor> {
    KERF_TRY(const Tensor floats, tensor.to(DType::Float32));
    KERF_TRY(const Tensor dense, floats.contiguous());
    return dense.viewAs({dense.numel()}, {1}, dense.offset());
  };
  KERF_TRY(const Tensor ref, flatten(t.ref));
  KERF_TRY(const Tensor res, flatten(t.res));
  KERF_TRY(const auto pair, broadcastTogether(ref, res));
  KERF_TRY(const CloseReport close, allClose(pair.first, pair.second, t.options.tolerance, true));
  t.verdict.ratioToLimit = close.worstRatio;
  if (close.close) return t.accept();
  KERF_TRY(const float score, cosineSimilarity(pair.first, pair.second));
  t.verdict.ratioToLimit = score > 0 ? cosineThreshold / score : infinity;
  if (score >= float(cosineThreshold)) return t.accept();
  return t.reject(fmt::format("Similarity score={:.6f}", score));
}

/// Rule 5a: ref alone went NaN, and res is near the truth: better than ref counts as passing.
Result<bool> onlyReferenceIsNan(const ComparedTensors& t) {
  KERF_TRY(const SpecialCounts truth, countSpecials(t.fp64));
  if (truth.nan != 0 || t.verdict.nanRes != 0 || t.verdict.nanRef == 0) return false;
  KERF_TRY(const Tensor rounded, t.fp64.to(t.res.dtype()));
  KERF_TRY(const auto pair, broadcastTogether(rounded, t.res));
  KERF_TRY(const CloseReport close, allClose(pair.first, pair.second, looseTolerance, t.options.equalNan));
  return close.close;
}

/// Rules 5b and 5c.
Result<void> compareErrors(const ComparedTensors& t) {
  const double limit = t.verdict.multiplier * t.verdict.rmseRef + t.options.tolerance / 10;
  const double ratio = t.verdict.rmseRes / limit;
  t.verdict.ratioToLimit = std::isnan(ratio) ? infinity : ratio;
  if (t.verdict.rmseRes <= limit) {
    if (std::isnan(ratio)) t.verdict.ratioToLimit = 0;  // nothing allowed, and nothing off
    return t.accept();
  }
  if (t.options.equalNan && std::isnan(t.verdict.rmseRef) && std::isnan(t.verdict.rmseRes)) {
    t.verdict.ratioToLimit = 1;
    return t.accept();
  }
  return t.reject(
      fmt::format("RMSE (res-fp64): {:.5f}, (ref-fp64): {:.5f} and shape={}. res.dtype: {}, multiplier: "
                  "{:f}, tol: {:f}, use_larger_multiplier_for_smaller_tensor: {:d}",
                  t.verdict.rmseRes, t.verdict.rmseRef, shapeText(t.res), dtypeInfo(t.res.dtype()).torchName,
                  t.verdict.multiplier, t.options.tolerance, t.options.useLargerMultiplierForSmallerTensor));
}

/// The largest finite number of `dtype`.
double largestOf(DType dtype) {
  if (dtype == DType::Float16) return 65504;
  if (dtype == DType::BFloat16) return 0x1.FEp127;
  return dtype == DType::Float32 ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
}

/// What NaN and infinite errors hide, element by element.
struct HiddenFigures {
  double largest;           ///< of the dtype: infinities of numbers above it are right
  std::int64_t nan = 0;     ///< of res, where neither ref nor fp64 has one
  std::int64_t number = 0;  ///< of res, infinite ones too, where both have NaN
  std::int64_t inf = 0;     ///< where res has one and the others agree on something else, or the other way round
  std::int64_t finite = 0;  ///< in all three: the squares are of those
  double squaresRes = 0, squaresRef = 0;

  void take(double ref, double res, double truth) {
    if (std::isfinite(ref) && std::isfinite(res) && std::isfinite(truth)) {
      ++finite;
      squaresRes += (res - truth) * (res - truth);
      squaresRef += (ref - truth) * (ref - truth);
      return;
    }
    if (std::isnan(res)) {
      nan += !std::isnan(ref) && !std::isnan(truth);
      return;
    }
    number += std::isnan(ref) && std::isnan(truth);
    const bool bothFinite = std::isfinite(ref) && std::isfinite(truth);
    if (!bothFinite && !(std::isinf(ref) && ref == truth)) return;  // nothing to hold on to
    if (bothFinite ? std::abs(truth) <= largest : res != ref) ++inf;
  }
};

/// Of three tensors of equal sizes.
Result<HiddenFigures> hiddenFigures(const ComparedTensors& t) {
  const bool flat = t.ref.isContiguous() && t.res.isContiguous() && t.fp64.isContiguous();
  const Sizes sizes = flat ? Sizes{t.ref.numel()} : t.ref.sizes();
  const Tensor refs = asWalked(t.ref, sizes), results = asWalked(t.res, sizes), truths = asWalked(t.fp64, sizes);
  const ElementChunks chunks(sizes);
  ChunkReader readRef(refs, DType::Float64), readRes(results, DType::Float64), readTruth(truths, DType::Float64);
  HiddenFigures figures{largestOf(t.res.dtype())};
  for (std::int64_t c = 0; c < chunks.count(); ++c) {
    KERF_TRY(const Tensor ref, readRef.read(chunks, c));
    KERF_TRY(const Tensor res, readRes.read(chunks, c));
    KERF_TRY(const Tensor truth, readTruth.read(chunks, c));
    for (std::int64_t i = 0; i < ref.numel(); ++i)
      figures.take(ref.data<double>()[i], res.data<double>()[i], truth.data<double>()[i]);
  }
  return figures;
}

std::string placesText(std::int64_t count) { return fmt::format("{} {}", count, count == 1 ? "place" : "places"); }

/// Kerf's own rule (SameOptions::exactSpecials), for what rules 5b and 5c accepted though an error is not finite.
Result<void> compareWhatIsHidden(const ComparedTensors& t) {
  if (t.ref.sizes() != t.res.sizes() || t.ref.sizes() != t.fp64.sizes()) return {};
  KERF_TRY(const HiddenFigures hidden, hiddenFigures(t));
  if (hidden.nan + hidden.inf + hidden.number > 0) t.verdict.same = false;
  if (hidden.nan > 0)
    return t.reject(
        fmt::format("Accuracy failed: NaN at {} where the reference and fp64 have none", placesText(hidden.nan)));
  if (hidden.number > 0)
    return t.reject(fmt::format("Accuracy failed: a number at {} where the reference and fp64 have NaN",
                                placesText(hidden.number)));
  if (hidden.inf > 0)
    return t.reject(
        fmt::format("Accuracy failed: finite against infinite, or another sign of infinity, at {} where "
                    "the reference and fp64 agree",
                    placesText(hidden.inf)));
  if (hidden.finite == 0) return {};
  const double count = double(hidden.finite), error = std::sqrt(hidden.squaresRes / count);
  const double ofRef = std::sqrt(hidden.squaresRef / count);
  t.verdict.ratioToLimit = error / (t.verdict.multiplier * ofRef + t.options.tolerance / 10);
  if (std::isnan(t.verdict.ratioToLimit)) t.verdict.ratioToLimit = 0;  // nothing allowed and nothing off
  if (t.verdict.ratioToLimit <= 1) return {};
  t.verdict.same = false;
  return t.reject(
      fmt::format("RMSE of the {} finite elements (res-fp64): {:.5f}, (ref-fp64): {:.5f}, multiplier: "
                  "{:f}, tol: {:f}",
                  hidden.finite, error, ofRef, t.verdict.multiplier, t.options.tolerance));
}

/// SameOptions::exactBits. How many units the others are apart is the reason.
Result<void> compareBits(const ComparedTensors& t) {
  if (t.ref.sizes() != t.res.sizes())
    return t.reject(fmt::format("shape mismatch {}, {}", shapeText(t.ref), shapeText(t.res)));
  KERF_TRY(const BitDistance distance, bitDistance(t.ref, t.res));
  t.verdict.ratioToLimit = 0;
  if (distance.same()) return t.accept();
  return t.reject(bitDistanceText(distance));
}

/// The rules in order, for tensors.
Result<void> applyRules(ComparedTensors& t) {
  if (t.options.exactDtype && t.ref.dtype() != t.res.dtype())
    return t.reject(
        fmt::format("dtype mismatch {}, {}", dtypeInfo(t.ref.dtype()).torchName, dtypeInfo(t.res.dtype()).torchName));
  KERF_CHECK(fillFigures(t));
  if (t.options.exactBits) return compareBits(t);
  if (t.options.exactDtype && t.ref.dtype() == DType::Bool) return compareBools(t);
  if (t.options.cosineSimilarity) return compareCosine(t);
  KERF_TRY(t.ref, t.ref.to(t.res.dtype()));
  KERF_TRY(const auto pair, broadcastTogether(t.ref, t.res));
  KERF_TRY(const CloseReport close, allClose(pair.first, pair.second, t.options.tolerance, t.options.equalNan));
  t.verdict.ratioToLimit = close.worstRatio;
  if (close.close) return t.accept();
  if (t.haveFp64()) {
    KERF_TRY(const bool better, onlyReferenceIsNan(t));
    if (better) return t.accept();
    KERF_CHECK(compareErrors(t));
    const bool hides = t.verdict.same && !std::isfinite(t.verdict.rmseRef);
    return hides && t.options.exactSpecials ? compareWhatIsHidden(t) : Result<void>();
  }
  if (t.options.ignoreNonFloat) return t.accept();
  return t.reject("Accuracy failed: allclose not within tol=" + pythonFloat(t.options.tolerance));
}

}  // namespace

void compareTensors(const Tensor& ref, const Tensor& res, const Tensor& fp64, const SameOptions& options,
                    OutputVerdict& verdict) {
  verdict.rmseRef = verdict.rmseRes = nan;
  ComparedTensors tensors{ref, res, fp64, options, verdict};
  if (auto done = applyRules(tensors); !done) {
    verdict.same = false;
    verdict.reason = done.error().message;
    verdict.ratioToLimit = infinity;
  }
}

}  // namespace kerf::inline accuracy
