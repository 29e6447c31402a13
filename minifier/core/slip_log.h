// SlipLog: candidates that fail, but in another way than the search is after: other bugs that it met by the way.
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "minifier/core/minify.h"

namespace kerf::inline minifier::inline core {

/// One entry for each other failureName(), with the smallest graph that showed it. Copies a candidate only where it
/// keeps it: tensors are shared.
class SlipLog {
 public:
  /// Beyond these, other fingerprints are only counted: messages that nothing masks must not fill the store.
  static constexpr std::size_t mostFindings = 16;

  /// `key` names candidate and oracle (VerdictKeys): what is met twice counts once. Which finding is new or smaller now;
  /// null if none.
  const Slip* note(const std::string& key, const Verdict& verdict, const Candidate& candidate,
                   const CandidateSize& size);
  int tests() const { return m_tests; }                             ///< candidates that failed in another way
  const std::vector<Slip>& findings() const { return m_findings; }  ///< in the order in which they were met

 private:
  std::unordered_set<std::string> m_keys;
  std::vector<Slip> m_findings;
  int m_tests = 0;
};

}  // namespace kerf::inline minifier::inline core
