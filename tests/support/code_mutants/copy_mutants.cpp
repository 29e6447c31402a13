// A copy into an input that is not made any more.
#include <algorithm>
#include <cctype>
#include <utility>

#include "tests/support/code_mutants/mutant_tools.h"

namespace kerf::testing {
namespace {

/// "cpp_fused_add_copy__relu_0", not "triton_poi_fused__to_copy__unsafe_index_0".
bool copiesByName(std::string_view name) {
  for (std::size_t at = name.find("copy__"); at != std::string_view::npos; at = name.find("copy__", at + 1))
    if (at < 4 || name.substr(at - 4, 4) != "_to_") return true;
  return false;
}

bool isInputName(std::string_view name) { return name.starts_with("arg") || name.starts_with("primals_"); }

/// What a call of a kernel gives for the parameters that it writes, where that is an input: parameter and input.
std::vector<std::pair<std::string, std::string>> writtenInputs(const CodeLines& lines, std::size_t call) {
  const std::string_view text = trimmedLine(lines[call]);
  const std::string kernel(text.substr(0, text.find_first_of(".(")));
  const std::vector<std::string> given = callArguments(lines[call]);
  std::vector<std::pair<std::string, std::string>> found;
  std::size_t at = 0;
  while (at < lines.size() && lines[at].find(kernel + " = async_compile.") == std::string::npos) ++at;
  std::size_t parameter = 0;
  bool isHeader = false;
  for (; at < lines.size() && parameter < given.size(); ++at) {
    isHeader =
        isHeader || lines[at].find("void  kernel(") != std::string::npos || lines[at].starts_with("def " + kernel);
    if (!isHeader) continue;
    for (std::size_t place = lines[at].find("_ptr"); place != std::string::npos && parameter < given.size();
         place = lines[at].find("_ptr", place + 1)) {
      std::size_t begin = place, end = place + 4;
      while (begin > 0 && isWordCharacter(lines[at][begin - 1])) --begin;
      while (end < lines[at].size() && isWordCharacter(lines[at][end])) ++end;
      const std::string name = lines[at].substr(begin, end - begin);
      if (name.starts_with("out_ptr") && isInputName(given[parameter])) found.emplace_back(name, given[parameter]);
      ++parameter;
    }
    if (lines[at].find(')') != std::string::npos) break;
  }
  return found;
}

}  // namespace

/// A statement that copies into an input, or a kernel that does nothing else; of a kernel that does more, the store.
std::optional<CodeMutant> droppedCopy(const CodeLines& lines, std::mt19937& random) {
  const auto at = chooseLine(lines, random, [&](std::size_t i) {
    if (lines[i].find(".copy_(") != std::string::npos) return true;
    return isKernelCall(lines[i]) && copiesByName(trimmedLine(lines[i])) && !writtenInputs(lines, i).empty();
  });
  if (!at) return std::nullopt;
  CodeLines changed = lines;
  if (!isKernelCall(lines[*at])) {
    std::vector<std::string> names;
    const std::string_view text = trimmedLine(lines[*at]);
    std::string name(text.substr(0, text.find(".copy_(")));
    if (const std::size_t open = name.find('('); open != std::string::npos) name = callArguments(name + ')')[0];
    changed[*at].clear();
    return mutantOf(changed, *at, "no copy_ into " + name, {name});
  }
  const auto written = writtenInputs(lines, *at);
  const std::vector<std::string> given = callArguments(lines[*at]);
  const auto inputs = std::ranges::count_if(given, [](const std::string& each) { return each.starts_with("buf"); });
  const auto& [parameter, input] = written[random() % written.size()];
  const std::string_view text = trimmedLine(lines[*at]);
  const std::string kernel(text.substr(0, text.find_first_of(".(")));
  if (inputs == 0) {
    changed[*at].clear();
    return mutantOf(changed, *at, "no copy_ into " + input, {input});
  }
  std::size_t line = 0;
  while (line < lines.size() && lines[line].find(kernel + " = async_compile.") == std::string::npos) ++line;
  std::size_t first = 0;
  for (; line < lines.size() && !lines[line].starts_with("'''") && line < *at; ++line) {
    const bool isStore = hasWord(lines[line], parameter) && (lines[line].find("tl.store(") != std::string::npos ||
                                                             lines[line].find(".store(") != std::string::npos ||
                                                             lines[line].find("] = ") != std::string::npos);
    if (!isStore) continue;
    changed[line].clear();
    first = first == 0 ? line : first;
  }
  if (first == 0) return std::nullopt;
  return mutantOf(changed, first, "no copy_ into " + input, {input});
}

}  // namespace kerf::testing
