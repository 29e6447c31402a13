// Reads the arrow and library tables of resources/docs/architecture.md and fails on any #include they do not allow.
#include <gmock/gmock.h>

#include "tests/arch/arrow_table.h"

namespace kerf::arch {
namespace {

bool allows(const Table& table, const std::string& from, const std::string& to) {
  const auto row = table.find(from);
  return row != table.end() && std::ranges::any_of(row->second, [&](const auto& arrow) { return matches(to, arrow); });
}

std::vector<std::string> strayArrows(const Table& table, const std::vector<Include>& includes) {
  std::vector<std::string> stray;
  for (const auto& include : includes) {
    const auto from = leafOf(include.from), to = leafOf(include.header);
    if (include.quoted && isOurs(to) && to != from && !allows(table, from, to))
      stray.push_back(include.from + " includes " + include.header);
  }
  return stray;
}

/// Arrows that no include uses.
std::vector<std::string> idleArrows(const Table& table, const std::vector<Include>& includes) {
  std::map<std::string, std::set<std::string>> used;
  for (const auto& include : includes)
    if (include.quoted) used[leafOf(include.from)].insert(leafOf(include.header));
  std::vector<std::string> idle;
  for (const auto& [from, row] : table)
    for (const auto& arrow : row)
      if (std::ranges::none_of(used[from], [&](const auto& to) { return to != from && matches(to, arrow); }))
        idle.push_back(from + " -> " + arrow);
  return idle;
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

TEST(Arrows, EveryIncludeFollowsTheTable) {
  const auto includes = allIncludes();
  ASSERT_GT(includes.size(), 100u);
  EXPECT_THAT(strayArrows(arrows(architecture()), includes), ::testing::IsEmpty());
}

TEST(Arrows, LibrariesStayBehindTheirFolder) {
  EXPECT_THAT(strayLibraries(architecture(), allIncludes()), ::testing::IsEmpty());
}

TEST(Arrows, EveryFolderHasARowOfItsOwn) {
  const auto table = arrows(architecture());
  std::set<std::string> folders, lacking, gone;
  for (const auto& file : sourceFiles()) folders.insert(leafOf(file.path));
  for (const auto& folder : folders)
    if (!table.contains(folder)) lacking.insert(folder);
  for (const auto& [folder, row] : table)
    if (!folders.contains(folder)) gone.insert(folder);
  EXPECT_THAT(lacking, ::testing::IsEmpty()) << "these folders have no row in the arrows";
  EXPECT_THAT(gone, ::testing::IsEmpty()) << "these rows speak of no folder with sources";
}

TEST(Arrows, EveryArrowIsUsed) { EXPECT_THAT(idleArrows(arrows(architecture()), allIncludes()), ::testing::IsEmpty()); }

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

TEST(Arrows, AnIdleArrowIsSeen) {
  const Table table = {{"engine/ir", {"engine/tensor", "engine/support"}}, {"engine/lower", {"engine/*"}}};
  auto includes = includesOf("#include \"engine/tensor/tensor.h\"\n", "engine/ir/graph.cpp");
  EXPECT_THAT(idleArrows(table, includes),
              ::testing::ElementsAre("engine/ir -> engine/support", "engine/lower -> engine/*"));
}

/// A window that outlives every graph links nothing that could run or read one; the log and where recordings are is all
/// that it has of the engine.
TEST(Arrows, TheWindowSeesOnlyTheProtocol) {
  std::set<std::string> seen;
  for (const auto& include : allIncludes())
    if (include.quoted && (include.from.starts_with("ui/") || include.from.starts_with("app/studio/")))
      seen.insert(leafOf(include.header));
  std::erase_if(seen, [](const auto& folder) { return folder.starts_with("ui/") || !isOurs(folder); });
  EXPECT_THAT(seen, ::testing::UnorderedElementsAre("app/workbench/protocol", "engine/support"));
}

TEST(Size, NoSourceFileIsLongerThan500Lines) {
  for (const auto& file : sourceFiles()) EXPECT_LE(std::ranges::count(file.text, '\n'), 500) << file.path;
}

}  // namespace
}  // namespace kerf::arch
