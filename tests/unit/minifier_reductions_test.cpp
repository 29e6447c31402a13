// Each reduction on the graph of its header comment, the table, and 1-minimality against brute force.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "engine/ir/interpreter.h"
#include "engine/ir/printer.h"
#include "minifier/core/candidate_editor.h"
#include "minifier/core/verdict_cache.h"
#include "minifier/reductions/reductions.h"
#include "tests/support/minifier_edits.h"
#include "tests/support/minifier_graphs.h"

namespace kerf {
namespace {

using namespace kerf::testing;

/// What all proposals of `reduction` look like: their nodes' names, joined.
std::vector<std::string> proposals(const Reduction& reduction, const Candidate& candidate) {
  const ReductionInput input{candidate};
  std::vector<std::string> list;
  for (const Edit& edit : reduction.edits(input, {})) {
    const std::optional<Candidate> built = edit.build();
    if (!built) continue;
    const Graph& graph = built->module.graph;
    EXPECT_TRUE(graph.lint().has_value()) << reduction.name;
    EXPECT_EQ(graph.placeholders().size(), built->inputs.size()) << reduction.name;
    EXPECT_TRUE(Interpreter(built->module, referenceOps()).run(built->inputs).has_value()) << reduction.name;
    std::string names;
    for (NodeId id : graph.order()) names += graph.node(id).name() + " ";
    list.push_back(names);
  }
  return list;
}

bool offers(const std::vector<std::string>& list, const std::string& names) {
  return std::ranges::find(list, names + " ") != list.end();
}

TEST(Reductions, TableIsComplete) {
  std::set<std::string> names;
  for (const Reduction& reduction : allReductions()) {
    EXPECT_FALSE(reduction.description.empty());
    EXPECT_TRUE(names.insert(reduction.name).second || reduction.isShortcut) << reduction.name;
  }
  EXPECT_GE(names.size(), 8u);
}

/// x: f32[s0, 4] times n, which is s0 as well.
Candidate symbolic(std::int64_t size) {
  CandidateBuilder b;
  const NodeId n = b.graph.placeholder("n");
  b.candidate.inputs.emplace_back(size);
  b.graph.setValueMeta(n, {SymMeta{{"s0", size}}});
  const NodeId x = b.input("x", {size, 4});
  TensorMeta meta = *b.graph.node(x).meta().value.tensor();
  meta.sizes[0].text = "s0";
  b.graph.setValueMeta(x, {meta});
  return b.finish({b.call(reluTarget, {b.call(mulTarget, {x, n}, "mul")}, "relu")});
}

TEST(Reductions, ShrinkSymbolsTriesTheLeastValueFirst) {
  const Candidate candidate = symbolic(16);
  const ReductionInput input{candidate};
  std::vector<std::int64_t> sizes;
  std::optional<Candidate> fixed;
  for (const Edit& edit : shrinkSymbols().edits(input, {})) {
    auto built = edit.build();
    ASSERT_TRUE(built);
    const Value& x = built->inputs.back();
    ASSERT_TRUE(x.isTensor());
    sizes.push_back(x.tensor().sizes()[0]);
    if (built->inputs.size() == 2) {
      EXPECT_EQ(*built->inputs[0].as<std::int64_t>(), sizes.back());
      EXPECT_EQ(measure(*built).symbols, 1u);
      EXPECT_EQ(x.tensor().itemAsDouble(3), candidate.inputs[1].tensor().itemAsDouble(3));
    } else {
      fixed = std::move(built);
    }
  }
  EXPECT_EQ(sizes, (std::vector<std::int64_t>{2, 10, 14, 15, 16}));
  ASSERT_TRUE(fixed);
  EXPECT_EQ(measure(*fixed).symbols, 0u);
  EXPECT_EQ(printGraphText(fixed->module.graph).find("s0"), std::string::npos);
  EXPECT_TRUE(Interpreter(fixed->module, referenceOps()).run(fixed->inputs).has_value());
}

TEST(Reductions, ShrinkSymbolsStopsAtTheRange) {
  Candidate candidate = symbolic(16);
  candidate.module.symbolRanges = {{"s0", 12, 64, {}}};
  const ReductionInput input{candidate};
  const auto smallest = shrinkSymbols().edits(input, {}).front().build();
  ASSERT_TRUE(smallest);
  EXPECT_EQ(smallest->inputs.back().tensor().sizes()[0], 12);
}

TEST(Reductions, ASymbolEndsAtTheLeastSizeThatFails) {
  GraphOracle oracle([](const Candidate& candidate) {
    const Value& x = candidate.inputs.back();
    const bool bad = calls(candidate.module.graph, mulTarget) && x.isTensor() && !x.tensor().sizes().empty() &&
                     x.tensor().sizes()[0] >= 7;
    return bad ? fails("size") : passes();
  });
  MemoryVerdictCache cache;
  const auto result = minify(symbolic(40), oracle, cache, {}, {}, {});
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->candidate.inputs.back().tensor().sizes()[0], 7);
}

TEST(Reductions, CutOutputsReturnsFewer) {
  CandidateBuilder b;
  const NodeId x = b.input("x", {4});
  const NodeId y = b.input("y", {4});
  const Candidate candidate = b.finish({b.call(reluTarget, {x}, "a"), b.call(expTarget, {y}, "b")});
  const auto list = proposals(cutOutputs(), candidate);
  EXPECT_EQ(list, (std::vector<std::string>{"y b output ", "x a output "}));
}

TEST(Reductions, BypassSkipsACallButNeverReturnsAnInput) {
  CandidateBuilder b;
  const NodeId x = b.input("x", {4});
  const NodeId y = b.input("y", {4});
  const NodeId a = b.call(reluTarget, {x}, "a");
  const auto list = proposals(bypassOperand(), b.finish({b.call(addTarget, {a, y}, "total")}));
  EXPECT_TRUE(offers(list, "x a output"));
  EXPECT_TRUE(offers(list, "x y total output"));
  EXPECT_EQ(list.size(), 2u);
}

TEST(Reductions, MergeInputsUsesOneForTwo) {
  CandidateBuilder b;
  const NodeId x = b.input("x", {4});
  const NodeId y = b.input("y", {4});
  const auto list = proposals(mergeInputs(), b.finish({b.call(addTarget, {x, y}, "total")}));
  EXPECT_EQ(list.front(), "x total output ");
  EXPECT_TRUE(offers(list, "y total output"));
}

TEST(Reductions, SimplifyArgumentsLeavesOutOptionalOperands) {
  CandidateBuilder b;
  const NodeId x = b.input("x", {2, 4});
  const NodeId y = b.input("y", {2, 4});
  const NodeId cat = b.call("torch.ops.aten.cat.default", {Argument::list({x, y})}, "cat");
  const auto list = proposals(simplifyArguments(), b.finish({b.call(reluTarget, {cat}, "relu")}));
  EXPECT_EQ(list, (std::vector<std::string>{"x cat relu output ", "y cat relu output "}));
}

TEST(Reductions, ShrinkDimsKeepsValuesAndShapesConsistent) {
  CandidateBuilder b;
  const NodeId x = b.input("x", {6, 4});
  const NodeId view = b.call("torch.ops.aten.view.default", {x, Argument::list({6, 2, 2})}, "view");
  const Candidate candidate = b.finish({b.call(reluTarget, {view}, "relu")});
  const ReductionInput input{candidate};
  std::optional<Candidate> smaller;
  for (const Edit& edit : shrinkDims().edits(input, {})) {
    auto built = edit.build();
    if (built && built->inputs[0].tensor().sizes() == Sizes{5, 4}) smaller = std::move(built);
  }
  ASSERT_TRUE(smaller.has_value());
  const Tensor& tensor = smaller->inputs[0].tensor();
  for (std::int64_t i = 0; i < 20; ++i) EXPECT_EQ(tensor.itemAsDouble(i), candidate.inputs[0].tensor().itemAsDouble(i));
  EXPECT_EQ(smaller->module.graph.node(*smaller->module.graph.find("relu")).meta().value.tensor()->concreteSizes(),
            (Sizes{5, 2, 2}));
}

/// Sizes of the first input that shrinkDims() proposes, in order.
std::vector<Sizes> proposedSizes(const Candidate& candidate, bool isSettled) {
  const ReductionInput input{.candidate = candidate, .isSettled = isSettled};
  std::vector<Sizes> list;
  for (const Edit& edit : shrinkDims().edits(input, {}))
    if (const auto built = edit.build();
        built && std::ranges::find(list, built->inputs[0].tensor().sizes()) == list.end())
      list.push_back(built->inputs[0].tensor().sizes());
  return list;
}

TEST(Reductions, ShrinkDimsAsksForOneOnlyWhereADimensionCannotGo) {
  CandidateBuilder b;
  const Candidate loose = b.finish({b.call(reluTarget, {b.input("x", {16})}, "relu")});
  EXPECT_EQ(proposedSizes(loose, false), (std::vector<Sizes>{{}, {9}, {13}, {15}}));
  EXPECT_EQ(proposedSizes(loose, true), (std::vector<Sizes>{{}, {15}}));
  CandidateBuilder c;
  const Candidate pair = c.finish({c.call(reluTarget, {c.input("x", {2})}, "relu")});
  EXPECT_EQ(proposedSizes(pair, true), (std::vector<Sizes>{{}, {1}}));
  CandidateBuilder d;
  const NodeId x = d.input("x", {16, 16});
  const Candidate firm = d.finish({d.call("torch.ops.aten.mm.default", {x, x}, "mm")});
  const auto sizes = proposedSizes(firm, false);
  EXPECT_NE(std::ranges::find(sizes, Sizes{1, 1}), sizes.end());
  EXPECT_EQ(std::ranges::find(sizes, Sizes{}), sizes.end());
}

/// A random graph of pointwise calls on f32[3].
Candidate randomGraph(unsigned seed) {
  std::mt19937 random(seed);
  CandidateBuilder b;
  std::vector<NodeId> nodes;
  for (unsigned i = 0; i < 1 + random() % 3; ++i) nodes.push_back(b.input(fmt::format("x{}", i).c_str(), {3}));
  const std::size_t inputs = nodes.size();
  const char* unary[] = {reluTarget, tanhTarget, expTarget};
  const char* binary[] = {addTarget, mulTarget};
  for (unsigned i = 0; i < 4 + random() % 9; ++i) {
    const NodeId a = nodes[random() % nodes.size()];
    const NodeId c = nodes[random() % nodes.size()];
    nodes.push_back(random() % 2 ? b.call(unary[random() % 3], {a}) : b.call(binary[random() % 2], {a, c}));
  }
  std::vector<NodeId> outputs{nodes.back()};
  if (random() % 2 && nodes.size() > inputs + 1)
    outputs.push_back(nodes[inputs + random() % (nodes.size() - inputs - 1)]);
  return b.finish(outputs);
}

/// Whether some path leads from a call of `from` to a call of `to`.
bool reaches(const Graph& graph, const char* from, const char* to) {
  std::set<NodeId> tainted;
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    const auto inputs = node.inputs();
    const bool fed = std::ranges::any_of(inputs, [&](NodeId input) { return tainted.contains(input); });
    if (fed && node.isCall(knownOp(to))) return true;
    if (fed || node.isCall(knownOp(from))) tainted.insert(id);
  }
  return false;
}

bool isReturned(const Graph& graph, NodeId id) {
  const auto returned = returnedNodes(graph);
  return std::ranges::find(returned, id) != returned.end();
}

/// Every way of taking one node away, written without the reductions: cut a call, bypass it, drop an output, merge.
std::vector<Candidate> allSingleRemovals(const Candidate& candidate) {
  std::vector<Candidate> list;
  const Graph& graph = candidate.module.graph;
  RecordedValues values(candidate, {});
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (node.op() == Opcode::Output) continue;
    if (node.op() == Opcode::CallFunction && !isReturned(graph, id)) {
      CandidateEditor editor(candidate);
      EXPECT_TRUE(editor.cut(id, *valueOf(values, id)));
      list.push_back(editor.finish());
    }
    for (NodeId other : graph.order()) {
      if (other == id) break;
      CandidateEditor editor(candidate);
      const bool bothInputs = node.op() == Opcode::Placeholder && graph.node(other).op() == Opcode::Placeholder;
      const auto inputs = node.inputs();
      if (!bothInputs && std::ranges::find(inputs, other) == inputs.end()) continue;
      editor.graph().replaceAllUsesWith(id, other);
      const auto returned = returnedNodes(editor.graph());
      if (std::ranges::any_of(returned, [&](NodeId r) { return graph.node(r).op() == Opcode::Placeholder; })) continue;
      list.push_back(editor.finish());
    }
  }
  return list;
}

void expectOneMinimal(const Candidate& start, unsigned seed) {
  GraphOracle oracle([](const Candidate& candidate) {
    return reaches(candidate.module.graph, expTarget, addTarget) ? fails("path") : passes();
  });
  MemoryVerdictCache cache;
  const auto result = minify(start, oracle, cache, {}, {}, {});
  ASSERT_TRUE(result.has_value()) << result.error().text();
  EXPECT_TRUE(result->oneMinimal);
  EXPECT_TRUE(reaches(result->candidate.module.graph, expTarget, addTarget));
  const CandidateSize size = measure(result->candidate);
  for (const Candidate& smaller : allSingleRemovals(result->candidate)) {
    if (!(measure(smaller).nodes < size.nodes)) continue;
    EXPECT_FALSE(reaches(smaller.module.graph, expTarget, addTarget)) << "a single node could still go, seed " << seed;
  }
}

TEST(OneMinimality, AgreesWithBruteForceOnRandomGraphs) {
  int checked = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    const Candidate start = randomGraph(seed);
    if (!reaches(start.module.graph, expTarget, addTarget)) continue;
    expectOneMinimal(start, seed);
    ++checked;
  }
  EXPECT_GE(checked, 50);
}

}  // namespace
}  // namespace kerf
