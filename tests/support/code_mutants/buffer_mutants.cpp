// Faults of buffers: reused too early, exchanged for another, laid out otherwise.
#include <algorithm>
#include <set>

#include "tests/support/code_mutants/mutant_tools.h"

namespace kerf::testing {

std::optional<CodeMutant> reuseTooEarly(const CodeLines& lines, std::mt19937& random) {
  const auto isReuse = [&](std::size_t i) { return lines[i].find("# reuse") != std::string::npos; };
  const auto at = chooseLine(lines, random, isReuse);
  if (!at) return std::nullopt;
  const std::string& line = lines[*at];
  const std::size_t del = line.find("; del ");
  std::string name;
  for (std::size_t i = del + 6; del != std::string::npos && i < line.size() && isWordCharacter(line[i]); ++i)
    name += line[i];
  std::size_t use = *at;
  while (use > 0 &&
         (!hasWord(lines[use - 1], name) || !(isKernelCall(lines[use - 1]) || isExternCall(lines[use - 1])))) {
    --use;
    if (lines[use].find("def call(") != std::string::npos) return std::nullopt;
  }
  if (use == 0) return std::nullopt;
  CodeLines changed = lines;
  changed.erase(changed.begin() + std::ptrdiff_t(*at));
  changed.insert(changed.begin() + std::ptrdiff_t(use - 1), line);
  return mutantOf(changed, use - 1, "reuses " + name + " before its last use", {name});
}

std::optional<CodeMutant> wrongBuffer(const CodeLines& lines, std::mt19937& random) {
  for (int attempt = 0; attempt < 20; ++attempt) {
    const auto at =
        chooseLine(lines, random, [&](std::size_t i) { return isKernelCall(lines[i]) || isExternCall(lines[i]); });
    if (!at) return std::nullopt;
    std::vector<std::string> names = callArguments(lines[*at]);
    std::erase_if(names, [](const std::string& name) { return name.empty(); });
    if (names.empty()) continue;
    const std::string old = names[random() % names.size()];
    // Another buffer that is alive there.
    std::set<std::string> alive;
    std::size_t begin = *at;
    while (begin > 0 && lines[begin].find("def call(") == std::string::npos) --begin;
    for (std::size_t i = begin; i < *at; ++i) {
      const std::string_view text = trimmedLine(lines[i]);
      if (text.starts_with("assert_size_stride(")) alive.insert(callArguments(lines[i])[0]);
      if (text.starts_with("buf") && text.find(" = empty_strided") != std::string_view::npos)
        alive.insert(std::string(text.substr(0, text.find(' '))));
      if (const std::size_t del = lines[i].find("del "); del != std::string::npos) {
        std::string gone;
        for (std::size_t k = del + 4; k < lines[i].size() && isWordCharacter(lines[i][k]); ++k) gone += lines[i][k];
        alive.erase(gone);
      }
    }
    alive.erase(old);
    for (const std::string& name : names) alive.erase(name);
    if (alive.empty()) continue;
    auto other = alive.begin();
    std::advance(other, std::ptrdiff_t(random() % alive.size()));
    CodeLines changed = lines;
    changed[*at].replace(findWord(changed[*at], old), old.size(), *other);
    return mutantOf(changed, *at, "takes " + *other + " for " + old, {old, *other});
  }
  return std::nullopt;
}

/// `(a, b, …), (s, t, …)`: two strides exchanged, of sizes that differ and are not 1.
std::optional<CodeMutant> exchangedStride(const CodeLines& lines, std::mt19937& random) {
  for (int attempt = 0; attempt < 40; ++attempt) {
    const auto at = chooseLine(lines, random, [&](std::size_t i) {
      const std::string_view text = trimmedLine(lines[i]);
      return text.starts_with("assert_size_stride(") || text.find(" = empty_strided_") != std::string_view::npos;
    });
    if (!at) return std::nullopt;
    const std::string& line = lines[*at];
    const std::size_t sizesAt = line.find('(', line.find('(') + 1);
    const std::size_t stridesAt = sizesAt == std::string::npos ? sizesAt : line.find('(', sizesAt + 1);
    if (stridesAt == std::string::npos) continue;
    const auto numbers = [&](std::size_t open) {
      std::vector<std::string> items;
      std::string item;
      for (std::size_t i = open + 1; i < line.size(); ++i) {
        if (line[i] == ',' || line[i] == ')') {
          if (!item.empty()) items.push_back(item);
          item.clear();
          if (line[i] == ')') break;
        } else if (line[i] != ' ') {
          item += line[i];
        }
      }
      return items;
    };
    const auto sizes = numbers(sizesAt);
    auto strides = numbers(stridesAt);
    if (sizes.size() < 2 || sizes.size() != strides.size()) continue;
    const std::size_t i = random() % sizes.size(), j = random() % sizes.size();
    if (i == j || sizes[i] == sizes[j] || sizes[i] == "1" || sizes[j] == "1" || strides[i] == strides[j]) continue;
    std::swap(strides[i], strides[j]);
    std::string text = "(";
    for (const std::string& each : strides) text += (text.size() > 1 ? ", " : "") + each;
    CodeLines changed = lines;
    changed[*at].replace(stridesAt, line.find(')', stridesAt) - stridesAt, text);
    const std::string_view statement = trimmedLine(line);
    const std::string name = statement.starts_with("assert_size_stride(")
                                 ? callArguments(line)[0]
                                 : std::string(statement.substr(0, statement.find(' ')));
    return mutantOf(changed, *at, "strides exchanged", {name});
  }
  return std::nullopt;
}

}  // namespace kerf::testing
