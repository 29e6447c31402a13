// Random graphs of pointwise ops, views and reductions: interpreter against generated code, in six dtypes.
#include <gtest/gtest.h>

#include "engine/pipeline/compile_fx.h"
#include "tests/support/graph_fixture.h"

namespace kerf {
namespace {

using testing_support::expectClose;
using testing_support::GraphFixture;

constexpr const char* floatUnary[] = {"relu", "neg",  "abs", "exp",        "sigmoid", "tanh",  "erf",   "floor",
                                      "sign", "silu", "sin", "reciprocal", "ceil",    "trunc", "round", "square"};
constexpr const char* wholeUnary[] = {"relu", "neg", "abs", "sign"};
constexpr const char* binary[] = {"add.Tensor", "sub.Tensor", "mul.Tensor", "maximum.default", "minimum.default"};
constexpr const char* comparisons[] = {"eq.Tensor", "ne.Tensor", "lt.Tensor", "le.Tensor", "gt.Tensor", "ge.Tensor"};

/// Grows a graph node by node over the values so far.
class RandomGraph {
 public:
  RandomGraph(unsigned seed, DType dtype) : m_dtype(dtype) {
    m_fixture.random.seed(seed);
    m_values.push_back({m_fixture.input("x", dtype, {3, 4, 5}), {3, 4, 5}});
    m_values.push_back({m_fixture.input("y", dtype, {4, 1}), {4, 1}});
    m_values.push_back({m_fixture.input("z", dtype, {3, 1, 5}), {3, 1, 5}});
    for (int i = 0; i < 14; ++i) grow();
    m_fixture.output(
        {m_values[m_values.size() - 1].node, m_values[m_values.size() - 2].node, m_values[m_values.size() - 4].node});
  }
  GraphFixture& fixture() { return m_fixture; }

 private:
  struct Known {
    NodeId node;
    Sizes sizes;
  };
  std::size_t below(std::size_t count) { return m_fixture.random() % count; }
  Known pick() { return m_values[below(m_values.size())]; }
  void keep(NodeId node, Sizes sizes) { m_values.push_back({node, std::move(sizes)}); }

  void grow() {
    switch (below(8)) {
      case 0:
      case 1:
        return addUnary();
      case 2:
      case 3:
        return addBinary();
      case 4:
        return addWhere();
      case 5:
        return addReduction();
      case 6:
        return addView();
      default:
        return addStatistics();
    }
  }

  void addUnary() {
    const Known x = pick();
    if (m_dtype == DType::Bool) return keep(m_fixture.call("aten.logical_not.default", {x.node}), x.sizes);
    const std::string op = isFloating(m_dtype) ? floatUnary[below(std::size(floatUnary))] : wholeUnary[below(4)];
    keep(m_fixture.call("aten." + op + (op == "round" ? ".default" : ".default"), {x.node}), x.sizes);
  }

  static bool broadcasts(const Sizes& a, const Sizes& b) {
    for (std::size_t d = 0; d < std::min(a.size(), b.size()); ++d) {
      const auto x = a[a.size() - 1 - d], y = b[b.size() - 1 - d];
      if (x != y && x != 1 && y != 1) return false;
    }
    return true;
  }
  static Sizes broadcast(const Sizes& a, const Sizes& b) {
    Sizes result = a.size() > b.size() ? a : b;
    for (std::size_t d = 0; d < std::min(a.size(), b.size()); ++d) {
      const auto x = a[a.size() - 1 - d], y = b[b.size() - 1 - d];
      result[result.size() - 1 - d] = x == 1 ? y : x;
    }
    return result;
  }

  void addBinary() {
    const Known x = pick(), y = pick();
    if (!broadcasts(x.sizes, y.sizes)) return;
    std::string op = binary[below(std::size(binary))];
    if (m_dtype == DType::Bool) op = below(2) == 0 ? "bitwise_and.Tensor" : "bitwise_xor.Tensor";
    keep(m_fixture.call("aten." + op, {x.node, y.node}), broadcast(x.sizes, y.sizes));
  }

  void addWhere() {
    const Known x = pick(), y = pick();
    if (!broadcasts(x.sizes, y.sizes)) return;
    const NodeId mask = m_fixture.call(std::string("aten.") + comparisons[below(6)], {x.node, y.node});
    keep(m_fixture.call("aten.where.self", {mask, x.node, y.node}), broadcast(x.sizes, y.sizes));
  }

  void addReduction() {
    const Known x = pick();
    if (x.sizes.empty()) return;
    const auto dim = below(x.sizes.size());
    const bool keepDim = below(2) == 0;
    const char* op = m_dtype == DType::Bool                  ? "aten.any.dim"
                     : below(2) == 0 || !isFloating(m_dtype) ? "aten.amax.default"
                     : below(2) == 0                         ? "aten.sum.dim_IntList"
                                                             : "aten.mean.dim";
    const Argument which = m_dtype == DType::Bool ? Argument(std::int64_t(dim)) : Argument::list({std::int64_t(dim)});
    Sizes sizes = x.sizes;
    if (keepDim)
      sizes[dim] = 1;
    else
      sizes.erase(sizes.begin() + std::ptrdiff_t(dim));
    keep(m_fixture.call(op, {x.node, which, keepDim}), sizes);
  }

  void addView() {
    const Known x = pick();
    if (x.sizes.size() < 2) return;
    ArgumentList order;
    Sizes sizes;
    for (std::size_t d = x.sizes.size(); d-- > 0;) {
      order.push_back(std::int64_t(d));
      sizes.push_back(x.sizes[d]);
    }
    const NodeId turned = m_fixture.call("aten.permute.default", {x.node, Argument::list(order)});
    if (below(2) == 0) return keep(turned, sizes);
    const std::int64_t length = sizes[0] > 1 ? sizes[0] - 1 : 1;
    const NodeId part = m_fixture.call("aten.slice.Tensor", {turned, 0, sizes[0] - length, sizes[0]});
    sizes[0] = length;
    const NodeId copy = m_fixture.call("aten.clone.default", {part}, {{"memory_format", MemoryFormat::Contiguous}});
    std::int64_t count = 1;
    for (const auto size : sizes) count *= size;
    keep(m_fixture.call("aten.view.default", {copy, Argument::list({count})}), {count});
  }

  void addStatistics() {
    const Known x = pick();
    if (!isFloating(m_dtype) || x.sizes.empty() || x.sizes.back() < 2) return;
    const NodeId stats =
        m_fixture.call("aten.var_mean.correction", {x.node, Argument::list({std::int64_t(x.sizes.size()) - 1})},
                       {{"correction", 1}, {"keepdim", true}});
    const NodeId centred = m_fixture.call("aten.sub.Tensor", {x.node, m_fixture.item(stats, 1)});
    Sizes sizes = x.sizes;
    keep(m_fixture.call("aten.mul.Tensor", {centred, m_fixture.item(stats, 0)}), sizes);
  }

  const DType m_dtype;
  GraphFixture m_fixture;
  std::vector<Known> m_values;
};

double toleranceOf(DType dtype) {
  switch (dtype) {
    case DType::Float64:
      return 1e-10;
    case DType::Float32:
      return 1e-4;
    case DType::BFloat16:
    case DType::Float16:
      return 5e-2;
    default:
      return 0;
  }
}

class RandomGraphs : public ::testing::TestWithParam<DType> {};

TEST_P(RandomGraphs, GeneratedCodeEqualsTheInterpreter) {
  for (unsigned seed = 0; seed < 24; ++seed) {
    RandomGraph random(seed, GetParam());
    GraphFixture& f = random.fixture();
    const auto reference = f.interpret();
    ASSERT_TRUE(reference) << "seed " << seed << ": " << reference.error().text();
    for (const bool fuse : {true, false}) {
      CompileOptions options;
      options.fuse = fuse;
      options.optimizationLevel = seed % 3 == 0 ? 2 : 1;
      const auto graph = compileFx(f.module, options);
      ASSERT_TRUE(graph) << "seed " << seed << ": " << graph.error().text();
      for (const auto& kernel : (*graph)->kernels()) EXPECT_NE(kernel.kind, "extern") << kernel.name;
      const auto result = (*graph)->run(f.inputs);
      ASSERT_TRUE(result) << "seed " << seed << ": " << result.error().text();
      for (std::size_t i = 0; i < result->list().size(); ++i)
        expectClose(reference->list()[i].tensor(), result->list()[i].tensor(), toleranceOf(GetParam()),
                    "seed " + std::to_string(seed) + " output " + std::to_string(i));
      if (HasFatalFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(DTypes, RandomGraphs,
                         ::testing::Values(DType::Float32, DType::Float64, DType::BFloat16, DType::Float16,
                                           DType::Int64, DType::Bool),
                         [](const auto& info) { return std::string(dtypeInfo(info.param).shortCode); });

}  // namespace
}  // namespace kerf
