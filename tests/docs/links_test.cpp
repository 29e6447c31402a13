// Links between the pages lead somewhere, and the index lists every page.
#include <algorithm>
#include <cctype>
#include <regex>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "tests/docs/how_to_steps.h"

namespace kerf::docs {
namespace {

namespace fs = std::filesystem;

const fs::path root = KERF_SOURCE_DIR;

std::vector<fs::path> pagesBelow(const fs::path& folder) {
  std::vector<fs::path> pages;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".md") pages.push_back(entry.path());
  return pages;
}

std::vector<fs::path> allPages() {
  std::vector<fs::path> pages = pagesBelow(root / "resources/docs");
  for (const auto& entry : fs::directory_iterator(root))
    if (entry.path().extension() == ".md") pages.push_back(entry.path());
  std::ranges::sort(pages);
  return pages;
}

/// "how-exact" of "## How exact": letters, digits and hyphens, as hosts of repositories make anchors.
std::string anchorOf(const std::string& heading) {
  std::string anchor;
  for (const char c : heading.substr(heading.find_first_not_of('#') + 1)) {
    if (c == ' ') anchor += '-';
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_')
      anchor += char(std::tolower(static_cast<unsigned char>(c)));
  }
  return anchor;
}

std::set<std::string> anchorsOf(const fs::path& page) {
  std::set<std::string> anchors;
  std::istringstream lines(readText(page));
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with('#')) anchors.insert(anchorOf(line));
  return anchors;
}

/// What links of a page name, without those to other sites.
std::vector<std::string> linksOf(const fs::path& page) {
  static const std::regex link(R"(\]\(([^)\s]+)\))");
  const std::string text = readText(page);
  std::vector<std::string> links;
  for (std::sregex_iterator at(text.begin(), text.end(), link), end; at != end; ++at)
    if (const std::string target = (*at)[1]; !target.starts_with("http")) links.push_back(target);
  return links;
}

TEST(Links, LeadToFilesAndHeadingsThatAreThere) {
  std::size_t checked = 0;
  for (const fs::path& page : allPages()) {
    for (const std::string& link : linksOf(page)) {
      const std::string name = link.substr(0, link.find('#'));
      const fs::path target = name.empty() ? page : (page.parent_path() / name).lexically_normal();
      ++checked;
      EXPECT_TRUE(fs::exists(target)) << page << ": " << link;
      const auto at = link.find('#');
      if (at == std::string::npos || target.extension() != ".md" || !fs::exists(target)) continue;
      EXPECT_TRUE(anchorsOf(target).contains(link.substr(at + 1))) << page << ": " << link;
    }
  }
  EXPECT_GT(checked, 60u);
}

TEST(Links, OfTheIndexReachEveryPage) {
  for (const char* folder : {"resources/docs", "resources/docs/measurements"}) {
    const fs::path index = root / folder / "README.md";
    const auto links = linksOf(index);
    for (const auto& entry : fs::directory_iterator(root / folder)) {
      const std::string name = entry.path().filename().string();
      if (entry.path().extension() != ".md" || name == "README.md") continue;
      EXPECT_TRUE(std::ranges::find(links, name) != links.end()) << index << " does not list " << name;
    }
  }
}

/// How-to pages name files that their reader writes.
bool isHowTo(const fs::path& page) { return page.filename().string().starts_with("how-to-"); }

TEST(Links, NamedFilesAndFoldersAreThere) {
  static const std::regex name(R"(`((app|ui|engine|minifier|storage|tests|packaging|resources)/[A-Za-z0-9_/.-]+)`)");
  std::size_t checked = 0;
  for (const fs::path& page : allPages()) {
    if (isHowTo(page)) continue;
    const std::string text = readText(page);
    for (std::sregex_iterator at(text.begin(), text.end(), name), end; at != end; ++at, ++checked)
      EXPECT_TRUE(fs::exists(root / (*at)[1].str())) << page << " names " << (*at)[1];
  }
  EXPECT_GT(checked, 100u);
}

TEST(Links, AnchorsAreThoseOfHeadings) {
  EXPECT_EQ(anchorOf("## How exact"), "how-exact");
  EXPECT_EQ(anchorOf("### B.5 `Texts`, pasted"), "b5-texts-pasted");
}

}  // namespace
}  // namespace kerf::docs
