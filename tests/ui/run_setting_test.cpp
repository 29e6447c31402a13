// One setting for all that runs a graph: what one panel says of an error, the others say too; and what NaN does to a verdict.
#include <algorithm>
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QAction>
#include <QComboBox>
#include <QJsonArray>
#include <QPushButton>
#include <QToolButton>

#include "tests/support/small_repro.h"
#include "tests/ui/window_fixture.h"
#include "ui/panels/accuracy_panel.h"
#include "ui/panels/growth_chart.h"
#include "ui/panels/minify_panel.h"
#include "ui/panels/partition_panel.h"
#include "ui/panels/values_panel.h"
#include "ui/shell/story_bar.h"

namespace kerf::ui {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class RunSetting : public Window {
 protected:
  void settle() {
    ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
  }
  void compare() {
    m_window->actions()["compare"]->trigger();
    settle();
    ASSERT_TRUE(session().accuracy());
    ASSERT_EQ(session().accuracy()->error.toStdString(), "");
  }
};

TEST_F(RunSetting, ValuesHaveThePlantedFaultOfTheComparison) {
  openSample();
  session().setPlant("relu=accuracy");
  compare();
  const double error = session().accuracy()->find("relu")->maxAbsError;
  ASSERT_GT(error, 0);
  session().selectNode(QString("relu"));
  auto& values = m_window->valuesPanel();
  values.minus().setCurrentIndex(values.minus().findData("interpreter"));
  values.ask();
  settle();
  ASSERT_TRUE(session().value());
  ASSERT_EQ(session().value()->error.toStdString(), "");
  const auto& figures = session().value()->figures;
  EXPECT_NEAR(std::max(std::abs(figures.minimum), std::abs(figures.maximum)), error, error * 1e-4);
  EXPECT_THAT(values.status().toStdString(), HasSubstr("planted: relu=accuracy"));
  session().setPlant({});
  EXPECT_FALSE(session().valueIsCurrent()) << "what is shown is not what would be run now";
}

TEST_F(RunSetting, TheBackendIsOneForAllThatRuns) {
  openSample();
  m_window->raisePanel("accuracy");
  ASSERT_TRUE(test::waitFor([&] { return !session().backends().empty(); }));
  const auto pickerOf = [](QWidget& panel) { return panel.findChild<QComboBox*>("backend"); };
  auto* first = pickerOf(m_window->accuracyPanel());
  ASSERT_EQ(first->count(), 3);
  first->setCurrentIndex(first->findData("interp"));
  emit first->activated(first->currentIndex());
  EXPECT_EQ(session().backend(), "interp");
  for (QWidget* panel : std::initializer_list<QWidget*>{&m_window->valuesPanel(), &m_window->minifyPanel()})
    EXPECT_EQ(pickerOf(*panel)->currentText().toStdString(), "Interpreter");
  compare();
  EXPECT_EQ(session().accuracy()->backend, "interp");
  EXPECT_TRUE(session().accuracy()->same);
  EXPECT_THAT(m_window->accuracyPanel().verdict().toStdString(), HasSubstr("by Interpreter"));
  session().selectNode(QString("relu"));
  m_window->valuesPanel().ask();
  settle();
  ASSERT_EQ(session().value()->error.toStdString(), "");
  EXPECT_EQ(session().value()->asked.backend, "interp");
  m_window->raisePanel("kernels");
  settle();
  const auto run = session().compiledAsRun();
  ASSERT_TRUE(run);
  EXPECT_NE(run, session().compiled());
  EXPECT_TRUE(std::ranges::none_of(run->kernels, [](const KernelDoc& kernel) { return !kernel.code.empty(); }));
  session().setBackend("llvm");
  EXPECT_FALSE(session().valueIsCurrent()) << "what is shown is not what would be run now";
  EXPECT_EQ(session().compiledAsRun(), session().compiled());
}

TEST_F(RunSetting, ABackendThatCannotRunHereSaysWhy) {
  m_window->raisePanel("accuracy");
  session().findBackends();
  ASSERT_TRUE(test::waitFor([&] { return !session().backends().empty(); }));
  auto* picker = m_window->accuracyPanel().findChild<QComboBox*>("backend");
  for (const auto& backend : session().backends()) {
    const int item = picker->findData(QString::fromStdString(backend.name));
    ASSERT_GE(item, 0);
    EXPECT_EQ(picker->model()->flags(picker->model()->index(item, 0)).testFlag(Qt::ItemIsEnabled), backend.runs);
    EXPECT_EQ(picker->itemData(item, Qt::ToolTipRole).toString().toStdString(),
              backend.runs ? backend.description : backend.why);
    EXPECT_NE(backend.runs ? backend.description : backend.why, "");
  }
}

TEST_F(RunSetting, AFaultIsPlantedInOneCaptureAndEveryResultSaysSo) {
  openSample();
  session().setPlant("relu=accuracy");
  EXPECT_EQ(m_window->minifyPanel().plant().plant(), "relu=accuracy");
  compare();
  EXPECT_THAT(m_window->accuracyPanel().verdict().toStdString(), HasSubstr("planted: relu=accuracy"));
  EXPECT_TRUE(m_window->accuracyPanel().plant().findChild<QToolButton*>("warnChip")->isVisible());
  open(writeFile("other.py", kerf::test::smallRepro(kerf::test::reluForward)));
  EXPECT_EQ(session().plant().toStdString(), "");
  compare();
  EXPECT_TRUE(session().accuracy()->same);
  EXPECT_FALSE(m_window->accuracyPanel().plant().findChild<QToolButton*>("warnChip")->isVisible());
}

TEST_F(RunSetting, NaNThatEqualsItselfIsNoPlainSame) {
  open(writeFile("nan.py", kerf::test::smallRepro("        relu = torch.ops.aten.relu.default(arg0_1);  arg0_1 = None\n"
                                                  "        div = torch.ops.aten.div.Tensor(relu, relu)\n"
                                                  "        add = torch.ops.aten.add.Tensor(div, 1);  div = None\n"
                                                  "        return (add,)\n")));
  session().setInputs({"zeros", 1});
  compare();
  ASSERT_TRUE(session().accuracy()->same);
  const auto verdict = m_window->accuracyPanel().verdict().toStdString();
  EXPECT_THAT(verdict, HasSubstr("Same, but 2 of "));
  EXPECT_THAT(verdict, HasSubstr("NaN or infinite, first: div"));
  EXPECT_THAT(m_window->storyBar().button(StoryStep::Compare).text().toStdString(), HasSubstr("NaN"));
  auto* go = m_window->accuracyPanel().findChild<QPushButton*>("goToNode");
  ASSERT_TRUE(go && go->isVisible());
  QTest::mouseClick(go, Qt::LeftButton);
  ASSERT_TRUE(session().nodeDoc());
  EXPECT_EQ(session().nodeDoc()->name, "div");
  m_window->actions()["nextOdd"]->trigger();
  EXPECT_EQ(session().nodeDoc()->name, "add");
}

TEST_F(RunSetting, MasksOfInfinityAreMeant) {
  GraphDocPtr graph = test::makeGraph({{"x", "x", {}, NodeKind::Input},
                                       {"mask", "full", {}, NodeKind::Other},
                                       {"view", "view", {1}, NodeKind::View},
                                       {"add", "add", {0, 2}}});
  AccuracyDoc doc;
  for (const char* name : {"mask", "view", "add"}) {
    doc.nodeIndex.emplace(name, int(doc.nodes.size()));
    doc.nodes.push_back({.node = name, .elements = 4, .finite = 0});
  }
  EXPECT_EQ(doc.odd(*graph).first, "add");
  EXPECT_EQ(doc.odd(*graph).wholly, 1);
}

TEST_F(RunSetting, TheChartShowsErrorsOfAnySize) {
  const auto graph = test::makeGraph({{"a", "relu", {}}, {"b", "relu", {0}}, {"c", "relu", {1}}});
  GrowthChart chart;
  chart.resize(300, 200);
  chart.setNodes({{.node = "a", .same = false, .rmseRes = 1e22, .rmseRef = 1e-7, .elements = 4, .finite = 4},
                  {.node = "b", .same = false, .rmseRes = 1e24, .rmseRef = 1e-7, .elements = 4, .finite = 4},
                  {.node = "c", .rmseRes = std::nan(""), .rmseRef = 1e-7, .elements = 4, .finite = 0}},
                 graph);
  EXPECT_LT(chart.pointAt(1).y(), chart.pointAt(0).y()) << "two errors are two heights";
  EXPECT_LT(chart.pointAt(2).y(), chart.pointAt(1).y()) << "NaN stands above them";
}

/// A forward graph and its gradient, as a log has them: without notes of what is backward.
constexpr const char* recordedJoint =
    "class joint_helper(torch.nn.Module):\n"
    "    def forward(self, primals, tangents):\n"
    "        primals_1: \"f32[8, 16]\"; primals_2: \"f32[16, 4]\"; tangents_1: \"f32[8, 4]\"; \n"
    "    \n"
    "        primals_1, primals_2, tangents_1, = fx_pytree.tree_flatten_spec([primals, tangents], self._in_spec)\n"
    "        mm: \"f32[8, 4]\" = torch.ops.aten.mm.default(primals_1, primals_2)\n"
    "        tanh: \"f32[8, 4]\" = torch.ops.aten.tanh.default(mm);  mm = None\n"
    "        mul: \"f32[8, 4]\" = torch.ops.aten.mul.Tensor(tanh, tanh)\n"
    "        sub: \"f32[8, 4]\" = torch.ops.aten.sub.Tensor(1, mul);  mul = None\n"
    "        mul_1: \"f32[8, 4]\" = torch.ops.aten.mul.Tensor(tangents_1, sub);  tangents_1 = sub = None\n"
    "        permute: \"f32[16, 8]\" = torch.ops.aten.permute.default(primals_1, [1, 0]);  primals_1 = None\n"
    "        mm_1: \"f32[16, 4]\" = torch.ops.aten.mm.default(permute, mul_1);  permute = None\n"
    "        permute_1: \"f32[4, 16]\" = torch.ops.aten.permute.default(primals_2, [1, 0]);  primals_2 = None\n"
    "        mm_2: \"f32[8, 16]\" = torch.ops.aten.mm.default(mul_1, permute_1);  mul_1 = permute_1 = None\n"
    "        return pytree.tree_unflatten([tanh, mm_2, mm_1], self._out_spec)\n";

TEST_F(RunSetting, ARecordedJointGraphIsPartitionedAsItIs) {
  const auto path = writeFile("joint.txt", recordedJoint);
  open(path);
  ASSERT_TRUE(session().graph()) << qPrintable(m_window->banner().text());
  const auto nodes = session().graph()->nodes.size();
  const auto told = test::cliJson({"partition", path});
  ASSERT_FALSE(told["saved"].toArray().isEmpty());
  m_window->raisePanel("partition");
  QTest::mouseClick(m_window->partitionPanel().findChild<QPushButton*>("primary"), Qt::LeftButton);
  settle();
  EXPECT_EQ(session().location().aotStage, "") << "it is joint already";
  EXPECT_EQ(session().graph()->nodes.size(), nodes);
  ASSERT_TRUE(session().partitions());
  ASSERT_EQ(session().partitions()->error.toStdString(), "");
  const auto& whole = session().partitions()->partitions.back();
  EXPECT_EQ(qint64(whole.saved.size()), told["saved"].toArray().size());
  EXPECT_EQ(whole.savedBytes, told["saved_bytes"].toInteger());
  EXPECT_EQ(whole.forwardNodes, told["forward_nodes"].toInteger());
  EXPECT_EQ(whole.backwardNodes, told["backward_nodes"].toInteger());
  const auto graph = session().graph();
  for (const auto& [name, backward] : {std::pair("mul_1", true), {"mm_2", true}, {"tanh", false}, {"permute", false}})
    EXPECT_EQ(graph->nodes[std::size_t(graph->find(name))].backward, backward) << name;
}

}  // namespace
}  // namespace kerf::ui
