// What an exported program's module accepts where no size may differ, and which sizes export() refuses to let differ.
#include <gtest/gtest.h>

#include "app/workbench/programs/program_runs.h"

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
  workbench::CaptureProgramRequest request;
  request.path = "program.py";
  const auto captured = workbench::runProgramText(text, request, {});
  EXPECT_TRUE(captured) << captured.error().text();
  if (!captured) return {};
  EXPECT_EQ(captured->front().doc.errors, "");
  return captured->front().doc.output;
}

TEST(DynamoExport, FixedSizesAndNumbersStayAsTheyWere) {
  EXPECT_EQ(exportOutput("run = export(module(lambda self, x, n: x * n), (ones(2), 3)).module()\n"
                         "attempt(run, ones(2), 3)\nattempt(run, ones(3), 3)\nattempt(run, ones(2), 4)\n"),
            "[3.0, 3.0]\nAssertionError Guard failed: x.size()[0] == 2\n"
            "AssertionError Expected input at n to be equal to 3, but got 4\n");
}

/// Prints the operators of a program.
const std::string defineTargets =
    "def targets(program): print(*[n.target for n in program.graph.nodes if n.op == 'call_function'])\n";

TEST(DynamoExport, NumbersOfTensorsAreInTheGraph) {
  const std::string graph =
      "aten.max.default aten.item.default aten.mul.Tensor aten.min.default aten.item.default aten.add.Tensor\n"
      "[12.0, 27.0]\n";
  EXPECT_EQ(
      exportOutput(defineTargets +
                   "def scaled(self, x): return x * x.max().item() + float(x.min())\n"
                   "def branch(self, x): return x * 2 if x.max().item() > 1 else x\n"
                   "for strict in (False, True):\n"
                   "    program = export(module(scaled), (torch.tensor([1.0, 3.0]),), strict=strict)\n"
                   "    targets(program)\n    print(program.module()(torch.tensor([2.0, 5.0])).tolist())\n"
                   "    try: export(module(branch), (ones(2),), strict=strict)\n"
                   "    except Exception as error: print(type(error).__name__, str(error)[:75])\n"),
      graph +
          "GuardOnDataDependentSymNode Could not guard on data-dependent expression zuf0 > 1 (unhinted: zuf0 > 1).\n" +
          graph + "Unsupported Consider annotating your code using torch._check*(). Could not guard on dat\n");
}

TEST(DynamoExport, TensorsMadeOfNumbersAreInputs) {
  EXPECT_EQ(
      exportOutput(
          "program = export(module(lambda self, x: (x * torch.tensor(2.) + torch.tensor([1., 2.]), torch.tensor(7))), "
          "(ones(2),))\n"
          "print({name: value.tolist() for name, value in program.constants.items()})\n"
          "print(*[s.arg for s in program.graph_signature.input_specs], program.graph_signature.user_outputs)\n"
          "for each in (program, program.run_decompositions()):\n"
          "    print([t.tolist() for t in each.module()(ones(2))])\n"),
      "{'lifted_tensor_0': 2.0, 'lifted_tensor_1': [1.0, 2.0], 'lifted_tensor_2': 7}\n"
      "c_lifted_tensor_0 c_lifted_tensor_1 c_lifted_tensor_2 x ('add', 'lift_fresh_copy_2')\n"
      "[[3.0, 4.0], 7]\n[[3.0, 4.0], 7]\n");
}

TEST(DynamoExport, RecordingLeavesInputsAndBuffersAlone) {
  EXPECT_EQ(exportOutput("class Count(torch.nn.Module):\n"
                         "    def __init__(self):\n        super().__init__()\n"
                         "        self.register_buffer('n', torch.zeros(1))\n"
                         "    def forward(self, x):\n        self.n.add_(1)\n        return x.mul_(2) + self.n\n"
                         "count, x = Count(), ones(2)\nprogram = export(count, (x,))\n"
                         "print(count.n.tolist(), x.tolist())\n"
                         "print(program.module()(x).tolist(), x.tolist())\n"),
            "[0.0] [1.0, 1.0]\n[3.0, 3.0] [2.0, 2.0]\n");
}

TEST(DynamoExport, DecompositionsAreThoseOfCoreAten) {
  EXPECT_EQ(
      exportOutput(
          defineTargets +
          "program = export(torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.SiLU()), (ones(1, 3),))\n"
          "targets(program)\ntargets(program.run_decompositions())\ntargets(program.run_decompositions({}))\n"
          "table = torch.export.default_decompositions()\ndel table[torch.ops.aten.silu.default]\n"
          "table[torch.ops.aten.t.default] = lambda x: x.transpose(0, 1).clone()\n"
          "targets(program.run_decompositions(table))\n"
          "print(torch.allclose(program.run_decompositions().module()(ones(1, 3)), program.module()(ones(1, 3))))\n"),
      "aten.linear.default aten.silu.default\n"
      "aten.permute.default aten.addmm.default aten.sigmoid.default aten.mul.Tensor\n"
      "aten.t.default aten.addmm.default aten.silu.default\n"
      "aten.permute.default aten.clone.default aten.addmm.default aten.silu.default\nTrue\n");
}

TEST(DynamoExport, DecompositionsWriteIntoNothing) {
  EXPECT_EQ(
      exportOutput(defineTargets +
                   "class Count(torch.nn.Module):\n"
                   "    def __init__(self):\n        super().__init__()\n"
                   "        self.register_buffer('n', torch.zeros(2))\n"
                   "    def forward(self, x, y):\n        self.n.add_(1)\n        y.mul_(2)\n"
                   "        z = x.clone()\n        z[0] = 3\n        return z.relu_() + self.n\n"
                   "program = export(Count(), (ones(2), ones(2)))\n"
                   "plain = program.run_decompositions({})\ntargets(plain)\n"
                   "print(*plain.graph_signature.output_specs, sep='; ')\n"
                   "print(dict(plain.graph_signature.buffers_to_mutate))\n"
                   "y, run = ones(2), plain.module()\n"
                   "for k in range(2): print(run(-ones(2), y).tolist(), y.tolist(), plain.state_dict['n'].tolist())\n"),
      "aten.add.Tensor aten.mul.Tensor aten.clone.default aten.select.int aten.fill.Scalar "
      "aten.select_scatter.default aten.relu.default aten.add.Tensor\n"
      "add: BUFFER_MUTATION target='n'; mul: USER_INPUT_MUTATION target='y'; add_1: USER_OUTPUT\n"
      "{'add': 'n'}\n[4.0, 1.0] [2.0, 2.0] [1.0, 1.0]\n[5.0, 2.0] [4.0, 4.0] [2.0, 2.0]\n");
}

TEST(DynamoExport, StatisticsOfBatchNormAreOutputs) {
  EXPECT_EQ(exportOutput(defineTargets +
                         "norm = torch.nn.BatchNorm1d(2)\nx = torch.tensor([[1.0, 2.0], [3.0, 6.0]])\n"
                         "program = export(norm, (x,))\ntargets(program)\nplain = program.run_decompositions()\n"
                         "print(sorted(plain.graph_signature.buffers_to_mutate.values()))\n"
                         "print([[round(v, 3) for v in row] for row in plain.module()(x).tolist()])\n"
                         "print([round(v, 3) for v in plain.state_dict['running_mean'].tolist()])\n"),
            "aten.add_.Tensor aten.batch_norm.default\n"
            "['num_batches_tracked', 'running_mean', 'running_var']\n[[-1.0, -1.0], [1.0, 1.0]]\n[0.2, 0.4]\n");
}

/// Prints, for strict and not, the operators, those of nested graphs, and what module() gives for inputs of both signs.
const std::string defineNested =
    "from torch.export import Dim\n"
    "def nested(forward, *inputs, dynamic_shapes=None):\n"
    "    for strict in (True, False):\n"
    "        program = export(module(forward), inputs, strict=strict, dynamic_shapes=dynamic_shapes)\n"
    "        def named(graph):\n"
    "            return [n.name.rstrip('_0123456789') for n in graph.nodes if n.op == 'call_function']\n"
    "        print(*named(program.graph), '|', *[f'{name}: ' + ' '.join(named(inner.graph))\n"
    "                                            for name, inner in program.graph_module.named_children()])\n"
    "        run = program.module()\n"
    "        for sign in (1, -1):\n"
    "            given = [sign * x for x in inputs]\n"
    "            a, b = run(*given), module(forward)(*given)\n"
    "            same = [torch.equal(p, q) for p, q in zip(torch.utils._pytree.tree_leaves(a),\n"
    "                                                      torch.utils._pytree.tree_leaves(b))]\n"
    "            assert same and all(same), (a, b)\n";

TEST(DynamoExport, CondIsANodeWithTwoGraphs) {
  const std::string graphs = "sum gt cond getitem | true_graph_0: sin mul false_graph_0: cos\n";
  EXPECT_EQ(
      exportOutput(defineNested +
                   "k = torch.tensor(3.0)\n"
                   "def f(self, x): return torch.cond(x.sum() > 0, lambda t: t.sin() * k, lambda t: t.cos(), (x,))\n"
                   "nested(f, ones(3))\nnested(f, ones(3), dynamic_shapes=({0: Dim('n')},))\n"),
      graphs + graphs + graphs + graphs);
}

TEST(DynamoExport, LoopsAreNodesWithGraphs) {
  const std::string loop =
      "while_loop getitem getitem | while_loop_cond_graph_0: lt while_loop_body_graph_0: add mul\n";
  const std::string map = "map_impl getitem | body_graph_0: add\n";
  const std::string scan = "scan getitem getitem | scan_combine_graph_0: add mul\n";
  EXPECT_EQ(
      exportOutput(defineNested +
                   "from torch._higher_order_ops import map, scan, while_loop\n"
                   "def loop(self, i, x): return while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), (i, x))\n"
                   "def each(self, x, y): return map(lambda a, b: a + b, x, y)\n"
                   "def steps(self, x, y): return scan(lambda c, t: (c + t, c * t), y, x)\n"
                   "nested(loop, torch.tensor(0), ones(2))\nnested(each, ones(3, 2), ones(2))\n"
                   "nested(steps, ones(3, 2), ones(2))\n"),
      loop + loop + map + map + scan + scan);
}

TEST(DynamoExport, BranchesThatDifferAreRefused) {
  EXPECT_EQ(exportOutput("def refused(f):\n    try: export(module(f), (ones(2),))\n"
                         "    except Exception as error: print(type(error).__name__, str(error)[:60])\n"
                         "def cond(t, f): return lambda self, x: torch.cond(x.sum() > 0, t, f, (x,))\n"
                         "refused(cond(lambda x: x, lambda x: (x, x)))\nrefused(cond(lambda x: x, lambda x: x.sum()))\n"
                         "refused(cond(lambda x: x.add_(1), lambda x: x))\n"),
            "UncapturedHigherOrderOpError torch.cond: the branches return different structures: true_f\n"
            "UncapturedHigherOrderOpError torch.cond: the branches return tensors of different kinds: \n"
            "UncapturedHigherOrderOpError torch.cond's true branch writes into one of its inputs, or i\n");
}

TEST(DynamoExport, DecompositionsReachNestedGraphs) {
  EXPECT_EQ(exportOutput("def f(self, x): return torch.cond(x.sum() > 0, lambda t: torch.nn.functional.silu(t),\n"
                         "                                   lambda t: t.clone().mul_(2), (x,))\n"
                         "program = export(module(f), (ones(2),)).run_decompositions()\n"
                         "for name, graph in program.graph_module.named_children():\n"
                         "    print(name, *[n.target for n in graph.graph.nodes if n.op == 'call_function'])\n"
                         "print(program.module()(-ones(2)).tolist())\n"),
            "true_graph_0 aten.sigmoid.default aten.mul.Tensor\n"
            "false_graph_0 aten.clone.default aten.mul.Tensor\n[-2.0, -2.0]\n");
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

/// As far as PyTorch takes a size without a greatest one to go.
TEST(DynamoExport, SizesWithoutAGreatestOneAreTriedToTheEnd) {
  EXPECT_EQ(exportOutput(trySums +
                         "sums(2000000000, Dim('u'))\n"
                         "sums(2000000000, Dim('u'), Dim('v'))\n"
                         "sums(2000000000, Dim('u', max=2000000000))\n"
                         "sums(2**63 - 3, Dim('u'))\n"
                         "sums(2**63 - 2, Dim('u'))\n"
                         "try:\n"
                         "    export(module(lambda self, x: x + 1 if x.shape[0] <= 2000000000 else x), (ones(3),),\n"
                         "           dynamic_shapes=({0: Dim('u')},))\n"
                         "except Exception as error: print(str(error).split('\\n')[-1])\n"),
            "UserError Constraints violated (u)\nUserError Constraints violated (u, v)\nexports\n"
            "UserError Constraints violated (u)\nexports\n  u = Dim('u', max=2000000000)\n");
}

/// The graph has the size of such an input, and the input itself only because the program has it.
TEST(DynamoExport, InputsOfWhichOnlySizesAreUsedMayDiffer) {
  EXPECT_EQ(exportOutput("from torch.export import Dim\n"
                         "made = export(module(lambda self, x, y: x + y.shape[0] if y.shape[0] > 3 else x),\n"
                         "              (ones(2), ones(4, 3)),\n"
                         "              dynamic_shapes=({0: Dim('u')}, {0: Dim('v', min=4)}))\n"
                         "print(made.range_constraints)\n"
                         "print([n.meta['val'].shape for n in made.graph.nodes if n.op == 'placeholder'])\n"
                         "attempt(made.module(), ones(3), ones(5, 3))\n"
                         "attempt(made.module(), ones(3), ones(3, 3))\n"),
            "{s0: VR[0, int_oo], s1: VR[4, int_oo]}\n[(s0,), (s1, 3)]\n[6.0, 6.0, 6.0]\n"
            "AssertionError Guard failed: y.size()[0] >= 4\n");
}

TEST(DynamoExport, SizesAreFoundInContainers) {
  EXPECT_EQ(
      exportOutput("from dataclasses import dataclass\n"
                   "from typing import NamedTuple\n"
                   "from torch.export import Dim, register_dataclass\n"
                   "class Pair(NamedTuple):\n"
                   "    a: torch.Tensor\n"
                   "@dataclass\n"
                   "class Held:\n"
                   "    a: torch.Tensor\n"
                   "register_dataclass(Held)\n"
                   "def guards(of, y, shapes):\n"
                   "    made = export(module(lambda self, x, y: x + 1 if of(y).shape[0] > 3 else x), (ones(2), y),\n"
                   "                  dynamic_shapes=({0: Dim('u')}, shapes))\n"
                   "    print([g.text for g in made._checks._guards])\n"
                   "v = {0: Dim('v', min=4)}\n"
                   "guards(lambda y: y[1], [ones(3), ones(4)], [None, v])\n"
                   "guards(lambda y: y['a'], {'a': ones(4)}, {'a': v})\n"
                   "guards(lambda y: y.a, Pair(ones(4)), (v,))\n"
                   "guards(lambda y: y.a, Held(ones(4)), [v])\n"),
      "[\"L['y'][1].size()[0] > 3\"]\n[\"L['y']['a'].size()[0] > 3\"]\n[\"L['y'].a.size()[0] > 3\"]\n"
      "[\"L['y'].a.size()[0] > 3\"]\n");
}

/// Leaves of a call are in the order of its keywords, and not of forward's.
TEST(DynamoExport, KeywordsInAnotherOrderKeepTheirSizes) {
  EXPECT_EQ(exportOutput("from torch.export import Dim\n"
                         "def forward(self, x, *, y, z): return x + y + z.shape[0]\n"
                         "u, v = Dim('u'), Dim('v')\n"
                         "made = export(module(forward), (ones(3),), {'z': ones(4), 'y': ones(3)},\n"
                         "              dynamic_shapes={'x': {0: u}, 'y': {0: u}, 'z': {0: v}})\n"
                         "print(made.module()(ones(2), z=ones(5), y=ones(2)).tolist())\n"),
            "[7.0, 7.0]\n");
}

TEST(DynamoExport, GuardsThatCannotBeCheckedAreNamed) {
  EXPECT_EQ(
      exportOutput("from torch.export import Dim\n"
                   "from torch.export._constraints import _Guard, _Size\n"
                   "size = _Size('s0', 'n', 0, 0, Dim('u'), 4)\n"
                   "for text in ('n.foo > 1', '2.0 ** (1000 * n) > 1', '1 << (3 - n) > 1'):\n"
                   "    try: _Guard(text, [size])\n"
                   "    except RuntimeError as error: print(str(error).split(' checked: ')[0])\n"
                   "print(_Guard('2.0 ** (200 * n) > 1', [size]).holds({'n': 400}))\n"
                   "print(_Guard('(10 - n) ** 0.5 > 1', [_Size('s0', 'n', 0, 0, Dim('u'), 3)]).holds({'n': 12}))\n"),
      "torch.export: the guard n.foo > 1 cannot be\n"
      "torch.export: the guard 2.0 ** (1000 * n) > 1 cannot be\n"
      "torch.export: the guard 1 << (3 - n) > 1 cannot be\nFalse\nFalse\n");
}

}  // namespace
}  // namespace kerf
