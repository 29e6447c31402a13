// ValueIndex: which step of a recording gives a value, found by what is recorded of it; and which steps take what a step
// gives.
#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/align/run_recording.h"

namespace kerf::inline align {

class ValueIndex {
 public:
  explicit ValueIndex(const std::vector<RunStep>& steps);

  /// The steps that give the value, or one that is equal but for rounding; the nearest first. Values that say little
  /// (one element, nothing but zeros) are not looked for.
  std::vector<std::size_t> giving(const StepValue& value) const;
  /// The value that is nearest among all that steps take or give; null where none is equal but for rounding.
  const StepValue* nearest(const StepValue& value) const;
  /// Whether any value has as many elements, and a sum of magnitudes that is 0, infinite or NaN as this one's is.
  bool hasAlike(const StepValue& value) const;
  /// Later steps that take what `step` gives, as far as numbers of tensors and checksums tell.
  std::vector<std::size_t> taking(std::size_t step) const;
  /// Whether anything tells what steps take.
  bool knowsUsers() const { return !m_usersById.empty() || !m_usersByHash.empty(); }
  /// Whether a later step takes this result of `step`, or may take it as far as the recording tells.
  bool isTaken(std::size_t step, const StepValue& result) const;

 private:
  struct Sum {
    double l1;
    std::size_t step;
    const StepValue* value;
  };
  using Sums = std::unordered_map<std::int64_t, std::vector<Sum>>;  ///< by number of elements, sorted
  std::vector<Sum> near(const Sums& sums, const StepValue& value) const;
  const std::vector<RunStep>& m_steps;
  std::unordered_map<std::string_view, std::vector<std::size_t>> m_byHash;
  std::unordered_map<std::string_view, const StepValue*> m_anyByHash;
  Sums m_given, m_any;
  std::unordered_map<std::string_view, std::vector<std::size_t>> m_usersByHash;
  std::unordered_map<std::int64_t, std::vector<std::size_t>> m_usersById;
  std::unordered_map<std::int64_t, unsigned> m_kinds;  ///< of sums, bits of kindOfSum(), by number of elements
  double m_leastSlack = 1e-12;  ///< relative, within which sums of magnitudes are those of one value
};

/// Whether a value can be told from others by what is recorded of it.
bool tellsApart(const StepValue& value);

}  // namespace kerf::inline align
