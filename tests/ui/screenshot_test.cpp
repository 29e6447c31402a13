// kerf-studio --screenshot as users run it.
#include <gtest/gtest.h>

#include <QImage>
#include <QProcess>
#include <QProcessEnvironment>
#include <QTemporaryDir>

#include "tests/ui/support.h"

namespace kerf::ui {
namespace {

struct Outcome {
  int code = -1;
  QString errors;
};

Outcome studio(const QStringList& arguments, const QStringList& unset = {}) {
  QProcess process;
  auto environment = QProcessEnvironment::systemEnvironment();
  for (const auto& name : unset) environment.remove(name);
  process.setProcessEnvironment(environment);
  process.start(KERF_BINARY_DIR "/bin/kerf-studio", arguments);
  if (!process.waitForFinished(test::patienceMs)) return {};
  return {process.exitCode(), QString::fromUtf8(process.readAllStandardError())};
}

int colors(const QImage& image) {
  QSet<QRgb> seen;
  for (int y = 0; y < image.height(); y += 3)
    for (int x = 0; x < image.width(); x += 3) seen.insert(image.pixel(x, y));
  return int(seen.size());
}

/// The smallest rectangle with all pixels in which two pictures of one size differ.
QRect difference(const QImage& one, const QImage& other) {
  QRect all;
  for (int y = 0; y < one.height(); ++y)
    for (int x = 0; x < one.width(); ++x)
      if (one.pixel(x, y) != other.pixel(x, y)) all |= QRect(x, y, 1, 1);
  return all;
}

TEST(Screenshot, HasTheAskedSizeAndIsTheSameTwice) {
  const QTemporaryDir folder;
  const auto first = folder.path() + "/1.png", second = folder.path() + "/2.png";
  for (const auto& file : {first, second}) {
    const auto outcome = studio({"--screenshot", file, "--size", "1280x800", "--select", "relu", test::samplePath()});
    ASSERT_EQ(outcome.code, 0) << qPrintable(outcome.errors);
  }
  const QImage image(first);
  EXPECT_EQ(image.size(), QSize(1280, 800));
  EXPECT_GT(colors(image), 50);
  const QRect different = difference(image, QImage(second));
  EXPECT_TRUE(different.isEmpty()) << "the renderings differ within x " << different.left() << " to "
                                   << different.right() << ", y " << different.top() << " to " << different.bottom();
}

TEST(Screenshot, HelpAndWrongOptionsNeedNoDisplay) {
  const QStringList display{"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"};
  EXPECT_EQ(studio({"--help"}, display).code, 0);
  EXPECT_EQ(studio({"--version"}, display).code, 0);
  const auto unknown = studio({"--bogus"}, display);
  EXPECT_EQ(unknown.code, 2);
  EXPECT_TRUE(unknown.errors.contains("bogus")) << qPrintable(unknown.errors);
  const auto window = studio({test::samplePath()}, display);
  EXPECT_EQ(window.code, 3);
  EXPECT_TRUE(window.errors.contains("--screenshot")) << qPrintable(window.errors);
}

TEST(Screenshot, DarkIsDark) {
  const QTemporaryDir folder;
  const auto file = folder.path() + "/dark.png";
  ASSERT_EQ(studio({"--screenshot", file, "--theme", "dark", test::samplePath()}).code, 0);
  EXPECT_LT(QImage(file).pixelColor(5, 930).lightness(), 60);
}

TEST(Screenshot, APictureIsTheGraphAlone) {
  const QTemporaryDir folder;
  const auto whole = folder.path() + "/whole.png", part = folder.path() + "/part.png";
  ASSERT_EQ(studio({"--picture", whole, "--scale", "50", test::samplePath()}).code, 0);
  ASSERT_EQ(studio({"--picture", part, "--part", "view", "--size", "900x700", test::samplePath()}).code, 0);
  EXPECT_GT(QImage(whole).height(), 1500);
  EXPECT_GT(colors(QImage(whole)), 20);
  EXPECT_LT(QImage(part).height(), 700);
  const auto wrong = studio({"--picture", folder.path() + "/x.bmp", test::samplePath()});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_TRUE(wrong.errors.contains(".pdf or .dot")) << qPrintable(wrong.errors);
  EXPECT_EQ(studio({"--picture", whole, "--scale", "none", test::samplePath()}).code, 2);
}

TEST(Screenshot, SaysWhatIsWrong) {
  const QTemporaryDir folder;
  const auto file = folder.path() + "/x.png";
  const auto missing = studio({"--screenshot", file, folder.path() + "/none.py"});
  EXPECT_EQ(missing.code, 2);
  EXPECT_TRUE(missing.errors.contains("none.py")) << qPrintable(missing.errors);
  EXPECT_EQ(studio({"--screenshot", file, "--select", "no_such_node", test::samplePath()}).code, 2);
  EXPECT_EQ(studio({"--screenshot", file, "--size", "huge", test::samplePath()}).code, 2);
  EXPECT_EQ(studio({"--screenshot", file, "--bisect", "op", test::samplePath()}).code, 2);
  EXPECT_FALSE(QFile::exists(file));
}

}  // namespace
}  // namespace kerf::ui
