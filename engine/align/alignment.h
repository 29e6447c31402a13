// alignRecordings(): two recordings as one mapping, and its verdict: the first step that got equal inputs and gave unequal
// outputs, what follows from it, and what is wrong anew.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/align/run_recording.h"
#include "engine/align/step_pairs.h"
#include "engine/align/value_gap.h"

namespace kerf::inline align {

/// What a pair is in the whole.
enum class PairRole : unsigned char {
  Unknown,   ///< nothing to compare, or only one recording has it
  Same,      ///< equal results
  Rounding,  ///< rounding only
  First,     ///< the first whose inputs agree and whose results do not
  Follows,   ///< its inputs are wrong already
  New,       ///< a further one like the first
};
constexpr PairRole lastOf(PairRole) { return PairRole::New; }
/// "unknown", "same", "rounding", "first", "follows", "new".
std::string_view pairRoleName(PairRole role);

/// What a step itself makes of a difference of results: the step was run again on what each recording says that it took.
struct RerunGap {
  double own = 0;  ///< what the inputs' difference does not explain, as roots of mean squares relative to the result
  double allowed = 0;  ///< how much of it rounding makes
};
/// None: the step cannot be run again, or gives neither recorded result.
using RerunStep = std::function<std::optional<RerunGap>(const StepPair& steps)>;

struct AlignedPair {
  StepPair steps;
  PairRole role = PairRole::Unknown;
  ValueGap inputs, outputs;            ///< the worst of each
  std::optional<RerunGap> rerun;       ///< where it was run again to tell
  std::string_view cause;              ///< why results may differ though nothing is wrong; empty: nothing is known
  std::size_t reachesBack = SIZE_MAX;  ///< an earlier pair from which on nothing proves that values agree
};

enum class AlignVerdict : unsigned char {
  Unknown,    ///< no step of both has values that can be compared
  Same,       ///< every compared value is equal
  Rounding,   ///< they differ by rounding only
  Different,  ///< there is a first step that is wrong, or values differ and nothing says by how much
};
constexpr AlignVerdict lastOf(AlignVerdict) { return AlignVerdict::Different; }
/// "unknown", "same", "rounding", "different".
std::string_view alignVerdictName(AlignVerdict verdict);

struct RunAlignment {
  std::vector<AlignedPair> pairs;
  AlignVerdict verdict = AlignVerdict::Unknown;
  std::size_t first = SIZE_MAX;         ///< the pair of role First
  std::size_t firstUnequal = SIZE_MAX;  ///< the first pair that is not equal in its bits
  std::vector<std::string> notes;
};

/// `rerun` is asked where values of both are recorded, inputs differ and results differ by more than rounding.
RunAlignment alignRecordings(const RunRecording& a, const RunRecording& b, const RerunStep& rerun = {});

}  // namespace kerf::inline align
