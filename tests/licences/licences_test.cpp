// Nothing is linked, loaded, included or installed whose licence resources/docs/third-parties.md does not name and
// allow.
#include <fstream>
#include <regex>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/licences/linked.h"
#include "tests/licences/third_parties.h"

namespace kerf::licences {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const fs::path source = KERF_SOURCE_DIR, binary = KERF_BINARY_DIR;

std::string readFile(const fs::path& path) {
  std::ifstream stream(path);
  EXPECT_TRUE(stream) << path;
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

const std::string& page() {
  static const std::string text = readFile(source / "resources/docs/third-parties.md");
  return text;
}

const ThirdParties& thirdParties() {
  static const ThirdParties table(page());
  return table;
}

std::vector<std::string> objectionsTo(const ThirdParties& table, const fs::path& file) {
  std::vector<std::string> objections;
  for (const auto& [library, users] : loadedWith(file)) {
    const std::string objection = table.objection(stemOf(library), "dynamic");
    if (!objection.empty()) objections.push_back(library + " (needed by " + users.front() + "): " + objection);
  }
  return objections;
}

/// All matches of the pattern's first group.
std::vector<std::string> allMatches(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  std::vector<std::string> found;
  for (std::sregex_iterator match(text.begin(), text.end(), regex), end; match != end; ++match)
    found.push_back((*match)[1]);
  return found;
}

/// "bin/kerf", and the window's program where it is built.
std::vector<std::string> programs() {
  std::vector<std::string> found{"bin/kerf"};
  if (KERF_HAS_WINDOW) found.push_back("bin/kerf-studio");
  return found;
}

TEST(Licences, OfAllThatTheProgramsLoadAreAllowed) {
  for (const auto& program : programs()) {
    EXPECT_THAT(objectionsTo(thirdParties(), binary / program), IsEmpty()) << program;
    EXPECT_GT(loadedWith(binary / program).size(), 15u) << program;
  }
}

TEST(Licences, OfAllThatIsLinkedAreAllowed) {
  const std::string ninja = readFile(binary / "build.ninja");
  for (const auto& program : programs()) {
    const auto libraries = linkLineOf(ninja, program);
    EXPECT_GT(libraries.size(), 5u) << program;
    for (const auto& library : libraries)
      EXPECT_EQ(thirdParties().objection(stemOf(library), library.ends_with(".a") ? "static" : "dynamic"), "")
          << library;
  }
}

/// Which platform and picture formats there are, Qt finds out at run time.
TEST(Licences, OfQtsPluginsAreAllowed) {
  if (!KERF_HAS_WINDOW) GTEST_SKIP() << "this build has no window";
  int looked = 0;
  for (const auto& plugin : thirdParties().plugins()) {
    const fs::path file = fs::path(KERF_QT_PLUGINS) / plugin;
    if (!fs::exists(file)) continue;  // comes with a package that this machine lacks
    EXPECT_THAT(objectionsTo(thirdParties(), file), IsEmpty()) << plugin;
    ++looked;
  }
  EXPECT_GT(looked, 3) << KERF_QT_PLUGINS;
}

TEST(Licences, WhatCMakeLooksForIsOnTheList) {
  const std::string text = readFile(source / "packaging/cmake/KerfDependencies.cmake");
  std::vector<std::string> names = allMatches(text, R"(find_package\((\w+))");
  for (const char* pattern : {R"(kerf_find_library\(\S+ \S+ (\w+)\))", R"(find_library\([A-Z_]+ (\w+))"})
    std::ranges::copy(allMatches(text, pattern), std::back_inserter(names));
  EXPECT_GT(names.size(), 12u);
  for (const auto& name : names) EXPECT_NE(thirdParties().find(name), nullptr) << name;
}

TEST(Licences, EachInstalledLibraryIsOnTheList) {
  const auto packages = allMatches(readFile(source / "packaging/bootstrap.sh"), R"([ (]((?:lib)?[a-z0-9+-]+-dev))");
  EXPECT_GT(packages.size(), 15u);
  for (const auto& package : packages) EXPECT_NE(thirdParties().findPackage(package), nullptr) << package;
}

/// Headers alone make a library too, and what is opened at run time is no program's NEEDED.
TEST(Licences, WhatSourcesIncludeAndOpenIsOnTheList) {
  std::set<std::string> included, opened;
  for (const char* top : {"app", "ui", "engine", "minifier", "storage"})
    for (const auto& entry : fs::recursive_directory_iterator(source / top)) {
      if (entry.path().extension() != ".h" && entry.path().extension() != ".cpp") continue;
      const std::string text = readFile(entry.path());
      for (const auto& folder : allMatches(text, "#include <([A-Za-z0-9_]+/)")) included.insert(folder);
      if (text.find("dlopen") == std::string::npos && text.find("SharedLibrary") == std::string::npos) continue;
      for (const auto& library : allMatches(text, R"re("(lib[A-Za-z0-9]+)(?:\.so[.0-9]*)?")re")) opened.insert(library);
    }
  EXPECT_TRUE(included.contains("llvm/") && included.contains("nlohmann/"));
  EXPECT_TRUE(opened.contains("libnvrtc") && opened.contains("libcuda"));
  for (const auto& folder : included) EXPECT_NE(thirdParties().find(folder), nullptr) << folder;
  for (const auto& library : opened) {
    const auto* row = thirdParties().find(library);
    ASSERT_NE(row, nullptr) << library;
    EXPECT_TRUE(row->uses.contains("loaded")) << library;
  }
}

TEST(Licences, NoRowIsOutsideWhatIsAllowed) {
  EXPECT_GT(thirdParties().rows().size(), 40u);
  for (const auto& row : thirdParties().rows())
    for (const char* use : {"dynamic", "static", "headers"})
      EXPECT_TRUE(!row.uses.contains(use) || thirdParties().allows(row.licence, use))
          << row.name << ": " << row.licence;
}

/// GPL with an exception for programs that link the library is no trap; AGPL has none.
TEST(Licences, NoGplIsAllowedWithoutAnException) {
  EXPECT_GT(thirdParties().everywhere().size(), 5u);
  for (const auto* allowed : {&thirdParties().everywhere(), &thirdParties().replaceable()})
    for (const auto& licence : *allowed) {
      const bool strong = licence.starts_with("GPL") || licence.starts_with("AGPL");
      EXPECT_TRUE(!strong || licence.find(" WITH ") != std::string::npos) << licence;
    }
  for (const auto& licence : thirdParties().everywhere())
    EXPECT_FALSE(licence.starts_with("LGPL")) << "asks that the library can be replaced";
}

TEST(Licences, TheNoticeNamesWhatIsPartOfThePackage) {
  const std::string notice = readFile(source / "NOTICE");
  for (const auto& row : thirdParties().rows()) {
    const bool inside = row.uses.contains("static") || row.uses.contains("headers");
    EXPECT_TRUE(!inside || notice.find(row.name.substr(0, row.name.find(','))) != std::string::npos) << row.name;
  }
  EXPECT_THAT(readFile(source / "packaging/cmake/KerfInstall.cmake"), HasSubstr("NOTICE"));
}

const fs::path planted = binary / "planted/libkerf_planted_top.so";
constexpr const char* listed =
    "| Planted | `libkerf_planted_top` `libkerf_planted_middle` | `none` | 1 | dynamic | MIT |\n";

TEST(LicencesPlanted, ALibraryThatIsNotOnTheListIsFound) {
  const std::vector<std::string> found = objectionsTo(thirdParties(), planted);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_THAT(found[0], HasSubstr("libkerf_planted_middle is not on the list"));
}

TEST(LicencesPlanted, AGplLibraryBehindAnAllowedOneIsFound) {
  const auto with = [](const std::string& licence) {
    return objectionsTo(
        ThirdParties(page() + listed + "| Other | `libkerf_planted_unlisted` | `none` | 1 | dynamic | " + licence +
                     " |\n"),
        planted);
  };
  EXPECT_THAT(with("MIT"), IsEmpty());
  EXPECT_THAT(with("LGPL-3.0-only OR GPL-2.0-only"), IsEmpty());
  for (const char* licence :
       {"GPL-3.0-or-later", "GPL-2.0-only OR GPL-3.0-only", "MIT AND GPL-3.0-only", "AGPL-3.0-only", "", "Proprietary"})
    EXPECT_THAT(with(licence),
                ElementsAre(HasSubstr("libkerf_planted_unlisted.so (needed by libkerf_planted_middle.so)")))
        << licence;
}

TEST(LicencesPlanted, StaticUseOfALesserGplLibraryIsFound) {
  const ThirdParties table(page() + "| Weak | `libweak` | `none` | 1 | dynamic, static | LGPL-2.1-or-later |\n");
  EXPECT_EQ(table.objection("libweak", "dynamic"), "");
  EXPECT_THAT(table.objection("libweak", "static"), HasSubstr("not allowed"));
  EXPECT_THAT(table.objection("libdnnl", "static"), HasSubstr("which its row does not say"));
}

TEST(LicencesPlanted, LinkLinesAreRead) {
  const std::string ninja =
      "build bin/a: x\n  LINK_LIBRARIES = -lgpl  libown.a  /usr/lib/libz.so.1.2\nbuild bin/ab: x\n"
      "  LINK_LIBRARIES = -lno\n";
  EXPECT_THAT(linkLineOf(ninja, "bin/a"), ElementsAre("-lgpl", "/usr/lib/libz.so.1.2"));
  EXPECT_EQ(stemOf("-lgpl"), "libgpl");
  EXPECT_EQ(stemOf("/usr/lib/libz.so.1.2"), "libz");
  EXPECT_EQ(stemOf("libSQLiteCpp.a"), "libSQLiteCpp");
}

TEST(LicencesPlanted, WhatIsNoProgramIsRefused) {
  EXPECT_THROW(neededBy(source / "NOTICE"), std::runtime_error);
  EXPECT_THROW(neededBy(binary / "no_such_file"), std::runtime_error);
}

}  // namespace
}  // namespace kerf::licences
