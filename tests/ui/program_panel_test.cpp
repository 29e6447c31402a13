// A captured program in the window: what stands at its lines, frames, bytecode, guards, graphs and nodes is what
// `kerf show c7 --format program` says; from a line to its nodes and back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QAction>
#include <QCheckBox>
#include <QDialog>
#include <QDialogButtonBox>
#include <QHelpEvent>
#include <QJsonArray>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollBar>
#include <QTabWidget>
#include <QToolTip>
#include <QTreeView>

#include "tests/ui/window_fixture.h"
#include "ui/panels/captures_panel.h"
#include "ui/panels/program_panel.h"

namespace kerf::ui {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

constexpr const char* program =
    "import torch\n"                     // 1
    "def inner(y):\n"                    // 2
    "    return y.sin() + 1\n"           // 3
    "@torch.compile(backend='eager')\n"  // 4
    "def f(x, n):\n"                     // 5
    "    y = x * 2 + n\n"                // 6
    "    print('between')\n"             // 7
    "    return inner(y)\n"              // 8
    "f(torch.ones(3), 1)\n"              // 9
    "f(torch.ones(3), 1)\n"              // 10
    "f(torch.ones(3), 2)\n";             // 11

workbench::ProgramReport madeReport() {
  workbench::ProgramReport report;
  report.path = "/somewhere/bug.py";
  report.source = program;
  workbench::ProgramFrame first;
  first.id = "[0/0]";
  first.name = "f";
  first.line = 4;
  first.runs = 2;
  first.graphs = {0};
  first.guards = {{"TENSOR_MATCH", "L['x']", "check_tensor(…)", "bug.py:6 in f", 800},
                  {"EQUALS_MATCH", "L['n']", "L['n'] == 1", "bug.py:6 in f", 150}};
  first.original = {{0, 4, "RESUME", "0", false}, {2, 6, "LOAD_FAST", "x", false}, {4, 6, "LOAD_CONST", "2", true}};
  auto second = first;
  second.id = "[0/1]";
  second.because = "n == 1";
  second.graphs = {};
  report.frames = {first, second};
  workbench::ProgramBreak item;
  item.type = "Failed to trace builtin operator";
  item.id = "GB0059";
  item.explanation = "Dynamo does not trace print.";
  item.hints = {"Remove the call."};
  item.stack = {"bug.py:7 in f"};
  item.line = 7;
  item.frame = 0;
  report.breaks = {item};
  report.recompiles = {{"f", "bug.py:4", "n == 1", 4, 1}};
  report.graphs = {{"__compiled_fn_1", "eager", 0, 0, {{"l_x_", {}}, {"mul", {6}}, {"sin", {8, 3}}}}};
  return report;
}

TEST(ProgramRows, LinesHaveTheGravestThingsLetterAndAllOfItsReasons) {
  const auto lines = programLines(madeReport());
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines.at(7).kind, ProgramLine::Kind::Break);
  EXPECT_EQ(lines.at(7).tip, "Graph break GB0059: Failed to trace builtin operator");
  EXPECT_EQ(lines.at(7).note.size(), 3);
  EXPECT_THAT(lines.at(7).note.join('\n').toStdString(), HasSubstr("What to do: Remove the call."));
  EXPECT_EQ(lines.at(4).kind, ProgramLine::Kind::Recompile) << "graver than the frame that begins there";
  EXPECT_EQ(letterOf(lines.at(4).kind), "R");
  EXPECT_THAT(lines.at(4).note.join('\n').toStdString(), HasSubstr("Compiled again: n == 1"));
  EXPECT_THAT(lines.at(4).note.join('\n').toStdString(), HasSubstr("Frame [0/0] f: 2 guards, 2 runs"));
}

TEST(ProgramRows, NodesBelongToTheirLineAndToThoseThatCallIt) {
  const auto report = madeReport();
  const auto names = [&](int line) {
    QStringList found;
    for (const auto& row : programNodes(report, line)) found << row.name;
    return found;
  };
  EXPECT_EQ(names(6), QStringList{"mul"});
  EXPECT_EQ(names(8), QStringList{"sin"}) << "the call of inner()";
  EXPECT_EQ(names(3), QStringList{"sin"});
  EXPECT_EQ(names(7), QStringList{});
  EXPECT_EQ(names(0), (QStringList{"mul", "sin"})) << "inputs come from no line";
  EXPECT_EQ(lineOfNode(report, 0, "sin"), 3);
  EXPECT_EQ(lineOfNode(report, 0, "l_x_"), 0);
  EXPECT_EQ(lineOfNode(report, 7, "sin"), 0);
  EXPECT_EQ(reportGraph(report, 0), 0);
  EXPECT_EQ(reportGraph(report, 3), -1);
  EXPECT_EQ(frameOfLine(report, 7), 0);
  EXPECT_EQ(frameOfLine(report, 10), -1);
}

TEST(ProgramRows, BytecodeSaysWhereALineBegins) {
  const auto rows = bytecodeRows(madeReport().frames[0].original);
  EXPECT_EQ(rows.labels, (QStringList{"4", "6", ""}));
  EXPECT_EQ(rows.lines, (std::vector<int>{4, 6, 6}));
  EXPECT_THAT(rows.rows[2].toStdString(), HasSubstr(">>     4  LOAD_CONST"));
}

TEST(ProgramRows, CostsHaveUnits) {
  EXPECT_EQ(formatNanoseconds(-1), "");
  EXPECT_EQ(formatNanoseconds(340), "340 ns");
  EXPECT_EQ(formatNanoseconds(1240), "1.2 µs");
  EXPECT_EQ(guardCost(madeReport().frames[0]), 950);
  EXPECT_EQ(guardCost({}), -1);
}

class ProgramWindow : public Window {
 protected:
  void SetUp() override {
    const auto path = writeFile("bug.py", program);
    const auto ran = test::cliJson({"capture", path});
    if (ran.isEmpty()) GTEST_SKIP() << "this kerf runs no programs";
    m_id = ran["captured"].toObject()["stored"].toObject()["capture"].toString();
    ASSERT_NE(m_id, "");
    Window::SetUp();
    open(m_id);
    ASSERT_TRUE(test::waitFor([&] { return session().program(session().shownProgram()) && m_window->idle(); }));
    m_told = test::cliJson({"show", m_id, "--format", "program"});
  }
  ProgramPanel& panel() { return m_window->programPanel(); }
  QJsonArray told(const char* name) { return m_told[name].toArray(); }
  void click(CodeView& view, int line) {
    view.setCurrentLine(line - 1);
    QTest::mouseClick(view.viewport(), Qt::LeftButton, Qt::NoModifier, view.placeOf(line - 1));
  }

  QString m_id;
  QJsonObject m_told;
};

TEST_F(ProgramWindow, IsTheFirstViewAndSaysWhatTheCommandSays) {
  EXPECT_TRUE(panel().isVisible());
  EXPECT_EQ(m_window->places().place(), WorkPlace::Overview);
  EXPECT_EQ(panel().source().code(), QString(program).trimmed());
  EXPECT_EQ(panel().frames().model()->rowCount(), told("frames").size());
  EXPECT_GE(told("frames").size(), 3) << "f, what resumes it, and f again";
  EXPECT_EQ(panel().events().model()->rowCount(), told("breaks").size() + told("recompiles").size());
  for (int i = 0; i < told("frames").size(); ++i) {
    const auto frame = told("frames")[i].toObject();
    panel().frames().selectSourceRow(i);
    EXPECT_EQ(panel().frames().currentIndex().siblingAtColumn(0).data().toString(), frame["id"].toString());
    EXPECT_EQ(panel().frames().currentIndex().siblingAtColumn(3).data().toString(),
              QString::number(frame["runs"].toInt()));
  }
  EXPECT_THAT(panel().output().toStdString(), HasSubstr("between\nbetween\nbetween\n"));
}

TEST_F(ProgramWindow, MarksBreaksAndRecompilesAtTheirLines) {
  const auto& signs = panel().source().signs();
  ASSERT_TRUE(signs.contains(6)) << "line 7 prints";
  EXPECT_EQ(signs[6].letter, "B");
  EXPECT_EQ(signs[3].letter, "R") << "f is compiled again for another n";
  QJsonObject broken;
  for (const auto& each : told("breaks"))
    if (each.toObject()["line"].toInt() == 7) broken = each.toObject();
  EXPECT_EQ(broken["id"].toString(), "GB0059");
  EXPECT_THAT(signs[6].tip.toStdString(), HasSubstr(broken["type"].toString().toStdString()));
  auto& source = panel().source();
  QHelpEvent help(QEvent::ToolTip, {12, source.placeOf(6).y()}, source.mapToGlobal(QPoint()));
  QApplication::sendEvent(source.viewport(), &help);
  EXPECT_TRUE(test::waitFor([&] { return QToolTip::text() == signs[6].tip; }));
  EXPECT_EQ(source.noteLine(), -1);
  click(source, 7);
  EXPECT_EQ(source.noteLine(), 6);
  const auto note = source.note().join('\n').toStdString();
  EXPECT_THAT(note, HasSubstr(broken["explanation"].toString().simplified().toStdString()));
  for (const auto& hint : broken["hints"].toArray())
    EXPECT_THAT(note, HasSubstr(hint.toString().simplified().toStdString()));
  EXPECT_LT(source.placeOf(6).y() + 20, source.placeOf(7).y()) << "the note stands between the lines";
}

TEST_F(ProgramWindow, GoesFromALineToItsNodesAndBackByOneClick) {
  click(panel().source(), 6);
  EXPECT_EQ(panel().tab(), ProgramPanel::Tab::Nodes);
  ASSERT_GT(panel().nodes().model()->rowCount(), 0);
  const auto first = panel().nodes().model()->index(0, 0);
  EXPECT_EQ(first.data().toString(), "mul");
  QTest::mouseClick(panel().nodes().viewport(), Qt::LeftButton, Qt::NoModifier,
                    panel().nodes().visualRect(first).center());
  ASSERT_TRUE(test::waitFor([&] { return session().nodeDoc() && m_window->idle(); }));
  EXPECT_EQ(session().nodeDoc()->name, "mul");
  EXPECT_EQ(m_window->places().place(), WorkPlace::Graph);
  auto& below = m_window->programSource();
  EXPECT_TRUE(below.isVisible());
  EXPECT_EQ(below.chosenLine(), 6) << "back from the node, without a click";
  session().selectNode("add");
  EXPECT_EQ(below.chosenLine(), 6);
  click(below, 3);
  ASSERT_TRUE(
      test::waitFor([&] { return m_window->idle() && session().nodeDoc() && session().nodeDoc()->name == "sin"; }));
  EXPECT_EQ(below.chosenLine(), 3);
  m_window->actions()["showInProgram"]->trigger();
  EXPECT_EQ(m_window->places().place(), WorkPlace::Overview);
  EXPECT_EQ(panel().source().chosenLine(), 3);
}

TEST_F(ProgramWindow, ShowsBytecodeOfAFrameWithItsLines) {
  const auto frame = told("frames")[0].toObject();
  panel().showTab(ProgramPanel::Tab::Bytecode);
  EXPECT_EQ(panel().original().lineCount(), frame["original"].toArray().size());
  EXPECT_EQ(panel().modified().lineCount(), frame["modified"].toArray().size());
  EXPECT_GT(panel().modified().lineCount(), 0);
  click(panel().source(), 6);
  QSet<int> wanted;
  const auto rows = frame["original"].toArray();
  for (int i = 0; i < rows.size(); ++i)
    if (rows[i].toObject()["line"].toInt() == 6) wanted.insert(i);
  EXPECT_FALSE(wanted.isEmpty());
  EXPECT_EQ(panel().original().markedLines(), wanted);
  EXPECT_EQ(panel().tab(), ProgramPanel::Tab::Bytecode) << "who reads bytecode goes on with it";
  click(panel().original(), 1);
  EXPECT_EQ(panel().source().chosenLine(), rows[0].toObject()["line"].toInt());
}

TEST_F(ProgramWindow, FiltersAndSortsGuards) {
  panel().showTab(ProgramPanel::Tab::Guards);
  const auto guards = told("frames")[0].toObject()["guards"].toArray();
  EXPECT_EQ(panel().guards().model()->rowCount(), guards.size());
  EXPECT_GE(guards.size(), 2);
  QTest::keyClicks(&panel().guardFilter(), "tensor_match");
  const int kept = panel().guards().model()->rowCount();
  EXPECT_GE(kept, 1);
  EXPECT_LT(kept, guards.size());
  for (int row = 0; row < kept; ++row)
    EXPECT_EQ(panel().guards().model()->index(row, 0).data().toString(), "TENSOR_MATCH");
  panel().guardFilter().clear();
  panel().guards().sortByColumn(3, Qt::DescendingOrder);
  double before = 1e18;
  for (int row = 0; row < guards.size(); ++row) {
    const double cost = panel().guards().model()->index(row, 3).data(rowSortRole).toDouble();
    EXPECT_LE(cost, before);
    EXPECT_GT(cost, 0) << "each guard was measured";
    before = cost;
  }
}

TEST_F(ProgramWindow, IsWalkedByKeysFromSignToSign) {
  auto& source = panel().source();
  source.setFocus();
  QTest::keyClick(&source, Qt::Key_Down, Qt::ControlModifier);
  const int first = source.chosenLine();
  QTest::keyClick(&source, Qt::Key_Down, Qt::ControlModifier);
  EXPECT_GT(source.chosenLine(), first);
  QTest::keyClick(&source, Qt::Key_Up, Qt::ControlModifier);
  EXPECT_EQ(source.chosenLine(), first);
  source.choose(6);
  QTest::keyClick(&source, Qt::Key_Return);
  EXPECT_TRUE(test::waitFor([&] { return session().nodeDoc() && session().nodeDoc()->name == "mul"; }));
}

TEST_F(ProgramWindow, KeepsItsPlaceOverARestart) {
  panel().choose(6);
  panel().frames().selectSourceRow(1);
  panel().showTab(ProgramPanel::Tab::Guards);
  panel().guardFilter().setText("match");
  const auto place = panel().place();
  ProgramPanel other(session());
  other.restore(place);
  EXPECT_EQ(other.place(), place);
}

TEST_F(ProgramWindow, ProgramsOfManyLinesAndGraphsAnswerAtOnce) {
  std::string text = "import torch\n@torch.compile(backend='eager')\ndef f(x):\n";
  for (int i = 0; i < 200; ++i) text += "    x = x + " + std::to_string(i) + "\n    torch._dynamo.graph_break()\n";
  text += "    return x\n";
  for (int i = 0; i < 4900; ++i) text += "VALUE_" + std::to_string(i) + " = " + std::to_string(i) + "\n";
  text += "f(torch.ones(3))\n";
  const auto ran = test::cliJson({"capture", writeFile("many.py", text)});
  const auto captured = ran["captured"].toObject();
  ASSERT_EQ(captured["graphs"].toArray().size(), 200) << ran["exception"].toString().toStdString();
  started();
  open(captured["stored"].toObject()["capture"].toString());
  ASSERT_TRUE(test::waitFor([&] {
    const auto known = session().program(session().shownProgram());
    return known && known->graphs.size() == 200 && m_window->idle();
  }));
  EXPECT_GE(panel().source().lineCount(), 5000);
  EXPECT_EQ(panel().events().model()->rowCount(), 200);
  click(panel().source(), 300);
  EXPECT_EQ(panel().source().chosenLine(), 300);
}

TEST(ProgramNote, OfALongReasonEnds) {
  CodeView view;
  view.resize(400, 300);
  view.setCode("x = 1\ny = 2");
  view.setNote(0, {QString(2'000'000, 'w'), "never read"});
  EXPECT_LE(view.noteRows().size(), 200);
  EXPECT_LE(view.noteRows().join("").size(), 5000);
  EXPECT_TRUE(view.noteRows().last().endsWith("…"));
  view.setNote(0, QStringList(3000, "a"));
  EXPECT_EQ(view.noteRows().size(), 200);
  EXPECT_EQ(view.noteRows().last().trimmed(), "…");
  view.setNote(0, {"short"});
  EXPECT_EQ(view.noteRows(), QStringList{"short"});
}

TEST(ProgramRows, LinesTellTheFirstThingsAndHowManyAreLeft) {
  auto report = madeReport();
  report.recompiles.assign(5000, report.recompiles[0]);
  const auto lines = programLines(report);
  EXPECT_EQ(lines.at(4).things, 5002);
  EXPECT_TRUE(lines.at(4).tip.endsWith("\nand 4,982 more"));
  EXPECT_LT(lines.at(4).note.size(), 200);
}

/// Tables are as wide as their pane: what is beside it would not be seen.
TEST_F(ProgramWindow, TablesFitTheirPane) {
  for (const QSize& size : {QSize(1600, 1000), QSize(1366, 768)}) {
    m_window->resize(size);
    QTest::qWait(20);
    for (auto* table : {&panel().frames(), &panel().events()})
      EXPECT_EQ(table->horizontalScrollBar()->maximum(), 0)
          << size.width() << " " << table->objectName().toStdString() << " " << table->width();
  }
}

TEST_F(ProgramWindow, IsNamedByItsFile) {
  const auto capture = session().capture(session().shownProgram());
  EXPECT_TRUE(QString::fromStdString(capture->path).endsWith("/bug.py")) << capture->path;
  const auto top = m_window->capturesPanel().tree().model()->index(0, 0);
  EXPECT_EQ(top.data().toString(), "bug.py");
  const auto graphs = test::cliJson({"show", m_id})["graphs"].toArray();
  ASSERT_FALSE(graphs.isEmpty());
  EXPECT_EQ(m_window->capturesPanel().tree().model()->index(0, 0, top).data().toString(),
            graphs[0].toObject()["name"].toString());
  EXPECT_THAT(m_window->windowTitle().toStdString(), HasSubstr("bug.py"));
}

TEST_F(ProgramWindow, SaysThatAnotherIsBeingCaptured) {
  const auto path = writeFile("long.py", "import time\ntime.sleep(60)\n");
  workbench::CaptureProgramRequest request;
  request.path = path.toStdString();
  session().captureProgram(request);
  session().captureProgram(request);
  EXPECT_THAT(m_window->banner().text().toStdString(), HasSubstr("Another program is being captured"));
  session().cancelCaptureProgram();
  EXPECT_TRUE(test::waitFor([&] { return m_window->idle(); }));
}

TEST_F(Window, AsksBeforeAProgramRuns) {
  const auto path = writeFile("plain.py", "import torch\nprint('ran')\n");
  m_window->open({path});
  ASSERT_TRUE(test::waitFor([&] { return m_window->findChild<QDialog*>("captureProgramDialog"); }));
  auto* dialog = m_window->findChild<QDialog*>("captureProgramDialog");
  EXPECT_THAT(dialog->findChild<QLabel*>("captureProgramSaid")->text().toStdString(),
              HasSubstr("This runs the script in the sandbox"));
  EXPECT_FALSE(session().jobs().busy("program")) << "nothing has run";
  dialog->reject();
  EXPECT_TRUE(test::waitFor([&] { return m_window->idle(); }));
  EXPECT_FALSE(session().jobs().busy("program"));
}

TEST_F(Window, CapturesAProgramOnceItWasAllowed) {
  const auto path = writeFile("bug.py", program);
  if (test::cliJson({"capture", path}).isEmpty()) GTEST_SKIP() << "this kerf runs no programs";
  m_window->open({path});
  ASSERT_TRUE(test::waitFor([&] { return m_window->findChild<QDialog*>("captureProgramDialog"); }));
  auto* dialog = m_window->findChild<QDialog*>("captureProgramDialog");
  QTest::mouseClick(dialog->findChild<QPushButton*>("primary"), Qt::LeftButton);
  ASSERT_TRUE(test::waitFor([&] { return session().program(session().shownProgram()) && m_window->idle(); }))
      << m_window->banner().text().toStdString();
  EXPECT_EQ(session().program(session().shownProgram())->source, program);
  EXPECT_TRUE(m_window->programPanel().isVisible());
}

TEST_F(Window, ShowsAProgramOfWhichNothingBecameAGraph) {
  const auto path =
      writeFile("skips.py",
                "import torch\n@torch.compile(backend='eager')\ndef f(x):\n"
                "    for _ in range(2):\n        torch._dynamo.graph_break()\n    return x\nf(torch.ones(2))\n");
  const auto ran = test::cliJson({"capture", path});
  if (ran.isEmpty()) GTEST_SKIP() << "this kerf runs no programs";
  const auto id = ran["captured"].toObject()["stored"].toObject()["capture"].toString();
  ASSERT_NE(id, "");
  m_window->open({id});
  ASSERT_TRUE(test::waitFor([&] { return session().program(session().shownProgram()) && m_window->idle(); }));
  EXPECT_TRUE(m_window->programPanel().isVisible());
  EXPECT_GT(m_window->programPanel().events().model()->rowCount(), 0);
  const int skips = session().shownProgram();
  openSample();
  EXPECT_FALSE(m_window->programPanel().isVisible()) << "who opens something else sees that";
  m_window->open({id});
  EXPECT_TRUE(m_window->programPanel().isVisible()) << "and it can be shown again";
  EXPECT_EQ(session().shownProgram(), skips);
  session().go({session().location().capture, 0, Location::Stage::Captured, -1, {}});
  EXPECT_FALSE(m_window->programPanel().isVisible()) << "to go back to the graph that was shown is to leave the page";
  auto& tree = m_window->capturesPanel().tree();
  QModelIndex row;
  for (int i = 0; i < tree.model()->rowCount(); ++i)
    if (tree.model()->index(i, 0).data().toString() == "skips.py") row = tree.model()->index(i, 0);
  ASSERT_TRUE(row.isValid());
  QTest::mouseClick(tree.viewport(), Qt::LeftButton, Qt::NoModifier, tree.visualRect(row).center());
  EXPECT_TRUE(m_window->programPanel().isVisible()) << "a click in the tree";
  session().close(skips);
  EXPECT_FALSE(m_window->programPanel().isVisible());
}

}  // namespace
}  // namespace kerf::ui
