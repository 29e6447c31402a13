// AccuracyChoice: what a request says of PyTorch's same_two_models beside its tolerance.
#pragma once

#include <string>
#include <vector>

#include "engine/process/codec.h"

namespace kerf::workbench {

struct AccuracyChoice {
  std::vector<std::string> tolerances;  ///< of single results: "out3=1e-2", "exp_avg=1e-5" of what is mutated
  bool requireFp64 = false;             ///< no fp64 reference is an error
  bool ignoreNonFloat = false;          ///< ignore_non_fp: integers, bools and texts pass
  bool strict = false;                  ///< strict_accuracy: no fp64 reference, the tolerance alone decides
  bool forwardOnly = false;             ///< only_fwd: no scalar loss of outputs that require gradients
  bool torchSame = false;               ///< same()'s own answer where errors are NaN or infinite
  bool exact = false;                   ///< equality of bits is the verdict
  bool toleranceGiven = false;          ///< by the user: what a repro's configuration says does not count then

  KERF_FIELDS(tolerances, requireFp64, ignoreNonFloat, strict, forwardOnly, torchSame, exact, toleranceGiven)
};

}  // namespace kerf::workbench
