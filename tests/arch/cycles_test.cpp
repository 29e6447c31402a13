// No folder sees itself, through whatever others: neither by the includes, nor by the table of arrows.
#include <gmock/gmock.h>

#include "tests/arch/arrow_table.h"

namespace kerf::arch {
namespace {

/// Folder → the folders that it sees, each with what shows it.
using Edges = std::map<std::string, std::map<std::string, std::string>>;

/// By their real directories, whatever the table says.
Edges edgesOf(const std::vector<Include>& includes) {
  Edges edges;
  for (const auto& include : includes) {
    const auto from = leafOf(include.from), to = leafOf(include.header);
    if (include.quoted && isOurs(to) && to != from)
      edges[from].emplace(to, include.from + " includes " + include.header);
  }
  return edges;
}

/// An arrow with a star means every other row that it matches.
Edges edgesOf(const Table& table) {
  Edges edges;
  for (const auto& [from, row] : table)
    for (const auto& arrow : row)
      for (const auto& [to, unused] : table)
        if (matches(to, arrow) && (to != from || arrow == from)) edges[from].emplace(to, from + " -> " + arrow);
  return edges;
}

/// The folders that `from` sees, straight or through others.
std::set<std::string> seenFrom(const Edges& edges, const std::string& from) {
  std::set<std::string> seen;
  std::vector<std::string> open = {from};
  while (!open.empty()) {
    const auto row = edges.find(open.back());
    open.pop_back();
    if (row == edges.end()) continue;
    for (const auto& [to, unused] : row->second)
      if (seen.insert(to).second) open.push_back(to);
  }
  return seen;
}

/// What shows each edge between two folders that see each other; empty if none do.
std::vector<std::string> cyclesIn(const Edges& edges) {
  std::map<std::string, std::set<std::string>> seen;
  for (const auto& [from, row] : edges) seen[from] = seenFrom(edges, from);
  std::vector<std::string> shown;
  for (const auto& [from, row] : edges)
    for (const auto& [to, what] : row)
      if (to == from || (seen.contains(to) && seen.at(to).contains(from))) shown.push_back(what);
  return shown;
}

TEST(Cycles, NoFoldersIncludeEachOther) {
  const Edges edges = edgesOf(allIncludes());
  ASSERT_GT(edges.size(), 50u);
  EXPECT_THAT(cyclesIn(edges), ::testing::IsEmpty());
}

TEST(Cycles, TheTableHasNone) { EXPECT_THAT(cyclesIn(edgesOf(arrows(architecture()))), ::testing::IsEmpty()); }

TEST(Cycles, APlantedCycleOfIncludesIsSeen) {
  auto includes = includesOf("#include \"engine/capture/text/capture.h\"\n", "engine/capture/repro/reader.cpp");
  const auto add = [&](const char* text, const char* file) {
    std::ranges::copy(includesOf(text, file), std::back_inserter(includes));
  };
  add("#include \"engine/capture/common/json.h\"\n", "engine/capture/text/capture.cpp");
  EXPECT_THAT(cyclesIn(edgesOf(includes)), ::testing::IsEmpty());
  add("#include \"engine/capture/repro/writer.h\"\n", "engine/capture/common/json.cpp");
  EXPECT_THAT(
      cyclesIn(edgesOf(includes)),
      ::testing::UnorderedElementsAre("engine/capture/common/json.cpp includes engine/capture/repro/writer.h",
                                      "engine/capture/text/capture.cpp includes engine/capture/common/json.h",
                                      "engine/capture/repro/reader.cpp includes engine/capture/text/capture.h"));
}

TEST(Cycles, APlantedCycleOfTheTreeIsSeen) {
  auto includes = allIncludes();
  std::ranges::copy(includesOf("#include \"engine/pipeline/compile_fx.h\"\n", "engine/support/error.cpp"),
                    std::back_inserter(includes));
  EXPECT_THAT(cyclesIn(edgesOf(includes)),
              ::testing::Contains("engine/support/error.cpp includes engine/pipeline/compile_fx.h"));
}

TEST(Cycles, APlantedCycleOfTheTableIsSeen) {
  Table table = {
      {"engine/ops/core", {"engine/support"}}, {"engine/ops/nn", {"engine/ops/core"}}, {"engine/support", {}}};
  EXPECT_THAT(cyclesIn(edgesOf(table)), ::testing::IsEmpty());
  table["engine/support"] = {"engine/ops/*"};
  EXPECT_THAT(cyclesIn(edgesOf(table)),
              ::testing::UnorderedElementsAre("engine/ops/core -> engine/support", "engine/ops/nn -> engine/ops/core",
                                              "engine/support -> engine/ops/*", "engine/support -> engine/ops/*"));
}

}  // namespace
}  // namespace kerf::arch
