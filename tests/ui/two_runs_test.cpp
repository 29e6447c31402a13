// Two runs beside each other: what is said is what `kerf diff` says of the two captures, and each stage opens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QAction>
#include <QComboBox>
#include <QJsonArray>
#include <QPushButton>
#include <QTreeWidget>

#include "tests/ui/window_fixture.h"
#include "ui/panels/runs_panel.h"

namespace kerf::ui {
namespace {

using ::testing::HasSubstr;

const QString everyKind = KERF_SOURCE_DIR "/tests/fuzz/seeds/torch_trace/compile_log.log";

class TwoRuns : public Window {
 protected:
  void settle() {
    ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
  }
  QString textOf(const QString& path) {
    QFile file(path);
    EXPECT_TRUE(file.open(QIODevice::ReadOnly));
    return QString::fromUtf8(file.readAll());
  }
  RunsPanel& panel() { return m_window->runsPanel(); }
};

TEST_F(TwoRuns, SayWhereTwoGraphsPart) {
  const auto other = writeFile(
      "other.py", textOf(test::samplePath()).replace("aten.relu.default(", "aten.tanh.default(").toStdString());
  openSample();
  EXPECT_FALSE(m_window->places().buttonOf("runs")->isVisible()) << "there is one capture";
  open(other);
  m_window->actions()["compareRuns"]->trigger();
  settle();
  const auto runs = session().runs();
  ASSERT_TRUE(runs);
  EXPECT_EQ(runs->error, "");
  EXPECT_FALSE(runs->same);
  EXPECT_THAT(panel().headline().toStdString(), HasSubstr("relu"));
  EXPECT_THAT(panel().detail().toStdString(), HasSubstr("aten.relu.default"));
  EXPECT_THAT(panel().detail().toStdString(), HasSubstr("aten.tanh.default"));
  const auto told = test::cliJson({"diff", test::samplePath(), other});
  ASSERT_EQ(runs->compiles.size(), 1u);
  EXPECT_EQ(int(runs->compiles[0].stages[0].difference.nodesAfter), told["nodes_after"].toInt());
  for (const auto& each : told["calls"].toArray())
    EXPECT_THAT(panel().detail().toStdString(), HasSubstr(each.toObject()["op"].toString().toStdString()));
  QTest::mouseClick(panel().findChild<QPushButton*>("goToFirstDifference"), Qt::LeftButton);
  settle();
  ASSERT_TRUE(session().difference());
  EXPECT_EQ(session().difference()->error, "");
  EXPECT_THAT(session().difference()->text, HasSubstr("tanh"));
}

TEST_F(TwoRuns, AreTheSameWhereNothingChanged) {
  open(everyKind);
  const auto again = writeFile("again.log", textOf(everyKind).toStdString());
  open(again);
  m_window->actions()["compareRuns"]->trigger();
  settle();
  const auto runs = session().runs();
  ASSERT_TRUE(runs);
  EXPECT_EQ(runs->error, "");
  const auto told = test::cliJson({"diff", everyKind, again});
  EXPECT_EQ(runs->same, told["same"].toBool());
  EXPECT_EQ(int(runs->compiles.size()), told["compiles"].toArray().size());
  EXPECT_EQ(panel().lanes().topLevelItemCount(), told["compiles"].toArray().size());
  EXPECT_THAT(panel().headline().toStdString(), HasSubstr("The same"));
}

TEST_F(TwoRuns, ForgetThemselvesWithTheCapture) {
  openSample();
  open(writeFile("other.py", textOf(test::samplePath()).toStdString()));
  m_window->actions()["compareRuns"]->trigger();
  settle();
  EXPECT_THAT(panel().headline().toStdString(), HasSubstr("The same"));
  session().close(session().captures().front()->id);
  settle();
  EXPECT_EQ(panel().headline(), "");
  EXPECT_EQ(panel().lanes().topLevelItemCount(), 0);
}

}  // namespace
}  // namespace kerf::ui
