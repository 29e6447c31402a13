// Lines "pattern NAME: DESCRIPTION", "search" and "replace", and what stands between them.
#include "engine/patterns/pattern_file.h"

#include <algorithm>
#include <optional>

#include "engine/ir/parser.h"

namespace kerf::inline patterns {

namespace {

/// A line that begins a part of the file, or the part's text.
struct Section {
  enum class Kind : std::uint8_t { Pattern, Search, Replace };
  Kind kind = Kind::Pattern;
  std::string title;  ///< of a pattern: what follows the word
  int line = 0;
  std::string body;  ///< from the next line on
};

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  return first == text.npos ? std::string_view() : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::optional<Section> heading(std::string_view line, int number) {
  const std::string_view words = trimmed(line);
  if (words == "search" || words == "search:") return Section{Section::Kind::Search, "", number, ""};
  if (words == "replace" || words == "replace:") return Section{Section::Kind::Replace, "", number, ""};
  if (!line.starts_with("pattern ")) return std::nullopt;
  return Section{Section::Kind::Pattern, std::string(trimmed(line.substr(8))), number, ""};
}

Result<std::vector<Section>> sectionsOf(std::string_view text) {
  std::vector<Section> sections;
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (auto begun = heading(line, number)) {
      sections.push_back(std::move(*begun));
      continue;
    }
    const std::string_view words = trimmed(line);
    const bool holdsGraph = !sections.empty() && sections.back().kind != Section::Kind::Pattern;
    if (holdsGraph)
      sections.back().body += std::string(line) + "\n";
    else if (!words.empty() && !words.starts_with('#'))
      return fail(ErrorCode::BadInput, "line {}: \"{}\" is no \"pattern NAME\", \"search\" or \"replace\"", number,
                  words);
  }
  return sections;
}

Result<Graph> readGraph(const Section& section, std::size_t first) {
  if (section.body.compare(first, 5, "graph") == 0) return parseGraphText(section.body, section.line + 1);
  KERF_TRY(GraphModule module, parseReadable(section.body, section.line + 1));
  return std::move(module.graph);
}

Result<Graph> graphOf(const Section& section) {
  const auto first = section.body.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return fail(ErrorCode::BadInput, "line {}: a graph must follow", section.line);
  auto graph = readGraph(section, first);
  if (graph || graph.error().line == 0) return graph;
  return fail(graph.error().code, "line {}: {}", graph.error().line, graph.error().message);
}

/// The pattern whose three sections begin at `at`.
Result<FilePattern> patternAt(const std::vector<Section>& sections, std::size_t at) {
  const Section& title = sections[at];
  const auto is = [&](std::size_t i, Section::Kind kind) { return i < sections.size() && sections[i].kind == kind; };
  if (!is(at, Section::Kind::Pattern))
    return fail(ErrorCode::BadInput, "line {}: a \"pattern NAME\" must come first", title.line);
  if (!is(at + 1, Section::Kind::Search) || !is(at + 2, Section::Kind::Replace))
    return fail(ErrorCode::BadInput, "line {}: pattern {} needs a \"search\" graph and then a \"replace\" graph",
                title.line, title.title);
  const std::size_t colon = title.title.find(':');
  FilePattern pattern{.name = std::string(trimmed(std::string_view(title.title).substr(0, colon))), .line = title.line};
  if (colon != std::string::npos) pattern.description = trimmed(std::string_view(title.title).substr(colon + 1));
  if (pattern.name.empty()) return fail(ErrorCode::BadInput, "line {}: the pattern has no name", title.line);
  KERF_TRY(pattern.search, graphOf(sections[at + 1]));
  KERF_TRY(pattern.replace, graphOf(sections[at + 2]));
  return pattern;
}

}  // namespace

Result<std::vector<FilePattern>> parsePatternFile(std::string_view text) {
  KERF_TRY(const std::vector<Section> sections, sectionsOf(text));
  if (sections.empty()) return fail(ErrorCode::BadInput, "there is no \"pattern NAME\" in it");
  std::vector<FilePattern> patterns;
  for (std::size_t at = 0; at < sections.size(); at += 3) {
    KERF_TRY(FilePattern pattern, patternAt(sections, at));
    patterns.push_back(std::move(pattern));
  }
  return patterns;
}

}  // namespace kerf::inline patterns
