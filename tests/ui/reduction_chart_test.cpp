// The chart of a minification: scales, what it says under the mouse and to the keyboard, and its look in both themes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QImage>
#include <QTest>

#include "ui/models/theme.h"
#include "ui/panels/reduction_chart.h"

namespace kerf::ui {
namespace {

std::string utf8(const QString& text) { return text.toStdString(); }

PlotAxis fitted(double most, int steps, double least) {
  PlotAxis axis;
  axis.fit(most, steps, least);
  return axis;
}

TEST(PlotAxis, StepsAreRoundAndEndAboveTheMost) {
  struct Row {
    double most;
    int steps;
    double least, step, end;
  };
  for (const Row& row : {Row{10, 5, 1, 2, 10},
                         {11, 5, 1, 5, 15},
                         {1240, 7, 1, 200, 1400},
                         {3, 9, 1, 1, 3},
                         {0.3, 7, 0.1, 0.1, 0.3},
                         {3.24, 7, 0.1, 0.5, 3.5},
                         {1000, 1, 1, 1000, 1000},
                         {7, 2, 1, 5, 10},
                         {1, 0, 1, 1, 1}}) {
    const PlotAxis axis = fitted(row.most, row.steps, row.least);
    EXPECT_DOUBLE_EQ(axis.step, row.step) << row.most;
    EXPECT_DOUBLE_EQ(axis.end, row.end) << row.most;
    EXPECT_DOUBLE_EQ(axis.tick(axis.ticks() - 1), axis.end) << row.most;
    EXPECT_LE(axis.ticks() - 1, std::max(row.steps, 1)) << row.most;
  }
}

TEST(PlotAxis, LabelsHaveTheDigitsOfTheStep) {
  EXPECT_EQ(utf8(fitted(12'000, 6, 1).label(4000)), "4,000");
  EXPECT_EQ(utf8(fitted(3.2, 7, 0.1).label(1.5)), "1.5");
  EXPECT_EQ(utf8(fitted(3.2, 7, 0.1).label(2)), "2.0");
}

class Chart : public ::testing::Test {
 protected:
  Chart() {
    m_chart.resize(420, 320);
    m_chart.setPoints(points());
  }
  ~Chart() override { setTheme(false); }
  static std::vector<MinifyPoint> points() {
    return {{.test = 0, .nodes = 100, .inputBytes = 4096, .accepted = true, .reduction = ""},
            {.test = 10, .nodes = 60, .inputBytes = 4096, .accepted = true, .reduction = "drop_calls"},
            {.test = 15, .nodes = 40, .inputBytes = 4096, .accepted = false, .reduction = "drop_calls"},
            {.test = 20, .nodes = 60, .inputBytes = 1024, .accepted = true, .reduction = "shrink_sizes"},
            {.test = 50, .nodes = 20, .inputBytes = 1024, .accepted = false, .reduction = "drop_calls"}};
  }
  QImage picture(bool dark) {
    setTheme(dark);
    m_chart.setPalette(theme().palette());
    QImage image(m_chart.size(), QImage::Format_RGB32);
    m_chart.render(&image);
    return image;
  }
  static int pixelsOf(const QImage& image, const QColor& color) {
    int count = 0;
    for (int y = 0; y < image.height(); ++y)
      for (int x = 0; x < image.width(); ++x) count += image.pixel(x, y) == color.rgb();
    return count;
  }
  ReductionChart m_chart;
};

TEST_F(Chart, SaysWhatAMarkIs) {
  ASSERT_EQ(m_chart.steps(), 3);
  EXPECT_EQ(utf8(m_chart.textAt(m_chart.stepAt(1))), "drop_calls: 60 nodes, 4.0 KiB of inputs after 10 tests");
  EXPECT_EQ(utf8(m_chart.textAt(m_chart.stepAt(0))), "100 nodes, 4.0 KiB of inputs after 0 tests");
}

TEST_F(Chart, SaysElsewhereWhatTheBestGraphWas) {
  const double one = (m_chart.stepAt(1).x() - m_chart.stepAt(0).x()) / 10;  // test
  EXPECT_EQ(utf8(m_chart.textAt(m_chart.stepAt(1) + QPointF(5.5 * one, 40))),
            "60 nodes, 4.0 KiB of inputs after 15 tests");
  EXPECT_EQ(utf8(m_chart.textAt(m_chart.stepAt(1) + QPointF(30.5 * one, 0))),
            "60 nodes, 1.0 KiB of inputs after 40 tests");
  EXPECT_EQ(utf8(m_chart.textAt({1, 1})), "");
}

TEST_F(Chart, KeysGoFromStepToStep) {
  EXPECT_EQ(m_chart.focusPolicy(), Qt::StrongFocus);
  EXPECT_FALSE(m_chart.accessibleName().isEmpty());
  QTest::keyClick(&m_chart, Qt::Key_Left);
  EXPECT_EQ(m_chart.current(), 2);
  QTest::keyClick(&m_chart, Qt::Key_Left);
  EXPECT_EQ(utf8(m_chart.accessibleDescription()), "drop_calls: 60 nodes, 4.0 KiB of inputs after 10 tests");
  QTest::keyClick(&m_chart, Qt::Key_Home);
  EXPECT_EQ(m_chart.current(), 0);
  QTest::keyClick(&m_chart, Qt::Key_End);
  QTest::keyClick(&m_chart, Qt::Key_Right);
  EXPECT_EQ(m_chart.current(), 2) << "there is none after the last";
  m_chart.setPoints({});
  EXPECT_EQ(m_chart.current(), -1);
}

TEST_F(Chart, NamesTheCommonReductionsAndTheOthers) {
  std::vector<MinifyPoint> many;
  for (int i = 0; i < 7; ++i)
    for (int times = 0; times < 7 - i; ++times)
      many.push_back({.test = int(many.size()),
                      .nodes = 9,
                      .inputBytes = 8,
                      .accepted = true,
                      .reduction = "r" + std::to_string(i)});
  m_chart.setPoints(many);
  EXPECT_EQ(utf8(m_chart.named().join(" ")), "nodes inputs, B r0 r1 r2 r3 r4 others");
}

TEST_F(Chart, HasTheColoursOfTheTheme) {
  for (const bool dark : {false, true}) {
    const QImage image = picture(dark);
    EXPECT_GT(pixelsOf(image, theme().base), image.width() * image.height() / 2) << dark;
    EXPECT_GT(pixelsOf(image, theme().accent), 60) << dark << ": the line of nodes";
    EXPECT_GT(pixelsOf(image, theme().kind(NodeKind::Matmul)), 20) << dark << ": the marks of the first reduction";
  }
}

TEST_F(Chart, FitsALowPanel) {
  for (const QSize size : {QSize(120, 120), QSize(900, 120), QSize(40, 40)}) {
    m_chart.setMinimumHeight(0);
    m_chart.resize(size);
    picture(false);
    for (int i = 0; i < m_chart.steps(); ++i)
      EXPECT_TRUE(QRectF(m_chart.rect()).contains(m_chart.stepAt(i)) || size.width() == 40) << size.width() << " " << i;
  }
}

}  // namespace
}  // namespace kerf::ui
