// decomposeGraph: names, provenance, nested graphs, symbols and what stays.
#include <gtest/gtest.h>

#include "engine/autograd/decompose.h"
#include "engine/ir/interpreter.h"
#include "engine/ir/parser.h"
#include "engine/ir/printer.h"
#include "engine/ir/value_meta.h"
#include "tests/unit/ops_testing.h"

namespace kerf {
namespace {

using namespace testing;

/// The text of a graph whose shapes are propagated first.
GraphModule moduleOf(const char* text, const std::vector<Tensor>& inputs) {
  GraphModule module;
  module.graph = parseGraphText(text).value();
  const std::vector<NodeId> placeholders = module.graph.placeholders();
  for (std::size_t i = 0; i < inputs.size(); ++i) module.graph.setValueMeta(placeholders[i], {metaOf(inputs[i])});
  EXPECT_TRUE(propagateShapes(module));
  return module;
}

std::vector<std::string> namesOf(const Graph& graph) {
  std::vector<std::string> names;
  for (const NodeId id : graph.order()) names.push_back(graph.node(id).name());
  return names;
}

constexpr const char* twoActivations = R"(graph():
    %arg0_1 : [num_users=1] = placeholder[target=arg0_1]
    %first : [num_users=1] = call_function[target=torch.ops.aten.silu.default](args = (%arg0_1,), kwargs = {})
    %second : [num_users=1] = call_function[target=torch.ops.aten.silu.default](args = (%first,), kwargs = {})
    return (second,)
)";

TEST(DecomposeGraph, NamesNodesInOrderAndSaysWhereTheyComeFrom) {
  GraphModule module = moduleOf(twoActivations, {counting({2, 3})});
  NodeMeta meta = module.graph.node(*module.graph.find("second")).meta();
  meta.sourceFile = "model.py";
  meta.sourceLine = 7;
  meta.modulePath = "layers.1";
  module.graph.setMeta(*module.graph.find("second"), meta);
  const auto core = decomposeGraph(module, DecompositionTable::Core);
  ASSERT_TRUE(core) << core.error().text();
  EXPECT_EQ(namesOf(core->graph),
            (std::vector<std::string>{"arg0_1", "sigmoid", "mul", "sigmoid_1", "mul_1", "output"}));
  for (const char* name : {"sigmoid_1", "mul_1"}) {
    const NodeMeta& made = core->graph.node(*core->graph.find(name)).meta();
    EXPECT_EQ(made.fromNodes, std::vector<std::string>{"second"});
    EXPECT_EQ(made.sourceLine, 7);
    EXPECT_EQ(made.modulePath, "layers.1");
    ASSERT_NE(made.value.tensor(), nullptr);
    EXPECT_EQ(made.value.tensor()->concreteSizes(), (Sizes{2, 3}));
  }
  const auto none = decomposeGraph(module, DecompositionTable::None);
  ASSERT_TRUE(none) << none.error().text();
  EXPECT_EQ(namesOf(none->graph), (std::vector<std::string>{"arg0_1", "silu", "silu_1", "output"}));
}

TEST(DecomposeGraph, GivesTheSameValues) {
  const GraphModule module = moduleOf(twoActivations, {counting({2, 3})});
  const ValueList inputs{counting({2, 3})};
  const auto before = Interpreter(module, referenceOps()).run(inputs);
  for (const DecompositionTable table : {DecompositionTable::Core, DecompositionTable::Inductor}) {
    const auto decomposed = decomposeGraph(module, table);
    ASSERT_TRUE(decomposed) << decomposed.error().text();
    const auto after = Interpreter(*decomposed, referenceOps()).run(inputs);
    ASSERT_TRUE(after) << after.error().text();
    const Tensor &a = after->list()[0].tensor(), &b = before->list()[0].tensor();
    for (std::int64_t i = 0; i < b.numel(); ++i) EXPECT_NEAR(a.itemAsDouble(i), b.itemAsDouble(i), 1e-6);
  }
}

TEST(DecomposeGraph, MakesEveryItemAndDropsWhatNobodyUses) {
  const GraphModule module = moduleOf(R"(graph():
    %x : [num_users=1] = placeholder[target=x]
    %n : [num_users=2] = call_function[target=torch.ops.aten.native_layer_norm.default](args = (%x, [3], None, )"
                                      R"(None, 1e-05), kwargs = {})
    %inverse : [num_users=1] = call_function[target=operator.getitem](args = (%n, 2), kwargs = {})
    %unused : [num_users=0] = call_function[target=torch.ops.aten.neg.default](args = (%x,), kwargs = {})
    return inverse
)",
                                      {counting({2, 3})});
  const auto core = decomposeGraph(module, DecompositionTable::Core);
  ASSERT_TRUE(core) << core.error().text();
  EXPECT_EQ(namesOf(core->graph), (std::vector<std::string>{"x", "native_layer_norm", "getitem_2", "output"}));
}

TEST(DecomposeGraph, KeepsCallsThatCannotBeTraced) {
  GraphModule module = moduleOf(R"(graph():
    %x : [num_users=2] = placeholder[target=x]
    %own : [num_users=1] = call_function[target=torch.ops.mylib.fused.default](args = (%x, 2), kwargs = {})
    %silu : [num_users=1] = call_function[target=torch.ops.aten.silu.default](args = (%own,), kwargs = {})
    %nonzero : [num_users=1] = call_function[target=torch.ops.aten.nonzero.default](args = (%x,), kwargs = {})
    return (silu, nonzero)
)",
                                {counting({2, 3})});
  const auto unknown = decomposeGraph(module, DecompositionTable::Core);
  ASSERT_TRUE(unknown) << unknown.error().text();
  EXPECT_EQ(namesOf(unknown->graph), (std::vector<std::string>{"x", "fused", "silu", "nonzero", "output"}));
  module.graph.setValueMeta(*module.graph.find("own"), {metaOf(counting({2, 3}))});
  const auto known = decomposeGraph(module, DecompositionTable::Core);
  ASSERT_TRUE(known) << known.error().text();
  EXPECT_EQ(namesOf(known->graph), (std::vector<std::string>{"x", "fused", "sigmoid", "mul", "nonzero", "output"}));
}

TEST(DecomposeGraph, DecomposesNestedGraphsInTheirPlaces) {
  GraphModule nested = moduleOf(R"(graph():
    %a : [num_users=1] = placeholder[target=a]
    %silu : [num_users=1] = call_function[target=torch.ops.aten.silu.default](args = (%a,), kwargs = {})
    return (silu,)
)",
                                {counting({2, 3})});
  GraphModule module;
  const NodeId x = module.graph.placeholder("x");
  module.graph.setValueMeta(x, {metaOf(counting({2, 3}))});
  module.submodules.add("body", Submodule{std::make_shared<const GraphModule>(nested), ""});
  const NodeId body = module.graph.getAttr("body");
  const NodeId call = module.graph.callFunction("torch.ops.higher_order.invoke_subgraph",
                                                {Argument(body), Argument("body"), Argument(x)}, {}, "invoke_subgraph");
  module.graph.output(Argument(call));
  const auto core = decomposeGraph(module, DecompositionTable::Core);
  ASSERT_TRUE(core) << core.error().text();
  EXPECT_EQ(namesOf(core->graph), (std::vector<std::string>{"x", "body", "invoke_subgraph", "output"}));
  EXPECT_EQ(namesOf(core->submodule("body")->graph->graph),
            (std::vector<std::string>{"a", "sigmoid", "mul", "output"}));
}

/// A graph of an input "x" of [s0, 3], recorded with s0 = 5, that the nodes in `text` compute on.
GraphModule symbolicModule(const std::string& text) {
  GraphModule module;
  module.graph = parseGraphText(
                     "graph():\n"
                     "    %s0 : [num_users=1] = placeholder[target=s0]\n"
                     "    %x : [num_users=1] = placeholder[target=x]\n" +
                     text)
                     .value();
  module.graph.setValueMeta(*module.graph.find("s0"), {SymMeta{SymExpr{"s0", 5}}});
  TensorMeta shape = metaOf(counting({5, 3}));
  shape.sizes[0] = SymExpr{"s0", 5};
  module.graph.setValueMeta(*module.graph.find("x"), {shape});
  EXPECT_TRUE(propagateShapes(module));
  return module;
}

TEST(DecomposeGraph, KeepsSymbols) {
  const GraphModule module = symbolicModule(R"(
    %twice : [num_users=1] = call_function[target=operator.mul](args = (%s0, 3), kwargs = {})
    %silu : [num_users=1] = call_function[target=torch.ops.aten.silu.default](args = (%x,), kwargs = {})
    %flat : [num_users=1] = call_function[target=torch.ops.aten.reshape.default](args = (%silu, [%twice]), kwargs = {})
    return (flat,)
)");
  const auto core = decomposeGraph(module, DecompositionTable::Core);
  ASSERT_TRUE(core) << core.error().text();
  EXPECT_EQ(namesOf(core->graph), (std::vector<std::string>{"s0", "x", "mul", "sigmoid", "mul_1", "view", "output"}));
  const Node& view = core->graph.node(*core->graph.find("view"));
  EXPECT_EQ(view.meta().value.tensor()->sizes[0].text, "3*s0");
}

/// A program that counts elements does not fix how many there are.
TEST(DecomposeGraph, WritesQuotientsOfSizes) {
  const GraphModule module = symbolicModule(R"(
    %gelu : [num_users=1] = call_function[target=torch.ops.aten.gelu.default](args = (%x,), kwargs = {})
    %flow : [num_users=1] = call_function[target=torch.ops.aten.mse_loss_backward.default](args = (%x, %x, %gelu, 1), )"
                                            R"(kwargs = {})
    return (flow,)
)");
  const auto decomposed = decomposeGraph(module, DecompositionTable::Inductor);
  ASSERT_TRUE(decomposed) << decomposed.error().text();
  const auto quotient = decomposed->graph.find("truediv");
  ASSERT_TRUE(quotient);
  EXPECT_EQ(decomposed->graph.node(*quotient).meta().value.sym()->expr.text, "FloatTrueDiv(2.0, 3*s0)");
  EXPECT_EQ(decomposed->graph.node(*decomposed->graph.find("mul_4")).meta().value.tensor()->sizes[0].text, "s0");
  const ValueList inputs{std::int64_t{5}, counting({5, 3})};
  const auto before = Interpreter(module, referenceOps()).run(inputs);
  const auto after = Interpreter(*decomposed, referenceOps()).run(inputs);
  ASSERT_TRUE(before) << before.error().text();
  ASSERT_TRUE(after) << after.error().text();
  const Tensor &a = after->list()[0].tensor(), &b = before->list()[0].tensor();
  for (std::int64_t i = 0; i < b.numel(); ++i) EXPECT_NEAR(a.itemAsDouble(i), b.itemAsDouble(i), 1e-5);
}

}  // namespace
}  // namespace kerf
