#include "engine/audit/claim_list.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace kerf::inline audit {

void ClaimList::refine(const ClaimList& other, const std::string& sizes) {
  for (const auto& [index, claim] : other.m_open) {
    if (claim.verdict != ClaimVerdict::Refuted) continue;
    const auto mine = std::ranges::find_if(m_open, [&, &found = claim](const Open& each) {
      return each.second.about == found.about && each.second.line == found.line && each.second.subject == found.subject;
    });
    if (mine == m_open.end()) {
      AuditClaim added = claim;
      added.example = claim.example.empty() ? sizes : fmt::format("{}, {}", sizes, claim.example);
      add(std::move(added));
      continue;
    }
    if (mine->second.verdict == ClaimVerdict::Refuted) continue;
    mine->second.verdict = ClaimVerdict::Refuted;
    mine->second.reason = claim.reason;
    mine->second.otherLine = claim.otherLine;
    mine->second.example = claim.example.empty() ? sizes : fmt::format("{}, {}", sizes, claim.example);
    m_verdicts[mine->first].second = ClaimVerdict::Refuted;
  }
}

void ClaimList::doubtSizes() {
  static constexpr std::array dependent = {ClaimAbout::Inside, ClaimAbout::Written, ClaimAbout::Once,
                                           ClaimAbout::Kept,   ClaimAbout::Layout,  ClaimAbout::Launch};
  for (auto& [index, claim] : m_open) {
    if (claim.verdict != ClaimVerdict::Refuted || std::ranges::find(dependent, claim.about) == dependent.end())
      continue;
    claim.verdict = ClaimVerdict::NotKnown;
    m_verdicts[index].second = ClaimVerdict::NotKnown;
  }
}

void ClaimList::fill(AuditReport& report) const {
  for (const auto& [about, verdict] : m_verdicts) {
    AuditReport::Count& count = report.counts[std::size_t(about)];
    ++(verdict == ClaimVerdict::Proved    ? count.proved
       : verdict == ClaimVerdict::Refuted ? count.refuted
                                          : count.notKnown);
  }
  for (const auto& [index, claim] : m_open) report.claims.push_back(claim);
  std::ranges::stable_sort(report.claims, {}, &AuditClaim::line);
}

}  // namespace kerf::inline audit
