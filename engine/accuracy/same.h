// same(): torch._dynamo.utils.same, the rule by which PyTorch's own minifier calls two results equal (formats A.4).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/accuracy/verdict.h"
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
  /// Kerf's own rule, which same() does not have: where the errors are NaN or infinite, NaN and infinities must be
  /// where the reference or fp64 has them, and the elements that are finite are measured by themselves.
  bool exactSpecials = false;
  /// Kerf's own rule, too: tensors are the same when all their elements are equal in their bits (bit_distance.h), and
  /// no tolerance and no fp64 reference counts.
  bool exactBits = false;
};

/// Whether a tolerance that is given for `subject` counts for the result `name` (SameOptions::tolerances).
bool toleranceConcerns(std::string_view subject, std::string_view name);

/// Choice of m for rule 5b by PyTorch's table; `isPixel`: of four dimensions, the last two of them 1.
double multiplierOf(DType result, std::int64_t numel, bool isPixel, const SameOptions& options);

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
