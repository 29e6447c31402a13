// The window as a picture, in both themes and two sizes, beside the pictures in tests/ui/golden. What is compared is the
// mean colour of each block of 8 × 8 pixels: letters may be drawn otherwise, but where things are, how large and in which
// colours may not change unseen. Run with KERF_UPDATE_PICTURES=1 to write them anew, and look at them.
#include <cmath>
#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QAction>
#include <QFontInfo>
#include <QPainter>

#include "tests/ui/window_fixture.h"
#include "ui/models/theme.h"
#include "ui/panels/stage_strip.h"

namespace kerf::ui {
namespace {

constexpr int block = 8;
constexpr int visible = 24;          ///< of 255: a block that differs by more in one colour is another one
constexpr double mostBlocks = 0.02;  ///< so many of them may be others
const char fontKey[] = "Fonts";

/// Each pixel is the mean of a block.
QImage coarse(const QImage& image) {
  return image.convertToFormat(QImage::Format_RGB32)
      .scaled(image.width() / block, image.height() / block, Qt::IgnoreAspectRatio, Qt::SmoothTransformation);
}

/// Share of the blocks that differ; 1 where the sizes do.
double differing(const QImage& one, const QImage& two) {
  if (one.size() != two.size()) return 1;
  int count = 0;
  for (int y = 0; y < one.height(); ++y)
    for (int x = 0; x < one.width(); ++x) {
      const auto a = one.pixel(x, y), b = two.pixel(x, y);
      count += std::max({std::abs(qRed(a) - qRed(b)), std::abs(qGreen(a) - qGreen(b)), std::abs(qBlue(a) - qBlue(b))}) > visible;
    }
  return double(count) / (one.width() * one.height());
}

/// What the widths of cards and columns depend on.
QString fonts() {
  QString names;
  for (const auto& font : {interfaceFont(), codeFont()})
    names += QString("%1 %2 ").arg(QFontInfo(font).family()).arg(QFontMetricsF(font).horizontalAdvance("Kerf 0123 joint_graph"));
  return names.trimmed();
}

struct Look {
  const char* theme;
  QSize size;
};

class GoldenPicture : public Window, public testing::WithParamInterface<Look> {
 protected:
  void SetUp() override {
    Window::SetUp();
    m_window->setDeterministic();
    m_window->setTheme(GetParam().theme);
    m_window->resize(GetParam().size);
    QApplication::setCursorFlashTime(0);
  }
  void settle() {
    ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
    m_window->arrange();
    QTest::qWait(200);
    ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
  }
  void compare(const QString& scene) {
    settle();
    const auto picture = coarse(m_window->grab().toImage());
    const auto name = QString("%1_%2_%3.png").arg(scene, GetParam().theme).arg(GetParam().size.width());
    const auto path = QString(KERF_SOURCE_DIR "/tests/ui/golden/") + name;
    if (std::getenv("KERF_UPDATE_PICTURES") != nullptr) {
      auto written = picture;
      written.setText(fontKey, fonts());
      ASSERT_TRUE(written.save(path));
      return;
    }
    const QImage golden(path);
    ASSERT_FALSE(golden.isNull()) << qPrintable(path);
    const bool sameFonts = golden.text(fontKey) == fonts();
    const double share = differing(picture, golden.convertToFormat(QImage::Format_RGB32));
    RecordProperty("differing", std::to_string(share));
    const double most = sameFonts ? mostBlocks : 0.25;  // other letters are wider, and all that holds them
    if (share > most) picture.save(QString(KERF_BINARY_DIR "/") + name);
    EXPECT_LE(share, most) << "see " << KERF_BINARY_DIR << "/" << qPrintable(name);
  }
};

TEST_P(GoldenPicture, OfTheStart) { compare("start"); }

TEST_P(GoldenPicture, OfAComparedGraph) {
  openSample();
  session().compare("relu=accuracy");
  ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
  compare("compared");
}

TEST_P(GoldenPicture, OfAJointGraphAndAPassThatChangedIt) {
  openSample();
  m_window->actions()["stage3"]->trigger();
  ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
  compare("joint");
  m_window->stageStrip().step(1);
  ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
  compare("joint_pass");
}

INSTANTIATE_TEST_SUITE_P(Looks, GoldenPicture,
                         testing::Values(Look{"light", {1366, 768}}, Look{"dark", {1366, 768}}, Look{"light", {1920, 1200}},
                                         Look{"dark", {1920, 1200}}),
                         [](const auto& info) {
                           return std::string(info.param.theme) + std::to_string(info.param.size.width());
                         });

TEST(GoldenPictures, SeeACardThatMovedAndAThemeThatChanged) {
  QImage before(800, 600, QImage::Format_RGB32), after;
  before.fill(QColor("#fafbfc"));
  after = before;
  QPainter(&before).fillRect(100, 100, 160, 60, QColor("#2563d9"));
  QPainter(&after).fillRect(300, 100, 160, 60, QColor("#2563d9"));
  EXPECT_GT(differing(coarse(before), coarse(after)), mostBlocks);
  EXPECT_EQ(differing(coarse(before), coarse(before)), 0);
  after = before;
  after.invertPixels();
  EXPECT_EQ(differing(coarse(before), coarse(after)), 1);
}

}  // namespace
}  // namespace kerf::ui
