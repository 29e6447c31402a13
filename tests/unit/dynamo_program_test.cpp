// Compiled functions of programs: equal values, and what was captured.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "engine/dynamo/environment.h"

namespace kerf {
namespace {

ProgramAnswer runText(const std::string& text) {
  const ProgramRequest request{.text = text, .name = "program.py"};
  auto answer = runProgram(request, dynamoEnvironment());
  EXPECT_TRUE(answer) << answer.error().text();
  return answer ? *answer : ProgramAnswer{};
}

/// Runs `body`, which defines f, beside its compiled form on the same arguments, and prints what was captured.
std::string compiled(const std::string& body, const std::string& call) {
  const ProgramAnswer answer =
      runText("import torch\n" + body +
              "\ng = torch._C._dynamo.compile(f)\n"
              "def same(a, b):\n"
              "    if isinstance(a, torch.Tensor): return bool((a == b).all())\n"
              "    if isinstance(a, (tuple, list)): return len(a) == len(b) and all(map(same, a, b))\n"
              "    return a == b\n"
              "for _ in range(2):\n"
              "    assert same(f(" +
              call + "), g(" + call + ")), (f(" + call + "), g(" + call +
              "))\n"
              "import json\n"
              "log = json.loads(torch._C._dynamo.log())\n"
              "for graph in log['graphs']: print(' '.join(n[2] for n in graph['nodes']))\n"
              "for b in log['breaks']: print('break', b['type'], b['stack'])\n");
  EXPECT_EQ(answer.errors, "");
  return answer.output;
}

/// What a program prints that compiles f and then runs `calls`; ends with the number of graphs.
std::string printed(const std::string& body, const std::string& calls) {
  const ProgramAnswer answer = runText("import torch\n" + body + "\ng = torch._C._dynamo.compile(f)\n" + calls +
                                       "\nimport json\nprint(len(json.loads(torch._C._dynamo.log())['graphs']))\n");
  EXPECT_EQ(answer.errors, "");
  return answer.output;
}

TEST(DynamoProgram, SizesThatDifferBecomeSymbols) {
  EXPECT_EQ(
      printed("def f(x): return x.sum() / (x.shape[0] + 1)\n", "for n in (3, 7, 15): print(float(g(torch.ones(n))))"),
      "0.75\n0.875\n0.9375\n2\n");
}

TEST(DynamoProgram, ListsThatCallsGotMayChangeAfterwards) {
  EXPECT_EQ(
      printed("def f(x, xs):\n    y = torch.stack(xs)\n    xs.append(y.sum(0))\n    xs[0] = x\n    return y\n",
              "xs = [torch.ones(1), torch.ones(1)]\nprint(g(torch.zeros(1), xs).tolist(), [t.item() for t in xs])"),
      "[[1.0], [1.0]] [0.0, 1.0, 2.0]\n1\n");
}

TEST(DynamoProgram, FinallyOfAnAbandonedTraceDoesNotRun) {
  EXPECT_EQ(
      printed("import contextlib\nlog = []\n"
              "class Plain:\n    def __enter__(self): log.append('in')\n    def __exit__(self, *a): log.append('out')\n"
              "@contextlib.contextmanager\n"
              "def block():\n    log.append('a')\n    try: yield 2\n    finally: log.append('b')\n"
              "def f(x):\n    with Plain(), block() as n:\n        print('inside')\n        return x * n\n",
              "print(g(torch.ones(1)).tolist(), log)"),
      "inside\n[2.0] ['in', 'a', 'b', 'out']\n0\n");
}

TEST(DynamoProgram, AbsoluteValuesOfNumbersAreNumbers) {
  EXPECT_EQ(
      printed("def f(x, n): return x + abs(abs(n - 3) - 3)\n", "for n in (3, 4, 7): print(g(torch.ones(1), n).item())"),
      "4.0\n3.0\n2.0\n2\n");
}

TEST(DynamoProgram, NumbersWhoseValueIsNeededAreFixed) {
  EXPECT_EQ(printed("def f(x, n): return x * len({0, abs(n - 3) * 2, 3})\n",
                    "for n in (5, 4, 3): print(g(torch.ones(1), n).item())"),
            "3.0\n3.0\n2.0\n3\n");
}

TEST(DynamoProgram, NumbersThatDifferBecomeSymbols) {
  EXPECT_EQ(printed("def f(x, n, p): return (x * n + p).sum(), n // 2\n",
                    "for n in (2, 3, 8): print(float(g(torch.ones(2), n, n / 2)[0]), g(torch.ones(2), n, n / 2)[1])"),
            "6.0 1\n9.0 1\n24.0 4\n2\n");
}

TEST(DynamoProgram, BranchesOnSymbolsAreGuards) {
  EXPECT_EQ(printed("def f(x): return x * 2 if x.shape[0] > 4 else x - 1\n",
                    "for n in (2, 3, 6, 7): print(float(g(torch.ones(n)).sum()))"),
            "0.0\n0.0\n12.0\n14.0\n3\n");
}

TEST(DynamoProgram, GoesOnInsideAWithBlockOfTorch) {
  EXPECT_EQ(
      printed("def f(x):\n    with torch.no_grad():\n        y = x * 2\n        print('in', torch.is_grad_enabled())\n"
              "        z = y + 1\n    return z, x * 3\n",
              "a, b = g(torch.ones(2, requires_grad=True))\nprint(a.requires_grad, b.requires_grad, float(a.sum()))"),
      "in False\nFalse True 6.0\n2\n");
}

TEST(DynamoProgram, RecordsAStraightLine) {
  EXPECT_EQ(compiled("def f(x, y):\n    z = x + y\n    return z * 2\n", "torch.ones(2), torch.ones(2)"),
            "L_x_ L_y_ operator.add operator.mul output\n");
}

TEST(DynamoProgram, InlinesFunctionsAndLoops) {
  EXPECT_EQ(
      compiled(
          "def g1(x, n):\n    return x + n\n\ndef f(x):\n    for i in range(2):\n        x = g1(x, i)\n    return x\n",
          "torch.ones(2)"),
      "L_x_ operator.add operator.add output\n");
}

TEST(DynamoProgram, BreaksAtPrint) {
  EXPECT_EQ(compiled("def f(x):\n    y = x + 1\n    print('hi')\n    return y * x\n", "torch.ones(2)"),
            "hi\nhi\nhi\nhi\n"
            "L_x_ operator.add output\nL_y_ L_x_ operator.mul output\n"
            "break Failed to trace builtin operator ['program.py:4 in f']\n");
}

TEST(DynamoProgram, ReplaysChangesOfLists) {
  EXPECT_EQ(compiled("def f(x, log=None):\n    log = []\n    log.append(x + 1)\n    return log, {'a': x * 2}['a']\n",
                     "torch.ones(2)"),
            "L_x_ operator.add operator.mul output\n");
}

TEST(DynamoProgram, CatchesWhatItsCodeRaises) {
  EXPECT_EQ(compiled("def check(x):\n    if x.shape[0] == 3: raise RuntimeError('three')\n"
                     "def f(x):\n    try:\n        check(x)\n    except RuntimeError:\n        return x * 2\n",
                     "torch.ones(3)"),
            "L_x_ operator.mul output\n");
}

TEST(DynamoProgram, GoesOnAfterABreakWithClosuresAndCells) {
  EXPECT_EQ(compiled("def f(x):\n    n = [0]\n    def inc():\n        n[0] += 1\n        return n[0]\n    a = inc()\n"
                     "    print(a)\n    return x + inc() * 10 + n[0]\n",
                     "torch.ones(2)"),
            "1\n1\n1\n1\nL_x_ operator.add operator.add output\n"
            "break Failed to trace builtin operator ['program.py:8 in f']\n");
}

}  // namespace
}  // namespace kerf
