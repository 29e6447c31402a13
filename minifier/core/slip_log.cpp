// SlipLog: counting, and keeping the smallest.
#include "minifier/core/slip_log.h"

#include <algorithm>

namespace kerf::inline minifier::inline core {

const Slip* SlipLog::note(const std::string& key, const Verdict& verdict, const Candidate& candidate,
                          const CandidateSize& size) {
  if (!m_keys.insert(key).second) return nullptr;
  ++m_tests;
  const auto known = std::ranges::find(m_findings, failureName(verdict.fingerprint),
                                       [](const Slip& slip) { return failureName(slip.fingerprint); });
  if (known == m_findings.end()) {
    if (m_findings.size() == mostFindings) return nullptr;
    m_findings.push_back({int(m_findings.size()) + 1, verdict.fingerprint, verdict.detail, 1, size, candidate});
    return &m_findings.back();
  }
  ++known->tests;
  if (!(size < known->size)) return nullptr;
  known->detail = verdict.detail;
  known->size = size;
  known->candidate = candidate;
  return &*known;
}

}  // namespace kerf::inline minifier::inline core
