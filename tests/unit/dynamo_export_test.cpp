// What an exported program's module accepts where no size may differ, and which sizes export() refuses to let differ.
#include <gtest/gtest.h>

#include "engine/dynamo/environment.h"

namespace kerf {
namespace {

/// Prints what attempt() gives, or the first line of what it raises.
std::string exportOutput(const std::string& body) {
  const std::string text =
      "import torch\n"
      "from torch.export import export\n"
      "def module(forward): return type('M', (torch.nn.Module,), {'forward': forward})()\n"
      "def attempt(f, *args):\n"
      "    try: print(f(*args).tolist())\n"
      "    except Exception as error: print(type(error).__name__, str(error).split('\\n')[-1])\n"
      "ones = torch.ones\n" +
      body;
  const ProgramRequest request{.text = text, .name = "program.py"};
  const auto answer = runProgram(request, dynamoEnvironment());
  EXPECT_TRUE(answer) << answer.error().text();
  if (!answer) return {};
  EXPECT_EQ(answer->errors, "");
  return answer->output;
}

TEST(DynamoExport, FixedSizesAndNumbersStayAsTheyWere) {
  EXPECT_EQ(exportOutput("run = export(module(lambda self, x, n: x * n), (ones(2), 3)).module()\n"
                         "attempt(run, ones(2), 3)\nattempt(run, ones(3), 3)\nattempt(run, ones(2), 4)\n"),
            "[3.0, 3.0]\nAssertionError Guard failed: x.size()[0] == 2\n"
            "AssertionError Expected input at n to be equal to 3, but got 4\n");
}

/// Prints whether export() takes sums of sizes of inputs x0, x1, … up to `most`, each with a Dim of its own.
const std::string trySums =
    "from torch.export import Dim\n"
    "def sums(most, *dims):\n"
    "    scope = {'torch': torch, 'most': most}\n"
    "    names = ', '.join(f'x{k}' for k in range(len(dims)))\n"
    "    exec(f'def forward(self, {names}):\\n    y = torch.cat([{names}])\\n'\n"
    "         '    return y + 1 if y.shape[0] <= most else y\\n', scope)\n"
    "    inputs = tuple(ones(3 + k % 2) for k in range(len(dims)))\n"
    "    try: export(module(scope['forward']), inputs, dynamic_shapes=tuple({0: d} for d in dims))\n"
    "    except Exception as error: print(type(error).__name__, str(error).split('\\n')[0].split('!')[0])\n"
    "    else: print('exports')\n";

TEST(DynamoExport, SizesOfSeveralDimsAreTriedAtBothEnds) {
  EXPECT_EQ(exportOutput(trySums + "sums(64, Dim('u'), Dim('v'))\n"
                                   "sums(64, Dim('u', max=32), Dim('v', max=32))\n"
                                   "sums(63, Dim('u', max=32), Dim('v', max=32))\n"
                                   "sums(1000, Dim('u'))\n"
                                   "sums(899, Dim('u', min=3, max=300), 2 * Dim('u', min=3, max=300))\n"),
            "UserError Constraints violated (u, v)\nexports\nUserError Constraints violated (u, v)\n"
            "UserError Constraints violated (u)\nUserError Constraints violated (u, 2*u)\n");
}

/// 2^20 combinations would take half a minute.
TEST(DynamoExport, SizesOfManyDimsAreTriedInAFewCombinations) {
  EXPECT_EQ(
      exportOutput(trySums + "import torch.export._constraints as constraints\n"
                             "holds, calls = constraints._Guard.holds, []\n"
                             "def counted(self, values):\n"
                             "    calls.append(values)\n"
                             "    return holds(self, values)\n"
                             "constraints._Guard.holds = counted\n"
                             "sums(200, *[Dim(f'd{k}', max=10) for k in range(20)])\n"
                             "print(0 < len(calls) <= 1000)\n"
                             "sums(199, *[Dim(f'd{k}', max=10) for k in range(20)])\n"),
      "exports\nTrue\nUserError Constraints violated (" +
          [] {
            std::string names = "d0";
            for (int k = 1; k < 20; ++k) names += ", d" + std::to_string(k);
            return names;
          }() +
          ")\n");
}

TEST(DynamoExport, GuardsThatCannotBeCheckedAreNamed) {
  EXPECT_EQ(exportOutput("from torch.export import Dim\n"
                         "from torch.export._constraints import _Guard, _Size\n"
                         "size = _Size('s0', 'n', 0, 0, Dim('u'), 4)\n"
                         "for text in ('n.foo > 1', '2.0 ** (1000 * n) > 1', '1 << (3 - n) > 1'):\n"
                         "    try: _Guard(text, [size])\n"
                         "    except RuntimeError as error: print(str(error).split(' checked: ')[0])\n"
                         "print(_Guard('2.0 ** (200 * n) > 1', [size]).holds({'n': 400}))\n"),
            "torch.export: the guard n.foo > 1 cannot be\n"
            "torch.export: the guard 2.0 ** (1000 * n) > 1 cannot be\n"
            "torch.export: the guard 1 << (3 - n) > 1 cannot be\nFalse\n");
}

}  // namespace
}  // namespace kerf
