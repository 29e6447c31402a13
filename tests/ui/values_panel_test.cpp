// The values panel and the plot of errors: what a node's value is, where it is not finite, and where errors grow.
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QAction>
#include <QComboBox>
#include <QLineEdit>
#include <QPushButton>
#include <QTableWidget>
#include <QToolButton>

#include "tests/support/small_repro.h"
#include "tests/ui/window_fixture.h"
#include "ui/panels/accuracy_panel.h"
#include "ui/panels/growth_chart.h"
#include "ui/panels/heat_map.h"
#include "ui/panels/values_panel.h"

namespace kerf::ui {
namespace {

using ::testing::HasSubstr;

class ValuesWindow : public Window {
 protected:
  void settle() {
    ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
  }
  ValuesPanel& panel() { return m_window->valuesPanel(); }
  void openForward(const std::string& forward) {
    QFile file(m_folder.filePath("small.py"));
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(QByteArray::fromStdString(kerf::test::smallRepro(forward)));
    file.close();
    open(file.fileName());
  }
  void show(const QString& node) {
    m_window->raisePanel("values");
    session().selectNode(node);
    QTest::mouseClick(panel().findChild<QPushButton*>("primary"), Qt::LeftButton);
    settle();
    ASSERT_TRUE(session().value());
    ASSERT_EQ(session().value()->error.toStdString(), "");
  }
  QTemporaryDir m_folder;
};

TEST_F(ValuesWindow, ShowsANodesValueFromEverySide) {
  openForward(
      "        exp = torch.ops.aten.exp.default(arg0_1);  arg0_1 = None\n"
      "        add = torch.ops.aten.add.Tensor(exp, 2)\n        return (add,)\n");
  EXPECT_FALSE(session().value());
  show("add");
  EXPECT_THAT(panel().status().toStdString(), HasSubstr("add  f32[2, 4]  ·  all finite"));
  EXPECT_THAT(panel().figures().toStdString(), HasSubstr("8 elements   zeros 0"));
  EXPECT_EQ(panel().cells().rowCount(), 2);
  EXPECT_EQ(panel().cells().columnCount(), 4);
  EXPECT_EQ(panel().heatMap().image().size(), QSize(4, 2));
  const auto compiled = panel().cells().item(1, 2)->text().toDouble();
  panel().side().setCurrentIndex(2);
  emit panel().side().activated(2);
  settle();
  EXPECT_EQ(session().value()->dtype, "f64");
  EXPECT_NEAR(panel().cells().item(1, 2)->text().toDouble(), compiled, 1e-4);
  panel().minus().setCurrentIndex(3);
  emit panel().minus().activated(3);
  settle();
  EXPECT_EQ(session().value()->figures.zeros, 8) << "fp64 minus fp64";
}

TEST_F(ValuesWindow, ShowsWhatWasRecorded) {
  openSample();
  panel().side().setCurrentIndex(3);
  show("arg0_1");
  EXPECT_THAT(panel().status().toStdString(), HasSubstr("recorded as input arg0_1 of the capture"));
  EXPECT_TRUE(panel().findChild<QToolButton*>("expected")->isVisible());
  session().selectNode("addmm");
  panel().ask();
  settle();
  EXPECT_THAT(session().value()->error.toStdString(), HasSubstr("no value of addmm is recorded"));
  panel().side().setCurrentIndex(0);
  EXPECT_FALSE(panel().findChild<QToolButton*>("expected")->isVisible());
}

TEST_F(ValuesWindow, FindsWhatIsNotFiniteAndSaves) {
  openForward(
      "        full = torch.ops.aten.full.default([3, 2, 4], inf)\n"
      "        select = torch.ops.aten.full.default([3, 2, 4], 1.0)\n"
      "        cat = torch.ops.aten.cat.default([select, full])\n        return (cat,)\n");
  show("cat");
  EXPECT_EQ(session().value()->figures.positiveInfinities, 24);
  EXPECT_EQ(panel().cells().item(0, 0)->text(), "1");
  auto* next = panel().findChildren<QPushButton*>()[1];
  ASSERT_EQ(next->text(), "Next NaN or inf");
  QTest::mouseClick(next, Qt::LeftButton);
  settle();
  EXPECT_EQ(panel().slice().text(), "3") << "the plane with the first infinity";
  EXPECT_EQ(panel().cells().item(0, 0)->text(), "inf");
  QTest::mouseClick(next, Qt::LeftButton);
  settle();
  EXPECT_EQ(session().value()->window.column, 1) << "the one behind it";
  const auto path = m_folder.filePath("cat.npy");
  panel().saveTo(path);
  settle();
  EXPECT_EQ(QFile(path).size(), 128 + 48 * 4);
  panel().saveTo(m_folder.filePath("cat.txt"));
  settle();
  EXPECT_THAT(session().value()->error.toStdString(), HasSubstr(".npy or .safetensors"));
}

TEST_F(ValuesWindow, AClickInTheHeatMapShowsThoseCells) {
  openForward("        full = torch.ops.aten.full.default([100, 60], 3)\n        return (full,)\n");
  show("full");
  panel().heatMap().setFocus();
  QTest::mouseClick(&panel().heatMap(), Qt::LeftButton, {}, panel().heatMap().pointAt(40, 20).toPoint());
  settle();
  EXPECT_NEAR(double(session().value()->window.row), 40, 1);
  EXPECT_NEAR(double(session().value()->window.column), 20, 1);
  QTest::keyClick(&panel().heatMap(), Qt::Key_Down);
  settle();
  EXPECT_NEAR(double(session().value()->window.row), 64, 1);
}

TEST_F(ValuesWindow, ThePlotOfErrorsSelectsANode) {
  openSample();
  m_window->actions()["compare"]->trigger();
  settle();
  auto& growth = m_window->accuracyPanel().growth();
  ASSERT_GT(growth.count(), 20);
  const int place = growth.count() / 2;
  QTest::mouseClick(&growth, Qt::LeftButton, {}, growth.pointAt(place).toPoint());
  settle();
  EXPECT_EQ(session().location().node, growth.nodeAt(place));
  QTest::keyClick(&growth, Qt::Key_Right);
  settle();
  EXPECT_EQ(session().location().node, growth.nodeAt(place + 1));
  for (int i = 1; i < growth.count(); ++i)
    EXPECT_LT(session().graph()->find(growth.nodeAt(i - 1).toStdString()),
              session().graph()->find(growth.nodeAt(i).toStdString()));
}

}  // namespace
}  // namespace kerf::ui
