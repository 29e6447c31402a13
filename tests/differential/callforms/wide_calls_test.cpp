// Graphs of very many nodes around few calls: what is known of each node's tensor takes time linear in the graph. Where it is
// quadratic these tests take minutes.
#include <algorithm>

#include <gtest/gtest.h>

#include "engine/accuracy/same_two_models.h"
#include "engine/ir/interpreter.h"
#include "engine/ir/parser.h"
#include "engine/ir/tensor_objects.h"
#include "engine/ops/core/op_registry.h"

namespace kerf::callforms {
namespace {

constexpr int many = 20'000;

GraphModule wideGraphOf(std::string_view signature, const std::string& body) {
  auto module = parseReadable(
      fmt::format("class GraphModule(torch.nn.Module):\n    def forward(self, {}):\n{}", signature, body));
  EXPECT_TRUE(module) << module.error().text();
  return std::move(*module);
}

/// "v0, v1, …"
std::string listed(std::string_view letter, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += fmt::format("{}{}{}", i == 0 ? "" : ", ", letter, i);
  return text;
}

TEST(WideCalls, ItemsOfAListOfOutAreItsTensors) {
  std::string body, items;
  for (int i = 0; i < many; ++i) {
    body += fmt::format("        v{} = torch.empty(0)\n", i);
    items += fmt::format("        g{0} = c[{0}]\n", i);
  }
  body += fmt::format("        c = torch.unbind_copy(x, out=[{}])\n{}        return (g0, g{}, v7)\n", listed("v", many),
                      items, many - 1);
  const GraphModule module = wideGraphOf(fmt::format("x: \"f32[{}, 2]\"", many), body);
  const TensorObjects objects(module.graph);
  for (int i = 0; i < many; i += 1'999)
    EXPECT_EQ(objects.first(*module.graph.find(fmt::format("g{}", i))), *module.graph.find(fmt::format("v{}", i)));
  EXPECT_EQ(untypedOuts(module.graph).size(), std::size_t(many));

  Tensor x = *Tensor::zeros(DType::Float32, {many, 2});
  for (std::int64_t i = 0; i < x.numel(); ++i) x.data<float>()[i] = float(i);
  const auto results = Interpreter(module, referenceOps()).run({Value(x)});
  ASSERT_TRUE(results) << results.error().text();
  const std::int64_t rows[] = {0, many - 1, 7};
  for (std::size_t i = 0; i < 3; ++i) {
    const Tensor& row = results->list()[i].tensor();
    ASSERT_EQ(row.sizes(), Sizes{2});
    EXPECT_EQ(row.itemAsDouble(0), double(2 * rows[i]));
    EXPECT_EQ(row.itemAsDouble(1), double(2 * rows[i] + 1));
  }
}

TEST(WideCalls, TakeEachReshapedTensorAsItIsNow) {
  std::string body;
  for (int i = 0; i < many; ++i) body += fmt::format("        v{0} = x + {0}\n        t{0} = v{0}.t_()\n", i);
  body += fmt::format("        c = torch.cat([{}])\n        return (c,)\n", listed("v", many));
  GraphModule module = wideGraphOf("x: \"f32[1, 2]\"", body);
  useReshapedTensors(module.graph);
  const Node& cat = module.graph.node(*module.graph.find("c"));
  const ListArgument* operands = cat.args()[0].asList();
  ASSERT_NE(operands, nullptr);
  ASSERT_EQ(operands->items.size(), std::size_t(many));
  for (int i = 0; i < many; ++i)
    ASSERT_EQ(*operands->items[std::size_t(i)].as<NodeId>(), *module.graph.find(fmt::format("t{}", i)));
  EXPECT_TRUE(module.graph.lint());
}

TEST(WideCalls, SumManySymbols) {
  constexpr int symbols = 1'000;
  std::string signature, body;
  for (int i = 0; i < symbols; ++i) signature += fmt::format("{}x{}: \"f32[s{}]\"", i == 0 ? "" : ", ", i, i);
  GraphModule module =
      wideGraphOf(signature, fmt::format("        c = torch.cat([{}])\n        return (c,)\n", listed("x", symbols)));
  for (const NodeId id : module.graph.placeholders()) {
    TensorMeta sized = *module.graph.node(id).meta().value.tensor();
    sized.sizes[0].hint = 8;
    module.graph.setValueMeta(id, ValueMeta{sized});
  }
  const auto done = propagateShapes(module);
  ASSERT_TRUE(done) << done.error().text();
  const TensorMeta* meta = module.graph.node(*module.graph.find("c")).meta().value.tensor();
  ASSERT_NE(meta, nullptr);
  ASSERT_EQ(meta->sizes.size(), 1u);
  EXPECT_EQ(meta->sizes[0].hint, 8 * symbols);
  const std::string& sum = meta->sizes[0].text;
  EXPECT_EQ(std::ranges::count(sum, '+'), symbols - 1);
  EXPECT_NE(sum.find("s999"), std::string::npos);
}

std::string callsOf(int calls, int nodes) {
  std::string text =
      "class GraphModule(torch.nn.Module):\n    def forward(self, x: \"f32[4]\"):\n        body = self.body\n";
  std::string last = "x";
  for (int i = 0; i < calls; ++i) {
    text += fmt::format(
        "        w{0} = torch.ops.higher_order.invoke_subgraph(body, 'body', {1})\n        g{0} = w{0}[0]\n", i, last);
    last = fmt::format("g{}", i);
  }
  text += fmt::format(
      "        return ({},)\n\n    class body(torch.nn.Module):\n        def forward(self, x: \"f32[4]\"):\n", last);
  for (int i = 0; i < nodes; ++i)
    text +=
        fmt::format("            y{} = torch.ops.aten.sin.default({})\n", i, i == 0 ? "x" : fmt::format("y{}", i - 1));
  return text + fmt::format("            return (y{},)\n", nodes - 1);
}

std::size_t knownOf(const GraphModule& module) {
  std::size_t known = 0;
  for (const NodeId id : module.graph.order())
    known += module.graph.node(id).name().starts_with('g') && module.graph.node(id).meta().value.tensor() != nullptr;
  return known;
}

TEST(WideCalls, NestedGraphsThatAreCalledOftenArePropagated) {
  auto module = parseReadable(callsOf(5'000, 3));
  ASSERT_TRUE(module) << module.error().text();
  const auto done = propagateShapes(*module);
  ASSERT_TRUE(done) << done.error().text();
  EXPECT_EQ(knownOf(*module), 5'000u);
  EXPECT_EQ(module->graph.node(*module->graph.find("g4999")).meta().value.tensor()->sizes, std::vector<Dim>{dim(4)});
}

/// 10,000 calls of 10,000 nodes: what comes behind the bound stays unknown.
TEST(WideCalls, NestedGraphsAreRunWithinABound) {
  auto module = parseReadable(callsOf(10'000, 10'000));
  ASSERT_TRUE(module) << module.error().text();
  (void)propagateShapes(*module);
  EXPECT_GT(knownOf(*module), 0u);
  EXPECT_LT(knownOf(*module), 100u);
}

}  // namespace
}  // namespace kerf::callforms
