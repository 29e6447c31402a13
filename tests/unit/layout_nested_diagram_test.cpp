// Nested layout: frames around cards, links through their borders, what stays where it was.
#include <cmath>

#include <gtest/gtest.h>

#include "tests/support/plan_checks.h"
#include "ui/layout/nested_diagram.h"

namespace kerf::ui {
namespace {

/// 0 → … → 11, of which 2 … 9 are in frame 1 and 4 … 7 of these in frame 2; and links that skip.
NestedDiagram framed(bool open = true) {
  NestedDiagram graph;
  graph.frames = {{-1, 1}, {0, 2}, {1, 3}};
  for (int i = 0; i < 12; ++i) {
    const int frame = i < 2 || i > 9 ? 0 : i < 4 || i > 7 || !open ? 1 : 2;
    graph.cards.push_back({120, 50, frame, std::uint64_t(i + 10)});
  }
  if (!open) graph.frames.pop_back();
  for (int i = 1; i < 12; ++i) graph.links.push_back({i - 1, i});
  graph.links.insert(graph.links.end(), {{1, 10}, {2, 9}, {0, 7}, {5, 11}});
  return graph;
}

bool holds(const Extent& outer, const Extent& inner) {
  return inner.left >= outer.left && inner.right() <= outer.right() && inner.top >= outer.top &&
         inner.bottom() <= outer.bottom();
}

TEST(NestedPlan, PutsCardsIntoTheirFramesOnly) {
  const auto graph = framed();
  const auto plan = planNested(graph);
  ASSERT_EQ(plan.frames.size(), 3u);
  EXPECT_TRUE(holds(plan.frames[1], plan.frames[2]));
  for (int i = 0; i < 12; ++i) {
    EXPECT_EQ(holds(plan.frames[1], plan.cards[std::size_t(i)]), i >= 2 && i <= 9) << i;
    EXPECT_EQ(holds(plan.frames[2], plan.cards[std::size_t(i)]), i >= 4 && i <= 7) << i;
  }
  EXPECT_EQ(testing::overlaps(plan.cards), 0);
}

TEST(NestedPlan, RoutesLinksFromCardToCardBesideTheOthers) {
  const auto graph = framed();
  const auto plan = planNested(graph);
  EXPECT_EQ(testing::behindItems(plan.cards, plan.routes), 0);
  for (std::size_t i = 0; i < graph.links.size(); ++i) {
    const auto &from = plan.cards[std::size_t(graph.links[i].from)], &to = plan.cards[std::size_t(graph.links[i].to)];
    ASSERT_GE(plan.routes[i].size(), 4u) << i;
    EXPECT_NEAR(plan.routes[i].front().x, from.middle(), 1e-6);
    EXPECT_NEAR(plan.routes[i].front().y, from.bottom(), 1e-6);
    EXPECT_NEAR(plan.routes[i].back().x, to.middle(), 1e-6);
    EXPECT_NEAR(plan.routes[i].back().y, to.top, 1e-6);
    EXPECT_LT(from.bottom(), to.top);
  }
}

TEST(NestedPlan, StaysWhereItWasWhenALinkGoes) {
  auto graph = framed();
  const auto before = planNested(graph);
  graph.links.erase(graph.links.begin() + 12);
  const auto after = planNested(graph, &before.memory, true);
  for (std::size_t i = 0; i < graph.cards.size(); ++i) {
    EXPECT_NEAR(after.cards[i].top, before.cards[i].top, 0.01) << i;
    EXPECT_LT(std::abs(after.cards[i].left - before.cards[i].left), 30) << i;
  }
}

TEST(NestedPlan, StaysExactlyWhereItWasWhenNothingGoes) {
  const auto graph = framed();
  const auto before = planNested(graph);
  const auto after = planNested(graph, &before.memory, true);
  for (std::size_t i = 0; i < graph.cards.size(); ++i) {
    EXPECT_NEAR(after.cards[i].left, before.cards[i].left, 0.01) << i;
    EXPECT_NEAR(after.cards[i].top, before.cards[i].top, 0.01) << i;
  }
}

TEST(NestedPlan, OpeningAFrameMovesNothingAboveIt) {
  const auto closed = planNested(framed(false)), open = planNested(framed(), &closed.memory);
  for (const std::size_t i : {0u, 1u}) EXPECT_NEAR(open.cards[i].top, closed.cards[i].top, 0.01);
  EXPECT_EQ(testing::overlaps(open.cards), 0);
}

TEST(NestedPlan, PutsWhatIsNewAboveWhatWasThere) {
  NestedDiagram graph;
  graph.frames = {{-1, 1}, {0, 2}};
  for (int i = 0; i < 3; ++i) graph.cards.push_back({120, 50, 1, std::uint64_t(i + 10)});
  graph.links = {{0, 1}, {1, 2}};
  const auto before = planNested(graph);
  for (int i = 3; i < 6; ++i) graph.cards.push_back({120, 50, 1, std::uint64_t(i + 10)});
  graph.links.insert(graph.links.end(), {{3, 4}, {4, 5}, {5, 0}});
  const auto after = planNested(graph, &before.memory, true);
  EXPECT_EQ(testing::overlaps(after.cards), 0);
  EXPECT_LT(after.cards[5].bottom(), after.cards[0].top);
  for (const auto& card : after.cards) EXPECT_TRUE(holds(after.frames[1], card));
}

TEST(NestedPlan, TakesAnEmptyGraph) {
  NestedDiagram graph;
  graph.frames.push_back({-1, 1});
  EXPECT_EQ(planNested(graph).cards.size(), 0u);
}

}  // namespace
}  // namespace kerf::ui
