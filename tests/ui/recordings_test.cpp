// Every file and folder of the recordings, and broken copies of their texts, in the real window, in one theme or the other: whatever
// they are, the window lives, says nothing that is no sentence, and its picture is whole and belongs to its title. The
// first graph of each capture is shown; KERF_ALL_GRAPHS=1: every one.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QLabel>

#include "engine/support/recordings.h"
#include "tests/ui/window_fixture.h"
#include "ui/models/format.h"
#include "ui/models/theme.h"

namespace kerf::ui {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int parts = 8, brokenParts = 4, brokenOfEach = 40;
constexpr int picturesOfTheme = 6;  ///< then the other theme: to change it costs as much as to open
constexpr std::uintmax_t largestBroken = 300'000;

std::string bytesOf(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

/// A file or folder, and bytes to read when it is opened.
struct Place {
  fs::path path;
  std::uintmax_t bytes = 0;
  bool isFile = false;
};

/// All of them, the largest first.
std::vector<Place> allPlaces() {
  std::vector<Place> places;
  std::map<fs::path, std::uintmax_t> folders;
  const auto root = recordingsFolder();
  for (const auto& entry : fs::recursive_directory_iterator(root, fs::directory_options::follow_directory_symlink)) {
    if (entry.is_directory()) folders[entry.path()];
    if (!entry.is_regular_file()) continue;
    places.push_back({entry.path(), entry.file_size(), true});
    for (auto around = entry.path().parent_path(); around != root; around = around.parent_path())
      folders[around] += entry.file_size();
  }
  for (const auto& [path, bytes] : folders) places.push_back({path, bytes});
  std::ranges::sort(
      places, [](const Place& a, const Place& b) { return std::tie(b.bytes, a.path) < std::tie(a.bytes, b.path); });
  return places;
}

/// Parts of about the same work.
std::vector<Place> partOf(const std::vector<Place>& places, int part) {
  constexpr std::uintmax_t perOpening = 500'000;  ///< what opening anything costs, in bytes
  std::array<std::uintmax_t, parts> load{};
  std::vector<Place> mine;
  for (const auto& place : places) {
    const auto least = std::ranges::min_element(load);
    *least += place.bytes + perOpening;
    if (least - load.begin() == part) mine.push_back(place);
  }
  return mine;
}

/// Cut short, with a few bytes turned, with lines left out or twice, or with the end of another.
std::string broken(std::string text, const std::string& other, std::mt19937& random) {
  if (text.size() < 2) return text;
  const auto at = [&](const std::string& of) { return std::size_t(random() % std::max<std::size_t>(1, of.size())); };
  const auto lineAt = [&] { return std::min(text.find('\n', at(text)), text.size() - 1) + 1; };
  switch (random() % 5) {
    case 0:
      return text.substr(0, at(text));
    case 1:
      for (int i = 0; i < 6; ++i) text[at(text)] ^= char(1u << random() % 8);
      return text;
    case 2:
      return text.substr(0, at(text)) + other.substr(at(other));
    case 3: {
      auto [from, to] = std::minmax({lineAt(), lineAt()});
      return text.erase(from, std::min<std::size_t>(to - from, 400));
    }
    default: {
      auto [from, to] = std::minmax({lineAt(), lineAt()});
      return text.insert(from, text.substr(from, std::min<std::size_t>(to - from, 400)));
    }
  }
}

class RecordingsWindow : public Window, public ::testing::WithParamInterface<int> {
 protected:
  void SetUp() override {
    if (!fs::exists(recordingsFolder())) GTEST_SKIP() << "no recordings";
    Window::SetUp();
    m_mostGap = test::mostGapOfThemes();
    switchTheme();
  }

  void openAndCheck(const fs::path& path) {
    m_window->banner().hide();
    m_window->open({QString::fromStdString(path.string())});
    ASSERT_TRUE(test::waitFor([&] { return settled(); })) << path;
    check(path);
    if (std::getenv("KERF_ALL_GRAPHS") != nullptr) checkAllGraphs(path);
    for (const auto& capture : session().captures()) session().close(capture->id);
  }

  /// What was opened is shown, or it is known that there is nothing to show.
  bool settled() {
    if (std::ranges::any_of(session().captures(), &CaptureDoc::loading)) return false;
    const auto& scene = m_window->pane().view().scene();
    const bool shown = session().graph() && scene && scene->shown == session().graph() && !m_window->pane().busy();
    return shown || m_window->idle();
  }

  void checkAllGraphs(const fs::path& path) {
    for (const auto& capture : session().captures())
      for (int graph = 0; graph < int(capture->graphs.size()); ++graph) {
        session().go({capture->id, graph, Location::Stage::Captured, -1, {}});
        const auto there = [&] { return session().graph() && session().location().graph == graph && settled(); };
        ASSERT_TRUE(test::waitFor([&] { return there() || m_window->idle(); })) << path << " graph " << graph;
        check(path);
      }
  }

  void check(const fs::path& path) {
    checkWords(path);
    if (!session().graph()) return checkRefusal(path);
    checkScene(path);
    checkPicture(path);
    if (++m_shown % picturesOfTheme != 0) return;
    switchTheme();
    checkPicture(path);
  }

  void checkWords(const fs::path& path) {
    const auto said = m_window->banner().isVisible() ? m_window->banner().text().toStdString() : std::string();
    for (const char* slip : {"internal", "SIG", "std::", "worker process ended", "terminate called"})
      EXPECT_THAT(said, Not(HasSubstr(slip))) << path;
  }

  /// Nothing is drawn; a file that holds no graphs says so, or lists its records.
  void checkRefusal(const fs::path& path) {
    EXPECT_FALSE(m_window->pane().view().scene()) << path;
    for (const auto& capture : session().captures()) {
      const bool refused = !capture->error.empty();
      EXPECT_TRUE(refused || capture->graphs.empty() || m_window->banner().isVisible()) << path << " has graphs";
      EXPECT_TRUE(!refused || m_window->banner().isVisible()) << path << " is refused without a word";
    }
  }

  /// Every node has its card, and no card lies on another.
  void checkScene(const fs::path& path) {
    const auto& scene = m_window->pane().view().scene();
    ASSERT_TRUE(scene) << path;
    ASSERT_EQ(scene->shown, session().graph()) << path << ": the picture is another graph's";
    for (std::size_t i = 0; i < scene->shown->nodes.size(); ++i)
      ASSERT_GE(scene->cardOfNode[i], 0) << path << ": " << scene->shown->nodes[i].name << " is not drawn";
    std::vector<const SceneCard*> order;
    for (const auto& card : scene->cards) {
      ASSERT_TRUE(scene->bounds.contains(card.rect)) << path;
      order.push_back(&card);
    }
    std::ranges::sort(order, {}, [](const SceneCard* card) { return card->rect.top(); });
    for (std::size_t i = 0; i < order.size(); ++i)
      for (std::size_t k = i + 1; k < order.size() && order[k]->rect.top() < order[i]->rect.bottom(); ++k)
        ASSERT_FALSE(order[i]->rect.intersects(order[k]->rect))
            << path << ": " << qPrintable(order[i]->title) << " lies on " << qPrintable(order[k]->title);
    // A file that is called like many others is named after its model's folder.
    const auto title = captureTitle(QString::fromStdString(path.string()));
    EXPECT_TRUE(m_window->windowTitle().startsWith(title) || session().captures().size() > 1 || fs::is_directory(path))
        << path << " " << qPrintable(m_window->windowTitle());
    const auto* strip = m_window->pane().findChild<QLabel*>("stripTitle");
    EXPECT_TRUE(strip->text().endsWith(QString::fromStdString(session().graph()->title))) << path;
  }

  /// On the ground of the theme something is drawn.
  void checkPicture(const fs::path& path) {
    const auto image = m_window->pane().view().grab().toImage();
    std::set<QRgb> colors;
    for (int y = 0; y < image.height(); y += 3)
      for (int x = 0; x < image.width(); x += 3) colors.insert(image.pixel(x, y));
    EXPECT_TRUE(colors.contains(theme().canvas.rgb())) << path;
    EXPECT_TRUE(session().graph()->nodes.empty() || colors.size() > 4) << path << ": nothing is drawn";
  }

  void switchTheme() {
    m_dark = !m_dark;
    m_window->setTheme(m_dark ? "dark" : "light");
    m_heart.restart();  // how long that takes is RudeWindow's to ask; here it is how long opening takes
    EXPECT_EQ(theme().dark, m_dark);
  }

  bool m_dark = false;
  int m_shown = 0;
};

class AllRecordings : public RecordingsWindow {};

TEST_P(AllRecordings, OpenOrAreRefused) {
  const auto places = partOf(allPlaces(), GetParam());
  ASSERT_FALSE(places.empty());
  for (const auto& place : places) {
    openAndCheck(place.path);
    if (HasFatalFailure()) return;
  }
  ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
  RecordProperty("opened", int(places.size()));
}
INSTANTIATE_TEST_SUITE_P(Part, AllRecordings, ::testing::Range(0, parts));

class BrokenRecordings : public RecordingsWindow {};

TEST_P(BrokenRecordings, OpenOrAreRefused) {
  auto originals = allPlaces();
  std::erase_if(originals, [](const Place& place) { return !place.isFile || place.bytes > largestBroken; });
  std::erase_if(originals, [](const Place& place) { return place.path.extension() == ".safetensors"; });
  ASSERT_FALSE(originals.empty());
  std::mt19937 random(1500 + unsigned(GetParam()));
  const QTemporaryDir folder;
  for (int i = 0; i < brokenOfEach; ++i) {
    const auto& original = originals[random() % originals.size()].path;
    const auto& other = originals[random() % originals.size()].path;
    const auto name = std::to_string(i) + "_" + original.filename().string();
    const auto path = fs::path(folder.path().toStdString()) / name;
    std::ofstream(path, std::ios::binary) << broken(bytesOf(original), bytesOf(other), random);
    SCOPED_TRACE(original.string() + " broken as " + std::to_string(i));
    openAndCheck(path);
    if (HasFatalFailure()) return;
  }
  ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
}
INSTANTIATE_TEST_SUITE_P(Part, BrokenRecordings, ::testing::Range(0, brokenParts));

}  // namespace
}  // namespace kerf::ui
