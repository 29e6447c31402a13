// Flat layout: layers, lanes, places; hostile graphs; the same again.
#include <random>

#include <gtest/gtest.h>

#include "tests/support/cpu_time.h"
#include "tests/support/plan_checks.h"
#include "ui/layout/layering.h"

namespace kerf::ui {
namespace {

using testing::behindItems;
using testing::overlaps;

FlatItem box(int i) { return {120.0 + i % 5 * 30, 50.0 + i % 3 * 19, std::uint64_t(i + 1)}; }

FlatLink between(const FlatGraph& graph, int from, int to) {
  return {from, to, graph.items[std::size_t(from)].width / 2, graph.items[std::size_t(to)].width / 2};
}

/// A chain of `count` items, each of which also takes the value `skip` items before it.
FlatGraph chain(int count, int skip) {
  FlatGraph graph;
  for (int i = 0; i < count; ++i) {
    graph.items.push_back(box(i));
    if (i > 0) graph.links.push_back(between(graph, i - 1, i));
    if (i >= skip) graph.links.push_back(between(graph, i - skip, i));
  }
  return graph;
}

FlatGraph tangled(int count, int reach) {
  FlatGraph graph;
  std::minstd_rand random(7);
  for (int i = 0; i < count; ++i) {
    graph.items.push_back(box(i));
    for (int k = 0; k < 2 && i > 0; ++k)
      graph.links.push_back(between(graph, std::max(0, i - 1 - int(random() % std::uint32_t(reach))), i));
  }
  return graph;
}

void expectSound(const FlatGraph& graph, const FlatPlan& plan) {
  EXPECT_EQ(overlaps(plan.items), 0);
  EXPECT_EQ(behindItems(plan.items, plan.routes), 0);
  for (std::size_t i = 0; i < graph.links.size(); ++i) {
    const auto &from = plan.items[std::size_t(graph.links[i].from)], &to = plan.items[std::size_t(graph.links[i].to)];
    EXPECT_LT(plan.layers[std::size_t(graph.links[i].from)], plan.layers[std::size_t(graph.links[i].to)]);
    ASSERT_GE(plan.routes[i].size(), 4u);
    EXPECT_EQ(plan.routes[i].size() % 3, 1u);
    EXPECT_NEAR(plan.routes[i].front().y, from.bottom(), 1e-6);
    EXPECT_NEAR(plan.routes[i].back().y, to.top, 1e-6);
    EXPECT_NEAR(plan.routes[i].front().x, from.left + graph.links[i].fromX, 1e-6);
  }
}

TEST(FlatPlan, KeepsItemsApartAndLinksBesideThem) {
  for (const auto& graph : {chain(60, 7), chain(200, 3), tangled(300, 25), tangled(80, 80)})
    expectSound(graph, planFlat(graph));
}

TEST(FlatPlan, DrawsAChainStraight) {
  const auto graph = chain(40, 1000);
  const auto plan = planFlat(graph);
  for (const auto& item : plan.items) EXPECT_NEAR(item.middle(), plan.items[0].middle(), 1e-6);
}

TEST(FlatPlan, LeavesTheChainStraightBesideAResidualLink) {
  auto graph = chain(8, 1000);
  graph.links.push_back(between(graph, 1, 6));
  const auto plan = planFlat(graph);
  expectSound(graph, plan);
  for (const auto& item : plan.items) EXPECT_NEAR(item.middle(), plan.items[0].middle(), 1e-6);
}

TEST(FlatPlan, HasNoCrossingsWhereNoneAreNeeded) {
  FlatGraph graph;  // two ladders of four rungs, their items mixed
  for (int i = 0; i < 8; ++i) graph.items.push_back(box(i));
  for (int i = 0; i + 2 < 8; ++i) graph.links.push_back(between(graph, i, i + 2));
  graph.links.push_back(between(graph, 0, 3));
  auto layers = withLanes(graph, assignLayers(graph, nullptr));
  orderLayers(layers, nullptr);
  EXPECT_EQ(countCrossings(layers), 0);
}

TEST(FlatPlan, CountsCrossings) {
  FlatGraph graph;
  for (int i = 0; i < 6; ++i) graph.items.push_back(box(i));
  for (int i = 0; i < 3; ++i)
    for (int k = 3; k < 6; ++k) graph.links.push_back(between(graph, i, k));
  EXPECT_EQ(countCrossings(withLanes(graph, assignLayers(graph, nullptr))), 9);  // K(3,3) on two layers
}

TEST(FlatPlan, IsTheSameEachTime) {
  const auto graph = tangled(400, 60);
  const auto one = planFlat(graph), two = planFlat(graph);
  for (std::size_t i = 0; i < graph.items.size(); ++i) {
    EXPECT_EQ(one.items[i].left, two.items[i].left);
    EXPECT_EQ(one.items[i].top, two.items[i].top);
  }
}

TEST(FlatPlan, LeavesTheOthersWhereTheyWereWhenOneGoes) {
  auto graph = chain(30, 5);
  auto before = planFlat(graph).memory;
  before.still = true;
  const auto first = planFlat(graph);
  FlatGraph without;  // item 12 is gone; its user takes its input
  without.spacing = graph.spacing;
  std::vector<int> place(30, -1);
  for (int i = 0; i < 30; ++i) {
    if (i == 12) continue;
    place[std::size_t(i)] = int(without.items.size());
    without.items.push_back(graph.items[std::size_t(i)]);
  }
  for (auto link : graph.links) {
    if (link.to == 12) continue;
    if (link.from == 12) link.from = 11;
    link.fromX = graph.items[std::size_t(link.from)].width / 2;
    link.from = place[std::size_t(link.from)];
    link.to = place[std::size_t(link.to)];
    without.links.push_back(link);
  }
  const auto second = planFlat(without, &before);
  EXPECT_EQ(overlaps(second.items), 0);
  EXPECT_EQ(behindItems(second.items, second.routes), 0);
  for (int i = 0; i < 30; ++i) {
    if (i == 12) continue;
    const auto &was = first.items[std::size_t(i)], &is = second.items[std::size_t(place[std::size_t(i)])];
    EXPECT_NEAR(is.left, was.left, 0.01) << i;
    EXPECT_NEAR(is.top, was.top, 0.01) << i;
  }
}

TEST(FlatPlan, PacksWhatIsNotConnected) {
  FlatGraph graph;
  for (int i = 0; i < 100; ++i) graph.items.push_back({120, 50, std::uint64_t(i + 1)});
  const auto plan = planFlat(graph);
  EXPECT_EQ(overlaps(plan.items), 0);
  EXPECT_LT(plan.width, 2500);  // a hundred beside each other would be 14,000 wide
  EXPECT_LT(plan.height, 2500);
}

TEST(FlatPlan, DrawsACycleWithOneLinkBackward) {
  auto graph = chain(3, 1000);
  graph.links.push_back(between(graph, 2, 0));
  const auto plan = planFlat(graph);
  EXPECT_EQ(plan.layers, (std::vector<int>{0, 1, 2}));
  EXPECT_GT(plan.routes[2].front().y, plan.routes[2].back().y);
  EXPECT_EQ(behindItems(plan.items, plan.routes), 0);
}

struct Hostile {
  const char* name;
  FlatGraph graph;
};

std::vector<Hostile> hostileGraphs() {
  constexpr int many = 50'000;
  std::vector<Hostile> graphs{
      {"skips", chain(many, 7)}, {"far skips", chain(many, 1000)}, {"chain", chain(many, 2 * many)}};
  FlatGraph star;
  star.items.push_back(box(0));
  for (int i = 1; i <= many; ++i) {
    star.items.push_back(box(i));
    star.links.push_back(between(star, 0, i));
  }
  graphs.push_back({"one with many users", star});
  auto sink = chain(many, 7);
  for (int i = 0; i + 1 < many; ++i) sink.links.push_back(between(sink, i, many - 1));
  graphs.push_back({"all into one", sink});
  graphs.push_back({"tangled", tangled(many, many)});
  return graphs;
}

TEST(FlatPlan, HostileGraphsTakeBoundedTime) {
  for (const auto& [name, graph] : hostileGraphs()) {
    FlatPlan plan;
    const double seconds = testing::cpuSecondsOf([&] { plan = planFlat(graph); });
    RecordProperty(name, std::to_string(int(seconds * 1000)) + " ms");
    EXPECT_LT(seconds, 5 * testing::slowdown) << name;
    EXPECT_EQ(plan.items.size(), graph.items.size());
  }
}

TEST(FlatPlan, IsQuickAtUsualSizes) {
  const auto small = tangled(500, 20), large = tangled(3557, 20);
  EXPECT_LT(testing::cpuSecondsOf([&] { planFlat(small); }), 0.3 * testing::slowdown);
  EXPECT_LT(testing::cpuSecondsOf([&] { planFlat(large); }), 3 * testing::slowdown);
}

}  // namespace
}  // namespace kerf::ui
