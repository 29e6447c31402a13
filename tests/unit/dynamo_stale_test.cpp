// What a program changes between two calls is seen by the second one: each program prints what eager mode would.
#include <gtest/gtest.h>

#include "engine/dynamo/environment.h"

namespace kerf {
namespace {

/// What a program prints that compiles functions by compiled().
std::string staleOutput(const std::string& body) {
  const std::string text = "import torch\ncompiled = torch._C._dynamo.compile\nx = torch.ones(1)\n" + body;
  const ProgramRequest request{.text = text, .name = "program.py"};
  const auto answer = runProgram(request, dynamoEnvironment());
  EXPECT_TRUE(answer) << answer.error().text();
  if (!answer) return {};
  EXPECT_EQ(answer->errors, "");
  return answer->output;
}

TEST(DynamoStale, AClassThatGetsItsOwnConstantOrMethod) {
  EXPECT_EQ(
      staleOutput("class A:\n    K = 2\n    def m(self, t): return t * 3\n    @property\n    def p(self): return 4\n"
                  "class B(A): pass\n"
                  "for use in (lambda t, b: t * b.K, lambda t, b: b.m(t), lambda t, b: t * b.p):\n"
                  "    f = compiled(use)\n    print(f(x, B()).item(), end=' ')\n"
                  "    B.K, B.m, B.p = 5, lambda self, t: t * 6, property(lambda self: 7)\n"
                  "    print(f(x, B()).item())\n    del B.K, B.m, B.p\n"),
      "2.0 5.0\n3.0 6.0\n4.0 7.0\n");
}

TEST(DynamoStale, SlotsThatAreWrittenInto) {
  EXPECT_EQ(staleOutput("class Base: __slots__ = ('n', 'm')\nclass D(Base): pass\n"
                        "def use(t, d):\n    d.n += 1\n    d.m = t * d.n\n    return t + d.n\n"
                        "def drop(t, d):\n    del d.n\n    return t + 1\n"
                        "d, f = D(), compiled(use)\nd.n = 1\n"
                        "for k in range(3): print(f(x, d).item(), d.n, d.m.item(), vars(d))\n"
                        "compiled(drop)(x, d)\nprint(hasattr(d, 'n'), hasattr(d, 'm'))\n"),
            "3.0 2 2.0 {}\n4.0 3 3.0 {}\n5.0 4 4.0 {}\nFalse True\n");
}

/// Each call makes its own, also where no dict has what it holds.
TEST(DynamoStale, ObjectsWithSlotsAndNamespacesAreMadeAnew) {
  EXPECT_EQ(
      staleOutput("import dataclasses, types\n"
                  "class P:\n    __slots__ = ('a', 'b', 'c')\n"
                  "@dataclasses.dataclass(slots=True, frozen=True)\nclass Q:\n    a: object\n    b: list\n"
                  "def plain(t):\n    p = P()\n    p.a, p.b = t * 2, [3]\n    return p\n"
                  "for make in (plain, lambda t: Q(t * 2, [3]), lambda t: types.SimpleNamespace(a=t * 2, b=[3])):\n"
                  "    f = compiled(make)\n    q, r = f(x), f(x + 1)\n"
                  "    print(q.a.item(), r.a.item(), q.b, q is r, q.b is r.b, hasattr(q, 'c'), type(q).__name__)\n"),
      "2.0 4.0 [3] False False False P\n2.0 4.0 [3] False False False Q\n"
      "2.0 4.0 [3] False False False SimpleNamespace\n");
}

TEST(DynamoStale, WhatTheProgramPutsOnTensor) {
  EXPECT_EQ(staleOutput("torch.Tensor.K = 2\ntorch.Tensor.zz = lambda s: s * 3\n"
                        "f = compiled(lambda t: t * torch.Tensor.K)\nh = compiled(lambda t: torch.Tensor.zz(t))\n"
                        "print(f(x).item(), h(x).item())\n"
                        "torch.Tensor.K = 4\ntorch.Tensor.zz = lambda s: s * 5\nprint(f(x).item(), h(x).item())\n"),
            "2.0 3.0\n4.0 5.0\n");
}

TEST(DynamoStale, TheDictOfAnObjectHoweverItIsAsked) {
  EXPECT_EQ(staleOutput("class O: pass\n"
                        "for use in (lambda t, o: t * ('b' in vars(o)), lambda t, o: t * vars(o)['a'],\n"
                        "            lambda t, o: t * (o.__dict__ == {'a': 3}), lambda t, o: t * len({**vars(o)}),\n"
                        "            lambda t, o: t * sum(v for k, v in vars(o).items())):\n"
                        "    o = O()\n    o.a = 3\n    f = compiled(use)\n    before = f(x, o).item()\n"
                        "    o.a, o.b = 9, 4\n    print(before, f(x, o).item())\n"),
            "0.0 1.0\n3.0 9.0\n1.0 0.0\n1.0 2.0\n3.0 13.0\n");
}

TEST(DynamoStale, ResultsHaveTheClassThatTheProgramAskedFor) {
  EXPECT_EQ(staleOutput("class S(torch.Tensor): pass\n"
                        "f = compiled(lambda t: (t.as_subclass(torch.Tensor), t + 1))\n"
                        "print([type(v).__name__ for v in f(x.as_subclass(S))])\n"
                        "class D(torch.Tensor):\n    __torch_function__ = torch._C._disabled_torch_function_impl\n"
                        "print(type(compiled(lambda t: (t + 1).as_subclass(D))(x)).__name__)\n"),
            "['Tensor', 'S']\nD\n");
}

TEST(DynamoStale, ErrorsThatAProgramCatchesAreRaisedWhereItDoes) {
  EXPECT_EQ(staleOutput("def f(t):\n    y = t.expand(3, 2)\n    try: y.add_('a')\n    except TypeError: return t * 5\n"
                        "print(compiled(f)(torch.ones(2)).tolist())\n"
                        "def h(t):\n    held = [t]\n    held.append(held)\n    try: return torch.cat(held)\n"
                        "    except (TypeError, RecursionError): return t * 7\n"
                        "print(compiled(h)(torch.ones(2)).tolist())\n"),
            "[5.0, 5.0]\n[7.0, 7.0]\n");
}

/// Base's slot of the same name is out of reach, and holds nothing.
TEST(DynamoStale, ASlotThatASubclassListsAgainKeepsItsValue) {
  EXPECT_EQ(staleOutput("class Base: __slots__ = ('n',)\nclass D(Base): __slots__ = ('n', '__dict__')\n"
                        "def use(t, d):\n    d.n += 1\n    return t + d.n\n"
                        "d = D(); d.n = 1\nf = torch.compile(use, backend='eager')\n"
                        "for k in range(3): print(f(torch.ones(1), d).item(), d.n)\n"),
            "3.0 2\n4.0 3\n5.0 4\n");
}

/// What holds the compiled code is gone while it is looked through.
TEST(DynamoStale, ABackendMayResetTheCacheThatItIsAskedFrom) {
  EXPECT_EQ(
      staleOutput("class B:\n"
                  "    __hash__ = None\n"
                  "    def __call__(self, gm, inputs):\n        torch._dynamo.reset()\n        return gm.forward\n"
                  "    def __eq__(self, other):\n"
                  "        torch._dynamo.reset()\n        kept = [bytearray(64) for _ in range(1000)]\n"
                  "        return False\n"
                  "def g(x): return x * 2 + 1\n"
                  "for k in range(3): print(torch.compile(g, backend=B())(torch.ones(2)).tolist())\n"),
      "[3.0, 3.0]\n[3.0, 3.0]\n[3.0, 3.0]\n");
}

TEST(DynamoStale, StancesDecideWhatNoCompiledFormFits) {
  EXPECT_EQ(
      staleOutput("import torch\n@torch.compile(backend='eager', dynamic=False)\ndef f(x): return x + 1\n"
                  "f(torch.ones(2))\n"
                  "with torch.compiler.set_stance('fail_on_recompile'):\n    print(f(torch.ones(2)).tolist())\n"
                  "    try: f(torch.ones(3))\n    except RuntimeError as e: print(str(e).splitlines()[-1])\n"
                  "with torch.compiler.set_stance('eager_on_recompile'): print(f(torch.ones(4)).tolist())\n"
                  "import json; print(len(json.loads(torch._C._dynamo.log())['frames']))"),
      "[2.0, 2.0]\n    - 0/0: tensor 'x' size mismatch at index 0. expected 2, actual 3\n[2.0, 2.0, 2.0, 2.0]\n1\n");
}

TEST(DynamoStale, AFullGraphRaisesAtTheLimitOfForms) {
  EXPECT_EQ(staleOutput("import torch\ntorch._dynamo.config.recompile_limit = 2\n"
                        "f = torch.compile(lambda x, n: x + n, backend='eager', fullgraph=True, dynamic=False)\n"
                        "for n in (1, 2, 3):\n    try: print(f(torch.ones(1), n).item())\n"
                        "    except torch._dynamo.exc.FailOnRecompileLimitHit as e: print(e)"),
            "2.0\n3.0\nHard failure due to fullgraph=True\n");
}

TEST(DynamoStale, TransformsThatAreCompiledAreTracedWhole) {
  EXPECT_EQ(staleOutput("from torch.func import hessian, grad, vmap\nx = torch.tensor([1., 2.])\n"
                        "f = lambda x: (x ** 3).sum()\n"
                        "for b in ('eager', 'aot_eager', 'inductor'):\n"
                        "    print(torch.compile(hessian(f), backend=b)(x).tolist(),\n"
                        "          torch.compile(vmap(grad(grad(lambda t: t ** 3))), backend=b)(x).tolist())"),
            "[[6.0, 0.0], [0.0, 12.0]] [6.0, 12.0]\n[[6.0, 0.0], [0.0, 12.0]] [6.0, 12.0]\n"
            "[[6.0, 0.0], [0.0, 12.0]] [6.0, 12.0]\n");
}

TEST(DynamoStale, ListsAsIndicesHaveTheirShapesInGraphs) {
  EXPECT_EQ(
      staleOutput(
          "import json\nx = torch.arange(6.)\n"
          "f = torch.compile(lambda x, k: x[[0, 1]] * x[k].shape[0] + x.view(3, 2)[[0, 2]].shape[0], fullgraph=True)\n"
          "print(f(x, [1, 2, 3]).tolist(), len(json.loads(torch._C._dynamo.log())['frames']))"),
      "[2.0, 5.0] 1\n");
}

/// PyTorch has one under transforms; Kerf says that it has not, and gives no zeros.
TEST(DynamoStale, CompiledFunctionsHaveNoSecondDerivative) {
  EXPECT_EQ(
      staleOutput("from torch.func import hessian\nf = torch.compile(lambda x: (x ** 3).sum(), backend='aot_eager')\n"
                  "try: print(hessian(f)(torch.tensor([1., 2.])).tolist())\n"
                  "except RuntimeError as e: print(e)"),
      "torch.compile with aot_autograd does not currently support double backward\n");
}

}  // namespace
}  // namespace kerf
