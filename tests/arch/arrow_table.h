// The tables of resources/docs/architecture.md, and the includes that they speak of.
#pragma once

#include <regex>

#include "tests/arch/source_tree.h"

namespace kerf::arch {

using Table = std::map<std::string, std::vector<std::string>>;

/// Lines of the fenced block ```name in `markdown`.
inline std::vector<std::string> block(const std::string& markdown, const std::string& name) {
  std::vector<std::string> lines;
  std::istringstream stream(markdown);
  bool inside = false;
  for (std::string line; std::getline(stream, line);) {
    if (line == "```" + name)
      inside = true;
    else if (line == "```")
      inside = false;
    else if (inside)
      lines.push_back(line);
  }
  return lines;
}

inline std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

/// The rows of the arrows; a line without an arrow continues the row above.
inline Table arrows(const std::string& markdown) {
  Table table;
  std::vector<std::string>* row = nullptr;
  for (const auto& line : block(markdown, "arrows")) {
    const auto at = line.find("->");
    if (at != std::string::npos) row = &table[words(line.substr(0, at)).at(0)];
    if (row) std::ranges::copy(words(at == std::string::npos ? line : line.substr(at + 2)), std::back_inserter(*row));
  }
  return table;
}

inline bool matches(const std::string& folder, const std::string& pattern) {
  if (pattern.ends_with("/*")) return folder.starts_with(pattern.substr(0, pattern.size() - 1));
  return folder == pattern;
}

struct Include {
  std::string from;    ///< file, relative to the source tree
  std::string folder;  ///< its second-level folder, "engine/ir"
  std::string header;
  bool quoted;
};

inline std::vector<Include> includesOf(const std::string& text, const std::string& file) {
  static const std::regex pattern(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"])");
  std::vector<Include> found;
  for (const std::string& line : linesOf(text)) {
    std::smatch match;
    if (line.find("include") == std::string::npos || !std::regex_search(line, match, pattern)) continue;
    found.push_back({file, folderOf(file), match[2], match[1] == "\""});
  }
  return found;
}

/// The folder that a file lies in: "engine/ops/core" of "engine/ops/core/op_row.h".
inline std::string leafOf(const std::string& path) { return fs::path(path).parent_path().generic_string(); }

/// Whether the folder is the product's, not one of an outside library.
inline bool isOurs(const std::string& folder) {
  static const std::set<std::string> tops = {"app", "ui", "engine", "minifier", "storage"};
  return folder.find('/') != std::string::npos && tops.contains(folder.substr(0, folder.find('/')));
}

inline std::vector<Include> allIncludes() {
  std::vector<Include> all;
  for (const auto& file : sourceFiles())
    for (auto& include : includesOf(file.text, file.path)) all.push_back(std::move(include));
  return all;
}

inline std::string architecture() { return readFile(fs::path(KERF_SOURCE_DIR) / "resources/docs/architecture.md"); }

}  // namespace kerf::arch
