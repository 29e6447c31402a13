// The window as users see it against pictures that were looked at: both themes, a small and a large screen. What is
// compared are means over squares, so that other renderers of the same letters pass; KERF_UPDATE_PICTURES=1 writes anew.
#include <gtest/gtest.h>

#include <QFontDatabase>
#include <QImage>
#include <QPainter>
#include <QProcess>
#include <QProcessEnvironment>
#include <QTemporaryDir>

#include "tests/ui/support.h"

namespace kerf::ui {
namespace {

constexpr int square = 12;           ///< pixels of the window that one of a kept picture stands for
constexpr int mostApart = 40;        ///< of 255, in one channel of one square
constexpr double mostOnAverage = 2;  ///< of 255

struct Shown {
  const char* name;
  QStringList arguments;
};

const std::vector<Shown>& shownPictures() {
  static const std::vector<Shown> pictures{
      {"captured", {"--select", "relu"}},
      {"joint_pass", {"--stage", "joint", "--pass", "14", "--panel", "difference"}},
      {"compared", {"--compare", "--plant", "relu=accuracy", "--panel", "accuracy"}}};
  return pictures;
}

/// Without the inspector, which has the path of the sample: at the right, or below at the left of a small window.
QImage reduced(const QImage& image) {
  constexpr int wide = 1500, inspector = 345;
  const bool right = image.width() >= wide;
  auto shown =
      image.copy(0, 0, image.width() - (right ? inspector : 0), image.height()).convertToFormat(QImage::Format_RGB32);
  if (!right) QPainter(&shown).fillRect(0, shown.height() / 2, inspector, shown.height(), Qt::gray);
  return shown.scaled(shown.width() / square, shown.height() / square, Qt::IgnoreAspectRatio, Qt::SmoothTransformation);
}

QImage screenshot(const QString& file, const QStringList& arguments) {
  QProcess studio;
  auto environment = QProcessEnvironment::systemEnvironment();
  environment.insert("KERF_FONT", "DejaVu Sans");
  environment.insert("KERF_CODE_FONT", "DejaVu Sans Mono");
  environment.insert("QT_SCALE_FACTOR", "1");
  studio.setProcessEnvironment(environment);
  studio.start(KERF_BINARY_DIR "/bin/kerf-studio",
               QStringList{"--screenshot", file} + arguments + QStringList{test::samplePath()});
  EXPECT_TRUE(studio.waitForFinished(test::patienceMs));
  EXPECT_EQ(studio.exitCode(), 0) << studio.readAllStandardError().toStdString();
  return QImage(file);
}

struct Apart {
  int most = 0;
  double average = 0;
  QPoint where;
};

Apart apart(const QImage& one, const QImage& other) {
  Apart found;
  double sum = 0;
  for (int y = 0; y < one.height(); ++y)
    for (int x = 0; x < one.width(); ++x) {
      const QRgb a = one.pixel(x, y), b = other.pixel(x, y);
      for (const int channel : {qRed(a) - qRed(b), qGreen(a) - qGreen(b), qBlue(a) - qBlue(b)}) {
        sum += std::abs(channel);
        if (std::abs(channel) <= found.most) continue;
        found.most = std::abs(channel);
        found.where = {x * square, y * square};
      }
    }
  found.average = sum / (3.0 * one.width() * one.height());
  return found;
}

class GoldenPicture : public ::testing::TestWithParam<std::tuple<int, const char*, const char*>> {};

TEST_P(GoldenPicture, IsWhatWasLookedAt) {
  const auto families = QFontDatabase::families();
  if (!families.contains("DejaVu Sans") || !families.contains("DejaVu Sans Mono")) GTEST_SKIP() << "no DejaVu fonts";
  const auto& [index, theme, size] = GetParam();
  const auto& shown = shownPictures()[std::size_t(index)];
  const QTemporaryDir folder;
  const auto made =
      screenshot(folder.path() + "/window.png", shown.arguments + QStringList{"--theme", theme, "--size", size});
  ASSERT_FALSE(made.isNull());
  const auto now = reduced(made);
  const auto kept = QString(KERF_SOURCE_DIR "/tests/data/pictures/%1_%2_%3.png").arg(shown.name, theme, size);
  if (qEnvironmentVariableIsSet("KERF_UPDATE_PICTURES")) {
    ASSERT_TRUE(now.save(kept)) << qPrintable(kept);
    return;
  }
  const auto before = QImage(kept).convertToFormat(QImage::Format_RGB32);
  ASSERT_EQ(before.size(), now.size()) << qPrintable(kept);
  const auto found = apart(before, now);
  EXPECT_LE(found.most, mostApart) << "near " << found.where.x() << ", " << found.where.y() << " of "
                                   << qPrintable(kept);
  EXPECT_LE(found.average, mostOnAverage) << qPrintable(kept);
}

INSTANTIATE_TEST_SUITE_P(Window, GoldenPicture,
                         ::testing::Combine(::testing::Range(0, 3), ::testing::Values("light", "dark"),
                                            ::testing::Values("1366x768", "1920x1200")),
                         [](const auto& info) {
                           return std::string(shownPictures()[std::size_t(std::get<0>(info.param))].name) + "_" +
                                  std::get<1>(info.param) + "_" + std::get<2>(info.param);
                         });

TEST(GoldenPictures, TellAPictureFromAnother) {
  QImage one(30, 20, QImage::Format_RGB32), other;
  one.fill(Qt::white);
  other = one;
  other.setPixel(7, 3, qRgb(200, 255, 255));
  EXPECT_GT(apart(one, other).most, mostApart);
  EXPECT_EQ(apart(one, other).where, QPoint(7 * square, 3 * square));
  EXPECT_EQ(apart(one, one).most, 0);
}

}  // namespace
}  // namespace kerf::ui
