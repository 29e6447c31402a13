// Pictures of graphs: PNG band by band, SVG, PDF and DOT, by dialog and by command.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QBuffer>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>

#include "tests/ui/window_fixture.h"
#include "ui/graph_view/layered_layout.h"
#include "ui/graph_view/picture_export.h"
#include "ui/graph_view/png_stream.h"
#include "ui/shell/export_dialog.h"

namespace kerf::ui {
namespace {

using ::testing::HasSubstr;

QByteArray contents(const QString& path) {
  QFile file(path);
  EXPECT_TRUE(file.open(QIODevice::ReadOnly)) << qPrintable(path);
  return file.readAll();
}

Picture chainPicture(int nodes, double scale) {
  auto scene = std::make_shared<Scene>(buildScene(test::makeChain(nodes), {.budget = 0}));
  EXPECT_TRUE(layOutLayered(*scene, {}));
  Picture picture{scene, {}, {}, scale};
  picture.part = wholePart(*scene);
  return picture;
}

TEST(PngStream, BandsGiveTheSamePixelsAsOnePicture) {
  QImage image(37, 23, QImage::Format_RGB32);
  for (int y = 0; y < image.height(); ++y)
    for (int x = 0; x < image.width(); ++x) image.setPixel(x, y, qRgb(x * 7 % 256, y * 11 % 256, x * y % 256));
  QByteArray bytes;
  QBuffer buffer(&bytes);
  ASSERT_TRUE(buffer.open(QIODevice::WriteOnly));
  PngStream stream(buffer, image.size(), 2);
  for (const auto& [top, rows] : {std::pair(0, 5), std::pair(5, 17), std::pair(22, 1)})
    ASSERT_TRUE(stream.add(image.copy(0, top, image.width(), rows)));
  ASSERT_TRUE(stream.finish());
  const auto read = QImage::fromData(bytes, "PNG").convertToFormat(QImage::Format_RGB32);
  ASSERT_EQ(read.size(), image.size());
  EXPECT_EQ(read, image);
}

TEST(Picture, OfFiveHundredNodesIsAPng) {
  const QTemporaryDir folder;
  const auto picture = chainPicture(500, 0.5);
  const auto path = folder.path() + "/chain.png";
  EXPECT_EQ(writePicture(picture, path).toStdString(), "");
  const QImage read(path);
  EXPECT_EQ(read.size(), pictureSize(picture));
  EXPECT_GT(read.height(), 8'000);
  int drawn = 0;
  for (int y = 0; y < read.height(); y += 7) drawn += read.pixel(read.width() / 2, y) != read.pixel(0, 0);
  EXPECT_GT(drawn, 100);
}

TEST(Picture, TooLargeIsRefusedWithTheScaleThatFits) {
  auto picture = chainPicture(500, 1);
  picture.scale = 100;
  const auto problem = pictureProblem(picture, "png");
  EXPECT_THAT(problem.toStdString(), HasSubstr("pixels are more than a PNG may have: choose"));
  EXPECT_EQ(pictureProblem(picture, "svg").toStdString(), "");
  const double percent = problem.section("choose ", 1).section(" %", 0, 0).toDouble();
  ASSERT_GT(percent, 0);
  picture.scale = percent / 100;
  EXPECT_EQ(pictureProblem(picture, "png").toStdString(), "");
}

TEST(Picture, HasEveryForm) {
  const QTemporaryDir folder;
  const auto picture = chainPicture(30, 1);
  for (const auto& [extension, title] : pictureFormats())
    EXPECT_EQ(writePicture(picture, folder.path() + "/g." + extension).toStdString(), "") << qPrintable(title);
  EXPECT_THAT(contents(folder.path() + "/g.svg").toStdString(), HasSubstr("<svg"));
  EXPECT_TRUE(contents(folder.path() + "/g.pdf").startsWith("%PDF-"));
  const auto dot = contents(folder.path() + "/g.dot").toStdString();
  EXPECT_THAT(dot, HasSubstr("n28\\n"));
  EXPECT_EQ(std::count(dot.begin(), dot.end(), '>'), std::ptrdiff_t(picture.scene->edges.size()));
  EXPECT_THAT(writePicture(picture, folder.path() + "/g.bmp").toStdString(), HasSubstr(".png, .svg, .pdf or .dot"));
  EXPECT_THAT(writePicture(picture, folder.path() + "/no/g.png").toStdString(), HasSubstr("/no/g.png"));
  EXPECT_EQ(writePicture(picture, folder.path() + "/s.png", [] { return false; }).toStdString(), "stopped");
  EXPECT_FALSE(QFile::exists(folder.path() + "/s.png"));
}

TEST(Picture, OfAPartHasOnlyItsCards) {
  auto picture = chainPicture(30, 1);
  picture.part = picture.scene->cards.front().rect;
  const auto dot = sceneDot(picture).toStdString();
  EXPECT_THAT(dot, HasSubstr("n0 [label"));
  EXPECT_THAT(dot, ::testing::Not(HasSubstr("n28")));
}

class WindowPicture : public Window {};

TEST_F(WindowPicture, TheDialogSaysTheSizeAndSaves) {
  openSample();
  const QTemporaryDir folder;
  ExportDialog dialog(m_window->pane(), session().jobs(), folder.path(), m_window.get());
  dialog.show();
  auto* scale = dialog.findChild<QDoubleSpinBox*>("exportScale");
  auto* plan = dialog.findChild<QLabel*>("exportPlan");
  auto* save = dialog.findChild<QPushButton*>("exportSave");
  auto* form = dialog.findChild<QComboBox*>("exportFormat");
  ASSERT_TRUE(scale && plan && save && form);
  EXPECT_THAT(plan->text().toStdString(), HasSubstr("pixels"));
  scale->setValue(1000);
  scale->setValue(50);
  const auto path = folder.path() + "/forward.png";
  EXPECT_EQ(dialog.findChild<QLineEdit*>("exportPath")->text().toStdString(), path.toStdString());
  save->click();
  ASSERT_TRUE(test::waitFor([&] { return !dialog.isVisible(); }));
  const auto& view = m_window->pane().view();
  EXPECT_EQ(QImage(path).size(),
            (wholePart(*view.scene()).size() * 0.5 + QSizeF(0.999, 0.999)).toSize().boundedTo(QImage(path).size()));
  EXPECT_GT(QImage(path).height(), 200);
  form->setCurrentIndex(2);
  EXPECT_TRUE(dialog.findChild<QLineEdit*>("exportPath")->text().endsWith("forward.pdf"));
}

}  // namespace
}  // namespace kerf::ui
