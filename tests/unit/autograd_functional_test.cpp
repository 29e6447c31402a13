// Functionalization: no node writes, and outputs and inputs are what they were.
#include "autograd_testing.h"
#include "engine/ir/parser.h"
#include "engine/ops/core/memory_use.h"

namespace kerf {
namespace {

using namespace testing;

void expectPure(const Graph& graph) {
  const std::vector<NodeId> placeholders = graph.placeholders();
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (node.isCall("aten.copy_.default"_op)) {  // the epilogue: of an input, and nobody uses it
      ASSERT_TRUE(node.args()[0].as<NodeId>());
      EXPECT_EQ(graph.node(*node.args()[0].as<NodeId>()).op(), Opcode::Placeholder);
      EXPECT_TRUE(node.users().empty());
      continue;
    }
    forEachMemoryUse(node, [&](const Argument&, bool writes, bool) { EXPECT_FALSE(writes) << node.name(); });
  }
}

class Functionalization : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(Functionalization, KeepsValuesOfOutputsAndInputs) {
  RandomProgram program(GetParam());
  program.build(40, 30);
  const auto traced = aotTrace(program.module, plainInputs(program.module), {.stage = AotStage::Functional});
  ASSERT_TRUE(traced) << traced.error().text();
  expectPure(traced->module.graph);
  const GraphRun before = runGraph(program.module, program.inputs);
  const GraphRun after = runGraph(traced->module, program.inputs);
  ASSERT_EQ(before.outputs.size(), after.outputs.size());
  for (std::size_t i = 0; i < before.outputs.size(); ++i)
    EXPECT_LE(largestDifference(before.outputs[i], after.outputs[i]), 1e-12) << "output " << i;
  for (std::size_t i = 0; i < before.inputs.size(); ++i) {
    EXPECT_LE(largestDifference(before.inputs[i], after.inputs[i]), 1e-12) << "input " << i;
    const bool changed = largestDifference(program.inputs[i], before.inputs[i]) > 0;
    EXPECT_TRUE(!changed || traced->metadata.inputs[i].mutatesData) << "input " << i;
  }
}
INSTANTIATE_TEST_SUITE_P(Programs, Functionalization, ::testing::Range(0u, 120u));

GraphModule traced(const std::function<Value(const OpTracer&, const Value&)>& body, const Sizes& sizes = {4, 4}) {
  GraphModule module;
  OpTracer tracer(module, [](const OpInfo&) { return false; });
  const Value x = *tracer.placeholder("x", Value(metaTensor(DType::Float64, sizes)));
  module.graph.output(*tracer.argumentOf(Value(ValueList{body(tracer, x)})));
  return module;
}

/// Views of views share their steps: 8,000 lists of up to 8,000 steps took minutes. The write at the end goes back through
/// all of them once.
TEST(FunctionalForms, FollowLongChainsOfViews) {
  constexpr int views = 8'000;
  const GraphModule module = traced([](const OpTracer& t, const Value& x) {
    const Value y = *t.call("aten.mul.Tensor", {x, 1.0}, {});
    Value view = y;
    for (int i = 0; i < views; ++i) view = *t.call("aten.t.default", {view}, {});
    EXPECT_TRUE(t.call("aten.add_.Tensor", {view, 2.0}, {}));
    return y;
  });
  const auto functional = aotTrace(module, plainInputs(module), {.stage = AotStage::Functional});
  ASSERT_TRUE(functional) << functional.error().text();
  expectPure(functional->module.graph);
  const ValueList inputs{Value(randomTensor({4, 4}, 3))};
  const GraphRun before = runGraph(module, inputs), after = runGraph(functional->module, inputs);
  EXPECT_LE(largestDifference(before.outputs[0], after.outputs[0]), 0.0);
  EXPECT_LE(functional->module.graph.size(), std::size_t(3 * views + 10));
}

TEST(FunctionalForms, TellWhatSharesMemoryWithWhat) {
  const GraphModule module = traced([](const OpTracer& t, const Value& x) {
    const Value row = *t.call("aten.select.int", {x, std::int64_t{0}, std::int64_t{1}}, {});
    EXPECT_TRUE(t.call("aten.mul_.Tensor", {row, 2.0}, {}));
    return *t.call("aten.slice.Tensor", {x, std::int64_t{0}, std::int64_t{0}, std::int64_t{2}}, {});
  });
  const auto functional = aotTrace(module, plainInputs(module), {.stage = AotStage::Functional});
  ASSERT_TRUE(functional) << functional.error().text();
  ASSERT_EQ(functional->metadata.inputs.size(), 1u);
  EXPECT_TRUE(functional->metadata.inputs[0].mutatesData);
  EXPECT_FALSE(functional->metadata.inputs[0].mutatesMetadata);
  ASSERT_EQ(functional->metadata.outputs.size(), 1u);
  EXPECT_EQ(functional->metadata.outputs[0].alias, AotOutput::Alias::OfInput);
  EXPECT_EQ(functional->metadata.outputs[0].base, 0u);
}

TEST(FunctionalForms, FollowAnInputThatIsTransposedInPlace) {
  const GraphModule module = traced(
      [](const OpTracer& t, const Value& x) {
        EXPECT_TRUE(t.call("aten.t_.default", {x}, {}));
        const Value view = *t.call("aten.alias.default", {x}, {});
        return *t.call("aten.mul.Tensor", {view, 2.0}, {});
      },
      {2, 3});
  const auto functional = aotTrace(module, plainInputs(module), {.stage = AotStage::Functional});
  ASSERT_TRUE(functional) << functional.error().text();
  EXPECT_TRUE(functional->metadata.inputs[0].mutatesMetadata);
  EXPECT_FALSE(functional->metadata.inputs[0].mutatesData);
  const GraphRun run = runGraph(functional->module, {randomTensor({2, 3}, 5)});
  ASSERT_EQ(run.outputs.size(), 1u);
  EXPECT_EQ(run.outputs[0].tensor().sizes(), (Sizes{3, 2}));
}

/// Eager mode refuses a write of what the call reads elsewhere; a functional graph reads all before it writes. The values are
/// those of torch.compile with the backend "aot_eager", PyTorch 2.11: the sum of y, and of y * x.
TEST(FunctionalForms, ReadAllBeforeTheyWrite) {
  struct Written {
    const char *a, *b, *call;
    double sum, weighted;
  };
  for (const auto& [a, b, call, sum, weighted] : {
           Written{"y[1:]", "y[:-1]", "a.copy_(b)", 25, 52.25},
           Written{"y[:2]", "y[1:3]", "a.copy_(b)", 35, 71.125},
           Written{"y[1:]", "y[:-1]", "a.add_(b)", 51.25, 111.90625},
           Written{"y[:2]", "y[1:3]", "a.lerp_(b, 0.5)", 33, 68.25},
           Written{"y[1:]", "y[:-1]", "a.index_add_(0, k, b)", 51.25, 110.90625},
           Written{"y[1:]", "y[:-1]", "a.index_copy_(0, k, b)", 25, 51.25},
       }) {
    const auto module = parseReadable(fmt::format(
        "def forward(self, x: \"f32[4, 4]\", k: \"i64[{}]\"):\n    y = x * 1\n    a = {}\n    b = {}\n    c = {}\n"
        "    return (y,)\n",
        std::string_view(a) == "y[1:]" ? 3 : 2, a, b, call));
    ASSERT_TRUE(module) << module.error().text();
    const auto traced = aotTrace(*module, plainInputs(*module), {.stage = AotStage::Functional});
    ASSERT_TRUE(traced) << call << ": " << traced.error().text();
    expectPure(traced->module.graph);
    const Tensor x = *Tensor::zeros(DType::Float32, {4, 4});
    for (int i = 0; i < 16; ++i) x.data<float>()[i] = float(i) / 8 + 1;
    const std::vector<std::int64_t> places =
        std::string_view(a) == "y[1:]" ? std::vector<std::int64_t>{1, 0, 2} : std::vector<std::int64_t>{1, 0};
    const Tensor k = *Tensor::zeros(DType::Int64, {std::int64_t(places.size())});
    std::ranges::copy(places, k.data<std::int64_t>());
    const auto result = Interpreter(traced->module, referenceOps()).run({x, k});
    ASSERT_TRUE(result) << call << ": " << result.error().text();
    const Tensor& y = result->list()[0].tensor();
    double total = 0, products = 0;
    for (int i = 0; i < 16; ++i) {
      total += y.itemAsDouble(i);
      products += y.itemAsDouble(i) * x.itemAsDouble(i);
    }
    EXPECT_DOUBLE_EQ(total, sum) << call;
    EXPECT_DOUBLE_EQ(products, weighted) << call;
  }
}

TEST(FunctionalForms, AreRefusedWithAWord) {
  const auto refusal = [](const std::function<Value(const OpTracer&, const Value&)>& body) {
    const GraphModule module = traced(body);
    const auto functional = aotTrace(module, plainInputs(module), {.stage = AotStage::Functional});
    return functional ? std::string() : functional.error().text();
  };
  (void)refusal([](const OpTracer& t, const Value& x) {
    const Value wide = *t.call("aten.expand.default",
                               {*t.call("aten.unsqueeze.default", {x, std::int64_t{0}}, {}), ints({3, 4, 4})}, {});
    const auto written = t.call("aten.mul_.Tensor", {wide, 2.0}, {});
    EXPECT_FALSE(written);
    EXPECT_NE(written.error().text().find("several of its elements share memory"), std::string::npos)
        << written.error().text();
    return x;
  });
  EXPECT_NE(refusal([](const OpTracer& t, const Value& x) {
              return *t.call("aten.resize_.default", {x, ints({2, 2})}, {});
            }).find("changes what memory a tensor has"),
            std::string::npos);
  EXPECT_NE(refusal([](const OpTracer& t, const Value& x) {
              const Value strided = *t.call("aten.as_strided.default", {x, ints({2, 2}), ints({1, 2})}, {});
              return *t.call("aten.mul_.Tensor", {strided, 2.0}, {});
            }).find("a write through aten.as_strided.default cannot be made functional"),
            std::string::npos);
}

}  // namespace
}  // namespace kerf
