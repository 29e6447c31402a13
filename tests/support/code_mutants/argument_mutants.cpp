// Faults of calls: two arguments exchanged.
#include <algorithm>
#include <utility>

#include "tests/support/code_mutants/mutant_tools.h"

namespace kerf::testing {
namespace {

/// Sizes, strides and element type with which a buffer was made or asserted: two of one text may stand for each other.
std::string layoutOf(const CodeLines& lines, const std::string& name) {
  for (const std::string& line : lines) {
    const std::string_view text = trimmedLine(line);
    if (text.starts_with(name + " = empty_strided")) return std::string(text.substr(text.find('(')));
    if (text.starts_with("assert_size_stride(" + name + ", ")) return std::string(text.substr(text.find(", ") + 2));
    if (text.starts_with(name + " = rand_strided")) return std::string(text.substr(text.find('(')));
  }
  return {};
}

/// The variable that kernel `kernel` loads parameter `index` into, and from where; empty where that is not one load.
std::pair<std::string, std::string> loadOf(const CodeLines& lines, const std::string& kernel, std::size_t index) {
  std::size_t at = 0;
  while (at < lines.size() && !lines[at].starts_with("def " + kernel + "(")) ++at;
  if (at == lines.size()) return {};
  const std::vector<std::string> parameters = callArguments(lines[at]);
  std::pair<std::string, std::string> found;
  for (; index < parameters.size() && at < lines.size() && !lines[at].starts_with("'''"); ++at) {
    const std::size_t load = lines[at].find(" = tl.load(" + parameters[index] + " + ");
    if (load == std::string::npos) continue;
    if (!found.first.empty()) return {};
    found = {std::string(trimmedLine(lines[at].substr(0, load))),
             lines[at].substr(load + 11 + parameters[index].size())};
  }
  return found;
}

/// Whether all that the kernel does with two of its arguments is to add or multiply them: exchanged, they are the same.
bool isSum(const CodeLines& lines, const std::string& call, const std::string& a, const std::string& b) {
  const std::string_view text = trimmedLine(call);
  const std::string kernel(text.substr(0, text.find_first_of(".(")));
  const std::vector<std::string> given = callArguments(call);
  const auto placeOf = [&](const std::string& name) {
    return std::size_t(std::ranges::find(given, name) - given.begin());
  };
  const auto first = loadOf(lines, kernel, placeOf(a)), second = loadOf(lines, kernel, placeOf(b));
  if (first.first.empty() || second.first.empty() || first.second != second.second) return false;
  std::size_t at = 0;
  while (at < lines.size() && !lines[at].starts_with("def " + kernel + "(")) ++at;
  int uses = 0, sums = 0;
  for (; at < lines.size() && !lines[at].starts_with("'''"); ++at) {
    const std::size_t equals = lines[at].find(" = ");
    const std::string right = equals == std::string::npos ? lines[at] : lines[at].substr(equals + 3);
    uses += hasWord(right, first.first) || hasWord(right, second.first) ? 1 : 0;
    for (const char* const sign : {" + ", " * "})
      sums += right == first.first + sign + second.first || right == second.first + sign + first.first ? 1 : 0;
  }
  return uses == 1 && sums == 1;
}

std::optional<CodeMutant> swapped(const CodeLines& lines, std::mt19937& random, bool isAlike) {
  for (int attempt = 0; attempt < 40; ++attempt) {
    const auto at =
        chooseLine(lines, random, [&](std::size_t i) { return isKernelCall(lines[i]) || isExternCall(lines[i]); });
    if (!at) return std::nullopt;
    std::vector<std::string> names = callArguments(lines[*at]);
    std::erase_if(names, [](const std::string& name) { return name.empty(); });
    if (names.size() < 2) continue;
    const std::string a = names[random() % names.size()], b = names[random() % names.size()];
    if (a == b) continue;
    const bool isSame = layoutOf(lines, a) == layoutOf(lines, b);
    if (isSame != isAlike) continue;
    if (isAlike && isSum(lines, lines[*at], a, b)) continue;
    CodeLines changed = lines;
    std::string& line = changed[*at];
    line.replace(findWord(line, a), a.size(), "SWAPPED");
    line.replace(findWord(line, b), b.size(), a);
    line.replace(findWord(line, "SWAPPED"), 7, b);
    return mutantOf(changed, *at, "swaps " + a + " and " + b, {a, b});
  }
  return std::nullopt;
}

}  // namespace

std::optional<CodeMutant> swappedArguments(const CodeLines& lines, std::mt19937& random) {
  return swapped(lines, random, false);
}
std::optional<CodeMutant> swappedTwins(const CodeLines& lines, std::mt19937& random) {
  return swapped(lines, random, true);
}

}  // namespace kerf::testing
