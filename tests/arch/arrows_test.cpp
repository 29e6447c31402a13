// Reads the arrow and library tables of resources/docs/architecture.md and fails on any #include they do not allow.
#include <regex>

#include <gmock/gmock.h>

#include "tests/arch/source_tree.h"

namespace kerf::arch {
namespace {

using Table = std::map<std::string, std::vector<std::string>>;

/// Lines of the fenced block ```name in `markdown`.
std::vector<std::string> block(const std::string& markdown, const std::string& name) {
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

std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

Table arrows(const std::string& markdown) {
  Table table;
  for (const auto& line : block(markdown, "arrows")) {
    const auto at = line.find("->");
    table[words(line.substr(0, at)).at(0)] = words(line.substr(at + 2));
  }
  return table;
}

bool matches(const std::string& folder, const std::string& pattern) {
  if (pattern.ends_with("/*")) return folder.starts_with(pattern.substr(0, pattern.size() - 1));
  return folder == pattern;
}

struct Include {
  std::string from;    ///< file, relative to the source tree
  std::string folder;  ///< its folder, "engine/ir"
  std::string header;
  bool quoted;
};

std::vector<Include> includesOf(const std::string& text, const std::string& file) {
  static const std::regex pattern(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"])");
  std::vector<Include> found;
  for (const std::string& line : linesOf(text)) {
    std::smatch match;
    if (line.find("include") == std::string::npos || !std::regex_search(line, match, pattern)) continue;
    found.push_back({file, folderOf(file), match[2], match[1] == "\""});
  }
  return found;
}

std::vector<Include> allIncludes() {
  std::vector<Include> all;
  for (const auto& file : sourceFiles())
    for (auto& include : includesOf(file.text, file.path)) all.push_back(std::move(include));
  return all;
}

/// The row that speaks of a file: its own folder's where there is one, else that of the folder above.
std::string rowOf(const Table& table, const std::string& path) {
  auto folder = fs::path(path).parent_path().generic_string();
  while (!table.contains(folder) && folder != folderOf(path)) folder = fs::path(folder).parent_path().generic_string();
  return folder;
}

std::vector<std::string> strayArrows(const Table& table, const std::vector<Include>& includes) {
  std::vector<std::string> stray;
  for (const auto& include : includes) {
    if (!include.quoted || include.header.find('/') == std::string::npos) continue;
    const auto from = rowOf(table, include.from), to = rowOf(table, include.header);
    if (to == from || to.find('/') == std::string::npos) continue;
    const auto row = table.find(from);
    const bool allowed = row != table.end() &&
                         std::ranges::any_of(row->second, [&](const auto& pattern) { return matches(to, pattern); });
    if (!allowed) stray.push_back(include.from + " includes " + include.header);
  }
  return stray;
}

bool namesLibrary(const std::string& header, const std::string& pattern) {
  if (pattern == "Q*.h") return header.size() > 1 && header[0] == 'Q' && std::isupper(header[1]) != 0;
  if (pattern == "Qt*") return header.starts_with("Qt");
  return header.starts_with(pattern);
}

std::vector<std::string> strayLibraries(const std::string& markdown, const std::vector<Include>& includes) {
  std::vector<std::string> stray;
  for (const auto& line : block(markdown, "libraries")) {
    const auto cells = words(line);
    std::istringstream patterns(cells.at(0));
    for (std::string pattern; std::getline(patterns, pattern, '|');) {
      for (const auto& include : includes) {
        const bool ours = std::any_of(cells.begin() + 1, cells.end(),
                                      [&](const auto& folder) { return matches(include.folder, folder); });
        if (!include.quoted && !ours && namesLibrary(include.header, pattern))
          stray.push_back(include.from + " includes <" + include.header + ">");
      }
    }
  }
  return stray;
}

std::string architecture() { return readFile(fs::path(KERF_SOURCE_DIR) / "resources/docs/architecture.md"); }

TEST(Arrows, EveryIncludeFollowsTheTable) {
  const auto includes = allIncludes();
  ASSERT_GT(includes.size(), 100u);
  EXPECT_THAT(strayArrows(arrows(architecture()), includes), ::testing::IsEmpty());
}

TEST(Arrows, LibrariesStayBehindTheirFolder) {
  EXPECT_THAT(strayLibraries(architecture(), allIncludes()), ::testing::IsEmpty());
}

TEST(Arrows, EveryFolderHasARow) {
  const auto table = arrows(architecture());
  std::set<std::string> folders;
  for (const auto& include : allIncludes()) folders.insert(include.folder);
  for (const auto& folder : folders) EXPECT_TRUE(table.contains(folder)) << folder << " is missing from the table";
}

TEST(Arrows, AStrayIncludeIsSeen) {
  const auto table = arrows(architecture());
  const auto bad = includesOf("#include \"engine/pipeline/compile_fx.h\"\n", "engine/ir/graph.cpp");
  EXPECT_EQ(strayArrows(table, bad),
            std::vector<std::string>{"engine/ir/graph.cpp includes engine/pipeline/compile_fx.h"});
  for (const char* header : {"engine/ir/graph.h", "minifier/oracle/oracle.h", "app/workbench/workbench.h"}) {
    const auto window = includesOf(fmt::format("#include \"{}\"\n", header), "ui/session/session.cpp");
    EXPECT_EQ(strayArrows(table, window).size(), 1u) << "a window must not include " << header;
  }
  const auto qt = includesOf("#include <QWidget>\n", "engine/ir/graph.cpp");
  EXPECT_THAT(strayLibraries(architecture(), qt), ::testing::ElementsAre("engine/ir/graph.cpp includes <QWidget>"));
}

/// A window that outlives every graph links nothing that could run or read one; the log and where recordings are is all
/// that it has of the engine.
TEST(Arrows, TheWindowSeesOnlyTheProtocol) {
  std::set<std::string> seen;
  for (const auto& include : allIncludes())
    if (include.quoted && (include.from.starts_with("ui/") || include.from.starts_with("app/studio/")))
      seen.insert(rowOf(arrows(architecture()), include.header));
  std::erase_if(seen, [](const auto& folder) { return folder.starts_with("ui/"); });
  EXPECT_THAT(seen, ::testing::UnorderedElementsAre("app/workbench/protocol", "engine/support"));
}

TEST(Size, NoSourceFileIsLongerThan500Lines) {
  for (const auto& file : sourceFiles()) EXPECT_LE(std::ranges::count(file.text, '\n'), 500) << file.path;
}

}  // namespace
}  // namespace kerf::arch
