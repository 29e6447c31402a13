// Outlines of fusion groups: which nodes are in one, and that both themes draw them around their cards.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QAction>

#include "engine/support/recordings.h"
#include "tests/ui/window_fixture.h"
#include "ui/graph_view/hull_painter.h"
#include "ui/graph_view/layered_layout.h"
#include "ui/models/theme.h"

namespace kerf::ui {
namespace {

/// Pixels of about this colour.
int pixelsOf(const QImage& image, const QColor& color) {
  int count = 0;
  for (int y = 0; y < image.height(); ++y)
    for (int x = 0; x < image.width(); ++x) {
      const QColor pixel = image.pixelColor(x, y);
      count += std::abs(pixel.red() - color.red()) < 6 && std::abs(pixel.green() - color.green()) < 6 &&
               std::abs(pixel.blue() - color.blue()) < 6;
    }
  return count;
}

class HullOf : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override { setTheme(GetParam()); }
  void TearDown() override { setTheme(false); }
};

TEST_P(HullOf, TwoOfThreeNodesIsAroundTheirCardsAlone) {
  auto scene = std::make_shared<Scene>(buildScene(
      test::makeGraph({{"x", "x", {}, NodeKind::Input}, {"a", "relu", {0}}, {"b", "tanh", {1}}, {"c", "mm", {2}}}),
      {}));
  ASSERT_TRUE(layOutLayered(*scene, {}));
  GraphWidget view;
  view.resize(700, 900);
  view.setScene(scene);
  const auto outline = blend(HullPainter::colorOf(0), theme().canvas, 0.8);
  EXPECT_EQ(pixelsOf(view.grab().toImage(), outline), 0);
  view.setHulls(std::make_shared<const std::vector<NodeHull>>(std::vector<NodeHull>{{"fused_relu_tanh", {1, 2}}}));
  const auto image = view.grab().toImage();
  EXPECT_GT(pixelsOf(image, outline), 300);
  const auto seenAt = [&](int node, double dx, double dy) {
    const auto rect = view.cardRect(node);
    return image.pixelColor(int(rect.center().x() + dx * rect.width() / 2), int(rect.top() + dy));
  };
  const auto fill = blend(HullPainter::colorOf(0), theme().canvas, theme().dark ? 0.22 : 0.16);
  EXPECT_EQ(seenAt(2, 0.8, -4), fill) << "around a card of the group";
  EXPECT_NE(seenAt(3, 0.8, -4), fill) << "not around the other";
}
INSTANTIATE_TEST_SUITE_P(Themes, HullOf, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "dark" : "light"; });

class WindowHulls : public Window {
 protected:
  const std::vector<NodeHull>& hulls() {
    static const std::vector<NodeHull> none;
    const auto& known = m_window->pane().view().state().hulls;
    return known ? *known : none;
  }
};

TEST_F(WindowHulls, ShowKerfsOwnKernels) {
  openSample();
  EXPECT_TRUE(hulls().empty());
  m_window->actions()["hulls"]->trigger();
  ASSERT_FALSE(hulls().empty());
  for (const auto& hull : hulls()) {
    ASSERT_GE(hull.nodes.size(), 2u);
    const auto& kernels = session().compiled()->kernels;
    const auto kernel = std::ranges::find(kernels, hull.title.toStdString(), &KernelDoc::name);
    ASSERT_NE(kernel, kernels.end());
    for (const int node : hull.nodes)
      EXPECT_THAT(kernel->capturedNodes, ::testing::Contains(session().graph()->nodes[std::size_t(node)].name));
  }
  m_window->actions()["hulls"]->trigger();
  EXPECT_TRUE(hulls().empty());
}

TEST_F(WindowHulls, ShowRecordedGroupsOnTheGraphThatTheyName) {
  const auto trace = recordingsFolder() / "variety/dynamic_mlp/trace";
  if (!std::filesystem::exists(trace)) GTEST_SKIP() << "no recordings";
  open(QString::fromStdString(trace.string()));
  m_window->actions()["hulls"]->trigger();
  ASSERT_TRUE(test::waitFor([&] { return m_window->idle() && session().fusion(session().location().capture); }));
  const auto capture = session().capture(session().location().capture);
  const auto rows = session().fusion(capture->id);
  int recorded = 0;
  for (int graph = 0; graph < int(capture->graphs.size()); ++graph) {
    session().go({capture->id, graph, Location::Stage::Captured, -1, {}});
    ASSERT_TRUE(test::waitFor([&] { return m_window->idle() && session().location().graph == graph; }));
    for (const auto& hull : hulls())
      recorded +=
          std::ranges::any_of(*rows, [&](const FusionRow& row) { return row.kernel == hull.title.toStdString(); });
  }
  EXPECT_GT(recorded, 0) << "some graph shows the groups that PyTorch recorded of it";
}

}  // namespace
}  // namespace kerf::ui
