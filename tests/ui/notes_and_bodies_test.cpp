// Bookmarks and notes at nodes, and graphs inside graphs: what is gone into and come back from.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QAction>
#include <QLineEdit>
#include <QMenu>
#include <QToolButton>

#include "tests/ui/window_fixture.h"
#include "ui/panels/notes_panel.h"

namespace kerf::ui {
namespace {

using ::testing::ElementsAre;

/// A loop and a branch, each with its bodies.
constexpr const char* nestedText = R"(
class GraphModule(torch.nn.Module):
    def forward(self, i: "i64[]", x: "f32[3]", p: "b8[]"):
        cond_fn = self.cond_fn
        body_fn = self.body_fn
        while_loop = torch.ops.higher_order.while_loop(cond_fn, body_fn, (i, x), ())
        getitem: "f32[3]" = while_loop[1]
        true_graph_0 = self.true_graph_0
        false_graph_0 = self.false_graph_0
        cond = torch.ops.higher_order.cond(p, true_graph_0, false_graph_0, (getitem,))
        getitem_1: "f32[3]" = cond[0]
        wrap_body_0 = self.wrap_body_0
        wrap = torch.ops.higher_order.wrap(wrap_body_0, getitem_1)
        getitem_2: "f32[3]" = wrap[0]
        return (getitem_2,)

    class cond_fn(torch.nn.Module):
        def forward(self, i: "i64[]", x: "f32[3]"):
            lt: "b8[]" = torch.ops.aten.lt.Scalar(i, 5)
            return lt

    class body_fn(torch.nn.Module):
        def forward(self, i: "i64[]", x: "f32[3]"):
            add: "i64[]" = torch.ops.aten.add.Tensor(i, 1)
            cos: "f32[3]" = torch.ops.aten.cos.default(x)
            return (add, cos)

    class true_graph_0(torch.nn.Module):
        def forward(self, x: "f32[3]"):
            sin: "f32[3]" = torch.ops.aten.sin.default(x)
            return (sin,)

    class false_graph_0(torch.nn.Module):
        def forward(self, x: "f32[3]"):
            relu: "f32[3]" = torch.ops.aten.relu.default(x)
            return (relu,)

    class wrap_body_0(torch.nn.Module):
        def forward(self, x: "f32[3]"):
            tanh: "f32[3]" = torch.ops.aten.tanh.default(x)
            return (tanh,)
)";

class WindowNotes : public Window {
 protected:
  void settle() {
    ASSERT_TRUE(test::waitFor([&] { return m_window->idle() && m_window->pane().view().scene(); }));
  }
  void openNested() {
    QFile file(m_folder.path() + "/nested.txt");
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(nestedText);
    file.close();
    open(file.fileName());
    ASSERT_TRUE(session().graph()) << qPrintable(m_window->banner().text());
    settle();
  }
  bool noted(std::size_t count) {
    return test::waitFor([&] { return session().notes() && session().notes()->size() == count; });
  }
  QTemporaryDir m_folder;
};

TEST_F(WindowNotes, ABookmarkAndANoteAreThereAgainInAnotherWindow) {
  session().setStorePath(m_folder.path() + "/notes.db");
  openSample();
  ASSERT_TRUE(noted(0));
  session().selectNode(QString("relu"));
  m_window->actions()["bookmark"]->trigger();
  ASSERT_TRUE(noted(1));
  EXPECT_TRUE(m_window->pane().view().state().noted.contains(session().node()));
  session().selectNode(QString("tanh"));
  auto& panel = m_window->notesPanel();
  panel.edit().setText("the scale is off here");
  QTest::keyClick(&panel.edit(), Qt::Key_Return);
  ASSERT_TRUE(noted(2));
  m_window->actions()["nextNote"]->trigger();
  EXPECT_EQ(session().location().node.toStdString(), "relu");
  m_window->actions()["nextNote"]->trigger();
  EXPECT_EQ(session().location().node.toStdString(), "tanh");
  m_window = std::make_unique<MainWindow>(WindowOptions{false, "light"});
  session().setStorePath(m_folder.path() + "/notes.db");
  m_window->show();
  started();
  m_window->raisePanel("notes");
  ASSERT_TRUE(noted(2));
  auto& table = m_window->notesPanel().table();
  ASSERT_EQ(table.model()->rowCount(), 2);
  EXPECT_EQ(table.model()->index(0, 1).data().toString().toStdString(), "the scale is off here");
  table.setCurrentIndex(table.model()->index(0, 0));
  ASSERT_TRUE(test::waitFor([&] { return session().graph() && m_window->idle(); }));
  EXPECT_EQ(session().location().node.toStdString(), "tanh");
  EXPECT_EQ(m_window->notesPanel().edit().text().toStdString(), "the scale is off here");
  m_window->actions()["bookmark"]->trigger();
  ASSERT_TRUE(noted(1));
}

TEST_F(WindowNotes, ABodyIsEnteredAndLeftAgain) {
  openNested();
  const auto* graph = session().graph().get();
  const auto& wrap = graph->nodes[std::size_t(graph->find("wrap"))];
  EXPECT_THAT(wrap.bodies, ElementsAre("wrap_body_0"));
  EXPECT_THAT(graph->nodes[std::size_t(graph->find("while_loop"))].bodies, ElementsAre("cond_fn", "body_fn"));
  auto& view = m_window->pane().view();
  const auto enter = [&](const char* node) {
    session().selectNode(QString(node));
    view.reveal(session().node());
    const auto title = view.cardRect(session().node()).topLeft() + QPointF(20, 10);  // rows are other nodes
    QTest::mouseDClick(&view, Qt::LeftButton, {}, title.toPoint());
  };
  enter("wrap");
  ASSERT_TRUE(test::waitFor([&] { return session().location().body == "wrap_body_0" && m_window->idle(); }));
  ASSERT_GE(session().graph()->find("tanh"), 0);
  EXPECT_EQ(session().graph()->nodes.size(), 3u);
  auto* crumbs = m_window->findChild<QWidget*>("breadcrumbs");
  ASSERT_TRUE(crumbs && crumbs->isVisible());
  ASSERT_EQ(crumbs->findChildren<QToolButton*>().size(), 1);
  view.setFocus();
  QTest::keyClick(&view, Qt::Key_Backspace);
  settle();
  EXPECT_EQ(session().location().body, "");
  EXPECT_EQ(session().location().node.toStdString(), "wrap") << "its call is selected";
  EXPECT_FALSE(crumbs->isVisible());
  enter("while_loop");
  auto* menu = m_window->findChild<QMenu*>("bodies");
  ASSERT_NE(menu, nullptr);
  ASSERT_EQ(menu->actions().size(), 2);
  menu->actions()[1]->trigger();
  ASSERT_TRUE(test::waitFor([&] { return session().location().body == "body_fn" && m_window->idle(); }));
  EXPECT_GE(session().graph()->find("cos"), 0);
  crumbs->findChildren<QToolButton*>().back()->click();
  settle();
  EXPECT_EQ(session().location().body, "");
  session().back();
  ASSERT_TRUE(test::waitFor([&] { return session().location().body == "body_fn"; }));
}

}  // namespace
}  // namespace kerf::ui
