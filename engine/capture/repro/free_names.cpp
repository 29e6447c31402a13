#include "engine/capture/repro/free_names.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "engine/capture/audit/audit_lexer.h"

namespace kerf::inline capture {
namespace {

struct Import {
  std::string_view name, line;
};
constexpr std::array<Import, 8> imports = {{{"torch", "import torch"},
                                            {"tensor", "from torch import tensor"},
                                            {"device", "from torch import device"},
                                            {"inf", "from math import inf"},
                                            {"nan", "from math import nan"},
                                            {"math", "import math"},
                                            {"operator", "import operator"},
                                            {"_operator", "import operator as _operator"}}};

bool isWordCharacter(unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c >= 0x80; }

bool hasWord(std::string_view line, std::string_view word) {
  for (std::size_t at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !isWordCharacter(line[at - 1])) && (end == line.size() || !isWordCharacter(line[end]))) return true;
  }
  return false;
}

/// Whether a line at the start of `header` imports the name: the last word of its kind counts ("import a as b").
bool binds(std::string_view header, std::string_view name) {
  for (std::size_t at = 0; at < header.size();) {
    const std::size_t end = std::min(header.find('\n', at), header.size());
    const std::string_view line = header.substr(at, end - at);
    const std::size_t names = line.starts_with("from ") ? line.find(" import ") : 0;
    const bool isImport = line.starts_with("import ") || (line.starts_with("from ") && names != std::string_view::npos);
    if (isImport && hasWord(line.substr(names), name)) return true;
    at = end + 1;
  }
  return false;
}

/// Calls `take` for each name of the text that is no attribute, keyword or text.
template <typename Take>
void forNames(std::string_view text, Take take) {
  const auto tokens = auditTokens(text);
  if (!tokens) return;
  for (std::size_t i = 0; i < tokens->size(); ++i) {
    const AuditToken& token = (*tokens)[i];
    const bool isAttribute = i > 0 && (*tokens)[i - 1].text == ".";
    if (token.kind == AuditKind::Name && !isAttribute) take(token.text);
  }
}

}  // namespace

std::string importsFor(std::string_view text, std::string_view header) {
  std::array<bool, imports.size()> used{};
  forNames(text, [&](std::string_view name) {
    const auto* found = std::ranges::find(imports, name, &Import::name);
    if (found != imports.end()) used[std::size_t(found - imports.begin())] = true;
  });
  std::string lines;
  for (std::size_t i = 0; i < imports.size(); ++i)
    if (used[i] && !binds(header, imports[i].name)) lines += std::string(imports[i].line) + "\n";
  return lines;
}

std::vector<std::string> compilerNames(std::string_view text) {
  constexpr std::array<std::string_view, 2> beginnings = {"torch__dynamo_", "torch__inductor_"};
  std::vector<std::string> names;
  // Few texts have one, and taking the text of a large graph apart takes as long as half of reading it.
  const auto isThere = [&](std::string_view beginning) { return text.find(beginning) != std::string_view::npos; };
  if (std::ranges::none_of(beginnings, isThere)) return names;
  forNames(text, [&](std::string_view name) {
    const bool isOne = std::ranges::any_of(beginnings, [&](std::string_view b) { return name.starts_with(b); });
    if (isOne && std::ranges::find(names, name) == names.end()) names.emplace_back(name);
  });
  return names;
}

}  // namespace kerf::inline capture
