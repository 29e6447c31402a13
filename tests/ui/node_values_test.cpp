// Values of all nodes after a comparison: the figures that `kerf value` gives, on cards and in the Inspector, and the
// commands that lead to NaN and infinities; kernels as they are run.
#include <map>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QAction>

#include "tests/support/small_repro.h"
#include "tests/ui/window_fixture.h"
#include "ui/models/spark.h"
#include "ui/panels/figures_table.h"
#include "ui/panels/inspector_panel.h"
#include "ui/panels/kernels_panel.h"
#include "ui/panels/tabbed_page.h"
#include "ui/panels/values_panel.h"
#include "ui/shell/story_bar.h"

namespace kerf::ui {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class NodeValues : public Window {
 protected:
  void settle() {
    ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
  }
  void openForward(const std::string& forward) { open(writeFile("small.py", kerf::test::smallRepro(forward))); }
  void run(const char* action) {
    m_window->actions()[action]->trigger();
    settle();
  }
  const workbench::NodeFigures* figuresOf(const char* node) {
    return session().accuracy() ? session().accuracy()->figuresOf(node) : nullptr;
  }
  std::string inspector() { return m_window->inspectorPanel().toPlainText().toStdString(); }
};

TEST_F(NodeValues, AreThoseOfTheCommandLineOnEverySide) {
  openSample();
  session().setPlant("relu=accuracy");
  run("compare");
  const auto* relu = figuresOf("relu");
  ASSERT_TRUE(relu);
  ASSERT_EQ(relu->sides.size(), 3u);
  for (const auto& [side, figures] : relu->sides) {
    QStringList asked{"value", test::samplePath(), "relu", "--side", text(side), "--plant", "relu=accuracy"};
    const auto told = test::cliJson(asked)["figures"].toObject();
    ASSERT_FALSE(told.isEmpty()) << side;
    EXPECT_NEAR(figures.minimum, told["minimum"].toDouble(), 1e-9) << side;
    EXPECT_NEAR(figures.maximum, told["maximum"].toDouble(), 1e-6) << side;
    EXPECT_NEAR(figures.mean, told["mean"].toDouble(), 1e-6) << side;
    EXPECT_EQ(figures.finite, told["finite"].toInt()) << side;
    EXPECT_EQ(std::accumulate(figures.histogram.begin(), figures.histogram.end(), std::int64_t(0)), figures.finite);
    EXPECT_LE(figures.histogram.size(), 32u);
  }
  const auto* input = figuresOf("arg0_1");
  ASSERT_TRUE(input) << "inputs have values too";
  EXPECT_EQ(input->sides.front().side, "recorded");
  session().selectNode(QString("relu"));
  EXPECT_THAT(inspector(), HasSubstr("VALUES"));
  EXPECT_THAT(inspector(), HasSubstr("Interpreter"));
  EXPECT_THAT(inspector(), HasSubstr(rangeText(relu->sides.front().figures).toStdString()));
}

TEST_F(NodeValues, StandBelowCardsUntilSomebodyTurnsThemOff) {
  openForward(kerf::test::reluForward);
  auto& view = m_window->pane().view();
  view.setZoom(1, view.rect().center());
  run("compare");
  session().selectNode(-1);
  const auto shown = view.grab().toImage();
  m_window->actions()["values"]->trigger();
  const auto hidden = view.grab().toImage();
  EXPECT_NE(shown, hidden);
  const auto card = view.cardRect(session().graph()->find("relu")).toRect();
  ASSERT_FALSE(card.isEmpty());
  const QRect below(card.left(), card.bottom() + 1, card.width(), 16);
  EXPECT_NE(shown.copy(below), hidden.copy(below));
  EXPECT_EQ(shown.copy(card.adjusted(8, 4, -8, -8)), hidden.copy(card.adjusted(8, 4, -8, -8))) << "nothing moves";
}

TEST_F(NodeValues, CommandsLeadToTheFirstNanAndTheFirstInfinity) {
  openForward(
      "        square = torch.ops.aten.mul.Tensor(arg0_1, arg0_1);  arg0_1 = None\n"
      "        full = torch.ops.aten.full.default([2, 4], float('inf'))\n"
      "        large = torch.ops.aten.add.Tensor(square, 1000)\n"
      "        exp = torch.ops.aten.exp.default(large);  large = None\n"
      "        mul = torch.ops.aten.mul.Tensor(square, -1);  square = None\n"
      "        sub = torch.ops.aten.sub.Tensor(mul, 1);  mul = None\n"
      "        log = torch.ops.aten.log.default(sub);  sub = None\n"
      "        add = torch.ops.aten.add.Tensor(exp, log)\n        return (add, full)\n");
  run("firstNan");  // compares first
  ASSERT_TRUE(session().accuracy());
  run("firstNan");
  ASSERT_TRUE(session().nodeDoc());
  EXPECT_EQ(session().nodeDoc()->name, "log");
  run("firstInf");
  EXPECT_EQ(session().nodeDoc()->name, "exp") << "an infinity that is a constant is meant";
  EXPECT_THAT(inspector(), HasSubstr("8 +inf"));
  run("firstNan");
  EXPECT_THAT(inspector(), HasSubstr("8 NaN"));
}

TEST_F(NodeValues, ThePanelShowsThemOnceNodesWereCompared) {
  openSample();
  session().setPlant("relu=accuracy");
  run("compare");
  m_window->raisePanel("values");
  session().selectNode(QString("add_6"));
  ASSERT_TRUE(test::waitFor([&] { return session().value() && !session().value()->running; }));
  EXPECT_EQ(session().value()->asked.node, "add_6");
}

TEST_F(NodeValues, KernelsAreThoseThatAreRun) {
  openSample();
  m_window->raisePanel("kernels");
  session().selectNode(QString("relu"));
  settle();
  const auto code = [&] { return m_window->kernelsPanel().code().code().toStdString(); };
  const auto before = code();
  EXPECT_THAT(before, HasSubstr("max"));
  session().setPlant("relu=accuracy");
  settle();
  const auto planted = session().compiledAsRun();
  ASSERT_TRUE(planted);
  EXPECT_EQ(planted->error, "");
  session().selectNode(QString("addmm_5"));
  session().selectNode(QString("relu"));
  EXPECT_NE(code(), before);
  session().setPlant({});
  settle();
  session().selectNode(QString("addmm_5"));
  session().selectNode(QString("relu"));
  EXPECT_EQ(code(), before);
}

TEST_F(NodeValues, StandInATableWithFourSides) {
  openSample();
  m_window->actions()["compare"]->trigger();
  ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
  const auto accuracy = session().accuracy();
  ASSERT_TRUE(accuracy && !accuracy->values.empty());
  auto& table = *m_window->figuresTable().table().model();
  ASSERT_EQ(table.rowCount(), int(accuracy->values.size()));
  QStringList titles;
  for (int column = 0; column < table.columnCount(); ++column)
    titles << table.headerData(column, Qt::Horizontal).toString();
  EXPECT_EQ(titles, QStringList({"Node", "Interpreter", "Compiled", "fp64 reference", "Recorded"}));
  const std::map<std::string, int> columns{
      {"interpreter", 1}, {"compiled", 2}, {"fp64", 3}, {"recorded", 4}, {"made up", 4}};
  for (int row = 0; row < table.rowCount(); ++row) {
    const auto& known = accuracy->values[std::size_t(row)];
    EXPECT_EQ(table.index(row, 0).data().toString().toStdString(), known.node);
    EXPECT_FALSE(known.sides.empty());
    for (const auto& [side, figures] : known.sides)
      EXPECT_EQ(table.index(row, columns.at(side)).data().toString(), rangeText(figures)) << known.node << " " << side;
  }
  EXPECT_THAT(m_window->figuresTable().status().toStdString(), ::testing::HasSubstr("all finite"));
  m_window->raisePanel("values");
  m_window->valueTabs().showView(&m_window->figuresTable());
  QApplication::processEvents();
  const auto& view = m_window->figuresTable().table();
  for (int column = 1; column < 4; ++column)  // the picture and the text beside it
    EXPECT_GE(view.columnWidth(column),
              QFontMetrics(view.font()).horizontalAdvance(rangeText(accuracy->values[0].sides[0].figures)) + 48)
        << column;
  session().selectNode(QString("relu"));
  const int current = m_window->figuresTable().table().currentSourceRow();
  ASSERT_GE(current, 0);
  EXPECT_EQ(accuracy->values[std::size_t(current)].node, "relu");
}

}  // namespace
}  // namespace kerf::ui
