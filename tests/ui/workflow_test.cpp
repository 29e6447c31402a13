// A working day by mouse and keyboard alone: a recording is pasted, its stages are walked and verified, two graphs are
// compared; then a failing graph is opened, compared, bisected, minified and handed on. The watchdog is that of all
// window tests; what it measured is printed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QClipboard>
#include <QComboBox>
#include <QFileDialog>
#include <QLabel>
#include <QMenu>
#include <QMimeData>
#include <QPushButton>
#include <QToolBar>
#include <QToolButton>
#include <QTreeView>

#include "engine/support/recordings.h"
#include "tests/ui/window_fixture.h"
#include "ui/panels/accuracy_panel.h"
#include "ui/panels/captures_panel.h"
#include "ui/panels/changes_panel.h"
#include "ui/panels/difference_panel.h"
#include "ui/panels/minify_panel.h"
#include "ui/panels/stage_strip.h"
#include "ui/panels/table_view.h"

namespace kerf::ui {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class WorkingDay : public Window {
 protected:
  void SetUp() override {
    Window::SetUp();
    m_window->resize(1366, 768);
    m_window->activateWindow();
  }
  void TearDown() override {
    std::printf("longest gap of the event loop %.0f ms\n", m_heart.longest() * 1e3);
    Window::TearDown();
  }
  void settle() {
    ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
    ASSERT_FALSE(m_window->banner().isVisible()) << qPrintable(m_window->banner().text());
  }
  void pasteFile(const QString& path) {
    auto* files = new QMimeData;
    files->setUrls({QUrl::fromLocalFile(path)});
    QApplication::clipboard()->setMimeData(files);
    QTest::keyClick(m_window.get(), Qt::Key_V, Qt::ControlModifier);
    ASSERT_TRUE(test::waitFor([&] { return m_window->idle() && session().graph(); }))
        << qPrintable(m_window->banner().text());
  }
  template <class T>
  T& part(QWidget& parent, const char* name) {
    auto* found = parent.findChild<T*>(name);
    if (found == nullptr) throw std::runtime_error(std::string("there is no ") + name);
    return *found;
  }
  void click(QWidget& widget) {
    ASSERT_TRUE(widget.isVisible() && widget.isEnabled()) << widget.objectName().toStdString();
    QTest::mouseClick(&widget, Qt::LeftButton);
  }
  /// Opens a button's menu and goes to an entry by the arrow keys.
  void chooseFromMenu(QPushButton& button, const QString& title) {
    ASSERT_TRUE(button.isVisible() && button.isEnabled()) << button.text().toStdString();
    QTimer::singleShot(0, &button, [&] {
      auto* menu = button.menu();
      for (int i = 0; i < 30 && !(menu->activeAction() && menu->activeAction()->text().startsWith(title)); ++i)
        QTest::keyClick(menu, Qt::Key_Down);
      QTest::keyClick(menu, Qt::Key_Return);
    });
    QTest::mouseClick(&button, Qt::LeftButton);
    QTest::qWait(20);
  }
  /// Answers the next file dialog with `path`, by its line of text.
  void answerFileDialog(const QString& path) {
    auto* timer = new QTimer(m_window.get());
    QObject::connect(timer, &QTimer::timeout, m_window.get(), [timer, path] {
      auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
      auto* edit = dialog ? dialog->findChild<QLineEdit*>("fileNameEdit") : nullptr;
      if (!edit) return;
      timer->deleteLater();
      edit->setText(path);  // typed, it would open a list of names, which may take the Return
      QMetaObject::invokeMethod(dialog, "accept");
    });
    timer->start(20);
  }
  QModelIndex entry(const QString& name) {
    auto* model = m_window->capturesPanel().tree().model();
    const auto found =
        model->match(model->index(0, 0), Qt::DisplayRole, name, 1, Qt::MatchExactly | Qt::MatchRecursive);
    return found.isEmpty() ? QModelIndex() : found.first();
  }
  StageLanes& lanes() { return m_window->stageStrip().lanes(); }
};

TEST_F(WorkingDay, FromARecordingToVerifiedStages) {
  const auto path = recordingsFolder() / "variety/dynamic_mlp/trace";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no recordings";
  pasteFile(QString::fromStdString(path.string()));
  settle();
  ASSERT_TRUE(test::waitFor([&] { return lanes().lanes().size() == 2u && lanes().lanes()[0].current >= 0; }));
  // strip: the mouse to the first stage, the keyboard onwards
  QTest::mouseClick(&lanes(), Qt::LeftButton, {}, lanes().cellRect(0, 0).center());
  settle();
  const auto first = session().graph();
  for (int step = 1; step <= 3; ++step) {
    QTest::keyClick(&lanes(), Qt::Key_Right);
    settle();
    EXPECT_EQ(lanes().lanes()[0].current, step);
    EXPECT_TRUE(lanes().hasFocus());
    const auto& scene = m_window->pane().view().scene();
    ASSERT_TRUE(scene);
    EXPECT_EQ(scene->shown, session().graph());
  }
  EXPECT_NE(session().graph(), first);
  // diff: what the stage changed, in the table of ops and as text
  m_window->raisePanel("changes");
  m_window->raisePanel("difference");
  settle();
  ASSERT_TRUE(session().difference());
  EXPECT_EQ(session().difference()->error.toStdString(), "");
  EXPECT_GT(part<DataTable>(m_window->changesPanel(), "opCounts").model()->rowCount(), 0);
  // verify
  click(m_window->stageStrip().verify());
  settle();
  ASSERT_TRUE(session().verified());
  EXPECT_TRUE(session().verified()->comparedAny());
  const auto& cells = lanes().lanes()[0].cells;
  EXPECT_TRUE(
      std::ranges::any_of(cells, [](const StageCell& cell) { return cell.verdict == StageCell::Verdict::Same; }));
  // compare any two: the list of captures by keyboard, back to the first stage
  auto& tree = m_window->capturesPanel().tree();
  const auto other = entry("aot_forward_graph");
  ASSERT_TRUE(other.isValid());
  tree.scrollTo(other);
  QTest::mouseClick(tree.viewport(), Qt::LeftButton, {}, tree.visualRect(other).center());
  settle();
  EXPECT_EQ(session().graph()->title, "aot_forward_graph");
}

TEST_F(WorkingDay, FromAFailureToTheTextOfAnIssue) {
  const QTemporaryDir folder;
  pasteFile(test::samplePath());
  settle();
  // compare
  m_window->raisePanel("accuracy");
  auto& accuracy = m_window->accuracyPanel();
  session().setPlant("relu=accuracy");
  click(part<QPushButton>(accuracy, "primary"));
  settle();
  EXPECT_TRUE(accuracy.verdict().startsWith("Different")) << qPrintable(accuracy.verdict());
  ASSERT_TRUE(session().nodeDoc());
  EXPECT_EQ(session().nodeDoc()->name, "relu") << "the first bad node is selected";
  const auto& view = m_window->pane().view();
  EXPECT_TRUE(QRectF(view.rect()).intersects(view.cardRect(session().node())));
  // bisect
  chooseFromMenu(part<QPushButton>(accuracy, "bisect"), "By node");
  settle();
  ASSERT_TRUE(session().bisected());
  EXPECT_THAT(session().bisected()->culprits, ElementsAre("relu"));
  // minify
  m_window->raisePanel("minify");
  auto& minify = m_window->minifyPanel();
  click(part<QPushButton>(minify, "primary"));
  ASSERT_TRUE(
      test::waitFor([&] { return session().minified() && session().minified()->state == MinifyDoc::State::Done; }));
  settle();
  EXPECT_EQ(session().minified()->bestNodes, 3);
  EXPECT_GT(minify.steps().model()->rowCount(), 0);
  QTest::mouseClick(
      minify.steps().viewport(), Qt::LeftButton, {},
      minify.steps().visualRect(minify.steps().model()->index(minify.steps().model()->rowCount() - 1, 0)).center());
  settle();
  // export
  const auto issue = folder.path() + "/issue.md";
  answerFileDialog(issue);
  chooseFromMenu(part<QPushButton>(minify, "exportMinified"), "Issue text");
  ASSERT_TRUE(test::waitFor([&] { return m_window->idle() && QFile::exists(issue); }));
  QFile file(issue);
  ASSERT_TRUE(file.open(QIODevice::ReadOnly));
  EXPECT_THAT(file.readAll().toStdString(), AllOf(HasSubstr("relu"), HasSubstr("repro.py"), HasSubstr("torch")));
}

}  // namespace
}  // namespace kerf::ui
