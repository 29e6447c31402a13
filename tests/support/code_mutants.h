// Faults put into output code: one statement of a program that Inductor wrote is changed, chosen by a seed.
#pragma once

#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

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

std::vector<std::string> codeLines(std::string_view text);

}  // namespace kerf::testing
