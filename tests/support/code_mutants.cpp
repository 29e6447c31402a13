#include "tests/support/code_mutants.h"

#include <algorithm>

#include "tests/support/code_mutants/mutant_tools.h"

namespace kerf::testing {

const std::vector<MutantKind>& mutantKinds() {
  static const std::vector<MutantKind> kinds = {
      {"reuse too early", reuseTooEarly},     {"wrong buffer", wrongBuffer},    {"index off by one", offByOne},
      {"tail without mask", noMask},          {"missing store", missingStore},  {"swapped arguments", swappedArguments},
      {"swapped twins", swappedTwins},        {"dropped copy_", droppedCopy},   {"exchanged stride", exchangedStride},
      {"accumulator dtype", accumulatorType}, {"missing atomic", missingAtomic}};
  return kinds;
}

namespace {

/// "triton_poi_fused_0" where line `at` lies in its text; empty for lines of the wrapper.
std::string kernelAround(const CodeLines& lines, std::size_t at) {
  for (std::size_t i = std::min(at, lines.size() - 1) + 1; i-- > 0;) {
    if (lines[i].starts_with("'''") && i != at) return {};
    const std::size_t define = lines[i].find(" = async_compile.");
    if (define != std::string::npos) return lines[i].substr(0, define);
  }
  return {};
}

}  // namespace

bool namesStatement(const CodeMutant& mutant, const AuditClaim& claim) {
  const CodeLines lines = codeLines(mutant.text);
  const std::string kernel = kernelAround(lines, std::size_t(mutant.line) - 1);
  const bool isGone = mutant.change.starts_with("no copy_");
  if (isGone &&
      std::ranges::any_of(mutant.names, [&](const std::string& name) { return hasWord(claim.subject, name); }))
    return true;
  for (const int each : {claim.line, claim.otherLine}) {
    if (each < 1 || std::size_t(each) > lines.size()) continue;
    if (each == mutant.line) return true;
    const std::string& text = lines[std::size_t(each) - 1];
    if (!kernel.empty() && (hasWord(text, kernel) || kernelAround(lines, std::size_t(each) - 1) == kernel)) return true;
    if (std::ranges::any_of(mutant.names, [&](const std::string& name) { return hasWord(text, name); })) return true;
  }
  return false;
}

std::vector<std::string> codeLines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace kerf::testing
