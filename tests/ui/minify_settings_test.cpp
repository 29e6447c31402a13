// Minifying real failures in the window: who decides, what stays, what was found beside, and what is handed on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QAction>
#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QSpinBox>
#include <QToolButton>

#include "tests/ui/window_fixture.h"
#include "ui/panels/accuracy_panel.h"
#include "ui/panels/candidate_view.h"
#include "ui/panels/inputs_editor.h"
#include "ui/panels/minified_graphs.h"
#include "ui/panels/minify_panel.h"
#include "ui/panels/minify_settings.h"
#include "ui/panels/reduction_chart.h"
#include "ui/session/window_text.h"

namespace kerf::ui {
namespace {

using ::testing::HasSubstr;

template <class T>
T& part(QWidget& widget, const char* name) {
  auto* found = widget.findChild<T*>(name);
  if (found == nullptr) throw std::runtime_error(std::string("there is no ") + name);
  return *found;
}

TEST(MinifySettings, TellsWhatIsMissingBeforeItCanBeAccepted) {
  MinifySettings dialog({});
  auto& oracle = part<QComboBox>(dialog, "oracle");
  auto* accept = dialog.findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Ok);
  EXPECT_EQ(dialog.problem().toStdString(), "");
  EXPECT_TRUE(accept->isEnabled());
  oracle.setCurrentIndex(oracle.findData("command"));
  EXPECT_THAT(dialog.problem().toStdString(), HasSubstr("still fails"));
  EXPECT_FALSE(accept->isEnabled());
  QTest::keyClicks(&part<QLineEdit>(dialog, "check"), "./check.sh");
  EXPECT_TRUE(accept->isEnabled());
  oracle.setCurrentIndex(oracle.findData("torch"));
  part<QLineEdit>(dialog, "python").setText("/nowhere/python");
  EXPECT_THAT(dialog.problem().toStdString(), HasSubstr("/nowhere/python"));
  EXPECT_FALSE(accept->isEnabled());
  part<QLineEdit>(dialog, "python").setText("/bin/sh");
  EXPECT_TRUE(accept->isEnabled());
  QTest::keyClicks(&part<QLineEdit>(dialog, "match"), "(");
  EXPECT_THAT(dialog.problem().toStdString(), HasSubstr("regular expression"));
}

TEST(MinifySettings, WhatBelongsToAnotherOracleIsLeftOut) {
  workbench::MinifyRequest given;
  given.pins = {"relu"};
  MinifySettings dialog(given);
  auto& oracle = part<QComboBox>(dialog, "oracle");
  oracle.setCurrentIndex(oracle.findData("torch"));
  part<QLineEdit>(dialog, "python").setText("/bin/sh");
  part<QComboBox>(dialog, "backend").setCurrentText("aot_eager");
  part<QComboBox>(dialog, "failsIf").setCurrentText("nan");
  part<QSpinBox>(dialog, "jobs").setValue(7);
  part<QSpinBox>(dialog, "maxMinutes").setValue(3);
  part<QCheckBox>(dialog, "anyFailure").click();
  auto request = dialog.request();
  EXPECT_EQ(request.oracle.oracle, "torch");
  EXPECT_EQ(request.oracle.python, "/bin/sh");
  EXPECT_EQ(request.oracle.torchBackend, "aot_eager");
  EXPECT_EQ(request.oracle.torchCheck, "nan");
  EXPECT_EQ(request.jobs, 7);
  EXPECT_EQ(request.maxTime, std::chrono::minutes(3));
  EXPECT_TRUE(request.anyFailure);
  EXPECT_EQ(request.pins, std::vector<std::string>{"relu"});
  EXPECT_EQ(settingsText(request).toStdString(), "PyTorch, aot_eager, 7 jobs, at most 3 min, 1 pinned node");
  oracle.setCurrentIndex(oracle.findData("engine"));
  request = dialog.request();
  EXPECT_EQ(request.oracle.torchBackend, "") << "would be refused with Kerf's engine";
  EXPECT_EQ(request.oracle.torchCheck, "auto");
}

TEST(MinifySettings, SaysWhatTheGraphIsRunOn) {
  workbench::MinifyRequest given;
  given.graph.inputs = "ones";
  given.graph.seed = 7;
  MinifySettings dialog(given, {"s0=8", "s1=3"});
  auto request = dialog.request();
  EXPECT_EQ(request.graph.inputs, "ones");
  EXPECT_EQ(request.graph.seed, 7u);
  EXPECT_EQ(request.graph.symbols, (std::vector<std::string>{"s0=8", "s1=3"}));
  EXPECT_EQ(settingsText(request).toStdString(), "Kerf's engine, inputs: ones, seed 7");
  auto& symbols = part<QLineEdit>(dialog, "symbolSizes");
  symbols.setText("s0=16, s1");
  EXPECT_THAT(dialog.problem().toStdString(), HasSubstr("\"s1\" is not a size"));
  symbols.setText("s0=16, s1=4");
  EXPECT_EQ(dialog.problem().toStdString(), "");
  part<QLineEdit>(dialog, "seed").setText("-1");
  EXPECT_THAT(dialog.problem().toStdString(), HasSubstr("seed"));
  part<QLineEdit>(dialog, "seed").setText("9");
  auto& inputs = part<QComboBox>(dialog, "inputs");
  inputs.setCurrentIndex(inputs.count() - 1);
  EXPECT_THAT(dialog.problem().toStdString(), HasSubstr(".safetensors"));
  part<QLineEdit>(dialog, "inputFile").setText(test::samplePath());
  EXPECT_EQ(dialog.problem().toStdString(), "");
  request = dialog.request();
  EXPECT_EQ(request.graph.inputs, test::samplePath().toStdString());
  EXPECT_EQ(request.graph.seed, 9u);
  EXPECT_EQ(request.graph.symbols, (std::vector<std::string>{"s0=16", "s1=4"}));
}

TEST(WindowText, AdvisesWhatTheWindowHas) {
  const Error noTorch = fail(ErrorCode::Environment, Hint{Advice::NamePython}, "python3 cannot import torch").error();
  EXPECT_EQ(windowText(noTorch).toStdString(),
            "python3 cannot import torch; name a Python that can in the settings of Minify");
  const Error plain = fail(ErrorCode::BadInput, "x has 3 elements").error();
  EXPECT_EQ(windowText(plain).toStdString(), "x has 3 elements");
  for (int advice = 0; advice <= int(lastOf(Advice())); ++advice)
    EXPECT_FALSE(hintText({Advice(advice), "c1"}).contains("--")) << advice;
}

TEST(InputsText, NamesWhatIsMadeUp) {
  EXPECT_EQ(inputsText({}).toStdString(), "");
  EXPECT_EQ(inputsText({{"x", "f32[2]", "stored", ""}, {"s0", "8", "number", ""}}).toStdString(),
            "Every input has data of its own (1).");
  EXPECT_EQ(inputsText({{"x", "f32[2]", "stored", ""}, {"y", "f32[2]", "generated", ""}}).toStdString(),
            "1 of 2 inputs have data of their own; made up: y");
}

class MinifyWindow : public Window {
 protected:
  void settle() {
    ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
  }
  /// A program that finds fault with every graph that calls `op`.
  std::string complainsOf(const QString& op) {
    QFile file(m_folder.filePath("check-" + op + ".sh"));
    EXPECT_TRUE(file.open(QIODevice::WriteOnly));
    file.write("#!/bin/sh\ngrep -q 'aten." + op.toUtf8() + ".default' \"$1\" && exit 1\nexit 0\n");
    file.close();
    file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    return file.fileName().toStdString();
  }
  /// As the dialog does when it is accepted.
  void choose(const std::string& check) {
    auto& panel = m_window->minifyPanel();
    QTest::mouseClick(&part<QToolButton>(panel, "minifySettings"), Qt::LeftButton);
    auto* dialog = panel.findChild<MinifySettings*>();
    ASSERT_TRUE(dialog);
    auto& oracle = part<QComboBox>(*dialog, "oracle");
    oracle.setCurrentIndex(oracle.findData("command"));
    part<QLineEdit>(*dialog, "check").setText(QString::fromStdString(check));
    QTest::mouseClick(dialog->findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Ok), Qt::LeftButton);
    EXPECT_EQ(panel.settings().oracle.check, check);
  }
  const QTemporaryDir m_folder;
};

TEST_F(MinifyWindow, ACommandDecides) {
  openSample();
  m_window->raisePanel("minify");
  choose(complainsOf("cosh"));
  EXPECT_FALSE(m_window->minifyPanel().plant().isVisible()) << "faults are planted into Kerf's engine only";
  EXPECT_THAT(part<QToolButton>(m_window->minifyPanel(), "minifySettings").text().toStdString(),
              HasSubstr("A command"));
  m_window->actions()["minify"]->trigger();
  settle();
  const auto doc = session().minified();
  ASSERT_TRUE(doc);
  if (doc->state == MinifyDoc::State::Failed) {
    EXPECT_THAT(doc->error.toStdString(), HasSubstr("does not fail")) << "the sample calls no cosh";
  }
  choose(complainsOf("relu"));
  m_window->actions()["minify"]->trigger();
  settle();
  const auto found = session().minified();
  ASSERT_EQ(found->state, MinifyDoc::State::Done) << qPrintable(found->error);
  EXPECT_EQ(found->startNodes, 94);
  EXPECT_LE(found->bestNodes, 3);
}

TEST_F(MinifyWindow, ShowsTheGraphThatStillFailsWhileItSearches) {
  openSample();
  m_window->raisePanel("minify");
  m_window->minifyPanel().plant().setPlant("relu=accuracy");
  m_window->actions()["minify"]->trigger();
  settle();
  ASSERT_EQ(session().minified()->state, MinifyDoc::State::Done) << qPrintable(session().minified()->error);
  const auto smallest = [&] {
    const auto doc = session().minified();
    return m_window->idle() && doc->candidate && int(doc->candidate->nodes.size()) == doc->bestNodes;
  };
  ASSERT_TRUE(test::waitFor(smallest));
  ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
  const auto doc = session().minified();
  ASSERT_TRUE(m_window->minifyPanel().candidate().view().scene());
  EXPECT_EQ(m_window->minifyPanel().candidate().view().scene()->shown, doc->candidate);
}

TEST_F(MinifyWindow, TheNearestGraphThatPassesStandsBesideTheOneThatFails) {
  openSample();
  m_window->raisePanel("minify");
  m_window->minifyPanel().plant().setPlant("relu=accuracy");
  m_window->actions()["minify"]->trigger();
  settle();
  ASSERT_EQ(session().minified()->state, MinifyDoc::State::Done) << qPrintable(session().minified()->error);
  ASSERT_TRUE(test::waitFor([&] { return session().minified()->neighbour != nullptr; }));
  const auto neighbour = session().minified()->neighbour;
  ASSERT_TRUE(neighbour->found);
  EXPECT_FALSE(neighbour->reduction.empty());
  const auto calls = [](const GraphDoc& graph, const std::string& op) {
    return std::ranges::count(graph.nodes, op, &NodeDoc::op);
  };
  EXPECT_EQ(calls(*neighbour->graph, "relu"), 0) << "the fault is in relu";
  EXPECT_FALSE(neighbour->difference.same);
  auto& graphs = m_window->minifyPanel().graphs();
  EXPECT_THAT(graphs.edit().toStdString(), HasSubstr("One edit apart"));
  ASSERT_TRUE(test::waitFor([&] { return graphs.passing().view().scene() != nullptr; }));
  EXPECT_EQ(graphs.passing().view().scene()->shown, neighbour->graph);
}

TEST_F(MinifyWindow, ShowsWhatItsWorkersDoAndWhichReductionsHelped) {
  openSample();
  m_window->raisePanel("minify");
  m_window->minifyPanel().plant().setPlant("relu=accuracy");
  m_window->actions()["minify"]->trigger();
  settle();
  const auto doc = session().minified();
  ASSERT_EQ(doc->state, MinifyDoc::State::Done) << qPrintable(doc->error);
  int queries = 0;
  for (const auto& worker : doc->workers) queries += worker.queries;
  EXPECT_GT(queries, 0);
  EXPECT_EQ(doc->underWay, 0);
  EXPECT_THAT(m_window->minifyPanel().workers().toStdString(), HasSubstr("asked, the last"));
  const auto named = m_window->minifyPanel().findChild<ReductionChart*>()->named();
  EXPECT_TRUE(named.contains("nodes")) << qPrintable(named.join(", "));
  const auto helped = std::ranges::find_if(
      doc->points, [](const MinifyPoint& point) { return point.accepted && !point.reduction.empty(); });
  ASSERT_NE(helped, doc->points.end());
  EXPECT_GT(doc->points.front().inputBytes, doc->points.back().inputBytes - 1);
  EXPECT_GE(named.size(), 3) << qPrintable(named.join(", "));
}

TEST_F(MinifyWindow, InputsHoldForAllThatRunsTheGraph) {
  openSample();
  session().setInputs({"zeros", 3});
  EXPECT_EQ(session().inputs().inputs, "zeros");
  EXPECT_THAT(part<QToolButton>(m_window->minifyPanel(), "minifySettings").text().toStdString(),
              HasSubstr("inputs: zeros, seed 3"));
  std::vector<workbench::InputRow> rows;
  session().findInputRows([&](const std::vector<workbench::InputRow>& found) { rows = found; });
  ASSERT_TRUE(test::waitFor([&] { return !rows.empty(); }));
  EXPECT_EQ(rows.size(), 25u);
}

TEST_F(MinifyWindow, PinnedNodesStay) {
  openSample();
  const auto& nodes = session().graph()->nodes;
  const auto add = std::ranges::find(nodes, "add", &NodeDoc::op);
  ASSERT_NE(add, nodes.end());
  const auto name = add->name;
  session().pin(text(name), true);
  EXPECT_EQ(m_window->pane().view().state().pinned.size(), 1);
  m_window->minifyPanel().plant().setPlant("relu=accuracy");
  m_window->actions()["minify"]->trigger();
  settle();
  const auto doc = session().minified();
  ASSERT_EQ(doc->state, MinifyDoc::State::Done) << qPrintable(doc->error);
  ASSERT_FALSE(doc->steps.empty());
  session().showStage(Location::Stage::Step, int(doc->steps.size()) - 1);
  settle();
  EXPECT_GE(session().graph()->find(name), 0);
  ASSERT_TRUE(session().difference()) << "each step is seen against the one before";
  session().pin(text(name), false);
  EXPECT_TRUE(session().pins().isEmpty());
}

TEST_F(MinifyWindow, TheReproLeavesAsZipAndAsIssue) {
  openSample();
  m_window->minifyPanel().plant().setPlant("relu=accuracy");
  m_window->actions()["minify"]->trigger();
  settle();
  ASSERT_FALSE(session().minified()->repro.empty()) << qPrintable(session().minified()->error);
  const auto* menu = part<QPushButton>(m_window->minifyPanel(), "exportMinified").menu();
  ASSERT_TRUE(menu);
  EXPECT_EQ(menu->actions().size(), 3);
  session().exportMinifiedAs(m_folder.filePath("repro.zip"), "zip");
  settle();
  EXPECT_GT(QFileInfo(m_folder.filePath("repro.zip")).size(), 500) << qPrintable(m_window->banner().text());
  session().exportMinifiedAs(m_folder.filePath("issue.md"), "issue");
  settle();
  QFile issue(m_folder.filePath("issue.md"));
  ASSERT_TRUE(issue.open(QIODevice::ReadOnly)) << qPrintable(m_window->banner().text());
  EXPECT_THAT(issue.readAll().toStdString(), HasSubstr("torch.ops.aten.relu.default"));
}

TEST_F(MinifyWindow, BisectsByWhatTheGraphIsFusedInto) {
  openSample();
  m_window->raisePanel("accuracy");
  session().bisect(workbench::BisectRequest::By::Subsystem, "pass:cse=crash");
  settle();
  ASSERT_TRUE(session().bisected());
  EXPECT_TRUE(session().bisected()->different);
  EXPECT_THAT(m_window->accuracyPanel().bisection().toStdString(), HasSubstr("part of the compiler"));
  EXPECT_GT(m_window->accuracyPanel().trials().model()->rowCount(), 0);
}

TEST_F(MinifyWindow, OnlyWhatTheGraphHasCanBeBroken) {
  openSample();
  m_window->minifyPanel().plant().setPlant("cosh=accuracy");
  m_window->actions()["minify"]->trigger();
  EXPECT_FALSE(session().minified());
  EXPECT_TRUE(m_window->banner().isVisible());
  EXPECT_THAT(m_window->banner().text().toStdString(), HasSubstr("does not call cosh"));
  m_window->accuracyPanel().plant().setPlant("pass:nonsense=crash");
  m_window->actions()["compare"]->trigger();
  EXPECT_FALSE(session().accuracy());
  EXPECT_THAT(m_window->banner().text().toStdString(), HasSubstr("no pass nonsense"));
}

TEST_F(MinifyWindow, PyTorchIsAskedForBeforeItIsBisected) {
  openSample();
  emit m_window->accuracyPanel().torchBisectRequested(workbench::BisectRequest::By::Pass);
  EXPECT_TRUE(m_window->minifyPanel().findChild<MinifySettings*>());
  EXPECT_FALSE(session().bisected());
}

}  // namespace
}  // namespace kerf::ui
