// One failure from beginning to end by mouse and keyboard alone: a recording is dropped on the window, its stages are gone
// through, compared and verified; a fault is compared, bisected and minified, and the repro is exported.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QAction>
#include <QComboBox>
#include <QDropEvent>
#include <QFileDialog>
#include <QLineEdit>
#include <QMenu>
#include <QMimeData>
#include <QPushButton>
#include <QTabBar>
#include <QToolButton>

#include "engine/support/recordings.h"
#include "tests/ui/window_fixture.h"
#include "ui/panels/accuracy_panel.h"
#include "ui/panels/difference_panel.h"
#include "ui/panels/minify_panel.h"
#include "ui/panels/stage_strip.h"

namespace kerf::ui {
namespace {

using testing::HasSubstr;

class WorkflowWindow : public Window {
 protected:
  void SetUp() override {
    Window::SetUp();
    QApplication::setActiveWindow(m_window.get());
    ASSERT_TRUE(test::waitFor([&] { return m_window->isActiveWindow(); }));
  }
  void settle() {
    ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
  }
  void drop(const QString& path) {
    QMimeData files;
    files.setUrls({QUrl::fromLocalFile(path)});
    QDropEvent event({600, 400}, Qt::CopyAction, &files, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(m_window.get(), &event);
    settle();
  }
  /// As typed wherever the focus is.
  void press(Qt::Key key, Qt::KeyboardModifiers modifiers = {}) {
    auto* at = QApplication::focusWidget() != nullptr ? QApplication::focusWidget() : m_window.get();
    QTest::keyClick(at, key, modifiers);
  }
  void click(QWidget* widget, const QPoint& at) {
    ASSERT_NE(widget, nullptr);
    ASSERT_TRUE(widget->isVisible()) << qPrintable(widget->objectName());
    ASSERT_TRUE(widget->isEnabled()) << qPrintable(widget->objectName());
    QTest::mouseClick(widget, Qt::LeftButton, {}, at);
  }
  void click(QWidget* widget) {
    ASSERT_NE(widget, nullptr);
    click(widget, widget->rect().center());
  }
  void clickTab(const QString& title) {
    for (auto* bar : m_window->findChildren<QTabBar*>())
      for (int i = 0; i < bar->count(); ++i)
        if (bar->tabText(i) == title) return click(bar, bar->tabRect(i).center());
    FAIL() << "no tab " << qPrintable(title);
  }
  StageLanes& lanes() { return m_window->stageStrip().lanes(); }
  QString recordingsOf(const char* name) { return QString::fromStdString((recordingsFolder() / name).string()); }
  /// Chooses a folder in the dialog that the next step opens.
  void answerFolder(const QString& folder) {
    auto* timer = new QTimer(m_window.get());
    connectAnswer(timer, folder);
    timer->start(20);
  }

 private:
  static void connectAnswer(QTimer* timer, const QString& folder) {
    QObject::connect(timer, &QTimer::timeout, timer, [timer, folder] {
      auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
      auto* name = dialog ? dialog->findChild<QLineEdit*>("fileNameEdit") : nullptr;
      if (name == nullptr) return;
      timer->stop();
      timer->deleteLater();
      name->setFocus();
      name->selectAll();
      QTest::keyClicks(name, folder);
      QTest::keyClick(name, Qt::Key_Return);
    });
  }
};

TEST_F(WorkflowWindow, FromTheStagesOfARecordingToTheirVerdict) {
  if (!QFileInfo::exists(recordingsOf("variety/dynamic_mlp/trace"))) GTEST_SKIP() << "no recordings";
  drop(recordingsOf("variety/dynamic_mlp/trace"));
  ASSERT_TRUE(session().graph());
  ASSERT_EQ(lanes().lanes().size(), 2u) << "PyTorch's stages and Kerf's passes";
  const auto first = session().location();
  click(&lanes(), lanes().cellRect(0, 0).center());
  settle();
  EXPECT_TRUE(lanes().hasFocus());
  std::set<int> seen{session().location().graph};
  for (int i = 0; i < 3; ++i) {
    press(Qt::Key_Right);
    settle();
    seen.insert(session().location().graph);
    EXPECT_TRUE(lanes().hasFocus()) << "the focus stays in the strip";
    EXPECT_EQ(m_window->pane().view().scene()->shown, session().graph());
  }
  EXPECT_EQ(seen.size(), 4u) << "four stages, one after the other";
  ASSERT_TRUE(test::waitFor([&] { return session().difference() != nullptr; }));
  clickTab("Difference");
  click(m_window->findChild<QToolButton*>("nextChange"));
  settle();
  EXPECT_GE(session().node(), 0) << "the line of the first change selects its node";
  EXPECT_EQ(m_window->pane().view().state().selected, session().node());
  click(m_window->findChild<QToolButton*>("verifyStages"));
  settle();
  ASSERT_TRUE(session().verified());
  EXPECT_EQ(session().verified()->error.toStdString(), "");
  int judged = 0;
  for (const auto& cell : lanes().lanes()[0].cells) judged += cell.verdict == StageCell::Verdict::Same;
  EXPECT_GE(judged, 2);
  EXPECT_EQ(session().location().capture, first.capture);
}

TEST_F(WorkflowWindow, FromAFaultToItsExportedRepro) {
  drop(test::samplePath());
  ASSERT_TRUE(session().graph());
  clickTab("Accuracy");
  auto* op = m_window->accuracyPanel().findChild<QComboBox*>("plantOp");
  ASSERT_NE(op, nullptr);
  click(op->lineEdit());
  op->lineEdit()->selectAll();
  QTest::keyClicks(op, "relu");
  press(Qt::Key_Tab);
  EXPECT_EQ(m_window->accuracyPanel().plant().plant().toStdString(), "relu=accuracy");
  press(Qt::Key_R, Qt::ControlModifier);
  settle();
  ASSERT_TRUE(session().accuracy());
  EXPECT_FALSE(session().accuracy()->same);
  EXPECT_EQ(session().location().node.toStdString(), "relu") << "the first bad node is selected";
  press(Qt::Key_B, Qt::ControlModifier);
  settle();
  ASSERT_TRUE(session().bisected());
  EXPECT_THAT(session().bisected()->culprits, testing::ElementsAre("relu"));
  press(Qt::Key_M, Qt::ControlModifier);
  settle();
  ASSERT_TRUE(session().minified());
  EXPECT_EQ(session().minified()->state, MinifyDoc::State::Done);
  EXPECT_EQ(session().minified()->bestNodes, 3);
  const QTemporaryDir folder;
  answerFolder(folder.path());
  auto* button = m_window->minifyPanel().findChild<QPushButton*>("exportMinified");
  ASSERT_NE(button, nullptr);
  QTimer::singleShot(0, button, [button] {  // the menu's own loop runs until something is chosen
    auto* menu = button->menu();
    ASSERT_TRUE(test::waitFor([&] { return menu->isVisible(); }));
    QTest::keyClick(menu, Qt::Key_Down);
    QTest::keyClick(menu, Qt::Key_Return);
  });
  click(button);
  ASSERT_TRUE(test::waitFor([&] { return QFileInfo::exists(folder.path() + "/repro.py"); }));
  settle();
  QFile repro(folder.path() + "/repro.py");
  ASSERT_TRUE(repro.open(QIODevice::ReadOnly));
  const auto text = repro.readAll().toStdString();
  EXPECT_THAT(text, HasSubstr("torch.ops.aten.relu.default"));
  EXPECT_THAT(text, testing::Not(HasSubstr("addmm")));
}

}  // namespace
}  // namespace kerf::ui
