// The order of nodes against a plain list, and names against counting.
#include <algorithm>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "engine/ir/graph.h"

namespace kerf {
namespace {

using List = std::vector<NodeId>;

List listed(const NodeOrder& order) { return {order.all().begin(), order.all().end()}; }

/// One change of both at random; the ids are 0, 1, 2, … in the order in which they come.
void change(std::mt19937& random, NodeOrder& order, List& list, std::uint32_t& next) {
  const auto any = [&] { return list.begin() + std::ptrdiff_t(random() % list.size()); };
  const unsigned kind = list.empty() ? 0 : random() % 4;
  if (kind == 0) {
    order.append(NodeId{next});
    list.push_back(NodeId{next++});
  } else if (kind == 1) {
    const auto anchor = any();
    order.insertBefore(NodeId{next}, *anchor);
    list.insert(anchor, NodeId{next++});
  } else if (kind == 2) {
    const auto victim = any();
    order.erase(*victim);
    list.erase(victim);
  } else {
    std::ranges::shuffle(list, random);
    order.assign(list);
  }
}

TEST(NodeOrder, IsThatOfAPlainList) {
  std::mt19937 random(3);
  NodeOrder order;
  List list;
  std::uint32_t next = 0;
  for (int i = 0; i < 4000; ++i) {
    change(random, order, list, next);
    ASSERT_EQ(order.size(), list.size());
    ASSERT_EQ(order.last(), list.empty() ? NodeId{} : list.back());
    const bool asksForAll = random() % 3 == 0;  // what nobody asks for is not listed in between
    ASSERT_TRUE(!asksForAll || listed(order) == list) << "step " << i;
    for (std::size_t n = 1; n < list.size(); ++n) {
      ASSERT_EQ(order.next(list[n - 1]), list[n]);
      ASSERT_EQ(order.previous(list[n]), list[n - 1]);
    }
    if (list.size() > 20) order = NodeOrder(), list.clear(), next = 0;
  }
}

TEST(NodeOrder, CopiesAndMovesStandForThemselves) {
  NodeOrder order;
  for (std::uint32_t i = 0; i < 5; ++i) order.append(NodeId{i});
  order.erase(NodeId{2});
  NodeOrder copy = order;
  copy.insertBefore(NodeId{2}, NodeId{0});
  EXPECT_EQ(listed(order), (List{{0}, {1}, {3}, {4}}));
  EXPECT_EQ(listed(copy), (List{{2}, {0}, {1}, {3}, {4}}));
  copy.erase(NodeId{0});
  const NodeOrder moved = std::move(copy);
  EXPECT_EQ(listed(moved), (List{{2}, {1}, {3}, {4}}));
  EXPECT_EQ(copy.size(), 0u);  // NOLINT(bugprone-use-after-move)
  EXPECT_TRUE(copy.all().empty());
}

TEST(NodeOrder, ManyThreadsMayAskForWhatChanged) {
  for (int round = 0; round < 50; ++round) {
    NodeOrder order;
    List list;
    for (std::uint32_t i = 0; i < 1000; ++i) order.append(NodeId{i});
    order.erase(NodeId{500});
    for (std::uint32_t i = 0; i < 1000; ++i)
      if (i != 500) list.push_back(NodeId{i});
    std::vector<std::jthread> readers;
    std::atomic<int> right = 0;
    for (int t = 0; t < 4; ++t)
      readers.emplace_back([&] { right += listed(order) == list && listed(NodeOrder(order)) == list; });
    readers.clear();
    ASSERT_EQ(right, 4);
  }
}

TEST(Graph, TakesTheNodesBeforeAnother) {
  Graph graph;
  const NodeId x = graph.placeholder("x");
  const NodeId a = graph.callFunction("torch.ops.aten.relu.default", {x});
  const NodeId b = graph.callFunction("torch.ops.aten.relu.default", {a});
  EXPECT_EQ(graph.nodesBefore(b, 2), (List{x, a}));
  EXPECT_EQ(graph.nodesBefore(b, 1), (List{a}));
  EXPECT_EQ(graph.nodesBefore(b, 9), (List{x, a}));
  EXPECT_TRUE(graph.nodesBefore(x, 1).empty());
}

TEST(Graph, ManyUsersAreReplacedInOrder) {
  Graph graph;
  const NodeId x = graph.placeholder("x"), y = graph.placeholder("y");
  List users;
  for (int i = 0; i < 100; ++i) users.push_back(graph.callFunction("torch.ops.aten.add.Tensor", {x, y}));
  EXPECT_EQ(graph.replaceAllUsesWith(x, y), users);
  EXPECT_TRUE(graph.node(x).users().empty());
  EXPECT_EQ(graph.node(y).users(), users);
  for (const std::size_t i : {50u, 0u, 99u}) ASSERT_TRUE(graph.eraseNode(users[i]).has_value());
  for (const std::size_t i : {99u, 50u, 0u}) users.erase(users.begin() + std::ptrdiff_t(i));
  EXPECT_EQ(graph.node(y).users(), users);
}

TEST(NameSpace, CountsOnFromTheLastNumberPastTakenNames) {
  NameSpace names;
  for (const char* name : {"relu", "relu_1", "relu_2", "relu_4", "relu_05"}) ASSERT_TRUE(names.claim(name));
  EXPECT_EQ(names.create("relu"), "relu_6");  // the last that was taken was relu_05
  EXPECT_EQ(names.create("relu"), "relu_7");
  names.release("relu_2");
  EXPECT_EQ(names.create("relu_2"), "relu_2");
  EXPECT_EQ(names.create("relu"), "relu_3");
  EXPECT_EQ(names.create("relu"), "relu_5");
  names.release("relu_6");
  EXPECT_EQ(names.create("relu_1"), "relu_6");
}

}  // namespace
}  // namespace kerf
