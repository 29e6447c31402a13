// Step pairs: one mapping of two recordings. Most pairs are one step and one step; where one side computes in one kernel
// what the other does op by op, a pair is a run of steps on both sides.
#pragma once

#include <string_view>
#include <vector>

#include "engine/align/run_recording.h"

namespace kerf::inline align {

enum class PairEvidence : unsigned char {
  None,       ///< a step that only one recording has
  Name,       ///< nodes of one name
  Values,     ///< the same op with results of the same checksums, or results that are equal but for rounding
  Structure,  ///< the same op with the same arguments, shapes, module and line
  Line,       ///< the same op of the same module and line
  Order,      ///< the same op in the same order
  Between,    ///< what lies between two pairs on both sides
};
constexpr PairEvidence lastOf(PairEvidence) { return PairEvidence::Between; }
/// "values", "structure", "source line", …; empty for None.
std::string_view pairEvidenceName(PairEvidence evidence);

struct StepPair {
  std::vector<std::size_t> a, b;  ///< indices of steps, in order; one of both may be empty
  PairEvidence evidence = PairEvidence::None;
};

/// Every step of both is in exactly one pair. In the order of `b`, with what only `a` has where it stands.
std::vector<StepPair> pairedSteps(const RunRecording& a, const RunRecording& b);

}  // namespace kerf::inline align
