// What the window does through the workbench beside graphs: listing the store, and bisecting.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QAction>
#include <QPushButton>
#include <QTreeView>

#include "tests/ui/window_fixture.h"
#include "ui/models/store_model.h"
#include "ui/panels/accuracy_panel.h"
#include "ui/panels/minify_panel.h"
#include "ui/panels/store_panel.h"
#include "ui/panels/table_view.h"

namespace kerf::ui {
namespace {

using ::testing::ElementsAre;

class WindowTool : public Window {
 protected:
  void trigger(const char* action, const QString& plant) {
    m_window->accuracyPanel().plant().setPlant(plant);
    m_window->actions()[action]->trigger();
    ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
  }
  QAbstractItemModel& store() { return *m_window->storePanel().tree().model(); }
  /// The row of a group ("Runs") that is called `name`, as the tree shows them.
  QModelIndex row(const QString& group, const QString& name) {
    for (int top = 0; top < store().rowCount(); ++top) {
      const auto heading = store().index(top, 0);
      if (heading.data().toString() != group) continue;
      for (int i = 0; i < store().rowCount(heading); ++i)
        if (const auto found = store().index(i, 0, heading); found.data().toString() == name) return found;
    }
    return {};
  }
  void showStore() {
    m_window->raisePanel("store");
    m_window->storePanel().refresh().click();
    ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
    ASSERT_TRUE(session().store()) << qPrintable(m_window->banner().text());
  }
  void openRow(const QModelIndex& index) {
    ASSERT_TRUE(index.isValid());
    emit m_window->storePanel().tree().doubleClicked(index);
    ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
    EXPECT_FALSE(m_window->banner().isVisible()) << qPrintable(m_window->banner().text());
  }
};

TEST_F(WindowTool, ListsTheStoreAndOpensWhatItHolds) {
  openSample();
  m_window->minifyPanel().plant().setPlant("relu=accuracy");
  trigger("compare", "relu=accuracy");
  trigger("minify", "relu=accuracy");
  ASSERT_EQ(session().minified()->state, MinifyDoc::State::Done) << qPrintable(session().minified()->error);
  showStore();
  const auto listing = session().store();
  ASSERT_FALSE(listing->captures.empty());
  ASSERT_FALSE(listing->runs.empty());
  EXPECT_EQ(listing->runs.back().status, "different");
  EXPECT_EQ(listing->reductions.back().bestNodes, 3);
  openRow(row("Repros", text(listing->repros.back().id)));
  EXPECT_EQ(session().graph()->nodes.size(), 3u);
  openRow(row("Captures", text(listing->captures.back().id)));
  EXPECT_EQ(session().graph()->nodes.size(), 94u);
  openRow(row("Reductions", text(listing->reductions.back().id)));
  EXPECT_EQ(session().graph()->nodes.size(), 3u);
  openRow(row("Runs", text(listing->runs.back().id)));
  EXPECT_EQ(session().graph()->nodes.size(), 94u) << "a run opens the graph that was run";
}

TEST_F(WindowTool, NewResultsAppearInTheStoreByThemselves) {
  openSample();
  showStore();
  const auto before = session().store()->runs.size();
  trigger("compare", {});
  ASSERT_TRUE(test::waitFor([&] { return session().store()->runs.size() == before + 1; }));
  EXPECT_TRUE(row("Runs", text(session().store()->runs.back().id)).isValid());
}

TEST_F(WindowTool, DeletesFromTheStoreAndUndoesIt) {
  openSample();
  trigger("compare", {});
  showStore();
  const auto before = *session().store();
  ASSERT_FALSE(before.runs.empty());
  const auto run = text(before.runs.back().id), capture = text(before.captures.back().id);
  auto& tree = m_window->storePanel().tree();
  const auto choose = [&](const QModelIndex& index) {
    ASSERT_TRUE(index.isValid());
    tree.selectionModel()->select(index, QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
  };
  const auto settled = [&](std::size_t runs) {
    return test::waitFor([&] { return m_window->idle() && session().store()->runs.size() == runs; });
  };
  choose(row("Runs", run));
  m_window->activateWindow();
  tree.setFocus();
  ASSERT_TRUE(test::waitFor([&] { return tree.hasFocus(); }));
  QTest::keyClick(&tree, Qt::Key_Delete);
  ASSERT_TRUE(settled(before.runs.size() - 1));
  EXPECT_FALSE(row("Runs", run).isValid());
  EXPECT_TRUE(session().canUndoDelete());
  EXPECT_TRUE(m_window->actions()["undo"]->isEnabled());
  m_window->actions()["undo"]->trigger();
  ASSERT_TRUE(settled(before.runs.size()));
  EXPECT_TRUE(row("Runs", run).isValid());
  EXPECT_FALSE(session().canUndoDelete());
  choose(row("Captures", capture));
  m_window->actions()["delete"]->trigger();
  ASSERT_TRUE(test::waitFor([&] { return m_window->idle() && !row("Captures", capture).isValid(); }));
  EXPECT_LT(session().store()->runs.size(), before.runs.size()) << "what depends on it goes with it";
  m_window->actions()["undo"]->trigger();
  ASSERT_TRUE(settled(before.runs.size()));
  EXPECT_EQ(session().store()->captures.size(), before.captures.size());
}

TEST_F(WindowTool, BisectsByNode) {
  openSample();
  trigger("bisectNode", "relu=accuracy");
  ASSERT_TRUE(session().bisected());
  EXPECT_THAT(session().bisected()->culprits, ElementsAre("relu"));
  EXPECT_EQ(m_window->accuracyPanel().bisection().toStdString(), "Bisection: the fault begins at node relu");
  ASSERT_NE(session().nodeDoc(), nullptr);
  EXPECT_EQ(session().nodeDoc()->name, "relu");
  EXPECT_EQ(m_window->accuracyPanel().trials().model()->rowCount(), 0);
}

TEST_F(WindowTool, BisectsByPass) {
  openSample();
  session().bisect(workbench::BisectRequest::By::Pass, "pass:cse=crash");
  ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
  ASSERT_TRUE(session().bisected());
  EXPECT_THAT(session().bisected()->culprits, ElementsAre("cse"));
  EXPECT_TRUE(m_window->accuracyPanel().bisection().startsWith("Bisection: the fault begins at pass cse"));
  const auto& trials = m_window->accuracyPanel().trials();
  EXPECT_EQ(trials.model()->rowCount(), int(session().bisected()->trials.size()));
  EXPECT_GT(trials.model()->rowCount(), 1);
  EXPECT_TRUE(trials.isVisibleTo(&m_window->accuracyPanel()));
}

TEST_F(WindowTool, AHealthyGraphHasNothingToBlame) {
  openSample();
  trigger("bisectPass", {});
  ASSERT_TRUE(session().bisected());
  EXPECT_FALSE(session().bisected()->different);
  EXPECT_TRUE(m_window->accuracyPanel().bisection().startsWith("Bisection: no pass is to blame"));
}

TEST_F(WindowTool, CancelsABisectionThatHangs) {
  openSample();
  m_window->accuracyPanel().plant().setPlant("relu=hang");
  m_window->actions()["bisectNode"]->trigger();
  QTest::qWait(300);
  EXPECT_FALSE(m_window->idle());
  EXPECT_TRUE(m_window->accuracyPanel().bisection().startsWith("Bisecting by node"));
  m_window->actions()["cancel"]->trigger();
  ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
  EXPECT_EQ(session().bisected(), nullptr);
  EXPECT_EQ(m_window->accuracyPanel().bisection().toStdString(), "");
}

}  // namespace
}  // namespace kerf::ui
