// Searching: queries in the box, their hits in the panel, going from hit to hit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QAction>
#include <QLineEdit>

#include "tests/ui/window_fixture.h"
#include "ui/panels/accuracy_panel.h"
#include "ui/panels/nodes_panel.h"
#include "ui/panels/search_panel.h"
#include "ui/shell/search_box.h"

namespace kerf::ui {
namespace {

using ::testing::HasSubstr;

class WindowSearch : public Window {
 protected:
  void type(const QString& query) {
    auto& edit = m_window->searchBox().edit();
    edit.clear();
    QTest::keyClicks(&edit, query);
  }
  std::vector<std::string> hits() {
    std::vector<std::string> names;
    for (const int node : m_window->pane().hits()) names.push_back(session().graph()->nodes[std::size_t(node)].name);
    return names;
  }
};

TEST_F(WindowSearch, AQueryIsListedCountedAndStepped) {
  openSample();
  type("op:tanh users>0");
  ASSERT_EQ(hits().size(), 4u);
  auto& panel = m_window->searchPanel();
  EXPECT_EQ(panel.said().toStdString(), "4 of 94 nodes");
  EXPECT_EQ(panel.table().model()->rowCount(), 4);
  EXPECT_EQ(panel.table().model()->index(0, 1).data().toString().toStdString(), "tanh");
  m_window->actions()["findNext"]->trigger();
  EXPECT_EQ(session().location().node.toStdString(), "tanh");
  m_window->actions()["findPrevious"]->trigger();
  EXPECT_EQ(session().location().node.toStdString(), hits().back());
  EXPECT_EQ(panel.table().currentSourceRow(), 3);
  EXPECT_EQ(m_window->searchBox().countText().toStdString(), "4 of 4");
}

TEST_F(WindowSearch, GoingToAHitZoomsToIt) {
  openSample();
  auto& view = m_window->pane().view();
  view.setZoom(0.05, {});
  type("name:relu");
  ASSERT_FALSE(hits().empty());
  auto& table = m_window->searchPanel().table();
  table.setCurrentIndex(table.model()->index(0, 1));
  ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
  EXPECT_EQ(session().location().node.toStdString(), hits().front());
  EXPECT_GE(view.zoom(), 0.8);
  EXPECT_TRUE(QRectF(view.rect()).contains(view.cardRect(session().node()).center()));
}

TEST_F(WindowSearch, SaysWhatItDoesNotUnderstand) {
  openSample();
  type("opp:relu");
  EXPECT_TRUE(hits().empty());
  EXPECT_EQ(m_window->searchBox().countText().toStdString(), "not understood");
  EXPECT_THAT(m_window->searchPanel().said().toStdString(), HasSubstr("did you mean op?"));
  type("diverged");
  EXPECT_THAT(m_window->searchPanel().said().toStdString(), HasSubstr("compare first"));
  type("is:added");
  EXPECT_THAT(m_window->searchPanel().said().toStdString(), HasSubstr("Ctrl+D"));
}

TEST_F(WindowSearch, FindsWhatDivergedAndWhatIsPinned) {
  openSample();
  m_window->accuracyPanel().plant().setPlant("relu=accuracy");
  m_window->actions()["compare"]->trigger();
  ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
  type("is:firstbad diverged");
  EXPECT_THAT(hits(), ::testing::ElementsAre("relu"));
  session().pin("tanh", true);
  type("is:pinned");
  EXPECT_THAT(hits(), ::testing::ElementsAre("tanh"));
}

TEST_F(WindowSearch, TheTableOfNodesTakesQueriesToo) {
  openSample();
  auto& panel = m_window->nodesPanel();
  panel.filter().setText("kind:matmul shape:16x*");
  ASSERT_TRUE(test::waitFor([&] { return panel.table().model()->rowCount() < 94; }));
  const int found = panel.table().model()->rowCount();
  EXPECT_GT(found, 2);
  for (int row = 0; row < found; ++row)
    EXPECT_THAT(panel.table().model()->index(row, 2).data().toString().toStdString(), ::testing::AnyOf("addmm", "mm"));
}

}  // namespace
}  // namespace kerf::ui
