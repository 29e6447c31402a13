// The request for an audit: output code that Inductor generated, proved or refuted without running it.
#pragma once

#include <string>
#include <vector>

#include "engine/process/codec.h"

namespace kerf::workbench {

/// A claim that is refuted or not known.
struct AuditClaimRow {
  std::string kind;     ///< "inside", "written", … (AuditCountRow says what they mean)
  std::string verdict;  ///< "refuted", "not known"
  int line = 0;         ///< of the program, 1-based
  std::string statement;
  int otherLine = 0;  ///< the second statement of a counterexample; 0: there is none
  std::string otherStatement;
  std::string subject, reason, example;

  KERF_FIELDS(kind, verdict, line, statement, otherLine, otherStatement, subject, reason, example)
};

/// Claims of one kind.
struct AuditCountRow {
  std::string kind;
  std::string claim;  ///< "every access lies inside of its buffer"
  int proved = 0, refuted = 0, notKnown = 0;

  KERF_FIELDS(kind, claim, proved, refuted, notKnown)
};

struct AuditedProgram {
  std::string name;   ///< "output_code.py", "0/0 output_code.py"
  std::string error;  ///< why it could not be audited; empty: it was
  int kernels = 0, calls = 0, buffers = 0;
  std::vector<AuditCountRow> counts;  ///< kinds of which there are claims
  std::vector<AuditClaimRow> claims;  ///< refuted ones first, then by line

  int count(int AuditCountRow::* verdict) const {
    int all = 0;
    for (const AuditCountRow& row : counts) all += row.*verdict;
    return all;
  }
  KERF_FIELDS(name, error, kernels, calls, buffers, counts, claims)
};

/// All output code of a capture, or of a file that is output code.
struct AuditRequest {
  using Answer = std::vector<AuditedProgram>;
  static constexpr std::string_view name = "audit";
  std::string capture;

  KERF_FIELDS(capture)
};

}  // namespace kerf::workbench
