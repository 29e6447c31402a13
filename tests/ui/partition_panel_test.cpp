// The partition panel: every budget's cut of a joint graph, by slider and by its point in the plot.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QPushButton>
#include <QSlider>

#include "tests/support/small_repro.h"
#include "tests/ui/window_fixture.h"
#include "ui/panels/cut_view.h"
#include "ui/panels/pareto_chart.h"
#include "ui/panels/partition_panel.h"

namespace kerf::ui {
namespace {

using ::testing::HasSubstr;

class PartitionWindow : public Window {
 protected:
  void settle() {
    ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
  }
  PartitionPanel& panel() { return m_window->partitionPanel(); }
  void partition() {
    m_window->raisePanel("partition");
    QTest::mouseClick(panel().findChild<QPushButton*>("primary"), Qt::LeftButton);
    settle();
  }
  const workbench::PartitionDoc& cut() {
    return session().partitions()->partitions[std::size_t(panel().budget().value())];
  }
};

TEST_F(PartitionWindow, CutsTheJointGraphOfAForwardGraph) {
  openSample();
  partition();
  EXPECT_EQ(session().location().aotStage, "joint");
  ASSERT_TRUE(session().partitions());
  ASSERT_EQ(session().partitions()->error.toStdString(), "");
  ASSERT_EQ(session().partitions()->partitions.size(), 21u);
  EXPECT_EQ(panel().budget().value(), 20) << "the whole budget, as PyTorch has it";
  EXPECT_EQ(panel().saved().model()->rowCount(), int(cut().saved.size()));
  EXPECT_THAT(panel().summary().toStdString(), HasSubstr("Budget 1.00"));
  const auto& marked = m_window->pane().view().state().saved;
  EXPECT_EQ(marked.size(), qsizetype(cut().saved.size())) << "each saved value is marked in the picture";
}

TEST_F(PartitionWindow, TheCutStandsBetweenForwardAndBackward) {
  openSample();
  partition();
  ASSERT_TRUE(session().partitions());
  auto& view = panel().cut();
  ASSERT_EQ(view.rows().size(), cut().saved.size() + cut().recomputed.size());
  const auto& nodes = session().graph()->nodes;
  int last = -1;
  qint64 bytes = 0;
  for (const auto& row : view.rows()) {
    ASSERT_GE(row.forward, 0) << qPrintable(row.name);
    EXPECT_GE(row.forward, last) << "in the order of the graph";
    last = row.forward;
    bytes += row.bytes;
    EXPECT_NE(row.reason.toStdString(), "");
  }
  EXPECT_EQ(bytes, cut().savedBytes);
  const auto taken = std::ranges::find_if(view.rows(), [](const CutRow& row) { return !row.users.empty(); });
  ASSERT_NE(taken, view.rows().end());
  const int at = int(taken - view.rows().begin());
  QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, view.forwardRect(at).center());
  settle();
  EXPECT_EQ(session().node(), taken->forward);
  EXPECT_EQ(view.currentRow(), at);
  EXPECT_NE(panel().relation().toStdString(), "");
  const int user = view.rows()[std::size_t(at)].users.front();
  QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, view.userRect(at, 0).center());
  settle();
  EXPECT_EQ(session().node(), user);
  EXPECT_TRUE(nodes[std::size_t(user)].backward || !cut().recomputed.empty());
}

TEST_F(PartitionWindow, AForwardNodeKnowsTheNodesOfItsGradient) {
  openSample();
  partition();
  const auto& graph = *session().graph();
  const auto backward =
      std::ranges::find_if(graph.nodes, [](const NodeDoc& node) { return node.backward && !node.forwardNode.empty(); });
  ASSERT_NE(backward, graph.nodes.end());
  const int forward = graph.find(backward->forwardNode);
  ASSERT_GE(forward, 0);
  const auto gradients = counterparts(graph, forward);
  const int node = int(backward - graph.nodes.begin());
  EXPECT_TRUE(std::ranges::find(gradients, node) != gradients.end());
  EXPECT_EQ(counterparts(graph, node), std::vector<int>{forward});
  session().selectNode(forward);
  settle();
  EXPECT_THAT(panel().relation().toStdString(), HasSubstr("its gradient is computed by"));
  session().selectNode(node);
  settle();
  EXPECT_THAT(panel().relation().toStdString(), HasSubstr("computes the gradient of " + backward->forwardNode));
}

TEST_F(PartitionWindow, TheBudgetCutsAgainAtOnce) {
  openSample();
  partition();
  ASSERT_EQ(session().partitions()->partitions.size(), 21u);
  const auto before = cut().savedBytes;
  auto& budget = panel().budget();
  budget.setFocus();
  for (int step = 0; step < 20; ++step) QTest::keyClick(&budget, Qt::Key_Left);
  EXPECT_EQ(budget.value(), 0);
  EXPECT_LT(cut().savedBytes, before);
  EXPECT_EQ(panel().saved().model()->rowCount(), int(cut().saved.size()));
  EXPECT_GT(m_window->pane().view().state().recomputed.size(), 0);
  const auto point = panel().chart().pointAt(20).toPoint();
  QTest::mouseClick(&panel().chart(), Qt::LeftButton, {}, point);
  EXPECT_EQ(cut().savedBytes, before) << "budgets with the same cut share a point";
}

TEST_F(PartitionWindow, ASavedValueIsSelectedInTheGraph) {
  openSample();
  partition();
  panel().saved().setCurrentIndex(panel().saved().model()->index(2, 0));
  settle();
  EXPECT_EQ(session().location().node.toStdString(),
            panel().saved().model()->index(panel().saved().currentIndex().row(), 0).data().toString().toStdString());
}

TEST_F(PartitionWindow, SaysWhyAGraphHasNoBackwardPart) {
  const QTemporaryDir folder;
  QFile file(folder.filePath("positive.py"));
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  file.write(QByteArray::fromStdString(
      kerf::test::smallRepro("        gt = torch.ops.aten.gt.Scalar(arg0_1, 0)\n        return (gt,)\n")));
  file.close();
  open(file.fileName());
  partition();
  EXPECT_TRUE(m_window->banner().isVisible());
  EXPECT_EQ(session().location().aotStage, "") << "what was shown stays";
  EXPECT_EQ(panel().saved().model()->rowCount(), 0);
}

}  // namespace
}  // namespace kerf::ui
