// Fifteen tasks of people who debug compilers, in the real window, by mouse and keys: each in at most three clicks beside what is
// typed, and with the answers that the command line gives. Clicks and seconds are printed and recorded; with
// KERF_TASK_PICTURES=FOLDER a picture of how each ends is kept there, in both themes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QAction>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QDir>
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
#include "tests/support/small_repro.h"
#include "tests/ui/window_fixture.h"
#include "ui/models/format.h"
#include "ui/models/theme.h"
#include "ui/panels/accuracy_panel.h"
#include "ui/panels/captures_panel.h"
#include "ui/panels/changes_panel.h"
#include "ui/panels/difference_panel.h"
#include "ui/panels/minify_panel.h"
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
    keepPictures();
  }
  void keepPictures() {
    const auto folder = qEnvironmentVariable("KERF_TASK_PICTURES");
    if (folder.isEmpty() || !m_window || IsSkipped()) return;
    ASSERT_TRUE(QDir().mkpath(folder));
    const QString task = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    for (const char* look : {"light", "dark"}) {
      m_window->setTheme(look);
      QApplication::processEvents();
      EXPECT_TRUE(m_window->grab().save(QString("%1/%2_%3.png").arg(folder, task, look)));
      auto* dialog = QApplication::activeModalWidget();
      if (dialog) dialog->grab().save(QString("%1/%2_dialog_%3.png").arg(folder, task, look));
    }
    m_window->setTheme("light");
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

/// The stand-in refuses to compile relu, as Inductor refuses what it cannot.
TEST_F(FifteenTasks, T06MinifyWithPyTorchChosen) {
  const auto before = qgetenv("PYTHONPATH");
  qputenv("PYTHONPATH", KERF_SOURCE_DIR "/tests/support/fake_torch");
  const auto small =
      writeFile("small.py", kerf::test::smallRepro("        neg = torch.ops.aten.neg.default(arg0_1);  arg0_1 = None\n"
                                                   "        add = torch.ops.aten.add.Tensor(neg, 1);  neg = None\n"
                                                   "        relu = torch.ops.aten.relu.default(add);  add = None\n"
                                                   "        mul = torch.ops.aten.mul.Tensor(relu, 2)\n"
                                                   "        return (mul, relu)\n"));
  open(small);
  begin();
  key(*m_window, Qt::Key_4, Qt::AltModifier);
  click(part<QToolButton>(m_window->minifyPanel(), "minifySettings"));
  auto& settings = part<MinifySettings>(*m_window, "minifySettings");
  auto& oracle = part<QComboBox>(settings, "oracle");
  oracle.setFocus();
  QTest::keyClicks(&oracle, "PyT");
  ASSERT_EQ(oracle.currentData().toString(), "torch");
  auto& python = part<QLineEdit>(settings, "python");
  python.setFocus();
  python.selectAll();
  QTest::keyClicks(&python, "python3");
  click(part<QPushButton>(settings, "minifyNow"));
  settle();
  const auto minified = session().minified();
  ASSERT_TRUE(minified);
  EXPECT_EQ(minified->error.toStdString(), "");
  EXPECT_EQ(minified->state, MinifyDoc::State::Done);
  EXPECT_THAT(minified->fingerprint, HasSubstr("CppCompileError"));
  EXPECT_EQ(minified->startNodes, 6);
  ASSERT_TRUE(minified->candidate);
  EXPECT_EQ(minified->candidate->ops, std::vector<std::string>{"relu"}) << "nothing else is needed to fail";
  const auto told = test::cliJson(
      {"minify", small, "--oracle", "torch", "--python", "python3", "--output", m_files.filePath("told")});
  EXPECT_EQ(minified->bestNodes, told["nodes"].toInt());
  EXPECT_EQ(text(minified->fingerprint), told["fingerprint"].toString());
  before.isEmpty() ? qunsetenv("PYTHONPATH") : qputenv("PYTHONPATH", before);
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
  const auto node = session().nodeDoc()->name;
  key(*m_window, Qt::Key_F2, Qt::ControlModifier);
  ASSERT_TRUE(test::waitFor([&] { return session().noteAt(node) != nullptr; }));
  EXPECT_TRUE(m_window->actions()["undo"]->isEnabled());
  key(*m_window, Qt::Key_Z, Qt::ControlModifier);
  EXPECT_TRUE(test::waitFor([&] { return session().noteAt(node) == nullptr; }));
  EXPECT_EQ(session().nodeDoc()->name, node) << "to undo is not to go back";
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

/// One outcome for each: opened, with so many nodes and this note; or refused, with these words.
struct RudeInput {
  const char* name;
  std::string content;
  int nodes = 0;  ///< 0: refused
  const char* words = "";
};

const std::vector<RudeInput>& rudeInputs() {
  static const std::string header = "def forward(self, x: \"f32[4]\"):\n";
  static const std::vector<RudeInput> inputs{
      {"empty.py", "", 0, "the file is empty"},
      {"cut.py", "def forward(self, x):\n    return (", 0, "')' is missing"},
      {"zeros.py", std::string(2000, '\0'), 0, "this is a binary file of no known kind"},
      {"json.txt", "{\"a\": [", 0, "this is text without a graph"},
      {"letter.txt", "hello, this is a letter\n", 0, "this is text without a graph"},
      {"letter.py", "hello, this is a letter\n", 0, "this is Python without a captured graph"},
      {"program.py", header + "    import os; os.system(\"touch touched\")\n    return (x,)\n", 0,
       "'import' statements are not supported in a forward method"},
      {"undefined.py", header + "    a = torch.ops.aten.sin.default(y)\n    return (a,)\n", 4,
       "the text does not define y: it is an input"},
      {"tail.py", header + "    a = torch.ops.aten.sin.default(x)\n    return (a,)\nGARBAGE (((", 3,
       "the text holds no values: inputs are made up"}};
  return inputs;
}

TEST_F(FifteenTasks, T12RudeInputs) {
  begin();
  for (const auto& rude : rudeInputs()) {
    const auto path = writeFile(rude.name, rude.content);
    m_window->open({path});
    settle();
    const auto captures = session().captures();
    const auto capture = std::ranges::find(captures, path.toStdString(), [](const auto& each) { return each->path; });
    const auto said = m_window->banner().text().toStdString();
    if (rude.nodes == 0) {
      EXPECT_TRUE(m_window->banner().isVisible()) << rude.name;
      EXPECT_THAT(said, HasSubstr(rude.words)) << rude.name;
      EXPECT_THAT(said, HasSubstr(rude.name));
    } else {
      EXPECT_FALSE(m_window->banner().isVisible()) << rude.name << ": " << said;
      ASSERT_NE(capture, captures.end()) << rude.name;
      ASSERT_TRUE(session().graph());
      EXPECT_EQ(session().location().capture, (*capture)->id) << rude.name;
      EXPECT_EQ(int(session().graph()->nodes.size()), rude.nodes) << rude.name;
      EXPECT_THAT((*capture)->notes, ::testing::Contains(HasSubstr(rude.words))) << rude.name;
    }
    m_window->banner().hide();
  }
  EXPECT_FALSE(QFile::exists("touched")) << "nothing of a file runs";
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
