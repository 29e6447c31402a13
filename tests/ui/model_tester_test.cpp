// Qt's own checks of item models, on every model of the window while it is used: whatever is opened, sorted, filtered,
// compared, minified and closed, no model breaks the rules that its views rely on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QAction>
#include <QCheckBox>
#include <QHeaderView>
#include <QLineEdit>

#include "engine/support/recordings.h"
#include "tests/ui/window_fixture.h"
#include "ui/panels/nodes_panel.h"
#include "ui/panels/passes_panel.h"
#include "ui/panels/stage_strip.h"
#include "ui/panels/store_panel.h"

namespace kerf::ui {
namespace {

/// What the checkers say goes to the log as warnings of their own category.
class Complaints {
 public:
  Complaints() { s_before = qInstallMessageHandler(&Complaints::hear); }
  ~Complaints() { qInstallMessageHandler(s_before); }
  static QStringList s_heard;

 private:
  static void hear(QtMsgType type, const QMessageLogContext& context, const QString& text) {
    if (QLatin1String(context.category) == QLatin1String("qt.modeltest") && type != QtDebugMsg) s_heard << text;
  }
  static QtMessageHandler s_before;
};
QStringList Complaints::s_heard;
QtMessageHandler Complaints::s_before = nullptr;

class WindowModels : public Window {
 protected:
  void SetUp() override {
    Window::SetUp();
    Complaints::s_heard.clear();
    watch();
  }
  void TearDown() override {
    EXPECT_TRUE(Complaints::s_heard.isEmpty()) << qPrintable(Complaints::s_heard.join('\n'));
    m_testers.clear();
    Window::TearDown();
  }
  /// Models that came since the last time are watched from now on.
  void watch() {
    // Qt's own model of trees has children in every column.
    for (auto* model : m_window->findChildren<QAbstractItemModel*>())
      if (!model->inherits("QTreeModel") && !m_watched.contains(model)) {
        m_watched.insert(model);
        m_testers.push_back(
            std::make_unique<QAbstractItemModelTester>(model, QAbstractItemModelTester::FailureReportingMode::Warning));
      }
  }
  void settle() {
    ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
  }
  /// By every column, up and down, and with a few filters.
  void sortAndFilter() {
    for (auto* table : m_window->findChildren<DataTable*>())
      for (int column = 0; column < table->model()->columnCount(); ++column)
        for (const auto order : {Qt::AscendingOrder, Qt::DescendingOrder}) table->sortByColumn(column, order);
    for (const char* query : {"relu", "users>1 op:add", "no such node", ""}) {
      m_window->nodesPanel().filter().setText(query);
      QTest::qWait(150);
    }
    m_window->passesPanel().hideUnchanged().click();
    m_window->passesPanel().hideUnchanged().click();
  }

  Complaints m_complaints;
  std::vector<std::unique_ptr<QAbstractItemModelTester>> m_testers;
  QSet<QAbstractItemModel*> m_watched;
};

TEST_F(WindowModels, KeepTheRulesWhileASampleIsWorkedOn) {
  EXPECT_GT(m_watched.size(), 15);
  openSample();
  watch();
  sortAndFilter();
  for (const char* action : {"compare", "bisectNode", "minify"}) {
    m_window->actions()[action]->trigger();
    settle();
    sortAndFilter();
  }
  session().showAotStage("joint");
  settle();
  session().partition();
  session().listStore();
  settle();
  watch();
  m_window->stageStrip().step(1);
  settle();
  sortAndFilter();
  session().close(session().location().capture);
  settle();
}

TEST_F(WindowModels, KeepTheRulesWhileLogsAndFoldersComeAndGo) {
  const auto folder = recordingsFolder() / "variety/graph_breaks";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no recordings";
  m_window->open({QString::fromStdString(folder.string()), test::samplePath()});
  settle();
  watch();
  ASSERT_GT(session().captures().size(), 2u);
  sortAndFilter();
  for (const auto& capture : session().captures()) {
    session().go({capture->id, 0, Location::Stage::Captured, -1, {}});
    settle();
  }
  sortAndFilter();
  for (const auto& capture : session().captures()) session().close(capture->id);
  settle();
}

/// The checkers see what is wrong: a model that tells of a row that never comes.
TEST(ModelTester, HearsOfAModelThatLies) {
  const Complaints complaints;
  Complaints::s_heard.clear();
  class Liar : public QAbstractListModel {
   public:
    int rowCount(const QModelIndex&) const override { return 1; }
    QVariant data(const QModelIndex&, int) const override { return {}; }
    void lie() {
      beginInsertRows({}, 1, 1);
      endInsertRows();
    }
  } liar;
  const QAbstractItemModelTester tester(&liar, QAbstractItemModelTester::FailureReportingMode::Warning);
  liar.lie();
  EXPECT_FALSE(Complaints::s_heard.isEmpty());
  Complaints::s_heard.clear();
}

}  // namespace
}  // namespace kerf::ui
