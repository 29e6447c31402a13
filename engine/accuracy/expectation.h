// Expectation: recorded outputs ("out0", or "out64_0" for fp64) against the ones a run gave.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/support/result.h"
#include "engine/tensor/safetensors.h"
#include "engine/tensor/value.h"

namespace kerf::inline accuracy {

/// A recorded output against the one that a run gave.
struct ExpectationVerdict {
  std::string name;
  std::string shape;  ///< "f32[2, 3]"
  double maxAbsError = 0;
  double relativeError = 0;     ///< max |a - b| / max |b|
  bool withinRounding = false;  ///< same only because the recorded values are rounding noise themselves
  bool same = false;
  std::string reason;  ///< empty when same
};

struct ExpectationRule {
  std::string prefix = "out";  ///< "out64_" for fp64
  double limit = 1e-5;         ///< of the relative error
  bool exactDtype = true;
};

/// One verdict per recorded output. Where the exact result is zero (a bias gradient before a batch norm), what is recorded
/// is rounding noise, and no two correct programs agree on it. So an error is also accepted that is at most eight times
/// the recording's own rounding error |out - out64| (for fp64 scaled by 2^-29, the ratio of the precisions), provided
/// that this noise is below limit times the largest recorded value. Without the counterpart the noise counts as one
/// rounding step of the largest recorded value. BadInput when the file does not fit: no such outputs, an index the
/// graph has no tensor for, a tensor output without a record, another shape.
Result<std::vector<ExpectationVerdict>> checkExpectation(const SafetensorsFile& recorded, const ValueList& outputs,
                                                         const ExpectationRule& rule);

/// Prefix of a mutated value's name in a file of outputs: "mutated_", or "mutated64_" beside "out64_".
std::string mutatedPrefix(const ExpectationRule& rule);
/// One verdict per recorded mutated value ("mutated_exp_avg"), by the same rules; none where the file has none. BadInput for
/// one that the graph does not mutate.
Result<std::vector<ExpectationVerdict>> checkMutated(const SafetensorsFile& recorded,
                                                     const std::vector<std::pair<std::string, Value>>& mutated,
                                                     const ExpectationRule& rule);

/// One verdict per recorded tensor that `values` names ("loss", "grad.fc1.weight"), and for each other "grad.…" of the file
/// BadInput: the graph has no such gradient. An error is accepted too that is at most eight rounding steps of the largest
/// recorded value of all of them (gradients that are zero but for rounding).
Result<std::vector<ExpectationVerdict>> checkNamed(const SafetensorsFile& recorded,
                                                   const std::vector<std::pair<std::string, Value>>& values,
                                                   const ExpectationRule& rule);

/// "f32[2, 3]".
std::string tensorText(const Tensor& tensor);

}  // namespace kerf::inline accuracy
