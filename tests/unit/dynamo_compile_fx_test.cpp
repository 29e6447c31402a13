// torch._inductor.compile_fx in programs: what gets the graphs, what settings change, and what PyTorch refuses.
#include <gtest/gtest.h>

#include "engine/dynamo/environment.h"

namespace kerf {
namespace {

/// What a program prints.
std::string outputOf(const std::string& body) {
  const std::string text =
      "import torch\n"
      "from torch._inductor import config\n"
      "from torch._inductor.compile_fx import compile_fx, compile_fx_inner\n"
      "def refused(f):\n"
      "    try: f()\n"
      "    except Exception as error: print(type(error).__name__, str(error)[:60])\n"
      "def calls(gm): return [n.name for n in gm.graph.nodes if n.op.startswith('call')]\n" +
      body;
  const ProgramRequest request{.text = text, .name = "program.py"};
  const auto answer = runProgram(request, dynamoEnvironment());
  EXPECT_TRUE(answer) << answer.error().text();
  if (!answer) return {};
  EXPECT_EQ(answer->errors, "");
  return answer->output;
}

TEST(DynamoCompileFx, ABackendHandsItsGraphOn) {
  EXPECT_EQ(outputOf("def backend(gm, inputs):\n"
                     "    print(calls(gm), config.max_autotune)\n"
                     "    def inner(gm, inputs, **kwargs):\n"
                     "        print(calls(gm), config.max_autotune, kwargs['is_inference'])\n"
                     "        return compile_fx_inner(gm, inputs)\n"
                     "    return compile_fx(gm, inputs, inner, config_patches={'max_autotune': True})\n"
                     "f = torch.compile(lambda x: torch.relu(x) * 2, backend=backend)\n"
                     "print(f(torch.tensor([-1.0, 3.0])), config.max_autotune)\n"),
            "['relu', 'mul'] False\n['relu', 'mul'] True True\n"
            "tensor([0., 6.]) False\n");
}

/// d/dx of sum((x * w).sin()) is w * cos(x * w): at x = 0 it is w, and x for w.
TEST(DynamoCompileFx, TrainingHasAForwardAndABackwardGraph) {
  EXPECT_EQ(outputOf("def backend(gm, inputs):\n"
                     "    def inner(gm, inputs, is_backward=False, **kwargs):\n"
                     "        print(is_backward, calls(gm))\n"
                     "        return compile_fx_inner(gm, inputs)\n"
                     "    return compile_fx(gm, inputs, inner_compile=inner)\n"
                     "f = torch.compile(lambda x, w: (x * w).sin().sum(), backend=backend)\n"
                     "x, w = torch.zeros(2, requires_grad=True), torch.tensor([2.0, 5.0], requires_grad=True)\n"
                     "f(x, w).backward()\nprint(x.grad, w.grad)\n"),
            "False ['mul', 'sin', 'sum_1', 'cos']\n"
            "True ['expand', 'mul_1', 'mul_2', 'mul_3']\n"
            "tensor([2., 5.]) tensor([0., 0.])\n");
}

TEST(DynamoCompileFx, RecordingBackendsKeepTheGraphsOfEachStage) {
  EXPECT_EQ(outputOf("from torch._dynamo.testing import AotEagerAndRecordGraphs, InductorAndRecordGraphs\n"
                     "for backend in (AotEagerAndRecordGraphs(), InductorAndRecordGraphs()):\n"
                     "    x = torch.zeros(2, requires_grad=True)\n"
                     "    torch.compile(lambda x: x.sin().sum(), backend=backend)(x).backward()\n"
                     "    print(x.grad.tolist(), *[[calls(gm) for gm in kept] for kept in vars(backend).values()])\n"),
            "[1.0, 1.0] [['sin', 'sum_1']] [['sin', 'sum_1', 'cos']] [['expand', 'mul']]\n"
            "[1.0, 1.0] [['sin', 'sum_1']] [['sin', 'sum_1', 'cos'], ['expand', 'mul']]\n");
}

TEST(DynamoCompileFx, PassesThatComeAfterCompileCount) {
  EXPECT_EQ(outputOf("seen = []\n"
                     "def note(graph): seen.append([n.name for n in graph.nodes if n.op == 'call_function'])\n"
                     "f = torch.compile(lambda x: torch.relu(x) * 2)\nconfig.post_grad_custom_post_pass = note\n"
                     "print(f(torch.tensor([-1.0, 3.0])), seen)\n"
                     "config.post_grad_custom_post_pass = None\ntorch._dynamo.reset()\n"
                     "print(f(torch.tensor([-1.0, 3.0])), len(seen))\n"),
            "tensor([0., 6.]) [['relu', 'mul']]\ntensor([0., 6.]) 1\n");
}

/// d/dx of sum(x^3) is 3 x^2; what computes it has no derivative of its own.
TEST(DynamoCompileFx, SecondDerivativesAreRefusedInPyTorchsWords) {
  EXPECT_EQ(outputOf("f = torch.compile(lambda x: (x ** 3).sum(), backend=compile_fx)\n"
                     "x = torch.tensor([1.0, 2.0], requires_grad=True)\n"
                     "g, = torch.autograd.grad(f(x), x, create_graph=True)\nprint(g.tolist(), g.requires_grad)\n"
                     "try: g.sum().backward()\nexcept RuntimeError as error: print(error)\n"
                     "print(torch.autograd.grad(f(x), x)[0].requires_grad)\n"),
            "[3.0, 12.0] True\ntorch.compile with aot_autograd does not currently support double backward\nFalse\n");
}

TEST(DynamoCompileFx, ParametersOfAGraphModuleGetGradients) {
  EXPECT_EQ(outputOf("m = torch.nn.Linear(2, 1, bias=False)\n"
                     "with torch.no_grad(): m.weight.copy_(torch.tensor([[2.0, 3.0]]))\n"
                     "gm = torch.fx.symbolic_trace(m)\n"
                     "run = torch._inductor.compile(gm, [torch.ones(1, 2)])\n"
                     "y = run(torch.tensor([[1.0, 10.0]]))\ny.backward()\nprint(y, m.weight.grad)\n"),
            "tensor([[32.]], grad_fn=<CompiledFunctionBackward>) tensor([[ 1., 10.]])\n");
}

/// The trace of AOTAutograd runs the graph once: not on the program's tensors, and with random numbers drawn again.
TEST(DynamoCompileFx, CompilingChangesNothing) {
  EXPECT_EQ(outputOf("def f(x):\n    x.add_(1)\n    return x * 2 + torch.rand(2)\n"
                     "g = torch.compile(f, backend=lambda gm, inputs: compile_fx(gm, inputs))\n"
                     "x, y = torch.zeros(2), torch.zeros(2)\n"
                     "torch.manual_seed(0)\na = g(x)\ntorch.manual_seed(0)\nb = f(y)\n"
                     "print(x, torch.equal(a, b))\n"),
            "tensor([1., 1.]) True\n");
}

TEST(DynamoCompileFx, SettingsThatDoNotExistAreRefused) {
  EXPECT_EQ(outputOf("f = lambda x: x + 1\n"
                     "refused(lambda: torch.compile(f, options={'no_such': 1}))\n"
                     "refused(lambda: torch.compile(f, options={'max_autotune': 'yes'}))\n"
                     "refused(lambda: torch.compile(f, mode='fastest'))\n"
                     "refused(lambda: torch.compile(f, mode='default', options={}))\n"
                     "refused(lambda: config.patch(no_such=1).__enter__())\n"
                     "refused(lambda: config.patch({'triton.no_such': 1}).__enter__())\n"
                     "refused(lambda: setattr(config, 'no_such', 1))\n"
                     "gm = torch.fx.symbolic_trace(f)\n"
                     "refused(lambda: compile_fx(gm, [torch.ones(1)], config_patches={'no_such': 1}))\n"
                     "print(config.triton.cudagraphs, torch._inductor.list_mode_options('reduce-overhead'))\n"),
            "RuntimeError Unexpected optimization option no_such, known options are ['\n"
            "RuntimeError Unexpected type of attr max_autotune, got str should be bool\n"
            "RuntimeError Unrecognized mode=fastest, should be one of: default, reduce\n"
            "RuntimeError Either mode or options can be specified, but both can't be s\n"
            "AttributeError torch._inductor.config.no_such does not exist\n"
            "AttributeError torch._inductor.config.triton.no_such does not exist\n"
            "AttributeError torch._inductor.config.no_such does not exist\n"
            "AttributeError torch._inductor.config.no_such does not exist\n"
            "False {'triton.cudagraphs': True}\n");
}

TEST(DynamoCompileFx, PassesOfTheProgramChangeItsGraphs) {
  EXPECT_EQ(outputOf("def sine(graph):\n"
                     "    for node in graph.nodes:\n"
                     "        if node.target is torch.ops.aten.cos.default: node.target = torch.ops.aten.sin.default\n"
                     "x = torch.zeros(2)\n"
                     "f = lambda x: x.cos()\n"
                     "for name in ('joint_custom_pre_pass', 'post_grad_custom_post_pass'):\n"
                     "    print(torch.compile(f, options={name: sine})(x), torch.compile(f)(x))\n"
                     "config.post_grad_custom_pre_pass = sine\ntorch._dynamo.reset()\nprint(torch.compile(f)(x))\n"),
            "tensor([0., 0.]) tensor([1., 1.])\ntensor([0., 0.]) tensor([1., 1.])\ntensor([0., 0.])\n");
}

TEST(DynamoCompileFx, NanAssertsLookAtInputsAndOutputs) {
  EXPECT_EQ(
      outputOf("f = torch.compile(lambda x: x.log(), options={'nan_asserts': True})\n"
               "print(f(torch.ones(1)))\nrefused(lambda: f(-torch.ones(1)))\nrefused(lambda: f(torch.zeros(1)))\n"),
      "tensor([0.])\nAssertionError \nAssertionError \n");
}

TEST(DynamoCompileFx, BackendsByNameCanBeCalled) {
  EXPECT_EQ(outputOf("from torch._dynamo import lookup_backend\n"
                     "for name in ('eager', 'aot_eager', 'inductor'):\n"
                     "    backend = lambda gm, inputs: lookup_backend(name)(gm, inputs)\n"
                     "    torch._dynamo.reset()\n"
                     "    print(torch.compile(lambda x: x * 3, backend=backend)(torch.ones(1)))\n"
                     "def own(gm, inputs, mode=None, options=None):\n    print(mode, options)\n    return gm.forward\n"
                     "torch.compile(lambda x: x + 1, backend=own, options={'a': 1})(torch.ones(1))\n"
                     "torch.compile(lambda x: x + 1, backend=own, mode='max-autotune')(torch.ones(1))\n"),
            "tensor([3.])\ntensor([3.])\ntensor([3.])\nNone {'a': 1}\nmax-autotune None\n");
}

/// Functions without a module of their own, objects without text, operators by their overload, bodies of vmap.
TEST(DynamoCompileFx, EveryGraphIsPythonForABackend) {
  EXPECT_EQ(outputOf("def run(f, *args):\n"
                     "    torch._dynamo.reset()\n"
                     "    print(torch.compile(f, backend=lambda gm, inputs: gm)(*args))\n"
                     "x, g = torch.tensor([1.0, 3.0]), torch.Generator().manual_seed(1)\n"
                     "run(lambda x: torch.vmap(lambda a: a * 2)(x), x)\n"
                     "run(lambda x: torch.ops.aten.mul.Tensor(x, 3.0), x)\n"
                     "run(lambda x: torch.rand(2, generator=g) * 0 + x, x)\n"
                     "def half(x):\n"
                     "    with torch.autocast('cpu', dtype=torch.bfloat16): return x.view(1, 2) @ x.view(2, 1)\n"
                     "run(half, x)\n"),
            "tensor([2., 6.])\ntensor([3., 9.])\ntensor([1., 3.])\ntensor([[10.]], dtype=torch.bfloat16)\n");
}

/// Adam's step: with gradients of one, the first one moves each element by the learning rate.
TEST(DynamoCompileFx, ConstantsThatAreWrittenIntoAreFreshInEachRun) {
  EXPECT_EQ(outputOf("from torch.fx.experimental.proxy_tensor import make_fx\n"
                     "def f(x):\n    t = torch.tensor(0.0)\n    t += 1\n    return x + t\n"
                     "g = make_fx(f)(torch.ones(1))\nprint(g(torch.ones(1)), g(torch.ones(1)))\n"
                     "p = torch.nn.Parameter(torch.ones(2))\nopt = torch.optim.Adam([p], lr=0.25)\n"
                     "p.grad = torch.ones(2)\n"
                     "torch.compile(opt.step, backend=lambda gm, inputs: compile_fx(gm, inputs))()\n"
                     "print(torch.allclose(p, torch.full((2,), 0.75)))\n"),
            "tensor([2.]) tensor([2.])\nTrue\n");
}

TEST(DynamoCompileFx, BuffersThatTrainingWritesIntoStayBuffers) {
  EXPECT_EQ(outputOf("class M(torch.nn.Module):\n"
                     "    def __init__(self):\n"
                     "        super().__init__()\n"
                     "        self.p = torch.nn.Parameter(torch.ones(1))\n"
                     "        self.register_buffer('b', torch.zeros(1))\n"
                     "    def forward(self, x):\n        self.b += 1\n        return x * self.p + self.b\n"
                     "m = M()\nb = m.b\n"
                     "f = torch.compile(m, backend=lambda gm, inputs: compile_fx(gm, inputs))\n"
                     "f(torch.ones(1)).sum().backward()\nf(torch.ones(1))\n"
                     "print(m.b, m.b is b, m.p.grad)\n"),
            "tensor([2.]) True tensor([1.])\n");
}

TEST(DynamoCompileFx, AnotherBackendCompilesAgain) {
  EXPECT_EQ(outputOf("f = lambda x: x + 1\n"
                     "def named(name):\n"
                     "    def backend(gm, inputs):\n        print(name)\n        return gm\n"
                     "    return backend\n"
                     "a, b, x = named('a'), named('b'), torch.ones(1)\n"
                     "for backend in (a, a, b, a, 'eager'): torch.compile(f, backend=backend)(x)\n"),
            "a\nb\n");
}

/// A graph that holds graphs is not traced again: one branch would be lost.
TEST(DynamoCompileFx, BranchesOfCondStay) {
  EXPECT_EQ(outputOf("def f(x): return torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, (x,))\n"
                     "g = torch.compile(f, backend=lambda gm, inputs: compile_fx(gm, inputs))\n"
                     "print(g(torch.ones(1)), g(-torch.ones(1)))\n"),
            "tensor([2.]) tensor([-2.])\n");
}

/// All of a patch or nothing; a setting without an end is no reason to compile nothing.
TEST(DynamoCompileFx, APatchThatIsRefusedChangesNothing) {
  EXPECT_EQ(outputOf("try:\n    with config.patch({'emulate_precision_casts': True, 'nope': 1}): pass\n"
                     "except AttributeError as error: print(error)\n"
                     "print(config.emulate_precision_casts)\n"),
            "torch._inductor.config.nope does not exist\nFalse\n");
}

}  // namespace
}  // namespace kerf
