// Bodies of higher-order operators as nested graphs: equal values and gradients, and how the graphs look.
#include <gtest/gtest.h>

#include "engine/dynamo/environment.h"

namespace kerf {
namespace {

/// What a program prints that defines f and then runs `calls`; g is f compiled, show() prints its graphs.
std::string nestedOutput(const std::string& body, const std::string& calls) {
  const std::string text = "import torch\n" + body +
                           "\ng = torch._C._dynamo.compile(f)\n"
                           "import json\n"
                           "def show():\n"
                           "    for graph in json.loads(torch._C._dynamo.log())['graphs']:\n"
                           "        print(' '.join(n[2] for n in graph['nodes'] if n[0] != 'placeholder'))\n"
                           "        for name, nodes in sorted(graph['subgraphs'].items()):\n"
                           "            print(name, ' '.join(n[2] for n in nodes if n[0] != 'placeholder'))\n" +
                           calls + "\n";
  const ProgramRequest request{.text = text, .name = "program.py"};
  const auto answer = runProgram(request, dynamoEnvironment());
  EXPECT_TRUE(answer) << answer.error().text();
  if (!answer) return {};
  EXPECT_EQ(answer->errors, "");
  return answer->output;
}

TEST(DynamoNestedGraphs, CondHasOneForEachBranch) {
  EXPECT_EQ(nestedOutput("k = torch.tensor(3.0)\n"
                         "def f(x): return torch.cond(x.sum() > 0, lambda t: t * k, lambda t: t.sin() * 0 + 1, (x,))\n",
                         "print(g(torch.ones(2)).tolist(), g(-torch.ones(2)).tolist())\nshow()"),
            "[3.0, 3.0] [1.0, 1.0]\n"
            "sum operator.gt cond_true_0 cond_false_0 torch.ops.higher_order.cond operator.getitem output\n"
            "cond_false_0 sin operator.mul operator.add output\n"
            "cond_true_0 operator.mul output\n");
}

TEST(DynamoNestedGraphs, WhileLoopKeepsItsCarry) {
  EXPECT_EQ(
      nestedOutput("from torch._higher_order_ops.while_loop import while_loop\n"
                   "def f(x, n): return while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a * 2), "
                   "(torch.tensor(0), x))\n",
                   "i, a = g(torch.ones(2), torch.tensor(3))\nprint(int(i), a.tolist())\n"
                   "print(g(torch.ones(2), torch.tensor(0))[1].tolist())\nshow()"),
      "3 [8.0, 8.0]\n[1.0, 1.0]\n"
      "torch.tensor cond_fn_0 body_fn_0 torch.ops.higher_order.while_loop operator.getitem operator.getitem output\n"
      "body_fn_0 operator.add operator.mul output\ncond_fn_0 operator.lt output\n");
}

TEST(DynamoNestedGraphs, ScanAndMapStackWhatTheyGive) {
  EXPECT_EQ(nestedOutput("from torch._higher_order_ops.scan import scan\n"
                         "from torch._higher_order_ops.map import map as each\n"
                         "def f(x):\n    last, ys = scan(lambda c, t: (c + t, c * t), x[0], x, reverse=True)\n"
                         "    return last, ys, each(lambda t, u: t - u, x, last)\n",
                         "x = torch.arange(6.0).reshape(3, 2)\n"
                         "print(all(torch.equal(a, b) for a, b in zip(f(x), g(x))), g(x)[1].shape)"),
            "True torch.Size([3, 2])\n");
}

/// One graph does for all sizes, or two where the first is taken as it is.
TEST(DynamoNestedGraphs, SizesMayDiffer) {
  EXPECT_EQ(nestedOutput(
                "def f(x): return x\n",
                "from torch._dynamo.testing import CompileCounter\n"
                "from torch._higher_order_ops import associative_scan, map as map_\n"
                "from torch._higher_order_ops.scan import scan\n"
                "cases = {\n"
                "    'cond': lambda x: torch.cond(x.sum() > 0, lambda y: y * x.shape[0], lambda y: y.flip(0), (x,)),\n"
                "    'lists': lambda x: torch.cond(x.sum() > 0, lambda y: (y, y.sum(0)), lambda y: (y + 1, y.mean(0)), "
                "(x,)),\n"
                "    'map': lambda x: map_(lambda t: t * x.shape[0], x),\n"
                "    'scan': lambda x: scan(lambda c, t: (c + t, c * t), torch.zeros(2), x)[1],\n"
                "    'vmap': lambda x: torch.vmap(lambda t: t * x.shape[0] + t.sum())(x),\n"
                "}\n"
                "for name, h in cases.items():\n"
                "    counts = []\n"
                "    for dynamic in (None, True):\n"
                "        torch._dynamo.reset()\n        counter = CompileCounter()\n"
                "        g = torch.compile(h, backend=counter, dynamic=dynamic, fullgraph=True)\n"
                "        for rows in (3, 5, 7):\n"
                "            x = torch.arange(2.0 * rows).reshape(rows, 2) * (-1) ** (rows // 2)\n"
                "            torch.testing.assert_close(g(x), h(x))\n"
                "        counts.append(counter.frame_count)\n"
                "    print(name, counts)\n"),
            "cond [2, 1]\nlists [2, 1]\nmap [2, 1]\nscan [2, 1]\nvmap [2, 1]\n");
}

/// What a scan gives is stacked along the first dimension, whichever it goes along.
TEST(DynamoNestedGraphs, ScansAlongAnotherDimension) {
  EXPECT_EQ(nestedOutput("def f(x): return x\n",
                         "from torch._higher_order_ops.scan import scan\n"
                         "h = lambda x: scan(lambda c, t: (c + t, c * t), torch.zeros(2), x, dim=1)\n"
                         "x = torch.arange(6.0).reshape(2, 3)\n"
                         "for g in (h, torch.compile(h, fullgraph=True)):\n"
                         "    carry, ys = g(x)\n    print(carry.tolist(), ys.tolist())\n"),
            "[3.0, 12.0] [[0.0, 0.0], [0.0, 12.0], [2.0, 35.0]]\n"
            "[3.0, 12.0] [[0.0, 0.0], [0.0, 12.0], [2.0, 35.0]]\n");
}

TEST(DynamoNestedGraphs, GenericAssociativeScans) {
  EXPECT_EQ(
      nestedOutput("def f(x): return x\n",
                   "from torch._higher_order_ops import associative_scan\n"
                   "def combine(a, b): return {'m': a['m'] * b['m'], 's': a['s'] * b['m'] + b['s']}\n"
                   "for rows in (1, 2, 3, 6, 7):\n"
                   "    x = {'m': torch.arange(1.0, 2 * rows + 1).reshape(rows, 2) / 4, 's': torch.ones(rows, 2)}\n"
                   "    for dim, reverse in ((0, False), (0, True), (1, False)):\n"
                   "        h = lambda x: associative_scan(combine, x, dim, reverse=reverse, combine_mode='generic')\n"
                   "        torch._dynamo.reset()  # more forms than one code object may have\n"
                   "        torch.testing.assert_close(torch.compile(h, fullgraph=True)(x), h(x))\n"
                   "print('equal')\n"),
      "equal\n");
}

TEST(DynamoNestedGraphs, CheckpointGivesGradientsOfWhatItTakesFromOutside) {
  EXPECT_EQ(nestedOutput("from torch.utils.checkpoint import checkpoint\n"
                         "w = torch.full((2,), 3.0, requires_grad=True)\n"
                         "def f(x): return checkpoint(lambda t: {'y': t * w}, x, use_reentrant=False)['y'].sum()\n",
                         "x = torch.ones(2, requires_grad=True)\ng(x).backward()\n"
                         "print(x.grad.tolist(), w.grad.tolist())\nshow()"),
            "[3.0, 3.0] [1.0, 1.0]\n"
            "wrap_body_0 torch.ops.higher_order.tag_activation_checkpoint operator.getitem sum output\n"
            "wrap_body_0 operator.mul output\n");
}

TEST(DynamoNestedGraphs, FunctionsHaveAForwardAndABackward) {
  EXPECT_EQ(
      nestedOutput(
          "class Cube(torch.autograd.Function):\n"
          "    @staticmethod\n"
          "    def forward(ctx, x, k):\n        ctx.save_for_backward(x)\n        ctx.k = k\n"
          "        return x ** 3 * k\n"
          "    @staticmethod\n"
          "    def backward(ctx, g):\n        x, = ctx.saved_tensors\n        return g * 3 * x * x * ctx.k, None\n"
          "def f(x): return Cube.apply(x, 2).sum()\n",
          "x = torch.full((2,), 2.0, requires_grad=True)\ng(x).backward()\nprint(x.grad.tolist())\nshow()"),
      "[24.0, 24.0]\n"
      "fwd_body_0 bwd_body_0 torch.ops.higher_order.autograd_function_apply operator.getitem sum output\n"
      "bwd_body_0 torch._C._set_grad_enabled operator.mul operator.mul operator.mul operator.mul "
      "torch._C._set_grad_enabled output\n"
      "fwd_body_0 torch._C._set_grad_enabled operator.pow operator.mul torch._C._set_grad_enabled output\n");
}

TEST(DynamoNestedGraphs, AChangeOfWhatIsOutsideBreaksTheGraph) {
  EXPECT_EQ(
      nestedOutput("from torch.utils.checkpoint import checkpoint\n"
                   "def f(x):\n    kept = []\n    def body(t):\n        kept.append(t * 2)\n        return t + 1\n"
                   "    return checkpoint(body, x, use_reentrant=False) + kept[0]\n",
                   "print(g(torch.ones(2)).tolist())\n"
                   "print(json.loads(torch._C._dynamo.log())['breaks'][0]['type'])"),
      "[4.0, 4.0]\nHigherOrderOperator: Mutating a variable not in the current scope (SideEffects)\n");
}

TEST(DynamoNestedGraphs, ABreakInABranchIsAnError) {
  EXPECT_EQ(nestedOutput(
                "def f(x):\n    def branch(t):\n        print('no')\n        return t\n"
                "    return torch.cond(x.sum() > 0, branch, lambda t: t + 1, (x,))\n",
                "try: g(torch.ones(2))\nexcept torch._dynamo.exc.UncapturedHigherOrderOpError as e: print('caught')"),
            "caught\n");
}

TEST(DynamoNestedGraphs, BackendsGetThemAsModules) {
  EXPECT_EQ(nestedOutput("def f(x): return x\n",
                         "def backend(module, inputs):\n    print(sorted(n for n, _ in module.named_children()))\n"
                         "    return module\n"
                         "h = torch.compile(lambda x: torch.cond(x.sum() > 0, lambda t: t * 2, lambda t: t - 1, (x,)), "
                         "backend=backend)\nprint(h(torch.ones(2)).tolist())"),
            "['cond_false_0', 'cond_true_0']\n[2.0, 2.0]\n");
}

TEST(DynamoNestedGraphs, GradWritesItsLevel) {
  EXPECT_EQ(
      nestedOutput("from torch.func import grad\n"
                   "def f(x): return grad(lambda t: grad(lambda s: (s ** 3).sum())(t).sum())(x)\n",
                   "print(g(torch.full((2,), 2.0)).tolist())\n"
                   "nodes = [n[2].split('.')[-1] for n in json.loads(torch._C._dynamo.log())['graphs'][0]['nodes']]\n"
                   "print(nodes.count('_wrap_for_grad'), nodes.count('_autograd_grad'), nodes[-3:])"),
      "[12.0, 12.0]\n2 2 ['_grad_decrement_nesting', '_saved_tensors_hooks_enable', 'output']\n");
}

TEST(DynamoNestedGraphs, VmapRunsItsBodyForEachExample) {
  EXPECT_EQ(
      nestedOutput("from torch.func import grad, vmap\n"
                   "def f(w, xs): return vmap(grad(lambda w, x: (x @ w) ** 2), in_dims=(None, 0))(w, xs)\n",
                   "w, xs = torch.tensor([1.0, 2.0]), torch.arange(6.0).reshape(3, 2)\n"
                   "print(torch.equal(f(w, xs), g(w, xs)))\n"
                   "nodes = [n[2].split('.')[-1] for n in json.loads(torch._C._dynamo.log())['graphs'][0]['nodes']]\n"
                   "print(nodes[2:5], nodes[-3:])"),
      "True\n['lazy_load_decompositions', '_vmap_increment_nesting', '_add_batch_dim'] "
      "['_remove_batch_dim', '_vmap_decrement_nesting', 'output']\n");
}

}  // namespace
}  // namespace kerf
