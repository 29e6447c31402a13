// 2,000 random graphs over symbolic sizes: at five assignments that the guards allow, the derived annotations are what
// propagation gives for those numbers.
#include <gtest/gtest.h>

#include <random>

#include "engine/ir/printer.h"
#include "engine/ops/core/op_registry.h"
#include "engine/support/sanitizers.h"
#include "engine/symbolic/shape_env.h"
#include "tests/support/graph_fixture.h"

namespace kerf {
namespace {

constexpr const char* pointwise[] = {"relu.default", "exp.default", "neg.default", "sigmoid.default", "clone.default"};
constexpr const char* binary[] = {"add.Tensor", "mul.Tensor", "maximum.default", "sub.Tensor"};

/// Placeholders of symbolic sizes and a dozen calls that fit the hints: what cannot be derived is left out again.
class SymbolicGraph {
 public:
  explicit SymbolicGraph(unsigned seed) : m_random(seed) {
    for (const char* name : {"s0", "s1", "s2"}) m_hints[name] = 3 + std::int64_t(below(8));
    for (const char* name : {"x", "y", "z"}) addInput(name);
    for (int i = 0; i < 12; ++i) grow();
    m_fixture.output({m_values.back(), m_values[m_values.size() / 2]});
  }
  const GraphModule& module() const { return m_fixture.module; }
  const SymbolBindings& hints() const { return m_hints; }

 private:
  std::size_t below(std::size_t count) { return m_random() % count; }
  NodeId pick() { return m_values[below(m_values.size())]; }
  static Argument ints(std::initializer_list<std::int64_t> items) {
    return Argument::list(ArgumentList(items.begin(), items.end()));
  }

  Dim size() {
    static constexpr const char* texts[] = {"s0", "s1", "s2", "2*s0", "s1 + 1", "s0*s1", "4*s2 + 2", "6", "1"};
    const std::string text = texts[below(std::size(texts))];
    const std::int64_t value = *evaluateSize(text, m_hints);
    return text[0] == 's' || text.size() > 1 ? Dim{text, value} : dim(value);
  }

  void addInput(const char* name) {
    TensorMeta meta;
    const std::size_t rank = 2 + below(3);
    std::int64_t stride = 1;
    std::string strideText;
    for (std::size_t d = 0; d < rank; ++d) meta.sizes.push_back(size());
    std::vector<Dim> reversed;
    for (std::size_t d = rank; d-- > 0;) {
      reversed.push_back(strideText.empty() ? dim(stride) : Dim{strideText, stride});
      const Dim& item = meta.sizes[d];
      stride *= *item.hint;
      const std::string text = "(" + (item.text.empty() ? std::to_string(*item.hint) : item.text) + ")";
      strideText += (strideText.empty() ? "" : "*") + text;
    }
    meta.strides.assign(reversed.rbegin(), reversed.rend());
    const NodeId id = m_fixture.module.graph.placeholder(name);
    m_fixture.module.graph.setValueMeta(id, {std::move(meta)});
    m_values.push_back(id);
  }

  /// Adds a call and keeps it if shapes can be derived for it.
  void call(const char* op, ArgumentList args, KeywordArguments kwargs = {}) {
    Graph& graph = m_fixture.module.graph;
    const NodeId id = m_fixture.call(std::string("aten.") + op, std::move(args), std::move(kwargs));
    if (propagateShapes(m_fixture.module) && graph.node(id).meta().value.tensor() && isSmall(id)) {
      m_values.push_back(id);
      return;
    }
    EXPECT_TRUE(graph.eraseNode(id));
  }
  bool isSmall(NodeId id) const {
    const auto sizes = m_fixture.module.graph.node(id).meta().value.tensor()->concreteSizes();
    return sizes && sizes->size() <= 5 && checkedNumel(*sizes).value_or(INT64_MAX) < (1 << 24);
  }
  std::int64_t rankOf(NodeId id) const {
    return std::int64_t(m_fixture.module.graph.node(id).meta().value.tensor()->sizes.size());
  }

  void grow() {
    const NodeId x = pick(), y = pick();
    const std::int64_t rank = rankOf(x);
    const auto dim = std::int64_t(below(std::size_t(std::max<std::int64_t>(rank, 1))));
    const auto n = std::int64_t(1 + below(3));
    switch (below(16)) {
      case 0:
        return call(pointwise[below(std::size(pointwise))], {x});
      case 1:
      case 2:
        return call(binary[below(std::size(binary))], {x, y});
      case 3:
        return call("sum.dim_IntList", {x, ints({dim}), below(2) == 0});
      case 4:
        return call("transpose.int", {x, dim, 0});
      case 5:
        return call("slice.Tensor", {x, dim, n - 2, INT64_MAX, 1 + std::int64_t(below(3))});
      case 6:
        return call("cat.default", {Argument::list({x, y}), dim});
      case 7:
        return call("unsqueeze.default", {x, dim});
      case 8:
        return call("view.default", {x, ints({-1})});
      case 9:
        return call("reshape.default", {x, ints({-1, n + 1})});
      case 10:
        return call("matmul.default", {x, y});
      case 11:
        return call("constant_pad_nd.default", {x, ints({n, 1})});
      case 12:
        return call("avg_pool2d.default", {x, ints({3, 3}), ints({n, 2}), ints({1, 1}), below(2) == 0});
      case 13:
        return call("unfold.default", {x, dim, n + 1, n});
      case 14:
        return call("repeat.default", {x, ints({2, 1, n, 1})});
      default:
        return call("select.int", {x, dim, below(2) == 0 ? 0 : -1});
    }
  }

  std::mt19937 m_random;
  SymbolBindings m_hints;
  testing_support::GraphFixture m_fixture;
  std::vector<NodeId> m_values;
};

void visit(TensorMeta& meta, const std::function<void(SymExpr&)>& change) {
  std::ranges::for_each(meta.sizes, change);
  std::ranges::for_each(meta.strides, change);
}

/// The graph with numbers in the place of all sizes of its placeholders, and no other annotations.
GraphModule atNumbers(const GraphModule& symbolic, const SymbolBindings& sizes) {
  GraphModule module = symbolic;
  const std::vector<NodeId> order(module.graph.order().begin(), module.graph.order().end());
  for (const NodeId id : order) {
    ValueMeta meta = module.graph.node(id).meta().value;
    if (module.graph.node(id).op() != Opcode::Placeholder) {
      module.graph.setValueMeta(id, {});
      continue;
    }
    visit(std::get<TensorMeta>(meta.value), [&](SymExpr& number) {
      if (!number.text.empty()) number = dim(*evaluateSize(number.text, sizes));
    });
    module.graph.setValueMeta(id, std::move(meta));
  }
  return module;
}

/// Strides that address something: of dimensions with more than one element, of tensors that have any.
Sizes usedStrides(const TensorMeta& meta) {
  const Sizes sizes = *meta.concreteSizes(), strides = *meta.concreteStrides();
  Sizes used;
  for (std::size_t d = 0; d < sizes.size(); ++d)
    if (sizes[d] > 1) used.push_back(strides[d]);
  return std::ranges::find(sizes, 0) == sizes.end() ? used : Sizes();
}

int compareAt(const GraphModule& symbolic, const SymbolBindings& sizes, const std::string& title) {
  GraphModule numbers = atNumbers(symbolic, sizes);
  const auto done = propagateShapes(numbers);
  EXPECT_TRUE(done) << title << ": " << (done ? "" : done.error().text());
  int compared = 0;
  for (const NodeId id : symbolic.graph.order()) {
    const TensorMeta* derived = symbolic.graph.node(id).meta().value.tensor();
    const TensorMeta* fact = numbers.graph.node(id).meta().value.tensor();
    if (!derived || !fact) continue;
    TensorMeta evaluated = *derived;
    visit(evaluated, [&](SymExpr& number) {
      if (!number.text.empty()) number = dim(*evaluateSize(number.text, sizes));
    });
    EXPECT_EQ(*evaluated.concreteSizes(), *fact->concreteSizes()) << title << " " << symbolic.graph.node(id).name();
    EXPECT_EQ(usedStrides(evaluated), usedStrides(*fact))
        << title << " " << symbolic.graph.node(id).name() << " in\n"
        << printReadable(symbolic, {.annotateValues = true, .includeStride = true});
    ++compared;
  }
  return compared;
}

/// 2,000 graphs (320 in sanitized builds, where each takes 25 times as long) in parts, which run side by side.
class SymbolicShapes : public ::testing::TestWithParam<unsigned> {};
constexpr unsigned shapeParts = 8, graphsPerPart = addressSanitizer ? 40 : 250;

TEST_P(SymbolicShapes, AgreeWithConcretePropagation) {
  int assignments = 0, compared = 0, guards = 0;
  const unsigned first = GetParam() * graphsPerPart;
  std::mt19937 random(3 + GetParam());
  for (unsigned seed = first; seed < first + graphsPerPart && !::testing::Test::HasFailure(); ++seed) {
    const SymbolicGraph graph(seed);
    GraphModule module = graph.module();
    ShapeEnv env;
    const auto done = propagateShapes(module, env);
    ASSERT_TRUE(done) << "seed " << seed << ": " << done.error().text();
    guards += int(env.guards().size());
    int found = 0;
    for (int draw = 0; draw < 60 && found < 5; ++draw) {
      SymbolBindings sizes;
      for (const auto& [name, hint] : graph.hints())
        sizes[name] = draw == 0 ? hint : draw % 2 == 0 ? 2 + std::int64_t(random() % 12) : hint * (1 + draw / 2);
      if (env.violated(sizes)) continue;
      ++found;
      std::string title = fmt::format("seed {}:", seed);
      for (const auto& [name, value] : sizes) title += fmt::format(" {}={}", name, value);
      compared += compareAt(module, sizes, title);
    }
    EXPECT_GE(found, 1) << "seed " << seed << ": the hints violate the guards";
    assignments += found;
  }
  fmt::print("{} graphs, {} guards; {} values at {} assignments\n", graphsPerPart, guards, compared, assignments);
  EXPECT_GE(assignments, 3 * int(graphsPerPart));
}
INSTANTIATE_TEST_SUITE_P(Parts, SymbolicShapes, ::testing::Range(0u, shapeParts));

}  // namespace
}  // namespace kerf
