// A graph over a mesh of ranks: colours, tags, costs on edges and reasons are what `kerf shard` says of it.
#include <algorithm>
#include <cstdlib>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QAction>
#include <QComboBox>
#include <QJsonArray>
#include <QLineEdit>
#include <QPushButton>
#include <QTextBrowser>

#include "tests/ui/window_fixture.h"
#include "ui/graph_view/graph_painter.h"
#include "ui/graph_view/legend.h"
#include "ui/models/placement_words.h"
#include "ui/models/theme.h"
#include "ui/panels/inspector_panel.h"
#include "ui/panels/sharding_panel.h"

namespace kerf::ui {
namespace {

using ::testing::HasSubstr;

constexpr const char* layerGraph = R"(class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[6, 8][8, 1]cpu", w1: "f32[8, 12][12, 1]cpu", w2: "f32[12, 8][8, 1]cpu"):
        up: "f32[6, 12][12, 1]cpu" = torch.ops.aten.mm.default(x, w1)
        act: "f32[6, 12][12, 1]cpu" = torch.ops.aten.relu.default(up)
        down: "f32[6, 8][8, 1]cpu" = torch.ops.aten.mm.default(act, w2)
        out: "f32[6, 8][8, 1]cpu" = torch.ops.aten.tanh.default(down)
        return (out,)
)";

class PlacedGraph : public Window {
 protected:
  void openLayer() {
    m_path = writeFile("layer.txt", layerGraph);
    open(m_path);
    ASSERT_TRUE(session().graph()) << qPrintable(m_window->banner().text());
  }
  void shard(const QString& mesh, const QString& placements) {
    m_window->raisePanel("placements");
    panel().mesh().setText(mesh);
    panel().placements().setText(placements);
    QTest::mouseClick(&panel().run(), Qt::LeftButton);
    ASSERT_TRUE(
        test::waitFor([&] { return m_window->idle() && session().sharding() && !session().sharding()->running; }));
  }
  ShardingPanel& panel() { return m_window->shardingPanel(); }
  QColor colourOf(const char* node) {
    const auto& scene = *m_window->pane().view().scene();
    return nodeColor(scene.graph->nodes[std::size_t(scene.graph->find(node))], m_window->pane().view().state());
  }
  QString m_path;
};

TEST_F(PlacedGraph, SaysWhatTheCommandLineSays) {
  openLayer();
  shard("4", "w1=S1 w2=S0");
  const auto told = test::cliJson({"shard", m_path, "--mesh", "4", "--placement", "w1=S1", "--placement", "w2=S0"});
  const auto nodes = told["nodes"].toArray();
  const auto doc = session().sharding();
  ASSERT_EQ(doc->error, "");
  ASSERT_EQ(int(doc->nodes.size()), nodes.size());
  auto& table = *panel().table().model();
  ASSERT_EQ(table.rowCount(), nodes.size());
  for (int i = 0; i < nodes.size(); ++i) {
    const auto node = nodes[i].toObject();
    EXPECT_EQ(table.index(i, 0).data().toString(), node["name"].toString());
    EXPECT_EQ(table.index(i, 2).data().toString(), node["placements"].toString());
    EXPECT_EQ(doc->nodes[std::size_t(i)].cost, node["cost"].toDouble());
  }
  EXPECT_EQ(doc->find("act")->placements, "[S(1)]");
  EXPECT_EQ(doc->find("down")->placements, "[P(sum)]");
  ASSERT_EQ(doc->find("out")->moved.size(), 1u);
  EXPECT_EQ(movedInputs(*session().graph(), *doc, *doc->find("out")), std::vector{session().graph()->find("down")});
  EXPECT_TRUE(doc->isRun);
  EXPECT_LT(doc->difference, 1e-4);
  EXPECT_THAT(panel().headline().toStdString(), HasSubstr("all_reduce ×1"));
}

TEST_F(PlacedGraph, ColoursCardsByPlacementWithALegend) {
  openLayer();
  shard("4", "w1=S1 w2=S0");
  ASSERT_EQ(m_window->pane().view().state().mode, ColorMode::Placement);
  EXPECT_EQ(colourOf("up"), colourOf("act")) << "both are sharded along the second dimension";
  EXPECT_NE(colourOf("act"), colourOf("down"));
  EXPECT_EQ(colourOf("x"), theme().faint) << "whole on every rank";
  EXPECT_EQ(colourOf("out"), theme().faint);
  std::map<std::string, QColor> legend;
  for (const auto& entry : legendEntries(*m_window->pane().view().scene(), m_window->pane().view().state()))
    legend[entry.label.toStdString()] = entry.color;
  EXPECT_EQ(legend.at("[S(1)] 3 nodes"), colourOf("act"));
  EXPECT_EQ(legend.at("[P(sum)] 1 node"), colourOf("down"));
  EXPECT_EQ(legend.at("[S(0)] 1 node"), colourOf("w2"));
  EXPECT_EQ(legend.at("[R] 2 nodes"), theme().faint);
  EXPECT_EQ(legend.at("moved between ranks"), theme().warn);
}

bool isNear(const QColor& a, const QColor& b) {
  constexpr int most = 40;  ///< of 255: what smooth edges blend
  return std::abs(a.red() - b.red()) < most && std::abs(a.green() - b.green()) < most &&
         std::abs(a.blue() - b.blue()) < most;
}

/// How many pixels of a picture of the graph have about this colour.
int placementPixels(GraphWidget& view, const QColor& color) {
  QImage image(view.sceneSize(), QImage::Format_RGB32);
  image.fill(theme().canvas);
  QPainter painter(&image);
  view.renderAll(painter);
  painter.end();
  int count = 0;
  for (int y = 0; y < image.height(); ++y)
    for (int x = 0; x < image.width(); ++x) count += isNear(image.pixelColor(x, y), color);
  return count;
}

TEST_F(PlacedGraph, DrawsTheCostOfCommunicationAtTheEdge) {
  openLayer();
  auto& view = m_window->pane().view();
  const int before = placementPixels(view, theme().warn);
  shard("4", "w1=S1 w2=S0");
  const int moved = placementPixels(view, theme().warn);
  EXPECT_GT(moved, before + 100) << "an edge and its tag";
  const auto moves = movesOf(*view.scene(), *session().sharding());
  const auto& scene = *view.scene();
  const auto card = [&](const char* node) { return scene.cardOfNode[std::size_t(scene.graph->find(node))]; };
  ASSERT_EQ(moves.edges.size(), 1u);
  const auto& edge = moves.edges.at({card("down"), card("out")});
  EXPECT_THAT(edge.text().toStdString(), HasSubstr("[P(sum)] → [R]"));
  EXPECT_EQ(edge.cost, session().sharding()->find("out")->cost);
  EXPECT_TRUE(moves.inside.empty());
  shard("4", "w2=S0");
  ASSERT_EQ(session().sharding()->find("down")->moved.size(), 1u);
  EXPECT_EQ(session().sharding()->find("down")->moved[0].cost, 0) << "each rank keeps a part of what it has";
  const auto some = movesOf(*view.scene(), *session().sharding());
  EXPECT_EQ(some.edges.count({card("act"), card("down")}), 0u);
  EXPECT_EQ(some.edges.count({card("down"), card("out")}), 1u);
  shard("4", "x=S0");
  EXPECT_TRUE(movesOf(*view.scene(), *session().sharding()).edges.empty()) << "rows stay where they are";
  EXPECT_TRUE(std::ranges::none_of(legendEntries(*view.scene(), view.state()),
                                   [](const auto& entry) { return entry.label == "moved between ranks"; }));
  EXPECT_LT(placementPixels(view, theme().warn), moved);
}

TEST_F(PlacedGraph, TellsWhyOnAClick) {
  openLayer();
  shard("4", "w1=S1 w2=S0");
  auto& view = m_window->pane().view();
  QTest::mouseClick(&view, Qt::LeftButton, {}, view.cardRect(session().graph()->find("out")).center().toPoint());
  ASSERT_TRUE(session().nodeDoc());
  ASSERT_EQ(session().nodeDoc()->name, "out");
  const auto why = panel().why().toStdString();
  EXPECT_THAT(why, HasSubstr("out = torch.ops.aten.tanh.default is placed as [R]"));
  EXPECT_THAT(why, HasSubstr("operand down goes from [P(sum)] to [R]"));
  EXPECT_THAT(m_window->inspectorPanel().toPlainText().toStdString(), HasSubstr("operand down goes from"));
  EXPECT_EQ(panel().table().currentSourceRow(), int(session().sharding()->nodes.size()) - 1);
}

/// Parts of what an op with several results returns, and that op, are coloured and told too.
TEST_F(PlacedGraph, ResultsOfOpsWithSeveralHaveTags) {
  open(writeFile("parts.txt", R"(class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[8, 12][12, 1]cpu"):
        parts = torch.ops.aten.split.Tensor(x, 6, 1)
        a: "f32[8, 6][12, 1]cpu" = parts[0]
        b: "f32[8, 6][12, 1]cpu" = parts[1]
        norm = torch.ops.aten.native_layer_norm.default(a, [6], None, None, 1e-05)
        m: "f32[8, 6][6, 1]cpu" = norm[0]
        out: "f32[8, 6][6, 1]cpu" = torch.ops.aten.mul.Tensor(m, b)
        return (out,)
)"));
  ASSERT_TRUE(session().graph()) << qPrintable(m_window->banner().text());
  shard("4", "x=S0");
  ASSERT_EQ(session().sharding()->error, "");
  const auto& view = m_window->pane().view();
  for (const auto& node : session().graph()->nodes) {
    if (node.kind == NodeKind::Output) continue;
    const auto* known = session().sharding()->find(node.name);
    ASSERT_TRUE(known) << node.name;
    EXPECT_EQ(known->placements, "[S(0)]") << node.name;
    EXPECT_EQ(nodeColor(node, view.state()), colourOf("x")) << node.name;
  }
}

TEST_F(PlacedGraph, RefusesWhatMakesNoSenseAndGoesOn) {
  openLayer();
  struct Refused {
    const char *mesh, *placements, *said;
  };
  const std::vector<Refused> cases{{"four", "x=S0", "is no mesh"},
                                   {"4", "x=S9", ""},
                                   {"4", "y=S0", "no input 'y'"},
                                   {"4", "x", "INPUT=PLACEMENT"},
                                   {"2,2", "x=S0", "2 placements"}};
  for (const auto& [mesh, placements, said] : cases) {
    shard(mesh, placements);
    EXPECT_NE(session().sharding()->error, "") << mesh << placements;
    EXPECT_THAT(panel().hint().toStdString(), HasSubstr(said));
    EXPECT_EQ(m_window->pane().view().state().sharding, nullptr);
  }
  shard("2", "x=S0");
  EXPECT_EQ(session().sharding()->error, "");
}

TEST_F(PlacedGraph, AreAskedForByTheChoiceOfColours) {
  openLayer();
  EXPECT_FALSE(m_window->places().buttonOf("placements")->isVisible());
  m_window->actions()["colorPlacement"]->trigger();
  EXPECT_EQ(m_window->places().open().toStdString(), "placements");
  EXPECT_EQ(panel().placements().placeholderText().toStdString(), "x=S0");
}

}  // namespace
}  // namespace kerf::ui
