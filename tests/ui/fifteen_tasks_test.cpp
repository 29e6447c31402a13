// Fifteen tasks of people who debug compilers, in the real window, by mouse and keys: each in at most three clicks beside what is
// typed, and with the answers that the command line gives. Clicks and seconds are printed and recorded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QAction>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QElapsedTimer>
#include <QJsonArray>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPointer>
#include <QPushButton>
#include <QSettings>
#include <QToolButton>
#include <QTreeView>
#include <QTreeWidget>

#include "engine/support/recordings.h"
#include "tests/ui/window_fixture.h"
#include "ui/models/format.h"
#include "ui/models/theme.h"
#include "ui/panels/accuracy_panel.h"
#include "ui/panels/captures_panel.h"
#include "ui/panels/changes_panel.h"
#include "ui/panels/difference_panel.h"
#include "ui/panels/minify_settings.h"
#include "ui/panels/output_code_panel.h"
#include "ui/panels/overview_panel.h"
#include "ui/panels/partition_panel.h"
#include "ui/panels/passes_panel.h"
#include "ui/panels/stage_strip.h"
#include "ui/panels/table_view.h"
#include "ui/panels/values_panel.h"
#include "ui/shell/search_box.h"
#include "ui/shell/story_bar.h"

namespace kerf::ui {
namespace {

using ::testing::HasSubstr;

constexpr int mostClicks = 3;
const QString everyKind = KERF_SOURCE_DIR "/tests/fuzz/seeds/torch_trace/compile_log.log";

class FifteenTasks : public Window {
 protected:
  void SetUp() override {
    Window::SetUp();
    m_mostGap = test::mostGapOfThemes();
    m_window->activateWindow();
    m_clock.start();
  }
  void TearDown() override {
    std::printf("%d clicks, %.1f s\n", m_clicks, double(m_clock.elapsed()) / 1e3);
    RecordProperty("clicks", m_clicks);
    RecordProperty("task_ms", int(m_clock.elapsed()));
    EXPECT_LE(m_clicks, mostClicks);
    Window::TearDown();
  }
  void settle() {
    ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
  }
  /// From here the task begins: what was opened before it is not of it.
  void begin() {
    m_clicks = 0;
    m_clock.restart();
  }
  void click(QWidget& widget, const QPoint& at = {}) {
    ++m_clicks;
    ASSERT_TRUE(widget.isVisible() && widget.isEnabled()) << widget.objectName().toStdString();
    QTest::mouseClick(&widget, Qt::LeftButton, {}, at);
    QApplication::processEvents();
  }
  void key(QWidget& widget, Qt::Key code, Qt::KeyboardModifiers modifiers = {}) {
    ++m_clicks;
    QTest::keyClick(&widget, code, modifiers);
    QApplication::processEvents();
  }
  template <class T>
  T& part(QWidget& parent, const char* name) {
    auto* found = parent.findChild<T*>(name);
    if (found == nullptr) throw std::runtime_error(std::string("there is no ") + name);
    return *found;
  }
  void openTrace() {
    open(everyKind);
    ASSERT_TRUE(test::waitFor([&] { return session().traceLog(session().location().capture) && m_window->idle(); }));
  }
  QString recording(const char* path) {
    const auto found = recordingsFolder() / path;
    return std::filesystem::exists(found) ? QString::fromStdString(found.string()) : QString();
  }
  StoryBar& story() { return m_window->storyBar(); }

  int m_clicks = 0;
  QElapsedTimer m_clock;
};

TEST_F(FifteenTasks, T01OpenTheSample) {
  for (auto* button : m_window->findChildren<QPushButton*>())
    if (button->text() == "Open the sample" && button->isVisible()) {
      click(*button);
      break;
    }
  settle();
  ASSERT_TRUE(session().graph());
  const auto told = test::cliJson({"show", test::samplePath()});
  EXPECT_EQ(int(session().graph()->nodes.size()), told["node_count"].toInt());
  EXPECT_GT(told["node_count"].toInt(), 0);
}

TEST_F(FifteenTasks, T02TheStoryOfAFailure) {
  openSample();
  session().setPlant("relu=accuracy");
  begin();
  click(story().button(StoryStep::Compare));
  settle();
  click(story().button(StoryStep::Minify));
  settle();
  ASSERT_TRUE(session().minified());
  EXPECT_EQ(session().minified()->bestNodes, 3);
  click(story().button(StoryStep::Issue));
  settle();
  const auto* issue = m_window->findChild<QPlainTextEdit*>("issueText");
  ASSERT_TRUE(issue);
  EXPECT_THAT(issue->toPlainText().toStdString(), HasSubstr("torch.ops.aten.relu.default"));
}

TEST_F(FifteenTasks, T03FromAttentionInAJointGraphToItsKernel) {
  const auto path = recording("traces/gpt2");
  if (path.isEmpty()) GTEST_SKIP() << "no recording of gpt2";
  open(path);
  begin();
  QTest::keyClicks(&m_window->capturesPanel().filter(), "aot_joint_graph");
  const auto& tree = m_window->capturesPanel().tree();
  const auto found = tree.model()->match(tree.model()->index(0, 0), Qt::DisplayRole, "aot_joint_graph", 1,
                                         Qt::MatchStartsWith | Qt::MatchRecursive);
  ASSERT_FALSE(found.isEmpty());
  click(*tree.viewport(), tree.visualRect(found.first()).center());
  settle();
  ASSERT_TRUE(session().graph());
  EXPECT_GT(session().graph()->nodes.size(), 2000u);
  auto& search = m_window->searchBox().edit();
  QTest::keyClicks(&search, "op:*scaled_dot_product*");
  key(search, Qt::Key_Return);
  ASSERT_TRUE(session().nodeDoc());
  EXPECT_THAT(session().nodeDoc()->target, HasSubstr("scaled_dot_product"));
  click(*m_window->places().buttonOf("code"));
  ASSERT_TRUE(test::waitFor([&] { return session().recordedCode() && m_window->idle(); }));
  EXPECT_FALSE(m_window->outputCodePanel().code().markedLines().isEmpty());
}

TEST_F(FifteenTasks, T04WhatAPassChanged) {
  const auto twice = writeFile("twice.txt",
                               "def forward(self, x: \"f32[4]\"):\n    a: \"f32[4]\" = torch.ops.aten.sin.default(x)\n"
                               "    b: \"f32[4]\" = torch.ops.aten.sin.default(x)\n"
                               "    c: \"f32[4]\" = torch.ops.aten.mul.Tensor(a, b)\n    return (c,)\n");
  open(twice);
  begin();
  const auto told = test::cliJson({"passes", twice})["passes"].toArray();
  QString changed;
  int before = 0, after = 0;
  for (const auto& each : told) {
    const auto pass = each.toObject();
    if (!pass["changed"].toBool()) continue;
    changed = pass["name"].toString();
    before = pass["nodes_before"].toInt();
    after = pass["nodes_after"].toInt();
  }
  ASSERT_FALSE(changed.isEmpty());
  auto& passes = m_window->passesPanel().table();
  const auto rows = passes.model()->match(passes.model()->index(0, 1), Qt::DisplayRole, changed, 1, Qt::MatchContains);
  ASSERT_FALSE(rows.isEmpty()) << qPrintable(changed);
  passes.scrollTo(rows.first());
  click(*passes.viewport(), passes.visualRect(rows.first()).center());
  settle();
  EXPECT_EQ(int(session().graph()->nodes.size()), after);
  m_window->raisePanel("changes");
  settle();
  ASSERT_TRUE(session().difference());
  EXPECT_NE(before, after);
  EXPECT_GT(part<DataTable>(m_window->changesPanel(), "opCounts").model()->rowCount(), 0);
}

TEST_F(FifteenTasks, T05TheFirstBadNodeAndItsValues) {
  openSample();
  session().setPlant("relu=accuracy");
  begin();
  click(story().button(StoryStep::Compare));
  settle();
  const auto told = test::cliJson({"compare", test::samplePath(), "--plant", "relu=accuracy", "--nodes"});
  ASSERT_TRUE(session().nodeDoc());
  EXPECT_EQ(text(session().nodeDoc()->name), told["first_bad"].toArray()[0].toString());
  click(*m_window->places().buttonOf("values"));
  settle();
  if (!session().value()) click(part<QPushButton>(m_window->valuesPanel(), "primary"));
  settle();
  ASSERT_TRUE(session().value());
  EXPECT_EQ(session().value()->error, "");
}

TEST_F(FifteenTasks, T06MinifyWithPyTorchChosen) {
  openSample();
  begin();
  MinifySettings settings({}, {}, m_window.get());
  settings.show();
  auto& oracle = part<QComboBox>(settings, "oracle");
  oracle.setFocus();
  for (int i = 0; i < oracle.count() && oracle.currentData() != "torch"; ++i) QTest::keyClick(&oracle, Qt::Key_Down);
  ++m_clicks;  // one row of a list
  part<QLineEdit>(settings, "python").setText("/bin/sh");
  click(*settings.findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Ok));
  EXPECT_EQ(settings.request().oracle.oracle, "torch");
  EXPECT_EQ(settings.request().oracle.python, "/bin/sh");
}

TEST_F(FifteenTasks, T07PartitionOfARecordedJointGraph) {
  const auto path = recording("variety/dynamic_mlp/trace");
  if (path.isEmpty()) GTEST_SKIP() << "no recordings";
  open(path);
  const auto capture = session().capture(session().location().capture);
  const auto joint = std::ranges::find_if(
      capture->graphs, [](const GraphEntry& entry) { return entry.name.find("aot_joint_graph") != std::string::npos; });
  if (joint == capture->graphs.end()) GTEST_SKIP() << "no joint graph is recorded";
  session().go({capture->id, int(joint - capture->graphs.begin()), Location::Stage::Captured, -1, {}});
  settle();
  begin();
  key(*m_window, Qt::Key_3, Qt::AltModifier);
  click(*m_window->places().buttonOf("partition"));
  settle();
  if (!session().partitions()) click(part<QPushButton>(m_window->partitionPanel(), "primary"));
  settle();
  ASSERT_TRUE(session().partitions());
  EXPECT_EQ(session().partitions()->error, "");
  EXPECT_EQ(session().location().aotStage, "") << "a joint graph is split as it is";
}

TEST_F(FifteenTasks, T08WhyABreakAndWhyARecompile) {
  openTrace();
  begin();
  auto& panel = m_window->overviewPanel();
  const auto breaks = test::cliJson({"show", everyKind, "--format", "breaks"})["rows"].toArray();
  const auto again = test::cliJson({"show", everyKind, "--format", "recompiles"})["rows"].toArray();
  ASSERT_FALSE(breaks.isEmpty() || again.isEmpty());
  const std::pair<QString, QString> asked[] = {
      {breaks[0].toObject()["id"].toString(), breaks[0].toObject()["where"].toString()},
      {again[0].toObject()["id"].toString(), again[0].toObject()["changed"].toString()}};
  for (const auto& [id, answer] : asked) {
    QTreeWidgetItem* item = nullptr;
    for (QTreeWidgetItemIterator each(&panel.tree()); *each && !item; ++each)
      if ((*each)->text(0).startsWith(id)) item = *each;
    ASSERT_TRUE(item) << qPrintable(id);
    panel.tree().scrollToItem(item);
    click(*panel.tree().viewport(), panel.tree().visualItemRect(item).center());
    EXPECT_THAT(panel.detail().toStdString(), HasSubstr(answer.toStdString()));
  }
}

TEST_F(FifteenTasks, T09TwoCaptures) {
  QFile sample(test::samplePath());
  ASSERT_TRUE(sample.open(QIODevice::ReadOnly));
  const auto other =
      writeFile("other.py", sample.readAll().replace("aten.relu.default(", "aten.tanh.default(").toStdString());
  openSample();
  open(other);
  begin();
  key(*m_window, Qt::Key_D, Qt::ControlModifier);
  auto& choice = part<QLineEdit>(*m_window, "choice");
  QTest::keyClicks(&choice, "minifier_launcher");
  key(choice, Qt::Key_Return);
  ASSERT_TRUE(test::waitFor([&] { return session().difference() && m_window->idle(); }));
  EXPECT_EQ(session().difference()->error, "");
  const auto told = test::cliJson({"diff", test::samplePath(), other});
  EXPECT_FALSE(told.isEmpty());
  EXPECT_THAT(session().difference()->text, HasSubstr("tanh"));
}

TEST_F(FifteenTasks, T10QueryNotesUndo) {
  openSample();
  begin();
  auto& search = m_window->searchBox().edit();
  QTest::keyClicks(&search, "op:relu");
  const auto told = test::cliJson({"show", test::samplePath(), "--where", "op:relu"})["nodes"].toArray();
  ASSERT_TRUE(test::waitFor([&] { return m_window->pane().view().state().found.size() == told.size(); }))
      << m_window->pane().view().state().found.size();
  key(search, Qt::Key_Return);
  ASSERT_TRUE(session().nodeDoc());
  key(*m_window, Qt::Key_F2, Qt::ControlModifier);
  EXPECT_EQ(m_window->actions()["undo"]->isEnabled(), true);
}

TEST_F(FifteenTasks, T11ThemesAndScales) {
  openSample();
  begin();
  const bool dark = theme().dark;
  key(*m_window, Qt::Key_T, Qt::ControlModifier);
  EXPECT_NE(theme().dark, dark);
  const double zoom = m_window->pane().view().zoom();
  key(m_window->pane().view(), Qt::Key_Minus);
  EXPECT_LT(m_window->pane().view().zoom(), zoom);
  m_window->setTheme("light");
}

TEST_F(FifteenTasks, T12RudeInputs) {
  begin();
  const std::string texts[] = {"", "def forward(self, x):\n    return (", std::string(2000, '\0'), "{\"a\": ["};
  int refused = 0;
  for (const auto& rude : texts) {
    m_window->open({writeFile("rude.py", rude)});
    settle();
    refused += m_window->banner().isVisible() || session().graph();
    m_window->banner().hide();
  }
  EXPECT_EQ(refused, 4) << "each is opened, or its refusal is said";
  openSample();
}

TEST_F(FifteenTasks, T13CrashAndComeBack) {
  const auto settings = m_files.filePath("settings.ini");
  m_window = std::make_unique<MainWindow>(WindowOptions{true, "light", settings});
  m_window->show();
  started();
  openSample();
  session().selectNode(QString("relu"));
  ASSERT_TRUE(test::waitFor([&] {
    return QSettings(settings, QSettings::IniFormat).value("session").toMap()["place"].toMap()["node"] == "relu";
  }));
  const auto copy = m_files.filePath("killed.ini");  // what a killed process leaves
  ASSERT_TRUE(QFile::copy(settings, copy));
  m_window = std::make_unique<MainWindow>(WindowOptions{true, "light", copy});
  m_window->show();
  started();
  begin();
  m_window->resume();
  ASSERT_TRUE(test::waitFor([&] { return m_window->idle() && session().graph(); }));
  EXPECT_EQ(session().location().node, "relu");
}

TEST_F(FifteenTasks, T14TwoWindows) {
  openSample();
  begin();
  key(*m_window, Qt::Key_N, Qt::ControlModifier);
  QPointer<MainWindow> second;
  for (auto* top : QApplication::topLevelWidgets())
    if (auto* window = qobject_cast<MainWindow*>(top); window && window != m_window.get()) second = window;
  ASSERT_TRUE(second);
  second->open({everyKind});
  ASSERT_TRUE(test::waitFor([&] { return second->idle() && !second->session().captures().empty(); }));
  EXPECT_EQ(session().captures().size(), 1u) << "what is opened in one is not in the other";
  second->close();
  EXPECT_TRUE(test::waitFor([&] { return second.isNull(); }));
  EXPECT_TRUE(m_window->isVisible()) << "closing one leaves the other";
}

TEST_F(FifteenTasks, T15LongJobs) {
  openSample();
  session().setPlant("relu=hang");
  begin();
  click(story().button(StoryStep::Compare));
  auto& jobs = part<QToolButton>(*m_window, "jobs");
  ASSERT_TRUE(test::waitFor([&] { return jobs.text().contains("Comparing…  1"); })) << "the clock ticks";
  key(*m_window, Qt::Key_Period, Qt::ControlModifier);
  settle();
  EXPECT_EQ(jobs.text(), "Ready");
}

}  // namespace
}  // namespace kerf::ui
