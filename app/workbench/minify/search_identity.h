// SearchIdentity: what a stored reduction says of how it was made: who judged, and by which rule.
#pragma once

#include <string>

#include "app/workbench/protocol/reductions.h"
#include "minifier/core/failure_match.h"
#include "minifier/core/verdict_cache.h"

namespace kerf::workbench {

/// Another one is another search: only equal ones are resumed, and find each other's verdicts.
struct SearchIdentity {
  std::string oracle, circumstances;  ///< Oracle::identity() and Oracle::circumstances()
  JudgingRule rule;
  std::string rest;  ///< " inputs=zeros seed=7 match=/x/ pins=a,b": what else makes another search of it; often empty

  static SearchIdentity of(const Oracle& oracle, const MinifyRequest& request, const FailureMatch& match);
  /// What ReductionRow::oracle holds.
  std::string text() const;
  /// The inverse of text(); of a text without a rule all of it is the oracle.
  static SearchIdentity parse(std::string_view text);

  /// Whose verdicts they are, as VerdictKeys names them.
  std::string judge() const { return oracle + circumstances; }
  /// The faults that were planted; empty: none.
  std::string plants() const;
};

}  // namespace kerf::workbench
