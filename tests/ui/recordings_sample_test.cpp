// Files as they were recorded, and broken copies of them, in the real window: whatever they are, the window lives,
// nothing is an error of its own, and the picture belongs to the title. A sample of fixed seed; KERF_ALL_RECORDINGS=1: all.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/support/recordings.h"
#include "tests/ui/window_fixture.h"

namespace kerf::ui {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t sampled = 8, mutants = 6;
constexpr std::uintmax_t largestSampled = 300'000;

bool wantsAll() { return std::getenv("KERF_ALL_RECORDINGS") != nullptr; }

/// All files but those that are too large for a sample, in an order of its own for each seed.
std::vector<fs::path> recordings(std::uint32_t seed) {
  std::vector<fs::path> found;
  const auto options = fs::directory_options::follow_directory_symlink;
  for (const auto& entry : fs::recursive_directory_iterator(recordingsFolder(), options))
    if (entry.is_regular_file() && (wantsAll() || entry.file_size() <= largestSampled)) found.push_back(entry.path());
  std::ranges::sort(found);
  std::ranges::shuffle(found, std::mt19937(seed));
  if (!wantsAll() && found.size() > sampled) found.resize(sampled);
  return found;
}

std::string bytesOf(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

/// Cut short, or with a few bytes turned.
std::string broken(std::string bytes, std::mt19937& random) {
  if (bytes.empty()) return bytes;
  if (random() % 2 == 0) return bytes.substr(0, random() % bytes.size());
  for (int i = 0; i < 4; ++i) bytes[random() % bytes.size()] ^= char(1u << random() % 8);
  return bytes;
}

class RecordingsWindow : public Window, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    if (!fs::exists(recordingsFolder())) GTEST_SKIP() << "no recordings";
    Window::SetUp();
    m_window->setTheme(GetParam());
  }
  void openAndCheck(const fs::path& path) {
    m_window->banner().hide();
    open(QString::fromStdString(path.string()));
    const auto said = m_window->banner().isVisible() ? m_window->banner().text().toStdString() : std::string();
    EXPECT_THAT(said, testing::Not(testing::HasSubstr("internal"))) << path;
    EXPECT_THAT(said, testing::Not(testing::HasSubstr("SIG"))) << path << ": a worker died";
    EXPECT_THAT(said, testing::Not(testing::HasSubstr("std::"))) << path;
    checkPicture(path);
    for (const auto& capture : session().captures()) session().close(capture->id);
    ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); })) << path;
  }
  void checkPicture(const fs::path& path) {
    if (!session().graph()) return;
    const auto& scene = m_window->pane().view().scene();
    ASSERT_TRUE(scene) << path;
    EXPECT_EQ(scene->shown, session().graph()) << path << ": the picture is another graph's";
    EXPECT_TRUE(m_window->windowTitle().contains(QString::fromStdString(path.filename().string()))) << path;
  }
};

TEST_P(RecordingsWindow, OpensOrRefuses) {
  for (const auto& path : recordings(15)) openAndCheck(path);
}

TEST_P(RecordingsWindow, OpensOrRefusesWhatIsBroken) {
  std::mt19937 random(16);
  auto originals = recordings(17);
  if (!wantsAll() && originals.size() > mutants) originals.resize(mutants);
  for (const auto& original : originals) {
    const QTemporaryDir folder;
    const auto path = fs::path(folder.path().toStdString()) / original.filename();
    std::ofstream(path, std::ios::binary) << broken(bytesOf(original), random);
    openAndCheck(path);
  }
}

INSTANTIATE_TEST_SUITE_P(Themes, RecordingsWindow, testing::Values("light", "dark"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace kerf::ui
