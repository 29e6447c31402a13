// Blocks: groups of nodes on screen: what is open at first, opening and closing in place, what a pass leaves where it was.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QAction>

#include "tests/support/cpu_time.h"
#include "tests/support/made_documents.h"
#include "tests/ui/window_fixture.h"
#include "ui/graph_view/layered_layout.h"
#include "ui/session/text.h"

namespace kerf::ui {
namespace {

using ::testing::Contains;

GraphDocPtr joint(int layers) { return std::make_shared<GraphDoc>(testing::makeDocument(testing::jointModel(layers))); }

SceneOptions inView() { return {.view = QSizeF(1200, 700)}; }

const SceneCard& outputOf(const Scene& scene) {
  return *std::ranges::find(scene.cards, NodeKind::Output, &SceneCard::kind);
}

TEST(Blocks, AreOpenAsFarAsTheyFitIntoTheView) {
  for (const int layers : {20, 100}) {
    const auto scene = layOutGraph(joint(layers), inView(), {});
    ASSERT_TRUE(scene && scene->groups);
    EXPECT_GT(scene->cards.size(), 2u);
    const bool tooMany = layers > 60;  // as single blocks; what is left fits then
    EXPECT_LE(scene->bounds.width() * readableFolded, 1200);
    EXPECT_EQ(scene->cards.size() < 12, tooMany);
    EXPECT_EQ(scene->bounds.height() * readableFolded <= 700, tooMany)
        << "else a strip, which the view begins at the end of";
  }
  EXPECT_FALSE(layOutGraph(joint(8), inView(), {})->groups) << "small graphs are shown as they are";
}

TEST(Blocks, SaySoWhereTheyRepeat) {
  const auto scene = layOutGraph(joint(40), {.budget = 8}, {});
  std::vector<std::string> repeats;
  for (const auto& card : scene->cards) repeats.push_back(card.repeats.toStdString());
  EXPECT_THAT(repeats, Contains("40 × block"));
}

TEST(Blocks, OfForwardAndBackwardAreColumnsWithoutEdgesBetween) {
  const auto graph = joint(20);
  const auto scene = layOutGraph(graph, inView(), {});
  ASSERT_TRUE(scene && scene->groups);
  const auto backward = [&](int card) {
    const auto& groups = *scene->groups;
    return groups.groups[std::size_t(groups.groupOf[std::size_t(scene->cards[std::size_t(card)].node)])].backward;
  };
  QRectF columns[2];
  for (std::size_t i = 0; i < scene->cards.size(); ++i) columns[backward(int(i))] |= scene->cards[i].rect;
  EXPECT_FALSE(columns[0].intersects(columns[1]));
  for (const auto& edge : scene->edges) EXPECT_EQ(backward(edge.from), backward(edge.to));
  const auto& output = outputOf(*scene);
  ASSERT_EQ(output.rows.size(), 1u);
  EXPECT_EQ(output.rows[0].label.toStdString(), "20 gradients");
  EXPECT_EQ(scene->focus, graph->find("c19")) << "the view begins at what the model returns";
}

TEST(Blocks, KeepThePlacesOfWhatAPassLeftAlone) {
  const auto graph = joint(30);
  const auto before = layOutGraph(graph, inView(), {});
  auto calls = testing::jointModel(30);
  for (auto& call : calls)
    if (call.name == "v11") call.op = "reshape";  // the same graph otherwise
  const auto after = std::make_shared<GraphDoc>(testing::makeDocument(calls));
  SceneOptions options = inView();
  options.open = before->openPaths();
  const auto scene = layOutGraph(after, options, {}, before);
  ASSERT_EQ(scene->cards.size(), before->cards.size());
  for (std::size_t i = 0; i < scene->cards.size(); ++i) EXPECT_EQ(scene->cards[i].rect, before->cards[i].rect) << i;
}

TEST(Blocks, OpenWithinATenthOfASecond) {
  const auto graph = joint(300);
  ASSERT_GT(graph->nodes.size(), 3000u);
  const auto first = layOutGraph(graph, inView(), {});
  const auto closed = std::ranges::find_if(first->cards, [](const SceneCard& card) { return card.group >= 0; });
  ASSERT_NE(closed, first->cards.end());
  SceneOptions options = inView();
  options.open = first->openPaths();
  options.open->insert(first->groups->groups[std::size_t(closed->group)].path);
  ScenePtr opened;
  EXPECT_LT(testing::cpuSecondsOf([&] { opened = layOutGraph(graph, options, {}, first); }), 0.1 * testing::slowdown);
  EXPECT_GT(opened->cards.size(), first->cards.size());
}

class BlocksWindow : public Window {
 protected:
  void openLarge() {
    open(test::writeLarge(m_folder, 2000));
    ASSERT_TRUE(scene() && scene()->groups);
  }
  GraphWidget& view() { return m_window->pane().view(); }
  const ScenePtr& scene() { return view().scene(); }
  int firstClosed() {
    const auto& cards = scene()->cards;
    const auto closed = std::ranges::find_if(cards, [](const SceneCard& card) { return card.group >= 0; });
    return closed == cards.end() ? -1 : int(closed - cards.begin());
  }
  void settle() {
    ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
  }
  QTemporaryDir m_folder;
};

TEST_F(BlocksWindow, FitAtFirstAndOpenUnderTheMouseByDoubleClick) {
  openLarge();
  EXPECT_TRUE(view().visibleScene().contains(scene()->bounds));
  const int closed = firstClosed();
  ASSERT_GE(closed, 0);
  const auto path = scene()->groups->groups[std::size_t(scene()->cards[std::size_t(closed)].group)].path;
  const double zoom = view().zoom();
  QTest::mouseDClick(&view(), Qt::LeftButton, {},
                     view().toWidget(scene()->cards[std::size_t(closed)].rect.center()).toPoint());
  settle();
  EXPECT_THAT(scene()->openPaths(), Contains(path));
  EXPECT_TRUE(std::ranges::any_of(scene()->frames, [&](const SceneFrame& frame) {
    return scene()->groups->groups[std::size_t(frame.group)].path == path &&
           view().visibleScene().intersects(frame.rect);
  })) << "what was opened is on the screen";
  EXPECT_EQ(view().zoom(), zoom);
}

TEST_F(BlocksWindow, OpenAndCloseByTheKeyboard) {
  openLarge();
  const auto before = scene()->openPaths();
  session().selectNode(scene()->cards[std::size_t(firstClosed())].node);
  settle();
  const auto selected = scene()->openPaths();
  QTest::keyClick(&view(), Qt::Key_Backspace);
  settle();
  EXPECT_LT(scene()->openPaths().size(), selected.size());
  const auto closed = scene()->openPaths();
  QTest::keyClick(&view(), Qt::Key_Return);
  settle();
  EXPECT_EQ(scene()->openPaths().size(), closed.size() + 1);
}

TEST_F(BlocksWindow, OpenForANodeThatIsSelectedElsewhere) {
  openLarge();
  session().selectNode(QString("n1000"));
  settle();
  const int node = session().node();
  const auto& card = scene()->cards[std::size_t(scene()->cardOfNode[std::size_t(node)])];
  EXPECT_EQ(card.group, -1);
  EXPECT_EQ(card.node, node);
  EXPECT_TRUE(view().visibleScene().contains(card.rect));
}

TEST_F(BlocksWindow, OpenAndCloseAllAtOnce) {
  openLarge();
  m_window->actions()["openBlocks"]->trigger();
  settle();
  EXPECT_EQ(firstClosed(), -1);
  EXPECT_GT(scene()->cards.size(), 1900u);
  m_window->actions()["closeBlocks"]->trigger();
  settle();
  EXPECT_EQ(scene()->openPaths().size(), 1u);
}

TEST_F(BlocksWindow, AreKernelsOrNothingWhereTheUserWantsSo) {
  openSample();
  EXPECT_FALSE(scene()->groups);
  m_window->actions()["groupKernels"]->trigger();
  settle();
  ASSERT_TRUE(scene()->groups);
  std::set<std::string> kernels;
  for (const auto& kernel : session().compiled()->kernels) kernels.insert(kernel.name);
  ASSERT_GT(scene()->groups->groups.size(), 1u);
  for (std::size_t i = 1; i < scene()->groups->groups.size(); ++i)
    EXPECT_THAT(kernels, Contains(text(scene()->groups->groups[i].name).section(" (", 0, 0).toStdString()));
  m_window->actions()["groupNothing"]->trigger();
  settle();
  EXPECT_FALSE(scene()->groups);
}

}  // namespace
}  // namespace kerf::ui
