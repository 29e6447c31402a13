// Joint graphs: outputs as before, gradients as central differences tell them.
#include "autograd_testing.h"

namespace kerf {
namespace {

using namespace testing;

AotOptions jointOptions() {
  AotOptions options{.stage = AotStage::Joint};
  options.requiresGrad = [](const AotInput&) { return true; };
  return options;
}

double dot(const Tensor& a, const Tensor& b) {
  const auto x = valuesOf(a), y = valuesOf(b);
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

Tensor moved(const Tensor& a, const Tensor& b, double factor) {
  auto x = valuesOf(a);
  const auto y = valuesOf(b);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += factor * y[i];
  return tensorOf(a.sizes(), x, DType::Float64);
}

/// <tangents, what the graph returns (mutated inputs first)> of a run.
double loss(const AotGraph& joint, const GraphModule& module, const ValueList& inputs, const ValueList& tangents) {
  const GraphRun run = runGraph(module, inputs);
  ValueList all;
  for (const std::size_t i : joint.metadata.mutatedInputs) all.push_back(run.inputs[i]);
  all.insert(all.end(), run.outputs.begin(), run.outputs.end());
  double sum = 0;
  for (std::size_t k = 0; k < joint.tangents.size(); ++k)
    sum += dot(all[joint.tangents[k]].tensor(), tangents[k].tensor());
  return sum;
}

/// Outputs of the joint graph are the forward graph's, and its gradients are its derivative in a random direction.
void expectRightGradients(const GraphModule& module, const ValueList& inputs) {
  const auto joint = aotTrace(module, plainInputs(module), jointOptions());
  if (!joint && joint.error().message.starts_with("no output depends on an input")) return;  // only constants came out
  ASSERT_TRUE(joint) << joint.error().text();
  const Graph& graph = joint->module.graph;
  ValueList given = inputs, tangents;
  const auto placeholders = graph.placeholders();
  for (std::size_t k = inputs.size(); k < placeholders.size(); ++k) {
    const auto sizes = graph.node(placeholders[k]).meta().value.tensor()->concreteSizes();
    ASSERT_TRUE(sizes);
    tangents.emplace_back(randomTensor(*sizes, std::uint32_t(100 + k)));
    given.push_back(tangents.back());
  }
  const GraphRun run = runGraph(joint->module, given), forward = runGraph(module, inputs);
  for (std::size_t i = 0; i < forward.outputs.size(); ++i)
    EXPECT_LE(largestDifference(run.outputs[joint->mutatedOutputs + i], forward.outputs[i]), 1e-12) << "output " << i;
  double expected = 0, differences = 0;
  ValueList ahead = inputs, behind = inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].isTensor()) continue;
    const Tensor direction = randomTensor(inputs[i].tensor().sizes(), std::uint32_t(200 + i));
    const Value& gradient = run.outputs[joint->mutatedOutputs + joint->userOutputs + i];
    if (gradient.isTensor()) {
      ASSERT_EQ(gradient.tensor().sizes(), inputs[i].tensor().sizes());
      expected += dot(gradient.tensor(), direction);
    }
    ahead[i] = moved(inputs[i].tensor(), direction, 1e-5);
    behind[i] = moved(inputs[i].tensor(), direction, -1e-5);
  }
  differences = (loss(*joint, module, ahead, tangents) - loss(*joint, module, behind, tangents)) / 2e-5;
  EXPECT_NEAR(expected, differences, 1e-6 * std::max(1.0, std::abs(differences)));
}

class JointOfPrograms : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(JointOfPrograms, HasTheirDerivatives) {
  RandomProgram program(GetParam());
  program.build(30, 25);
  expectRightGradients(program.module, program.inputs);
}
INSTANTIATE_TEST_SUITE_P(Programs, JointOfPrograms, ::testing::Range(1000u, 1080u));

/// A graph of float64 inputs x [3, 4], y [3, 4].
struct Written {
  GraphModule module;
  OpTracer tracer{module, [](const OpInfo&) { return false; }};
  Value x = *tracer.placeholder("x", Value(metaTensor(DType::Float64, Sizes{3, 4})));
  Value y = *tracer.placeholder("y", Value(metaTensor(DType::Float64, Sizes{3, 4})));

  Value call(const char* op, const ValueList& args) const {
    const auto result = tracer.call(op, args, {});
    EXPECT_TRUE(result) << result.error().text();
    return result ? *result : Value();
  }
  NodeId python(const char* target, ArgumentList args) { return module.graph.callFunction(target, std::move(args)); }
  void output(const ValueList& values) { module.graph.output(*tracer.argumentOf(Value(values))); }
  ValueList inputs() const { return {randomTensor({3, 4}, 1), randomTensor({3, 4}, 2)}; }
};

TEST(JointGraph, IsNamedAndOrderedAsAotAutogradsIs) {
  Written w;
  w.output({w.call("aten.mul.Tensor", {w.x, w.y})});
  const auto joint = aotTrace(w.module, plainInputs(w.module), jointOptions());
  ASSERT_TRUE(joint) << joint.error().text();
  const Graph& graph = joint->module.graph;
  std::vector<std::string> names;
  for (const NodeId id : graph.order()) names.push_back(graph.node(id).name());
  EXPECT_EQ(names,
            (std::vector<std::string>{"primals_1", "primals_2", "tangents_1", "mul", "mul_1", "mul_2", "output"}));
  EXPECT_EQ(joint->tangents, (std::vector<std::size_t>{0}));
  const NodeMeta& backward = graph.node(*graph.find("mul_1")).meta();
  const auto tag = std::ranges::find(backward.extra, "partitioner_tag", &std::pair<std::string, std::string>::first);
  ASSERT_NE(tag, backward.extra.end());
  EXPECT_EQ(tag->second, "is_backward");
  const auto forward = std::ranges::find(backward.extra, "fwd_node", &std::pair<std::string, std::string>::first);
  ASSERT_NE(forward, backward.extra.end());
  EXPECT_EQ(forward->second, "mul");
}

/// y takes what x held, itself or through a view, before x is written.
TEST(JointGraph, WritesAnInputWithWhatAnotherWrittenOneHeld) {
  for (const bool throughView : {false, true}) {
    Written w;
    const Value held = throughView ? w.call("aten.view.default", {w.x, Value(ValueList{3, 4})}) : w.x;
    w.call("aten.copy_.default", {w.y, held});
    const Value sum = w.call("aten.add.Tensor", {w.x, w.y});
    w.call("aten.copy_.default", {w.x, sum});
    w.output({w.call("aten.sin.default", {sum})});
    for (const AotStage stage : {AotStage::Functional, AotStage::Joint}) {
      const auto graph = aotTrace(w.module, plainInputs(w.module), {.stage = stage});
      ASSERT_TRUE(graph) << graph.error().text();
      ValueList given = w.inputs();
      for (std::size_t k = 0; k < graph->tangents.size(); ++k) given.emplace_back(randomTensor({3, 4}, 3));
      const GraphRun expected = runGraph(w.module, w.inputs()), run = runGraph(graph->module, given);
      for (std::size_t i = 0; i < 2; ++i)
        EXPECT_EQ(largestDifference(graph->mutatedOutputs == 0 ? run.inputs[i] : run.outputs[i], expected.inputs[i]), 0)
            << throughView << " input " << i;
    }
  }
}

/// Calls on lists have the gradients of their items, not those of the op on one tensor.
TEST(JointGraph, DifferentiatesCallsOnListsOfTensors) {
  for (const bool byList : {false, true}) {
    Written w;
    const Value list(ValueList{w.x, w.y}), by = byList ? Value(ValueList{w.y, w.x}) : Value(3.0);
    const Value both = w.call(byList ? "aten._foreach_mul.List" : "aten._foreach_mul.Scalar", {list, by});
    const Value first = w.call("operator.getitem", {both, Value(std::int64_t(0))});
    const Value second = w.call("operator.getitem", {both, Value(std::int64_t(1))});
    w.output({w.call("aten.sin.default", {first}), w.call("aten.mul.Tensor", {second, w.x})});
    ASSERT_NO_FATAL_FAILURE(expectRightGradients(w.module, w.inputs())) << byList;
  }
}

TEST(JointGraph, LeavesOutWhatRunsWithoutGradients) {
  Written w;
  const NodeId off = w.python("torch._C._set_grad_enabled", {Argument(false)});
  static_cast<void>(off);
  const Value constant = w.call("aten.sin.default", {w.x});
  w.python("torch._C._set_grad_enabled", {Argument(true)});
  w.output({w.call("aten.mul.Tensor", {w.y, constant}), w.call("aten.cos.default", {constant})});
  const auto joint = aotTrace(w.module, plainInputs(w.module), jointOptions());
  ASSERT_TRUE(joint) << joint.error().text();
  EXPECT_EQ(joint->tangents.size(), 1u);  // cos(sin(x)) needs none
  const GraphRun run = runGraph(joint->module, {w.inputs()[0], w.inputs()[1], randomTensor({3, 4}, 3)});
  ASSERT_EQ(run.outputs.size(), 4u);
  EXPECT_TRUE(run.outputs[2].isNone());
  EXPECT_TRUE(run.outputs[3].isTensor());
}

TEST(JointGraph, GivesNoneToInputsThatNothingFlowsTo) {
  Written w;
  w.output({w.call("aten.sin.default", {w.x}), w.call("aten.detach.default", {w.y})});
  const auto joint = aotTrace(w.module, plainInputs(w.module), jointOptions());
  ASSERT_TRUE(joint) << joint.error().text();
  const GraphRun run = runGraph(joint->module, {w.inputs()[0], w.inputs()[1], randomTensor({3, 4}, 3)});
  ASSERT_EQ(run.outputs.size(), 4u);
  EXPECT_TRUE(run.outputs[2].isTensor());
  EXPECT_TRUE(run.outputs[3].isNone());
}

TEST(JointGraph, SaysThatNothingTakesPart) {
  Written w;
  w.output({w.call("aten.sin.default", {w.x})});
  AotOptions options{.stage = AotStage::Joint};
  options.requiresGrad = [](const AotInput&) { return false; };
  const auto joint = aotTrace(w.module, plainInputs(w.module), options);
  ASSERT_FALSE(joint);
  EXPECT_NE(joint.error().text().find("no output depends on an input that takes part in autograd"), std::string::npos);
}

/// forward(ctx, x) = (x², [x]), backward(ctx, g, x) = 10·g·x: not the true derivative, so that it shows which one runs.
TEST(JointGraph, RunsTheBackwardOfACustomFunction) {
  GraphModule forward, backward;
  {
    const NodeId ctx = forward.graph.placeholder("ctx"), x = forward.graph.placeholder("x");
    static_cast<void>(ctx);
    const NodeId square =
        forward.graph.callFunction("torch.ops.aten.mul.Tensor", {Argument(x), Argument(x)}, {}, "mul");
    forward.graph.output(Argument::tuple({Argument(square), Argument::list({Argument(x)})}));
    const NodeId c = backward.graph.placeholder("ctx"), g = backward.graph.placeholder("g"),
                 s = backward.graph.placeholder("s");
    static_cast<void>(c);
    const NodeId ten =
        backward.graph.callFunction("torch.ops.aten.mul.Tensor", {Argument(g), Argument(10.0)}, {}, "mul");
    backward.graph.output(
        backward.graph.callFunction("torch.ops.aten.mul.Tensor", {Argument(ten), Argument(s)}, {}, "mul"));
  }
  GraphModule module;
  module.submodules.add("fwd_body_0", {std::make_shared<const GraphModule>(forward), {}});
  module.submodules.add("bwd_body_0", {std::make_shared<const GraphModule>(backward), {}});
  const NodeId x = module.graph.placeholder("x");
  module.graph.setValueMeta(x, {metaOf(metaTensor(DType::Float64, Sizes{3}))});
  const NodeId f = module.graph.getAttr("fwd_body_0"), b = module.graph.getAttr("bwd_body_0");
  module.graph.output(Argument::tuple({Argument(module.graph.callFunction(
      "torch.ops.higher_order.autograd_function_apply", {Argument(f), Argument(b), Argument(x)}, {}, "apply"))}));
  const auto joint = aotTrace(module, plainInputs(module), jointOptions());
  ASSERT_TRUE(joint) << joint.error().text();
  const Tensor at = tensorOf({3}, {1, 2, -3}, DType::Float64), ones = tensorOf({3}, {1, 1, 2}, DType::Float64);
  const GraphRun run = runGraph(joint->module, {at, ones});
  ASSERT_EQ(run.outputs.size(), 2u);
  EXPECT_EQ(valuesOf(run.outputs[0].tensor()), (std::vector<double>{1, 4, 9}));
  EXPECT_EQ(valuesOf(run.outputs[1].tensor()), (std::vector<double>{10, 20, -60}));
}

/// cond(p, x·y, sin(x)), whose gradient is a cond again.
TEST(JointGraph, DifferentiatesBothBranchesOfCond) {
  const auto branch = [](bool product) {
    GraphModule module;
    const NodeId x = module.graph.placeholder("x"), y = module.graph.placeholder("y");
    const NodeId value =
        product ? module.graph.callFunction("torch.ops.aten.mul.Tensor", {Argument(x), Argument(y)}, {}, "mul")
                : module.graph.callFunction("torch.ops.aten.sin.default", {Argument(x)}, {}, "sin");
    module.graph.output(Argument::tuple({Argument(value)}));
    return std::make_shared<const GraphModule>(std::move(module));
  };
  for (const double sign : {1.0, -1.0}) {
    GraphModule module;
    module.submodules.add("true_graph_0", {branch(true), {}});
    module.submodules.add("false_graph_0", {branch(false), {}});
    Graph& graph = module.graph;
    const NodeId x = graph.placeholder("x"), y = graph.placeholder("y");
    for (const NodeId id : {x, y}) graph.setValueMeta(id, {metaOf(metaTensor(DType::Float64, Sizes{3, 4}))});
    const NodeId sum = graph.callFunction("torch.ops.aten.sum.default", {Argument(y)}, {}, "sum");
    const NodeId predicate = graph.callFunction("torch.ops.aten.gt.Scalar", {Argument(sum), Argument(0.0)}, {}, "gt");
    const NodeId t = graph.getAttr("true_graph_0"), f = graph.getAttr("false_graph_0");
    const NodeId cond = graph.callFunction(
        "torch.ops.higher_order.cond",
        {Argument(predicate), Argument(t), Argument(f), Argument::tuple({Argument(x), Argument(y)})}, {}, "cond");
    graph.output(Argument::tuple({Argument(
        graph.callFunction("operator.getitem", {Argument(cond), Argument(std::int64_t{0})}, {}, "getitem"))}));
    ValueList inputs{
        randomTensor({3, 4}, 1),
        moved(randomTensor({3, 4}, 2), tensorOf({3, 4}, std::vector<double>(12, 1.0), DType::Float64), 3 * sign)};
    expectRightGradients(module, inputs);
  }
}

}  // namespace
}  // namespace kerf
