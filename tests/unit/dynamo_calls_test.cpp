// Calls that others answer: subclasses of Tensor, transforms of torch.func, functions that stay outside.
#include <gtest/gtest.h>

#include "engine/dynamo/environment.h"

namespace kerf {
namespace {

/// What a program prints that defines f and then runs `calls`; g is f compiled, show() prints the calls of its graphs.
std::string callOutput(const std::string& body, const std::string& calls) {
  const std::string text = "import torch, json\n" + body +
                           "\ng = torch._C._dynamo.compile(f)\n"
                           "def show():\n"
                           "    log = json.loads(torch._C._dynamo.log())\n"
                           "    for graph in log['graphs']:\n"
                           "        print(' '.join(n[2] for n in graph['nodes'] if n[0].startswith('call')))\n"
                           "    print([b['type'] for b in log['breaks'] if b['graph_break']])\n" +
                           calls + "\n";
  const ProgramRequest request{.text = text, .name = "program.py"};
  const auto answer = runProgram(request, dynamoEnvironment());
  EXPECT_TRUE(answer) << answer.error().text();
  if (!answer) return {};
  EXPECT_EQ(answer->errors, "");
  return answer->output;
}

constexpr const char* kClamping =
    "class T(torch.Tensor):\n"
    "    @classmethod\n"
    "    def __torch_function__(cls, func, types, args=(), kwargs=None):\n"
    "        out = super().__torch_function__(func, types, args, kwargs or {})\n"
    "        return out.clamp(-1, 1) if func in (torch.Tensor.add, torch.add) else out\n";

TEST(DynamoCalls, SubclassesAnswerCalls) {
  EXPECT_EQ(callOutput(std::string(kClamping) + "def f(x, y): return torch.add(x, y), 1 + x, x * 3 - y\n",
                       "x = torch.full((2,), 0.5).as_subclass(T)\n"
                       "made = g(x, torch.ones(2))\n"
                       "print([type(t).__name__ for t in made], [t.tolist() for t in made])\nshow()"),
            "['T', 'T', 'T'] [[1.0, 1.0], [1.0, 1.0], [0.5, 0.5]]\n"
            "torch.add clamp add clamp mul sub\n[]\n");
}

TEST(DynamoCalls, WhatASubclassStoresComesBack) {
  EXPECT_EQ(callOutput("class U(torch.Tensor):\n"
                       "    @classmethod\n"
                       "    def __torch_function__(cls, func, types, args=(), kwargs=None):\n"
                       "        out = super().__torch_function__(func, types, args, kwargs or {})\n"
                       "        if isinstance(out, U): out.unit = args[0].unit + \"'\"\n"
                       "        return out\n"
                       "def f(x): return torch.relu(x + 1)\n",
                       "x = torch.ones(2).as_subclass(U)\nx.unit = 'm'\nprint(g(x).unit, type(g(x)) is U)"),
            "m'' True\n");
}

TEST(DynamoCalls, SubclassesWithoutAnAnswerKeepTheirClass) {
  EXPECT_EQ(callOutput("class T(torch.Tensor):\n    def twice(self): return self * 2\n"
                       "def f(x): return x.twice() + 1\n",
                       "y = g(torch.ones(2).as_subclass(T))\nprint(type(y).__name__, y.tolist())"),
            "T [3.0, 3.0]\n");
}

TEST(DynamoCalls, EagerAsksSubclassesByPublicNames) {
  EXPECT_EQ(
      callOutput("seen = []\n"
                 "class T(torch.Tensor):\n"
                 "    @classmethod\n"
                 "    def __torch_function__(cls, func, types, args=(), kwargs=None):\n"
                 "        seen.append(func.__name__)\n"
                 "        return super().__torch_function__(func, types, args, kwargs or {})\n"
                 "def f(x): return x\n",
                 "x = torch.ones(2).as_subclass(T)\nx * 2; 2 * x; x / 2; -x; x == 1; x @ x; x[0]; 1 - x\nprint(seen)"),
      "['mul', 'mul', 'div', 'neg', 'eq', 'matmul', '__getitem__', '__rsub__']\n");
}

TEST(DynamoCalls, VjpWritesItsLevelAndItsGradient) {
  EXPECT_EQ(callOutput("def f(x, v):\n"
                       "    out, back = torch.func.vjp(lambda t: t.sin(), x)\n    return out, back(v)[0]\n",
                       "x, v = torch.tensor([0.0, 1.0]), torch.tensor([1.0, 2.0])\n"
                       "print(all(torch.equal(a, b) for a, b in zip(f(x, v), g(x, v))))\nshow()"),
            "True\n"
            "torch._C._autograd._saved_tensors_hooks_disable torch._C._functorch._grad_increment_nesting "
            "torch._C._functorch._wrap_for_grad torch._C._functorch.set_inplace_requires_grad_allowed "
            "torch._functorch.eager_transforms._set_tensor_requires_grad "
            "torch._C._functorch.set_inplace_requires_grad_allowed sin torch._C._functorch._unwrap_for_grad "
            "torch._C._functorch._grad_decrement_nesting torch._C._autograd._saved_tensors_hooks_enable "
            "torch._functorch.eager_transforms._autograd_grad operator.getitem\n[]\n");
}

TEST(DynamoCalls, JvpWritesDualNumbers) {
  EXPECT_EQ(callOutput("def f(x, t): return torch.func.jvp(lambda a: a * a, (x,), (t,))\n",
                       "x, t = torch.tensor([1.0, 3.0]), torch.tensor([1.0, 2.0])\n"
                       "print([v.tolist() for v in g(x, t)])\nshow()"),
            "[[1.0, 9.0], [2.0, 12.0]]\n"
            "torch._C._functorch._jvp_increment_nesting torch._C._set_fwd_grad_enabled torch._C._enter_dual_level "
            "torch.autograd.forward_ad._maybe_load_decompositions torch._make_dual operator.mul torch._unpack_dual "
            "operator.getitem operator.getitem torch._C._functorch._unwrap_for_grad "
            "torch._C._functorch._unwrap_for_grad torch._C._exit_dual_level torch._C._set_fwd_grad_enabled "
            "torch._C._functorch._jvp_decrement_nesting\n[]\n");
}

TEST(DynamoCalls, JacobiansAndHessiansEqualEager) {
  EXPECT_EQ(callOutput("def f(x):\n    h = lambda t: (t ** 3).sum() + t.prod()\n"
                       "    return torch.func.jacrev(lambda t: t.sin() * t.sum())(x), torch.func.jacfwd(torch.sin)(x), "
                       "torch.func.hessian(h)(x)\n",
                       "x = torch.tensor([0.5, 1.5, 2.0])\n"
                       "print([torch.allclose(a, b) for a, b in zip(f(x), g(x))])\n"
                       "print(len(json.loads(torch._C._dynamo.log())['graphs']))"),
            "[True, True, True]\n1\n");
}

TEST(DynamoCalls, DisabledWithoutRecursionLeavesOneFrameAlone) {
  EXPECT_EQ(callOutput("def helper(x): return x.sin()\n"
                       "@torch.compiler.disable(recursive=False)\ndef shallow(x): return helper(x) + 1\n"
                       "def f(x): return shallow(x * 2) * 3\n",
                       "print(torch.equal(f(torch.ones(2)), g(torch.ones(2))))\nshow()"),
            "True\noperator.mul\nsin\noperator.mul\n['Skip inlining `torch.compiler.disable()`d function']\n");
}

TEST(DynamoCalls, AGradientMayBeTakenAway) {
  EXPECT_EQ(callOutput("w = torch.ones(2, requires_grad=True)\n"
                       "def f(x):\n    (w * x).sum().backward()\n    made = torch.mul(w.grad, 2)\n    w.grad = None\n  "
                       "  return made\n",
                       "print(g(torch.full((2,), 3.0)).tolist(), w.grad)\nshow()"),
            "[6.0, 6.0] None\noperator.mul sum\ntorch.mul\n['Unsupported Tensor.backward() call']\n");
}

TEST(DynamoCalls, NumbersThatAGuardFixesStayNodes) {
  EXPECT_EQ(callOutput("def f(x, n):\n    m = n + 1\n    if m == 5: x = x * m\n    return x + m * 2\n",
                       "for n in (2, 4): print(g(torch.ones(2), n).tolist())\nshow()"),
            "[7.0, 7.0]\n[15.0, 15.0]\noperator.add\noperator.add operator.mul operator.mul operator.add\n[]\n");
}

TEST(DynamoCalls, ASizeOfOnePossibleValueIsNoInput) {
  EXPECT_EQ(callOutput("def f(x): return x * 2 if x.size(0) > 2 else x + 1\n",
                       "for n in (3, 2): g(torch.ones(n))\n"
                       "print([graph['sources'] for graph in json.loads(torch._C._dynamo.log())['graphs']])"),
            "[[\"L['x']\"], [\"L['x']\"]]\n");
}

TEST(DynamoCalls, BackendsGetSymbolsAsNumbers) {
  EXPECT_EQ(callOutput("def f(x): return x * x.shape[0]\n",
                       "def backend(module, examples):\n"
                       "    print([e if isinstance(e, int) else tuple(e.shape) for e in examples])\n    return module\n"
                       "h = torch.compile(f, backend=backend)\n"
                       "for n in (2, 3): print(h(torch.ones(n)).tolist())"),
            "[(2,)]\n[2.0, 2.0]\n[3, (3,)]\n[3.0, 3.0, 3.0]\n");
}

TEST(DynamoCalls, AReadOfADeletedNameEndsTheGraphBeforeItsTryBlock) {
  EXPECT_EQ(
      callOutput("def f(x):\n    y = x + 1\n    z = y * 2\n    del y\n    try:\n        y\n    except NameError:\n"
                 "        z = z * 3\n    return z\n",
                 "print(g(torch.ones(2)).tolist())\nshow()"),
      "[12.0, 12.0]\noperator.add operator.mul\n['step_unsupported']\n");
}

TEST(DynamoCalls, OperatorsOfTheProgramAreNodes) {
  EXPECT_EQ(callOutput("@torch.library.custom_op('mylib::scale', mutates_args=())\n"
                       "def scale(x: torch.Tensor, k: float) -> torch.Tensor:\n    print('runs')\n    return x * k\n"
                       "@scale.register_fake\ndef _(x, k): return torch.empty_like(x)\n"
                       "def f(x): return scale(x.sin(), 2.0) + torch.ops.mylib.scale(x, 3.0)\n",
                       "print(g(torch.zeros(2)).tolist())\nshow()"),
            "runs\nruns\n[0.0, 0.0]\n"
            "sin torch.ops.mylib.scale.default torch.ops.mylib.scale operator.add\n[]\n");
}

TEST(DynamoCalls, TracedCodeIsCompiled) {
  EXPECT_EQ(callOutput("def f(x): return x * 2 if torch.compiler.is_compiling() else x\n",
                       "print(f(torch.ones(1)).tolist(), g(torch.ones(1)).tolist())"),
            "[1.0] [2.0]\n");
}

TEST(DynamoCalls, ComputedFloatsLeaveTheGraphAsTensors) {
  EXPECT_EQ(callOutput("def f(x, k): return x * k, k / 2, k\n",
                       "for k in (1.5, 2.5, 3.5): print(g(torch.ones(1), k))\nshow()"),
            "(tensor([1.5000]), 0.75, 1.5)\n(tensor([2.5000]), 1.25, 2.5)\n(tensor([3.5000]), 1.75, 3.5)\n"
            "operator.mul\nitem operator.mul operator.truediv torch.scalar_tensor\n[]\n");
}

TEST(DynamoCalls, ALeftOperandThatDeclinesSkipsTheFrame) {
  EXPECT_EQ(callOutput("class A:\n    def __add__(self, o): return NotImplemented\n"
                       "class B:\n    def __radd__(self, o): return 5\n"
                       "def f(x): return x * (A() + B())\n",
                       "print(g(torch.ones(1)).tolist())\nshow()"),
            "[5.0]\n[]\n");
}

TEST(DynamoCalls, SortingAnObjectsDictBreaks) {
  EXPECT_EQ(callOutput("class A: pass\n"
                       "def f(x):\n    a = A()\n    a.k = x * 2\n    return a.k, sorted(vars(a))\n",
                       "print(g(torch.ones(1)))\nshow()"),
            "(tensor([2.]), ['k'])\noperator.mul\n['Failed to trace builtin operator']\n");
}

TEST(DynamoCalls, SettingsOfDynamoHold) {
  EXPECT_EQ(callOutput("def f(x): return x * 2\n",
                       "torch._dynamo.config.automatic_dynamic_shapes = False\n"
                       "torch._dynamo.config.recompile_limit = 3\n"
                       "for n in range(2, 8): g(torch.ones(n))\nshow()\n"
                       "torch._dynamo.reset()\ntorch._dynamo.config.error_on_recompile = True\ng(torch.ones(2))\n"
                       "try: g(torch.ones(3))\n"
                       "except torch._dynamo.exc.RecompileError as e: print(str(e).split('\\n')[0])"),
            "operator.mul\noperator.mul\noperator.mul\n[]\nRecompiling function f in program.py:2\n");
}

TEST(DynamoCalls, CountersAndAotBackendsGetGraphs) {
  EXPECT_EQ(
      callOutput("from torch._dynamo.testing import CompileCounter, EagerAndRecordGraphs\n"
                 "from torch._dynamo.backends.common import aot_autograd\n"
                 "from torch._functorch.aot_autograd import make_boxed_func\n"
                 "def f(x):\n    y = x.sin()\n    torch._dynamo.graph_break()\n    return y + 1\n",
                 "counter = CompileCounter()\ntorch.compile(f, backend=counter)(torch.zeros(2))\n"
                 "print(counter.frame_count, counter.op_count)\n"
                 "def fw(graph, examples):\n"
                 "    print([str(n.target) for n in graph.graph.nodes if n.op == 'call_function'])\n"
                 "    return make_boxed_func(graph.forward)\n"
                 "print(torch.compile(lambda x: x.sin() + 1, backend=aot_autograd(fw_compiler=fw))(torch.zeros(1)))"),
      "2 2\n['aten.sin.default', 'aten.add.Tensor']\ntensor([1.])\n");
}

TEST(DynamoCalls, LocalsAreThoseOfTheProgram) {
  EXPECT_EQ(callOutput("def f(x, scale=3):\n    y = x * scale\n    z = y + 1\n    d = locals()\n"
                       "    return d['z'] * len(d), sorted(d)\n",
                       "print(f(torch.ones(1)), g(torch.ones(1)))\nshow()"),
            "(tensor([16.]), ['scale', 'x', 'y', 'z']) (tensor([16.]), ['scale', 'x', 'y', 'z'])\n"
            "operator.mul operator.add\noperator.mul\n['Failed to trace builtin operator']\n");
}

TEST(DynamoCalls, SuperIsAskedAfterABreak) {
  EXPECT_EQ(callOutput("class A:\n    def go(self, x, k): return x * k\n"
                       "class B(A):\n    def go(self, x, k):\n        y = x + 1\n        print('stop', y.shape)\n"
                       "        return [k, super().go(y, len(str(print('again') or k)))]\n"
                       "b = B()\ndef f(x): return b.go(x, 4)\n",
                       "print(g(torch.ones(1)))\nshow()"),
            "stop torch.Size([1])\nagain\n[4, tensor([2.])]\noperator.add\noperator.mul\n"
            "['Failed to trace builtin operator', 'Failed to trace builtin operator', 'Failed to trace builtin "
            "operator']\n");
}

TEST(DynamoCalls, ABreakInsideATorchFunctionKeepsItsClass) {
  EXPECT_EQ(callOutput("class T(torch.Tensor):\n    calls = 0\n    @classmethod\n"
                       "    def __torch_function__(cls, func, types, args=(), kwargs=None):\n        cls.calls += 1\n"
                       "        return super().__torch_function__(func, types, args, kwargs or {})\n"
                       "def f(x): return x * 2 + 1\n",
                       "y = g(torch.ones(1).as_subclass(T))\n"
                       "print(T.calls, type(y).__name__, y.as_subclass(torch.Tensor).tolist())"),
            "2 T [3.0]\n");
}

TEST(DynamoCalls, AnotherClassIsNoCall) {
  EXPECT_EQ(
      callOutput("class T(torch.Tensor):\n    def three(self): return 3\n"
                 "def f(x):\n    y = x.as_subclass(T)\n    return y * y.three(), y.as_subclass(torch.Tensor) + 1\n",
                 "a, b = g(torch.ones(1))\nprint(type(a).__name__, a.tolist(), type(b).__name__, b.tolist())\nshow()"),
      "T [3.0] Tensor [2.0]\nmul operator.add\n[]\n");
}

TEST(DynamoCalls, AChangeOfSharedElementsIsRecorded) {
  EXPECT_EQ(callOutput("def f(x):\n    y = x.expand(3, 2)\n    y.add_(1)\n    return y\n",
                       "try: g(torch.zeros(1, 2))\nexcept RuntimeError as e: print('RuntimeError')\nshow()"),
            "RuntimeError\nexpand add_\n[]\n");
}

TEST(DynamoCalls, TensorsOfEqualSizesKeepTheirPlaceholders) {
  EXPECT_EQ(callOutput("def f(x, y): return x + y\n",
                       "for n in (2, 3): g(torch.ones(n), torch.ones(n))\n"
                       "print(json.loads(torch._C._dynamo.log())['graphs'][1]['sources'])"),
            "[\"L['x'].size()[0]\", \"L['x']\", \"L['y'].size()[0]\", \"L['y']\"]\n");
}

TEST(DynamoCalls, ModulesImportedOnTheWayAreTraced) {
  EXPECT_EQ(
      callOutput(
          "def f(x):\n    import math, heapq\n    return x * math.floor(2.5) + heapq.nsmallest(2, [3, 1, 2])[1]\n",
          "print(g(torch.ones(2)).tolist())\nshow()"),
      "[4.0, 4.0]\noperator.mul operator.add\n[]\n");
}

TEST(DynamoCalls, HooksOfIntermediatesBreakTheGraph) {
  EXPECT_EQ(
      callOutput("def f(x):\n    y = x * 2\n    y.register_hook(lambda grad: grad * 5)\n    return (y * 3).sum()\n",
                 "x = torch.ones(2, requires_grad=True)\ng(x).backward()\nprint(x.grad.tolist())\nshow()"),
      "[30.0, 30.0]\noperator.mul\noperator.mul sum\n"
      "['Compilation of intermediate hooks requires compiled autograd']\n");
}

}  // namespace
}  // namespace kerf
