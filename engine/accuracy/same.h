// same(): torch._dynamo.utils.same, the rule by which PyTorch's own minifier calls two results equal (formats A.4).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/support/result.h"
#include "engine/tensor/value.h"

namespace kerf::inline accuracy {

struct SameOptions {
  double tolerance = 1e-4;  ///< same()'s own default; repro_tolerance (1e-3) is what the minifier passes
  bool equalNan = false;
  bool exactDtype = true;
  bool ignoreNonFloat = false;  ///< ignore_non_fp
  bool cosineSimilarity = false;
  bool relaxNumpyEquality = false;
  bool boolIou = false;  ///< use_iou_for_bool
  double iouThreshold = 0.99;
  /// Tolerances of single results by name: "out3" counts for all of a nested "out3.1" too, "m" for "mutates m".
  std::vector<std::pair<std::string, double>> tolerances{};
  bool useLargerMultiplierForSmallerTensor = false;
  bool forceMaxMultiplier = false;
  /// m is not below this, whatever shape and dtype the result has: of a graph that is cut down, the m of the start
  /// graph (leastMultiplierOf), so that a larger result on the way is not judged more strictly than what failed at
  /// first.
  double leastMultiplier = 0;
};

/// Whether a tolerance that is given for `subject` counts for the result `name` (SameOptions::tolerances).
bool toleranceConcerns(std::string_view subject, std::string_view name);

/// Choice of m for rule 5b by PyTorch's table; `isPixel`: of four dimensions, the last two of them 1.
double multiplierOf(DType result, std::int64_t numel, bool isPixel, const SameOptions& options);

/// What a row of a comparison is about.
enum class ResultKind : unsigned char {
  Output,    ///< a value that the graph returns
  Mutation,  ///< an input or buffer that the run wrote into
  Alias,     ///< whose memory an output looks at
  Strides,   ///< how an output lies in memory
};
constexpr ResultKind lastOf(ResultKind) { return ResultKind::Strides; }
/// "output", "mutation", "alias", "strides".
std::string_view resultKindName(ResultKind kind);

/// Verdict and figures of one result.
struct OutputVerdict {
  std::string name;  ///< "out0", "out1.2" inside nested lists, "out0.logits" inside a dict; "mutates exp_avg_3"
  bool same = false;
  std::string reason;       ///< empty when same; else PyTorch's failure line or what differs ("dtype", "shape", …)
  double maxAbsError = 0;   ///< max |ref - res| over finite elements
  double rmseRes = 0;       ///< RMSE(fp64, res); NaN without fp64 reference
  double rmseRef = 0;       ///< RMSE(fp64, ref)
  double ratioToLimit = 0;  ///< error / accepted limit: above 1 fails; from rule 4 or 5b
  double multiplier = 0;    ///< m of rule 5b
  std::int64_t nanRef = 0, nanRes = 0, infRef = 0, infRes = 0;
  ResultKind kind = ResultKind::Output;
  std::int64_t elements = 0;  ///< of the reference's tensor
  std::int64_t finite = 0;    ///< of them finite on both sides: what was compared by size

  /// There were elements, and none of them says anything: NaN equals NaN, and so passes.
  bool nothingFinite() const { return elements > 0 && finite == 0; }

  KERF_FIELDS(name, same, reason, maxAbsError, rmseRes, rmseRef, ratioToLimit, multiplier, nanRef, nanRes, infRef,
              infRes, kind, elements, finite)
};

struct SameReport {
  bool same = false;
  std::vector<OutputVerdict> outputs;
};

/// `fp64` is None (a none Value) where there is no reference. Containers recurse; a length mismatch fails. A dict,
/// which values hold as the list of its ("key", value) pairs, is compared key by key, in whatever order.
SameReport same(const Value& ref, const Value& res, const Value& fp64, const SameOptions& options);
/// The same for one value that has a name of its own ("mutates m").
SameReport sameNamed(const std::string& name, const Value& ref, const Value& res, const Value& fp64,
                     const SameOptions& options);

}  // namespace kerf::inline accuracy
