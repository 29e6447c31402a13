#include <gtest/gtest.h>

#include "engine/ir/graph.h"
#include "engine/ir/graph_module.h"

namespace kerf {
namespace {

constexpr const char* relu = "torch.ops.aten.relu.default";
constexpr const char* add = "torch.ops.aten.add.Tensor";

/// x, y → add → relu → output.
struct Chain {
  Graph graph;
  NodeId x = graph.placeholder("x");
  NodeId y = graph.placeholder("y");
  NodeId sum = graph.callFunction(add, {x, y}, {{"alpha", 2}});
  NodeId act = graph.callFunction(relu, {sum});
  NodeId out = graph.output(Argument::tuple({act}));
};

std::vector<std::string> names(const Graph& graph) {
  std::vector<std::string> out;
  for (const NodeId id : graph.order()) out.push_back(graph.node(id).name());
  return out;
}

TEST(Graph, NamesNodesAsFxWould) {
  Chain chain;
  EXPECT_EQ(names(chain.graph), (std::vector<std::string>{"x", "y", "add_tensor", "relu_default", "output"}));
  EXPECT_TRUE(chain.graph.lint().has_value());
}

TEST(Graph, KeepsUsersInOrderOfFirstUse) {
  Graph graph;
  const NodeId x = graph.placeholder("x");
  const NodeId a = graph.callFunction(add, {x, x});
  const NodeId b = graph.callFunction(add, {a, Argument::list({x, a})});
  graph.output(b);
  EXPECT_EQ(graph.node(x).users(), (std::vector<NodeId>{a, b}));
  EXPECT_EQ(graph.node(a).users(), (std::vector<NodeId>{b}));
  EXPECT_EQ(graph.node(b).inputs(), (std::vector<NodeId>{a, x}));
}

TEST(Graph, ReplacesAllUsesButThoseFilteredOut) {
  Chain chain;
  const NodeId second = chain.graph.callFunction(relu, {chain.sum}, {}, "second");
  const auto changed =
      chain.graph.replaceAllUsesWith(chain.sum, chain.x, [&](const Node& user) { return user.id() != second; });
  EXPECT_EQ(changed, (std::vector<NodeId>{chain.act}));
  EXPECT_EQ(chain.graph.node(chain.sum).users(), (std::vector<NodeId>{second}));
  EXPECT_EQ(chain.graph.node(chain.x).users(), (std::vector<NodeId>{chain.sum, chain.act}));
}

TEST(Graph, RefusesToEraseAUsedNodeAndNamesTheUsers) {
  Chain chain;
  const auto erased = chain.graph.eraseNode(chain.sum);
  ASSERT_FALSE(erased.has_value());
  EXPECT_EQ(erased.error().code, ErrorCode::Internal);
  EXPECT_EQ(erased.error().node, "add_tensor");
  EXPECT_NE(erased.error().message.find("relu_default"), std::string::npos);
}

TEST(Graph, ErasesAndFreesTheName) {
  Chain chain;
  chain.graph.replaceAllUsesWith(chain.act, chain.sum);
  ASSERT_TRUE(chain.graph.eraseNode(chain.act).has_value());
  EXPECT_FALSE(chain.graph.contains(chain.act));
  EXPECT_FALSE(chain.graph.find("relu_default"));
  EXPECT_EQ(chain.graph.node(chain.sum).users(), (std::vector<NodeId>{chain.out}));
  EXPECT_TRUE(chain.graph.lint().has_value());
}

TEST(Graph, InsertsBeforeAndAfterInOrderOfCreation) {
  Chain chain;
  {
    const InsertionScope scope(chain.graph, InsertionScope::Where::After, chain.sum);
    chain.graph.callFunction(relu, {chain.sum}, {}, "first");
    chain.graph.callFunction(relu, {chain.sum}, {}, "second");
  }
  {
    const InsertionScope scope(chain.graph, InsertionScope::Where::Before, chain.sum);
    chain.graph.callFunction(relu, {chain.x}, {}, "zeroth");
  }
  EXPECT_EQ(names(chain.graph),
            (std::vector<std::string>{"x", "y", "zeroth", "add_tensor", "first", "second", "relu_default", "output"}));
}

TEST(Graph, CopyIsASnapshot) {
  Chain chain;
  const Graph snapshot = chain.graph;
  const Hash128 before = snapshot.contentHash();
  chain.graph.setTarget(chain.act, "torch.ops.aten.sigmoid.default");
  chain.graph.rename(chain.sum, "total");
  chain.graph.replaceAllUsesWith(chain.sum, chain.y);
  EXPECT_EQ(snapshot.contentHash(), before);
  EXPECT_NE(chain.graph.contentHash(), before);
  EXPECT_EQ(snapshot.node(chain.act).target(), relu);
  EXPECT_EQ(snapshot.node(chain.sum).users(), (std::vector<NodeId>{chain.act}));
  EXPECT_TRUE(snapshot.find("add_tensor"));
  EXPECT_FALSE(snapshot.find("total"));
  EXPECT_TRUE(snapshot.lint().has_value());
}

TEST(Graph, HashIgnoresNodeIdsAndProvenance) {
  Chain chain;
  Graph other;
  const NodeId gone = other.placeholder("gone");
  const NodeId x = other.placeholder("x");
  const NodeId y = other.placeholder("y");
  const NodeId sum = other.callFunction(add, {x, y}, {{"alpha", 2}});
  other.output(Argument::tuple({other.callFunction(relu, {sum})}));
  ASSERT_TRUE(other.eraseNode(gone).has_value());
  NodeMeta meta;
  meta.stackTrace = "File: a.py:1 in f, code: x";
  other.setMeta(sum, meta);
  EXPECT_EQ(other.contentHash(), chain.graph.contentHash());
  other.setKwargs(sum, {{"alpha", 2.0}});
  EXPECT_NE(other.contentHash(), chain.graph.contentHash());
}

TEST(Graph, TopologicalSortIsStableAndNamesCycles) {
  Chain chain;
  chain.graph.moveBefore(chain.act, chain.x);
  EXPECT_FALSE(chain.graph.lint().has_value());
  ASSERT_TRUE(chain.graph.topologicalSort().has_value());
  EXPECT_EQ(names(chain.graph), (std::vector<std::string>{"x", "y", "add_tensor", "relu_default", "output"}));
  chain.graph.setArgs(chain.sum, {chain.act, chain.y});
  const auto sorted = chain.graph.topologicalSort();
  ASSERT_FALSE(sorted.has_value());
  EXPECT_EQ(sorted.error().code, ErrorCode::BadInput);
  EXPECT_EQ(sorted.error().node, "add_tensor");
}

TEST(Graph, RemovesDeadCodeButNoEffects) {
  Chain chain;
  const InsertionScope scope(chain.graph, InsertionScope::Where::Before, chain.out);
  const NodeId dead = chain.graph.callFunction(relu, {chain.x}, {}, "dead");
  chain.graph.callFunction(relu, {dead}, {}, "dead_user");
  chain.graph.callFunction("torch.ops.aten.copy_.default", {chain.x, chain.y}, {}, "effect");
  const auto writes = [](const Node& node) { return node.target().ends_with("copy_.default"); };
  EXPECT_EQ(chain.graph.eliminateDeadCode(writes), 2u);
  EXPECT_FALSE(chain.graph.find("dead"));
  EXPECT_TRUE(chain.graph.find("effect"));
  EXPECT_TRUE(chain.graph.lint().has_value());
}

TEST(Graph, CopiesAnotherGraphsNodes) {
  Chain chain;
  Graph target;
  target.placeholder("x");
  std::unordered_map<NodeId, NodeId> map;
  const Argument result = target.copyFrom(chain.graph, map);
  EXPECT_EQ(names(target), (std::vector<std::string>{"x", "x_1", "y", "add_tensor", "relu_default"}));
  EXPECT_EQ(result, Argument::tuple({map.at(chain.act)}));
}

TEST(Graph, LintFindsMisplacedNodes) {
  Chain chain;
  chain.graph.placeholder("late");
  const auto lint = chain.graph.lint();
  ASSERT_FALSE(lint.has_value());
  EXPECT_EQ(lint.error().node, "output");
}

TEST(NameSpace, FollowsFxRules) {
  NameSpace space;
  const std::vector<std::pair<std::string, std::string>> steps = {{"add", "add"},
                                                                  {"add", "add_1"},
                                                                  {"add", "add_2"},
                                                                  {"add_7", "add_7"},
                                                                  {"add", "add_8"},
                                                                  {"sum", "sum_1"},
                                                                  {"sum", "sum_2"},
                                                                  {"torch", "torch_1"},
                                                                  {"nan", "nan_1"},
                                                                  {"3d", "_3d"},
                                                                  {"layers.0.w", "layers_0_w"},
                                                                  {"*args", "_args"},
                                                                  {"", "_unnamed"},
                                                                  {"getattr", "getattr_1"},
                                                                  {"lambda", "lambda_1"},
                                                                  {"a__1", "a__1"},
                                                                  {"add_7", "add_3"}};
  for (const auto& [candidate, expected] : steps) EXPECT_EQ(space.create(candidate), expected) << candidate;
}

TEST(NameSpace, DerivesNamesFromTargets) {
  EXPECT_EQ(nameFromTarget(Opcode::CallFunction, "torch.ops.aten.add.Tensor"), "add.tensor");
  EXPECT_EQ(nameFromTarget(Opcode::CallFunction, "torch.ops.higher_order.cond"), "cond");
  EXPECT_EQ(nameFromTarget(Opcode::CallFunction, "operator.getitem"), "getitem");
  EXPECT_EQ(nameFromTarget(Opcode::CallFunction, "torch._C._nn.linear"), "linear");
  EXPECT_EQ(nameFromTarget(Opcode::CallMethod, "__add__"), "add");
  EXPECT_EQ(nameFromTarget(Opcode::Placeholder, "L_x_"), "l_x_");
  EXPECT_EQ(nameFromTarget(Opcode::CallModule, "self.fooBar"), "self.foo_bar");
}

TEST(Argument, ComparesFloatsAsTheyPrint) {
  EXPECT_EQ(Argument(std::nan("")), Argument(std::nan("")));
  EXPECT_FALSE(Argument(0.0) == Argument(-0.0));
  EXPECT_FALSE(Argument(1) == Argument(1.0));
  EXPECT_FALSE(Argument::list({1}) == Argument::tuple({1}));
}

TEST(PythonRepr, WritesFloatsAsPython) {
  EXPECT_EQ(pythonFloat(1e-5), "1e-05");
  EXPECT_EQ(pythonFloat(0.0001), "0.0001");
  EXPECT_EQ(pythonFloat(1e16), "1e+16");
  EXPECT_EQ(pythonFloat(123456789012345680.0), "1.2345678901234568e+17");
  EXPECT_EQ(pythonFloat(1e15), "1000000000000000.0");
  EXPECT_EQ(pythonFloat(0.7071067811865476), "0.7071067811865476");
  EXPECT_EQ(pythonFloat(-3.4028234663852886e38), "-3.4028234663852886e+38");
  EXPECT_EQ(pythonFloat(-0.0), "-0.0");
  EXPECT_EQ(pythonFloat(5e-324), "5e-324");
}

TEST(PythonRepr, WritesStringsAsPython) {
  EXPECT_EQ(pythonString("tanh"), "'tanh'");
  EXPECT_EQ(pythonString("it's"), "\"it's\"");
  EXPECT_EQ(pythonString("'\""), "'\\'\"'");
  EXPECT_EQ(pythonString("a\n\t\x01\\"), "'a\\n\\t\\x01\\\\'");
  EXPECT_EQ(pythonString("é\u200b"), "'é\\u200b'");
}

TEST(TensorMeta, CountsAsContiguousWithoutStrides) {
  TensorMeta meta;
  meta.sizes = {dim(2), dim(3)};
  EXPECT_EQ(meta.concreteStrides(), (Sizes{3, 1}));
  meta.strides = {dim(1), dim(2)};
  EXPECT_EQ(meta.concreteStrides(), (Sizes{1, 2}));
  meta.sizes[0] = {"s0", {}};
  meta.strides.clear();
  EXPECT_EQ(meta.concreteStrides(), std::nullopt);
}

TEST(GraphModule, HashCoversAttributesAndSubmodules) {
  GraphModule module;
  module.graph.output(module.graph.getAttr("w"));
  module.attributes.add("w", TensorAttribute{Tensor::scalar(1.0, DType::Float32), false, {}});
  const Hash128 first = module.contentHash();
  module.attributes.edit()[0].second.tensor = Tensor::scalar(2.0, DType::Float32);
  EXPECT_NE(module.contentHash(), first);
  module.attributes.edit()[0].second.tensor = Tensor::scalar(1.0, DType::Float32);
  EXPECT_EQ(module.contentHash(), first);
  module.submodules.add("m", Submodule{nullptr, "Linear()"});
  EXPECT_NE(module.contentHash(), first);
}

}  // namespace
}  // namespace kerf
