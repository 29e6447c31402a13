// Guards of compiled functions: their kinds and sources, and what they keep right.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "engine/dynamo/environment.h"

namespace kerf {
namespace {

std::string outputOf(const std::string& text) {
  const ProgramRequest request{.text = text, .name = "program.py"};
  const auto answer = runProgram(request, dynamoEnvironment());
  EXPECT_TRUE(answer) << answer.error().text();
  if (!answer) return {};
  EXPECT_EQ(answer->errors, "");
  return answer->output;
}

/// The guards of the first frames, one a line, of a program that defines f and calls it as g.
std::string guardsOf(const std::string& body, const std::string& call) {
  return outputOf("import torch, json\nimport torch.nn as nn\nimport torch.nn.functional as F\n" + body +
                  "\ng = torch._C._dynamo.compile(f)\n" + call +
                  "\nfound = {k + ' ' + s for f in json.loads(torch._C._dynamo.log())['frames']"
                  " for k, _, s in f['guards'] if s and '_hooks' not in s}\n"
                  "for line in sorted(found): print(line)\n");
}

/// What a program prints that compiles f and calls it as g; ends with the reasons of its recompiles.
std::string printed(const std::string& body, const std::string& calls) {
  return outputOf("import torch, json\n" + body + "\ng = torch._C._dynamo.compile(f)\n" + calls +
                  "\nfor r in json.loads(torch._C._dynamo.log())['recompiles']: print(r['guard'])\n");
}

TEST(DynamoGuards, TuplesOfNumbersOfModulesAreGuardedAsOne) {
  EXPECT_EQ(
      guardsOf("class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.k = (1, 2)\n"
               "    def forward(self, x):\n        return x * self.k[0] + self.k[1]\n"
               "m = M()\ndef f(m, x): return m(x)\n",
               "g(m, torch.ones(2))"),
      "CONSTANT_MATCH L['m'].k\nNOT_PRESENT_IN_GENERIC_DICT L['m']\nSEQUENCE_LENGTH L['m'].k\n"
      "TENSOR_MATCH L['x']\nTYPE_MATCH L['m']\n");
}

TEST(DynamoGuards, PropertiesAndDescriptorsAreFoundInTheirClass) {
  const std::string body =
      "class A:\n    def __init__(self): self.n = 3\n    @property\n    def twice(self): return self.n * 2\n"
      "class B(A): pass\n"
      "def f(a, x): return x * a.twice\n";
  EXPECT_EQ(guardsOf(body, "g(B(), torch.ones(2))"),
            "CLOSURE_MATCH dict(type(L['a']).__mro__[1].__dict__)['twice'].fget\nCONSTANT_MATCH L['a'].n\n"
            "NOT_PRESENT_IN_GENERIC_DICT L['a']\nTENSOR_MATCH L['x']\nTYPE_MATCH L['a']\n");
}

TEST(DynamoGuards, ClassesOfTheProgramKeepTheirConstants) {
  EXPECT_EQ(guardsOf("class A:\n    gain = 3.0\ndef f(x): return x * A().gain\n", "g(torch.ones(2))"),
            "CLASS_MATCH G['A']\nCONSTANT_MATCH G['A'].gain\nTENSOR_MATCH L['x']\n");
  EXPECT_EQ(printed("class A:\n    gain = 3.0\ndef f(x): return x * A().gain\n",
                    "print(g(torch.ones(1)).item())\nA.gain = 5.0\nprint(g(torch.ones(1)).item())"),
            "3.0\n5.0\nG['A'].gain == 3.0\n");
}

TEST(DynamoGuards, FieldsOfNamedTuplesHaveTheirNames) {
  EXPECT_EQ(
      guardsOf("from typing import NamedTuple\nclass B(NamedTuple):\n    data: object\n    n: int\n    unused: int\n"
               "def f(b): return b.data * b.n\n",
               "g(B(torch.ones(2), 3, 4))"),
      "CONSTANT_MATCH L['b'].n\nSEQUENCE_LENGTH L['b']\nTENSOR_MATCH L['b'].data\n");
}

TEST(DynamoGuards, IterationGuardsWhatIsLookedAt) {
  EXPECT_EQ(guardsOf("def f(x, ks):\n    for i, k in enumerate(ks):\n        if i == 2: break\n        x = x * k\n"
                     "    return x\n",
                     "g(torch.ones(2), [2, 3, 4])"),
            "CONSTANT_MATCH L['ks'][0]\nCONSTANT_MATCH L['ks'][1]\nSEQUENCE_LENGTH L['ks']\nTENSOR_MATCH L['x']\n");
  EXPECT_EQ(guardsOf("def f(x, d):\n    for k, v in d.items():\n        if k == 'a': x = x * v\n    return x\n",
                     "g(torch.ones(2), {'a': 2, 'b': 3})"),
            "CONSTANT_MATCH L['d']['a']\nDICT_KEYS_MATCH L['d']\nTENSOR_MATCH L['x']\nTYPE_MATCH L['d']\n");
}

TEST(DynamoGuards, AppendingKeepsWhatIsThere) {
  // Items that were not looked at stay as they are at each call; constants at the start are looked at, to write all as one.
  EXPECT_EQ(printed("def f(x, xs):\n    xs.append(x.shape[0])\n    return x + 1\n",
                    "a, b = [1, 2], [5, 6]\ng(torch.ones(2), a)\ng(torch.ones(2), b)\nprint(a, b)"),
            "[1, 2, 2] [5, 6, 2]\nxs[0] == 1\n");
  EXPECT_EQ(printed("def f(x, xs):\n    last = xs.pop()\n    return x * last\n",
                    "a, b = [1, 2], [5, 2]\ng(torch.ones(2), a)\nprint(g(torch.ones(2), b).sum().item())\nprint(a, b)\n"
                    "print(g(torch.ones(2), [5, 7]).sum().item())"),
            "4.0\n[1] [5]\n14.0\nxs[0] == 1\nxs[1] == 2\n");
}

TEST(DynamoGuards, EntriesOfDictsThatAreNotTouchedStay) {
  EXPECT_EQ(printed("def f(x, d):\n    d['new'] = 1\n    return x + 1\n",
                    "a, b = {'m': 5}, {'m': 6}\ng(torch.ones(2), a)\ng(torch.ones(2), b)\nprint(a, b)"),
            "{'m': 5, 'new': 1} {'m': 6, 'new': 1}\n");
  EXPECT_EQ(printed("def f(x, d):\n    v = d.pop('m')\n    d['m'] = v\n    return x + 1\n",
                    "a, b = {'m': 5, 'n': 1}, {'m': 6, 'n': 2}\ng(torch.ones(2), a)\ng(torch.ones(2), b)\nprint(a, b)"),
            "{'n': 1, 'm': 5} {'n': 2, 'm': 6}\nd['m'] == 5\n");
}

TEST(DynamoGuards, AListItemWrittenAsItWasIsGuarded) {
  EXPECT_EQ(printed("def f(x, xs):\n    xs[0] = 1\n    return x + 1\n",
                    "a, b = [1], [2]\ng(torch.ones(2), a)\ng(torch.ones(2), b)\nprint(a, b)"),
            "[1] [1]\nxs[0] == 1\n");
}

TEST(DynamoGuards, ReasonsOfRecompilesAreThoseOfPyTorch) {
  EXPECT_EQ(printed("def f(x, y): return x + y\n",
                    "a = torch.ones(2)\ng(a, torch.ones(2))\ng(a, a)\ng(None, 1) if 0 else None"),
            "Duplicate tensors found: [\"x\", \"y\"]\n");
  EXPECT_EQ(printed("def f(x, b): return x if b is None else x + b\n", "a = torch.ones(2)\ng(a + 1, a)\ng(a, None)"),
            "expected type of 'b' to be a tensor type, ' but found <class 'NoneType'>\n");
  EXPECT_EQ(printed("def f(x, d):\n    for k in d: x = x + len(k)\n    return x\n",
                    "x = torch.ones(2)\ng(x, {'a': 1, 'bb': 2})\ng(x, {'bb': 1, 'a': 2})\ng(x, {'a': 1})"),
            "list(dict.keys(d))[0] == 'a'\nlist(dict.keys(d))[0] == 'bb'\n");
}

/// A method that a container was asked for belongs to the container that lives on, not to the one of tracing.
TEST(DynamoGuards, MethodsOfContainersLiveAcrossABreak) {
  EXPECT_EQ(printed("def f(x):\n    items = [x + 1]\n    add = items.append\n    torch._dynamo.graph_break()\n"
                    "    add(x * 2)\n    add(x * 3)\n    return items\n",
                    "print([t.tolist() for t in g(torch.ones(1))])"),
            "[[2.0], [2.0], [3.0]]\n");
  EXPECT_EQ(printed("def f(x, d):\n    put = d.setdefault\n    y = x + 1\n    torch._dynamo.graph_break()\n"
                    "    put('b', y)\n    return y\n",
                    "d = {'a': torch.zeros(1)}\ng(torch.ones(1), d)\nprint(sorted(d), d['b'].tolist())"),
            "['a', 'b'] [2.0]\n");
  EXPECT_EQ(printed("def f(x):\n    out = set()\n    add = out.add\n    for i in range(3):\n        add(i)\n"
                    "        if i == 1: torch._dynamo.graph_break()\n    return x + len(out), out\n",
                    "y, out = g(torch.zeros(1))\nprint(y.tolist(), sorted(out))"),
            "[3.0] [0, 1, 2]\n");
}

/// The guard of a function is its code, which all functions share that a line has made: each call has its own cells.
TEST(DynamoGuards, FunctionsThatLiveAcrossABreakHaveTheirOwnCells) {
  const char* const twice = "for k in (1.0, 10.0): print(g(torch.full((1,), k)).tolist())";
  EXPECT_EQ(printed("def h(v):\n    torch._dynamo.graph_break()\n    return v\n"
                    "def f(x):\n    t = lambda w: h(w * x)\n    torch._dynamo.graph_break()\n"
                    "    return t(torch.full((1,), 3.0))\n",
                    twice),
            "[3.0]\n[30.0]\n");
  EXPECT_EQ(printed("def h(v):\n    torch._dynamo.graph_break()\n    return v\n"
                    "def f(x):\n    t = lambda w: h(w * x)\n    return t(torch.ones(1)) - t(torch.full((1,), 3.0))\n",
                    twice),
            "[-2.0]\n[-20.0]\n");
  EXPECT_EQ(printed("def h(v):\n    torch._dynamo.graph_break()\n    return v\n"
                    "def f(x):\n    def t(w, y=x): return h(w * y)\n    both = [t]\n    torch._dynamo.graph_break()\n"
                    "    both.append(t)\n    return both[0](torch.ones(1)) + both[1](torch.ones(1))\n",
                    twice),
            "[2.0]\n[20.0]\n");
}

TEST(DynamoGuards, NamesOfFunctionsNeedNone) {
  EXPECT_EQ(guardsOf("def h(x): return x + 1\ndef f(x): return h(x), h.__name__\n", "g(torch.ones(2))"),
            "CLOSURE_MATCH G['h']\nTENSOR_MATCH L['x']\n");
}

TEST(DynamoGuards, SettingAnAttributeOfAModuleLooksAtNothingElse) {
  EXPECT_EQ(guardsOf("class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.n = 0\n"
                     "        self.other = [1, 2]\n"
                     "    def forward(self, x):\n        self.n += 1\n        return x + 1\n"
                     "m = M()\ndef f(m, x): return m(x)\n",
                     "g(m, torch.ones(2))"),
            "DICT_CONTAINS L['m']._buffers\nDICT_CONTAINS L['m']._modules\nDICT_CONTAINS L['m']._parameters\n"
            "EQUALS_MATCH L['m'].n\nNOT_PRESENT_IN_GENERIC_DICT L['m']\nTENSOR_MATCH L['x']\nTYPE_MATCH L['m']\n"
            "TYPE_MATCH L['m']._buffers\nTYPE_MATCH L['m']._modules\nTYPE_MATCH L['m']._parameters\n");
}

TEST(DynamoGuards, FurtherArgumentsAndGeneratorsKeepTheirSources) {
  EXPECT_EQ(printed("def h(*a, **k): return a[1] * (2 if a[0] else 3) + k.get('n', 0)\n"
                    "def f(flag, x, n): return h(flag, x, n=n)\n",
                    "for flag, n in (True, 1.0), (False, 1.0), (False, 4.0): print(g(flag, torch.ones(1), n).item())"),
            "3.0\n4.0\n7.0\nflag == True\nn == 1.0\n");
  EXPECT_EQ(printed("def each(s):\n    yield 1.0\n    yield s\n"
                    "def f(s, x):\n    for k in each(s): x = x * k\n    return x\n",
                    "for s in (2.5, 4.5): print(g(s, torch.ones(1)).item())"),
            "2.5\n4.5\ns == 2.5\n");
}

TEST(DynamoGuards, KeysThatAnInputNamesAreGuardedByTheirValue) {
  const std::string body = "def f(d, k, x): return x * d[k] if k in d else x\n";
  EXPECT_EQ(guardsOf(body, "g({'a': 2.0, 'b': 3.0}, 'a', torch.ones(2))"),
            "CONSTANT_MATCH L['d']['a']\nCONSTANT_MATCH L['k']\nTENSOR_MATCH L['x']\nTYPE_MATCH L['d']\n");
  EXPECT_EQ(printed(body,
                    "for d in {'a': 2.0}, {'b': 3.0}: print(g(d, 'c', torch.ones(1)) is not None, "
                    "len(json.loads(torch._C._dynamo.log())['recompiles']))"),
            "True 0\nTrue 0\n");
}

TEST(DynamoGuards, WhatOnlyLeavesAFrameIsGuardedWithItsTensors) {
  EXPECT_EQ(guardsOf("def f(xs, n, x): return x + 1, xs, n\n", "g([torch.ones(2), 3], 5, torch.ones(2))"),
            "SEQUENCE_LENGTH L['xs']\nTENSOR_MATCH L['x']\nTENSOR_MATCH L['xs'][0]\n");
  EXPECT_EQ(printed("def f(n, m, x):\n    t = (x + 1, n, m)\n    return t if t[2] else t\n",
                    "for n in (5, 6): print(g(n, True, torch.ones(1))[1:])"),
            "(5, True)\n(6, True)\nn == 5\n");
}

TEST(DynamoGuards, HooksOfModulesAreFoundByTheirPlace) {
  EXPECT_EQ(outputOf("import torch, json\nimport torch.nn as nn\nm = nn.Linear(2, 2)\n"
                     "m.register_forward_hook(lambda mod, args, out: out * 2)\n"
                     "def f(m, x): return m(x)\ng = torch._C._dynamo.compile(f)\ng(m, torch.ones(1, 2))\n"
                     "found = [(k, s) for k, _, s in json.loads(torch._C._dynamo.log())['frames'][0]['guards']]\n"
                     "for k, s in sorted(found):\n    if '_forward_hooks' in s: print(k, s)\n"),
            "CLOSURE_MATCH L['m']._forward_hooks[list(dict.keys(L['m']._forward_hooks))[0]]\n"
            "DICT_CONTAINS L['m']._forward_hooks_always_called\n"
            "EMPTY_NN_MODULE_HOOKS_DICT L['m']._forward_hooks_with_kwargs\n"
            "SEQUENCE_LENGTH L['m']._forward_hooks\nTYPE_MATCH L['m']._forward_hooks_always_called\n");
}

TEST(DynamoGuards, CellsOfFunctionsThatAreHandedOnHaveTheirNames) {
  EXPECT_EQ(guardsOf("def made(k):\n    def run(x): return x * k\n    return run\nh = made(2.0)\n"
                     "def call(fn, x): return fn(x)\ndef f(x): return call(*[h, x])\n",
                     "g(torch.ones(2))"),
            "CLOSURE_MATCH G['call']\nCLOSURE_MATCH G['h']\nCONSTANT_MATCH G['h'].__closure__[0].cell_contents\n"
            "TENSOR_MATCH L['x']\n");
}

TEST(DynamoGuards, LayersLookAtModulesByTheProgramsNames) {
  const std::string found = guardsOf(
      "m = nn.Sequential(nn.Tanh(), nn.GELU())\ndef f(x): return m(F.relu(torch.sin(x)))\n", "g(torch.ones(2))");
  EXPECT_TRUE(found.contains("BUILTIN_MATCH G['torch'].tanh\n")) << found;
  EXPECT_TRUE(found.contains("BUILTIN_MATCH G['F'].gelu\n")) << found;
}

TEST(DynamoGuards, AutogradFunctionsAreGuardedByTheirFunctions) {
  EXPECT_EQ(guardsOf("class Twice(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x): return x * 2\n"
                     "    @staticmethod\n    def backward(ctx, g): return g * 2\ndef f(x): return Twice.apply(x)\n",
                     "g(torch.ones(2, requires_grad=True))"),
            "CLASS_MATCH G['Twice']\nCLOSURE_MATCH G['Twice'].backward\nCLOSURE_MATCH G['Twice'].forward\n"
            "TENSOR_MATCH L['x']\n");
}

}  // namespace
}  // namespace kerf
