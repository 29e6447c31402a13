// Faults put into output code: one statement of a program that Inductor wrote is changed, chosen by a seed.
#pragma once

#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "engine/audit/audit_claim.h"

namespace kerf::testing {

struct CodeMutant {
  std::string text;
  int line = 0;                    ///< 1-based, of the changed statement, in `text`
  std::string change;              ///< what was done
  std::vector<std::string> names;  ///< buffers or kernels that the fault concerns
};

using CodeMutation = std::optional<CodeMutant> (*)(const std::vector<std::string>& lines, std::mt19937& random);
struct MutantKind {
  std::string_view name;
  CodeMutation make;  ///< nothing where the program has no place for such a fault
};

/// "reuse too early", "wrong buffer", "index off by one", …
const std::vector<MutantKind>& mutantKinds();

/// Whether a claim names the statement that was changed: that line, one that uses what was confused, or what a statement
/// that is gone wrote; of a change inside of a kernel, its text or a call of it.
bool namesStatement(const CodeMutant& mutant, const AuditClaim& claim);

std::vector<std::string> codeLines(std::string_view text);

}  // namespace kerf::testing
