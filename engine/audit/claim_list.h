// ClaimList: claims as they are made, counted; a claim that is not proved keeps its words.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/audit/audit_claim.h"

namespace kerf::inline audit {

class ClaimList {
 public:
  /// Verdicts in the order in which they were reached: the same program makes the same claims for other sizes.
  void proved(ClaimAbout about) { m_verdicts.push_back({about, ClaimVerdict::Proved}); }
  void add(AuditClaim claim) {
    m_verdicts.push_back({claim.about, claim.verdict});
    if (claim.verdict != ClaimVerdict::Proved) m_open.emplace_back(m_verdicts.size() - 1, std::move(claim));
  }

  using Open = std::pair<std::size_t, AuditClaim>;
  const std::vector<Open>& open() const { return m_open; }
  std::size_t count() const { return m_verdicts.size(); }
  /// Takes over what `other`, the same program for given sizes, refutes; claims that it cannot match are left alone.
  void refine(const ClaimList& other, const std::string& sizes);
  /// What was refuted by comparing sizes that are symbols is not known: guards may exclude those sizes.
  void doubtSizes();
  void fill(AuditReport& report) const;

 private:
  std::vector<std::pair<ClaimAbout, ClaimVerdict>> m_verdicts;
  std::vector<Open> m_open;
};

}  // namespace kerf::inline audit
