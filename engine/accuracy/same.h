// same(): torch._dynamo.utils.same, the rule by which PyTorch's own minifier calls two results equal (formats A.4).
#pragma once

#include <optional>
#include <string>
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
  bool useLargerMultiplierForSmallerTensor = false;
  bool forceMaxMultiplier = false;
};

/// Verdict and figures of one output tensor.
struct OutputVerdict {
  std::string name;  ///< "out0", or the path inside nested lists
  bool same = false;
  std::string reason;       ///< empty when same; else PyTorch's failure line or what differs ("dtype", "shape", …)
  double maxAbsError = 0;   ///< max |ref - res| over finite elements
  double rmseRes = 0;       ///< RMSE(fp64, res); NaN without fp64 reference
  double rmseRef = 0;       ///< RMSE(fp64, ref)
  double ratioToLimit = 0;  ///< error / accepted limit: above 1 fails; from rule 4 or 5b
  double multiplier = 0;    ///< m of rule 5b
  std::int64_t nanRef = 0, nanRes = 0, infRef = 0, infRes = 0;

  KERF_FIELDS(name, same, reason, maxAbsError, rmseRes, rmseRef, ratioToLimit, multiplier, nanRef, nanRes, infRef,
              infRes)
};

struct SameReport {
  bool same = false;
  std::vector<OutputVerdict> outputs;
};

/// `fp64` is None (a none Value) where there is no reference. Containers recurse; a length mismatch fails.
SameReport same(const Value& ref, const Value& res, const Value& fp64, const SameOptions& options);

}  // namespace kerf::inline accuracy
