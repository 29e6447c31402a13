// Random graphs of pointwise ops, views and reductions over symbolic sizes: interpreter against one compilation.
#include <gtest/gtest.h>

#include "tests/support/symbolic_fixture.h"

namespace kerf {
namespace {

using testing_support::expectLikeInterpreter;
using testing_support::SymbolicFixture;

constexpr const char* unary[] = {"relu", "neg", "abs", "sigmoid", "tanh", "sin", "square"};
constexpr const char* binary[] = {"add.Tensor", "sub.Tensor", "mul.Tensor", "maximum.default"};

/// Grows a graph node by node over the values so far. Sizes are the example's, which differ wherever symbols do.
class RandomGraph {
 public:
  explicit RandomGraph(unsigned seed) {
    m_fixture.random.seed(seed);
    m_values.push_back({m_fixture.tensor("x", DType::Float32, {"s0", "s1", "s2"}), {7, 11, 23}});
    m_values.push_back({m_fixture.tensor("y", DType::Float32, {"s1", "1"}), {11, 1}});
    m_values.push_back({m_fixture.tensor("z", DType::Float32, {"s0", "1", "s2"}), {7, 1, 23}});
    for (int i = 0; i < 14; ++i) (this->*growers[below(std::size(growers))])();
    m_fixture.output({last(1), last(2), last(4)});
  }
  SymbolicFixture& fixture() { return m_fixture; }

 private:
  struct Known {
    NodeId node;
    Sizes sizes;
  };
  std::size_t below(std::size_t count) { return m_fixture.random() % count; }
  Known pick() { return m_values[below(m_values.size())]; }
  NodeId last(std::size_t i) const { return m_values[m_values.size() - i].node; }
  void keep(NodeId node, Sizes sizes) { m_values.push_back({node, std::move(sizes)}); }
  NodeId call(const std::string& op, ArgumentList args, KeywordArguments kwargs = {}) {
    return m_fixture.call("aten." + op, std::move(args), std::move(kwargs));
  }

  void addUnary() {
    const Known x = pick();
    keep(call(std::string(unary[below(std::size(unary))]) + ".default", {x.node}), x.sizes);
  }

  void addBinary() {
    const Known x = pick(), y = pick();
    Sizes sizes = x.sizes.size() > y.sizes.size() ? x.sizes : y.sizes;
    for (std::size_t d = 1; d <= std::min(x.sizes.size(), y.sizes.size()); ++d) {
      const auto a = x.sizes[x.sizes.size() - d], b = y.sizes[y.sizes.size() - d];
      if (a != b && a != 1 && b != 1) return;
      sizes[sizes.size() - d] = a == 1 ? b : a;
    }
    keep(call(binary[below(std::size(binary))], {x.node, y.node}), sizes);
  }

  void addReduction() {
    const Known x = pick();
    if (x.sizes.empty()) return;
    const auto dim = below(x.sizes.size());
    const bool keepDim = below(2) == 0;
    constexpr const char* ops[] = {"amax.default", "sum.dim_IntList", "mean.dim"};
    Sizes sizes = x.sizes;
    if (keepDim)
      sizes[dim] = 1;
    else
      sizes.erase(sizes.begin() + std::ptrdiff_t(dim));
    keep(call(ops[below(3)], {x.node, Argument::list({std::int64_t(dim)}), keepDim}), sizes);
  }

  void addTurned() {
    const Known x = pick();
    ArgumentList order;
    Sizes sizes;
    for (std::size_t d = x.sizes.size(); d-- > 0;) {
      order.push_back(std::int64_t(d));
      sizes.push_back(x.sizes[d]);
    }
    keep(call("permute.default", {x.node, Argument::list(order)}), sizes);
  }

  void addSlice() {
    const Known x = pick();
    if (x.sizes.empty() || x.sizes[0] < 3) return;
    Sizes sizes = x.sizes;
    --sizes[0];
    if (below(2) == 0) return keep(call("slice.Tensor", {x.node, 0, 0, -1}), sizes);
    keep(call("slice.Tensor", {x.node, 0, 1, std::int64_t{INT64_MAX}}), sizes);
  }

  /// Two dimensions as one and back, with another op between.
  void addFlat() {
    const Known x = pick();
    if (x.sizes.size() < 2) return;
    const NodeId copy = call("clone.default", {x.node}, {{"memory_format", MemoryFormat::Contiguous}});
    ArgumentList flat{-1}, back;
    for (std::size_t d = 0; d < x.sizes.size(); ++d) {
      back.push_back(m_fixture.size(x.node, std::int64_t(d)));
      if (d > 1) flat.push_back(back.back());
    }
    const NodeId merged = call("view.default", {copy, Argument::list(flat)});
    const NodeId moved = call(std::string(unary[below(std::size(unary))]) + ".default", {merged});
    Sizes sizes(x.sizes.begin() + 1, x.sizes.end());
    sizes[0] *= x.sizes[0];
    keep(moved, sizes);
    keep(call("view.default", {moved, Argument::list(back)}), x.sizes);
  }

  void addStatistics() {
    const Known x = pick();
    if (x.sizes.empty() || x.sizes.back() < 2) return;
    const NodeId stats = call("var_mean.correction", {x.node, Argument::list({std::int64_t(x.sizes.size()) - 1})},
                              {{"correction", 1}, {"keepdim", true}});
    const NodeId centred = call("sub.Tensor", {x.node, m_fixture.item(stats, 1)});
    keep(call("mul.Tensor", {centred, m_fixture.item(stats, 0)}), x.sizes);
  }

  static constexpr void (RandomGraph::* growers[])() = {
      &RandomGraph::addUnary,  &RandomGraph::addBinary, &RandomGraph::addBinary, &RandomGraph::addReduction,
      &RandomGraph::addTurned, &RandomGraph::addSlice,  &RandomGraph::addFlat,   &RandomGraph::addStatistics};

  SymbolicFixture m_fixture{{{"s0", 7}, {"s1", 11}, {"s2", 23}}};
  std::vector<Known> m_values;
};

SymbolBindings values(std::int64_t s0, std::int64_t s1, std::int64_t s2) {
  return {{"s0", s0}, {"s1", s1}, {"s2", s2}};
}

TEST(RandomSymbolicGraphs, OneCompilationEqualsTheInterpreter) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    RandomGraph random(seed);
    SymbolicFixture& f = random.fixture();
    const auto graph = compileFx(f.module, {.fuse = seed % 4 != 0, .optimizationLevel = seed % 3 == 0 ? 2 : 1});
    ASSERT_TRUE(graph) << "seed " << seed << ": " << graph.error().text();
    EXPECT_EQ((*graph)->artifacts().fixedSizesReason, "") << "seed " << seed;
    const auto expectAt = [&](const SymbolBindings& at) {
      const std::string what = fmt::format("seed {} at {} {} {}", seed, at.at("s0"), at.at("s1"), at.at("s2"));
      expectLikeInterpreter(f.module, **graph, f.inputsFor(at), at, 1e-3, what);
    };
    for (const SymbolBindings& at : {values(9, 17, 40), values(23, 11, 9), values(10, 10, 10), values(33, 8, 65)}) {
      expectAt(at);
      if (HasFatalFailure()) return;
      EXPECT_EQ((*graph)->compilations(), 1) << "seed " << seed << ": " << (*graph)->recompilations().back().text();
    }
    for (const SymbolBindings& at : {values(4, 1, 3), values(5, 2, 1), values(3, 3, 3)}) {  // guards may fail here
      if (!Interpreter(f.module, referenceOps()).run(f.inputsFor(at))) continue;            // nothing to reduce
      expectAt(at);
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace kerf
