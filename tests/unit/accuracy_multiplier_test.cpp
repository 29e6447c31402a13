// m of rule 5b: by shape and dtype, and not below that of the graph that a search began with.
#include <gtest/gtest.h>

#include "engine/accuracy/same_two_models.h"
#include "engine/ir/graph.h"
#include "engine/ir/value_meta.h"

namespace kerf {
namespace {

Tensor constant(DType dtype, const Sizes& sizes, double value) {
  Tensor t = Tensor::zeros(DType::Float64, sizes).value();
  std::fill_n(t.data<double>(), t.numel(), value);
  return t.to(dtype).value();
}

/// A result that is `factor` times as wrong as the reference.
bool passes(std::int64_t numel, double factor, const SameOptions& options) {
  const Tensor ref = constant(DType::Float32, {numel}, 1.01),
               res = constant(DType::Float32, {numel}, 1 + 0.01 * factor);
  return same(ref, res, constant(DType::Float64, {numel}, 1), options).same;
}

Graph returning(const std::vector<Tensor>& results) {
  Graph graph;
  ArgumentList items;
  for (const Tensor& result : results) {
    const NodeId id = graph.placeholder(fmt::format("x{}", items.size()));
    graph.setValueMeta(id, metaOf(Value(result)));
    items.emplace_back(id);
  }
  graph.output(Argument::tuple(std::move(items)));
  return graph;
}

TEST(Multiplier, DoesNotFallBelowThatOfTheStartGraph) {
  EXPECT_TRUE(passes(999, 2.5, {}));
  EXPECT_FALSE(passes(1000, 2.5, {}));
  EXPECT_TRUE(passes(1000, 2.5, {.leastMultiplier = 3}));
  EXPECT_FALSE(passes(1000, 3.2, {.leastMultiplier = 3}));
  EXPECT_TRUE(passes(999, 2.5, {.leastMultiplier = 2})) << "PyTorch's own is the larger one";
}

TEST(Multiplier, OfAGraphIsTheLeastOfItsFloatingResults) {
  const Tensor loss = constant(DType::Float32, {}, 0), large = constant(DType::Float32, {50, 20}, 0);
  const Tensor half = constant(DType::Float16, {50, 20}, 0), pixel = constant(DType::Float32, {1, 2000, 1, 1}, 0);
  const Tensor indices = constant(DType::Int64, {2000}, 0);
  EXPECT_EQ(leastMultiplierOf(returning({loss, half, pixel}), {}), 3);
  EXPECT_EQ(leastMultiplierOf(returning({loss, large}), {}), 2);
  EXPECT_EQ(leastMultiplierOf(returning({loss, indices}), {}), 3);
  EXPECT_EQ(leastMultiplierOf(returning({indices}), {}), 0);
  EXPECT_EQ(leastMultiplierOf(Graph(), {}), 0);
  CompareOptions options;
  options.leastMultiplier = 3;
  EXPECT_EQ(options.sameOptions().leastMultiplier, 3);
}

}  // namespace
}  // namespace kerf
