// Numbers that only running the graph gives: items and sizes that depend on data, carried ints, draws of Python's random.
#include <gtest/gtest.h>

#include "engine/dynamo/environment.h"

namespace kerf {
namespace {

/// What a program prints; show() prints the graphs' targets, and the types of the breaks.
std::string numbersOutput(const std::string& body) {
  const std::string text =
      "import torch, json\n"
      "import torch._dynamo.config as config\n"
      "config.capture_scalar_outputs = config.capture_dynamic_output_shape_ops = True\n"
      "def compiled(f, **options): return torch.compile(f, backend='eager', **options)\n"
      "def show():\n"
      "    log = json.loads(torch._C._dynamo.log())\n"
      "    for graph in log['graphs']:\n"
      "        print(' '.join(n[2] for n in graph['nodes']))\n"
      "        for name, nodes in sorted(graph['subgraphs'].items()):\n"
      "            print(name, ' '.join(n[2] for n in nodes))\n"
      "    for item in log['breaks']: print(item['type'])\n" +
      body;
  const ProgramRequest request{.text = text, .name = "program.py"};
  const auto answer = runProgram(request, dynamoEnvironment());
  EXPECT_TRUE(answer) << answer.error().text();
  if (!answer) return {};
  EXPECT_EQ(answer->errors, "");
  return answer->output;
}

TEST(DynamoNumbers, AnItemIsANumberOfTheGraph) {
  EXPECT_EQ(numbersOutput("g = compiled(lambda x, n: (x * n.item(), n.item() + 1), fullgraph=True)\n"
                          "for n in (3, 5):\n    y, k = g(torch.ones(2), torch.tensor(n))\n    print(y.tolist(), k)\n"
                          "show()\n"),
            "[3.0, 3.0] 4\n[5.0, 5.0] 6\nL_n_ L_x_ item operator.mul item operator.add output\n");
}

TEST(DynamoNumbers, AJumpOnOneBreaksTheGraph) {
  EXPECT_EQ(
      numbersOutput("def f(x, n):\n    k = n.item()\n    if k > 3: return x * k\n    return x - k\n"
                    "g = compiled(f)\n"
                    "print(g(torch.ones(2), torch.tensor(2)).tolist(), g(torch.ones(2), torch.tensor(7)).tolist())\n"
                    "show()\n"),
      "[-1.0, -1.0] [7.0, 7.0]\n"
      "L_n_ item operator.gt output\nL_x_ operator.sub output\nL_x_ operator.mul output\n"
      "Consider annotating your code using torch._check*(). Could not guard on data-dependent expression u0 > 3 "
      "(unhinted: u0 > 3).\n");
}

TEST(DynamoNumbers, ChecksAreNodesAndFacts) {
  EXPECT_EQ(numbersOutput(
                "def f(n):\n    k = n.item()\n    torch._check(k >= 2)\n    torch._check(k <= 10, lambda: 'too many')\n"
                "    return torch.zeros(k) + 1\n"
                "g = compiled(f, fullgraph=True)\n"
                "print(g(torch.tensor(3)).tolist(), g(torch.tensor(2)).tolist())\n"
                "try: g(torch.tensor(11))\n"
                "except RuntimeError as error: print(error)\n"
                "show()\n"),
            "[1.0, 1.0, 1.0] [1.0, 1.0]\ntoo many\n"
            "L_n_ item operator.ge torch._check operator.le torch._check torch.zeros operator.add output\n");
}

TEST(DynamoNumbers, SizesThatDependOnDataAreAskedOfTheirTensor) {
  EXPECT_EQ(numbersOutput("g = compiled(lambda x: (x[x > 0] * 2, x.nonzero().size(0) + 1), fullgraph=True)\n"
                          "for data in ([0.0, 1, 2], [0.0, 1, 0]):\n    y, k = g(torch.tensor(data))\n"
                          "    print(y.tolist(), k)\n"),
            "[2.0, 4.0] 3\n[2.0] 2\n");
}

TEST(DynamoNumbers, LoopsCarryInts) {
  EXPECT_EQ(
      numbersOutput("from torch._higher_order_ops.while_loop import while_loop\n"
                    "from torch._higher_order_ops.scan import scan\n"
                    "def f(x):\n"
                    "    n, y = while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * 2 + i), (0, x))\n"
                    "    (k, last), ys = scan(lambda c, t: ((c[0] + 1, c[1] + t), c[1] * t + c[0]), (0, x), "
                    "torch.stack([x, y]))\n"
                    "    return n, y, k, last, ys\n"
                    "print([getattr(v, 'tolist', lambda: v)() for v in compiled(f, fullgraph=True)(torch.ones(2))])\n"
                    "print([getattr(v, 'tolist', lambda: v)() for v in f(torch.ones(2))])\n"),
      "[3, [12.0, 12.0], 2, [14.0, 14.0], [[1.0, 1.0], [25.0, 25.0]]]\n"
      "[3, [12.0, 12.0], 2, [14.0, 14.0], [[1.0, 1.0], [25.0, 25.0]]]\n");
}

TEST(DynamoNumbers, DrawsOfPythonAreInputs) {
  EXPECT_EQ(numbersOutput("import random\n"
                          "def f(x):\n    k = random.randint(1, 500)\n    return x * k, k\n"
                          "random.seed(3)\nwanted = [f(torch.ones(1))[1] for _ in range(3)]\n"
                          "random.seed(3)\ng = compiled(f, fullgraph=True)\n"
                          "found = [g(torch.ones(1)) for _ in range(3)]\n"
                          "print([k for _, k in found] == wanted, [int(y) for y, _ in found] == wanted)\nshow()\n"),
            "True True\nL_x_ random_value_0 operator.mul output\n");
}

TEST(DynamoNumbers, ExportTellsSizesThatMayNotDiffer) {
  EXPECT_EQ(numbersOutput("from torch.export import Dim, export\n"
                          "class Fixed(torch.nn.Module):\n"
                          "    def forward(self, x): return x + 1 if x.shape[0] == 4 else x.view(4, -1)\n"
                          "class Bounded(torch.nn.Module):\n"
                          "    def forward(self, x): return x + 1 if x.shape[0] <= 8 else x - 1\n"
                          "def attempt(mod, shapes):\n"
                          "    try: export(mod, (torch.ones(4, 3),), dynamic_shapes=shapes)\n"
                          "    except Exception as error: print(type(error).__name__, error)\n"
                          "attempt(Fixed(), {'x': {0: Dim('batch')}})\n"
                          "attempt(Bounded(), ({0: Dim('batch', max=10)},))\n"
                          "attempt(Bounded(), {'y': {0: Dim('batch')}})\n"),
            "UserError Constraints violated (batch)! For more information, run with TORCH_LOGS=\"+dynamic\".\n"
            "  - You marked batch as dynamic but your code specialized it to be a constant (4). If you're using "
            "mark_dynamic, either remove it or use maybe_mark_dynamic. If you're using Dim.DYNAMIC, replace it with "
            "either Dim.STATIC or Dim.AUTO.\n\nSuggested fixes:\n  batch = 4\n"
            "UserError Constraints violated (batch)! For more information, run with TORCH_LOGS=\"+dynamic\".\n"
            "  - Not all values of batch = L['x'].size()[0] in the specified range batch <= 10 satisfy the generated "
            "guard L['x'].size()[0] <= 8.\n\nSuggested fixes:\n  batch = Dim('batch', max=8)\n"
            "UserError When `dynamic_shapes` is specified as a dict, its top-level keys must be the arg names ['x'] of "
            "`inputs`, but here they are ['y']. Alternatively, you could also ignore arg names entirely and specify "
            "`dynamic_shapes` as a list/tuple matching `inputs`.\n");
}

TEST(DynamoNumbers, StatesOfTensorsAreFoundByTheTensor) {
  EXPECT_EQ(numbersOutput("def build():\n"
                          "    p = torch.nn.Parameter(torch.ones(1))\n"
                          "    opt = torch.optim.SGD([p], lr=0.1, momentum=0.9)\n"
                          "    def f(x):\n"
                          "        (x * p).sum().backward()\n        opt.step()\n        opt.zero_grad()\n"
                          "        return p.detach().clone()\n"
                          "    return f\n"
                          "g, f = compiled(build()), build()\n"
                          "x = torch.ones(1)\n"
                          "print([round(h(x).item(), 4) for h in (f, f, f, g, g, g)])\n"),
            "[0.9, 0.71, 0.439, 0.9, 0.71, 0.439]\n");
}

TEST(DynamoNumbers, OperatorsInPlaceLeaveNumbersAlone) {
  const std::string program =
      "import random\n"
      "def f(x):\n"
      "    a = NUMBER\n"
      "    made = []\n"
      "    b = a; b += 1; made.append(b)\n    b = a; b -= 2; made.append(b)\n    b = a; b *= 3; made.append(b)\n"
      "    b = a; b /= 2; made.append(b)\n    b = a; b //= 2; made.append(b)\n    b = a; b %= 2; made.append(b)\n"
      "    b = a; b **= 2; made.append(b)\n    b = a; b += x; made.append(b)\n"
      "    return [a, a * x] + made\n"
      "x = torch.arange(3.)\n"
      "random.seed(3); wanted = f(x)\n"
      "random.seed(3); got = compiled(f, fullgraph=True)(x)\n"
      "print([type(v).__name__ for v in got] == [type(v).__name__ for v in wanted])\n"
      "print(all(torch.equal(torch.as_tensor(a), torch.as_tensor(b)) for a, b in zip(wanted, got)), len(got))\n";
  for (const std::string number : {"random.randint(3, 900)", "random.uniform(0, 1)", "x.sum().item()"}) {
    std::string text = program;
    text.replace(text.find("NUMBER"), 6, number);
    EXPECT_EQ(numbersOutput(text), "True\nTrue 10\n") << number;
  }
}

TEST(DynamoNumbers, DrawsKeepAllTheirDigits) {
  EXPECT_EQ(
      numbersOutput("import random\n"
                    "def f(x):\n"
                    "    u, k = random.uniform(0, 1), random.randint(0, 2 ** 62)\n"
                    "    return u, k, u * 3 - 1e-9, k // 7, x.double() * u, x.long() * u, x * k, k == 5, abs(-u)\n"
                    "x = torch.arange(3.)\n"
                    "for seed in (1, 2):\n"
                    "    random.seed(seed); wanted = f(x)\n"
                    "    random.seed(seed); got = g(x) if seed == 2 else (g := compiled(f, fullgraph=True))(x)\n"
                    "    print([torch.equal(a, b) and a.dtype == b.dtype if isinstance(a, torch.Tensor) else a == b "
                    "for a, b in zip(wanted, got)])\n"),
      "[True, True, True, True, True, True, True, True, True]\n"
      "[True, True, True, True, True, True, True, True, True]\n");
}

TEST(DynamoNumbers, DrawsOfMoreThan64BitsStayWithPython) {
  EXPECT_EQ(numbersOutput("import random\n"
                          "def f(x): return random.randint(2 ** 70, 2 ** 71), random.randrange(10 ** 20) % 7 + x\n"
                          "random.seed(1); a, x = f(torch.ones(1))\n"
                          "random.seed(1); b, y = compiled(f)(torch.ones(1))\n"
                          "print(a == b, torch.equal(x, y), a > 2 ** 70)\n"),
            "True True True\n");
}

}  // namespace
}  // namespace kerf
