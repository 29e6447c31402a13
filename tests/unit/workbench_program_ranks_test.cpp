// Programs that run as several ranks: torch.distributed and DTensor in the sandbox.
#include <chrono>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "app/workbench/programs/program_runs.h"
#include "tests/unit/rank_programs.h"

namespace kerf {
namespace {

using namespace rank_programs;

TEST(ProgramRanks, CollectivesOnTensors) {
  EXPECT_EQ(printedBy(2,
                      "x = torch.tensor([1.0, 2.0]) * (rank + 1)\n"
                      "dist.all_reduce(x)\n"
                      "parts = [torch.zeros(1) for _ in range(world)]\n"
                      "dist.all_gather(parts, torch.tensor([float(rank)]))\n"
                      "mine = torch.zeros(1)\n"
                      "dist.reduce_scatter_tensor(mine, torch.tensor([1.0, 10.0]) + rank)\n"
                      "b = torch.tensor([rank])\n"
                      "dist.broadcast(b, src=1)\n"
                      "swapped = torch.zeros(2)\n"
                      "dist.all_to_all_single(swapped, torch.tensor([0.0, 1.0]) + 10 * rank)\n"
                      "print(x.tolist(), [p.item() for p in parts], mine.item(), b.item(), swapped.tolist())\n"),
            (Texts{"[3.0, 6.0] [0.0, 1.0] 3.0 1 [0.0, 10.0]\n", "[3.0, 6.0] [0.0, 1.0] 21.0 1 [1.0, 11.0]\n"}));
}

TEST(ProgramRanks, ObjectsMessagesAndGroups) {
  EXPECT_EQ(printedBy(3,
                      "seen = [None] * world\n"
                      "dist.all_gather_object(seen, {'rank': rank})\n"
                      "names = ['a', 1] if rank == 2 else [None, None]\n"
                      "dist.broadcast_object_list(names, src=2)\n"
                      "pair = dist.new_group([0, 2])\n"
                      "x = torch.tensor([rank + 1])\n"
                      "dist.all_reduce(x, group=pair)\n"
                      "if rank == 0: dist.send(torch.tensor([7]), dst=1)\n"
                      "got = torch.zeros(1, dtype=torch.int64)\n"
                      "if rank == 1: dist.recv(got, src=0)\n"
                      "print([s['rank'] for s in seen], names, x.item(), got.item())\n"),
            (Texts{"[0, 1, 2] ['a', 1] 4 0\n", "[0, 1, 2] ['a', 1] 2 7\n", "[0, 1, 2] ['a', 1] 4 0\n"}));
}

TEST(ProgramRanks, EnvironmentAndSpawnAreThoseOfALauncher) {
  EXPECT_EQ(printedBy(2,
                      "import os\n"
                      "import torch.multiprocessing as mp\n"
                      "def work(number, name): print(number, name, os.environ['RANK'], os.environ['WORLD_SIZE'])\n"
                      "mp.spawn(work, args=('w',), nprocs=2)\n"),
            (Texts{"0 w 0 2\n", "1 w 1 2\n"}));
}

TEST(ProgramRanks, DifferentCollectivesAndARankThatFailsAreNamed) {
  const auto differ = printedBy(2, "dist.all_reduce(torch.ones(2 + rank))\n");
  ASSERT_EQ(differ.size(), 2u);
  EXPECT_NE(
      differ[0].find("differs: rank 0 calls all_reduce of sum float32 [2], rank 1 calls all_reduce of sum float32 [3]"),
      std::string::npos)
      << differ[0];
  const auto start = std::chrono::steady_clock::now();
  const auto lost = printedBy(2, "if rank == 1: raise ValueError('no data')\ndist.barrier()\n");
  ASSERT_EQ(lost.size(), 2u);
  EXPECT_NE(lost[0].find("rank 1 failed (ValueError: no data)"), std::string::npos) << lost[0];
  EXPECT_EQ(lost[1], "ValueError: no data");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST(ProgramRanks, TheSandboxIsAsClosedAsForOneRank) {
  for (const std::string what : {"open('/etc/passwd')", "__import__('os').fork()", "__import__('os').pipe()"})
    for (const std::string& rank : printedBy(2, what + "\n"))
      EXPECT_TRUE(rank.starts_with("PermissionError: the sandbox refuses")) << rank;
}

TEST(ProgramRanks, DataParallelGradientsAreMeans) {
  EXPECT_EQ(printedBy(2,
                      "torch.manual_seed(rank)\n"
                      "net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 1, bias=False))\n"
                      "x = torch.tensor([[1.0, 2.0]]) * (1 + 2 * rank)\n"
                      "net(x).sum().backward()\n"
                      "seen = [torch.zeros(1, 2) for _ in range(2)]\n"
                      "dist.all_gather(seen, net.module.weight.detach())\n"
                      "print(net.module.weight.grad.tolist(), torch.equal(seen[0], seen[1]))\n"),
            (Texts{"[[2.0, 4.0]] True\n", "[[2.0, 4.0]] True\n"}));
}

TEST(ProgramRanks, DTensorsRunByShards) {
  EXPECT_EQ(
      printedBy(2, usesDTensor +
                       "a = distribute_tensor(torch.arange(6.0).view(3, 2), mesh, [Shard(0)])\n"
                       "b = distribute_tensor(torch.ones(2, 2), mesh, [Replicate()])\n"
                       "c = a @ b\n"
                       "print(type(c).__name__, c.placements, tuple(c.to_local().shape), c.full_tensor().tolist())\n"
                       "print(a.sum().placements, a.sum().item())\n"),
      (Texts{"DTensor (Shard(dim=0),) (2, 2) [[1.0, 1.0], [5.0, 5.0], [9.0, 9.0]]\n(Partial(sum),) 15.0\n",
             "DTensor (Shard(dim=0),) (1, 2) [[1.0, 1.0], [5.0, 5.0], [9.0, 9.0]]\n(Partial(sum),) 15.0\n"}));
}

TEST(ProgramRanks, GradientsOfDTensorsAreThoseOfTheWhole) {
  EXPECT_EQ(printedBy(2, usesDTensor +
                             "torch.manual_seed(0)\n"
                             "w, x = torch.randn(3, 4, dtype=torch.float64), torch.randn(4, 4, dtype=torch.float64)\n"
                             "whole = w.clone().requires_grad_()\n"
                             "torch.nn.functional.gelu(x @ whole.t()).pow(2).sum().backward()\n"
                             "dw = torch.nn.Parameter(distribute_tensor(w, mesh, [Replicate()]))\n"
                             "dx = distribute_tensor(x, mesh, [Shard(0)])\n"
                             "torch.nn.functional.gelu(dx @ dw.t()).pow(2).sum().backward()\n"
                             "print(isinstance(dw, DTensor), isinstance(dw, torch.nn.Parameter), "
                             "torch.allclose(dw.grad.full_tensor(), whole.grad, atol=1e-12))\n"),
            (Texts{"True True True\n", "True True True\n"}));
}

TEST(ProgramRanks, TensorParallelModulesGiveTheModulesResult) {
  EXPECT_EQ(
      printedBy(
          2, usesDTensor +
                 "from torch.distributed.tensor.parallel import parallelize_module, ColwiseParallel, RowwiseParallel\n"
                 "torch.manual_seed(0)\n"
                 "net = torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.ReLU(), torch.nn.Linear(6, 3)).double()\n"
                 "x = torch.randn(5, 4, dtype=torch.float64)\n"
                 "want = net(x)\n"
                 "want.sum().backward()\n"
                 "grads = [p.grad.clone() for p in net.parameters()]\n"
                 "net.zero_grad()\n"
                 "parallelize_module(net, mesh, {'0': ColwiseParallel(), '2': RowwiseParallel()})\n"
                 "got = net(x)\n"
                 "got.sum().backward()\n"
                 "same = [torch.allclose(p.grad.full_tensor(), g) for p, g in zip(net.parameters(), grads)]\n"
                 "print(torch.allclose(got, want), same, tuple(net[0].weight.to_local().shape))\n"),
      (Texts{"True [True, True, True, True] (3, 4)\n", "True [True, True, True, True] (3, 4)\n"}));
}

TEST(ProgramRanks, LossOfShardedClassesIsThatOfTheWhole) {
  EXPECT_EQ(
      printedBy(
          2,
          usesDTensor +
              "from torch.distributed.tensor.parallel import loss_parallel\n"
              "torch.manual_seed(0)\n"
              "logits, target = torch.randn(4, 5, dtype=torch.float64), torch.tensor([0, 4, 2, -100])\n"
              "whole = logits.clone().requires_grad_()\n"
              "want = torch.nn.functional.cross_entropy(whole, target)\n"
              "want.backward()\n"
              "parts = distribute_tensor(logits, mesh, [Shard(1)]).requires_grad_()\n"
              "with loss_parallel():\n"
              "    got = torch.nn.functional.cross_entropy(parts, target)\n"
              "    got.backward()\n"
              "print(torch.allclose(got.full_tensor(), want), torch.allclose(parts.grad.full_tensor(), whole.grad))\n"),
      (Texts{"True True\n", "True True\n"}));
}

/// What scripts of PyTorch's own pages import.
TEST(ProgramRanks, NamesOfPyTorchsPagesAreThere) {
  const std::string text =
      usesDTensor +
      "import torch.distributed.nn.functional, torch.distributed._functional_collectives as funcol\n"
      "import torch.multiprocessing as mp\n"
      "from torch.distributed._composable.fsdp import fully_shard as older\n"
      "from torch.distributed._composable.replicate import replicate\n"
      "from torch.distributed._tensor import DeviceMesh, distribute_module\n"
      "from torch.distributed._tensor.api import DTensor as D\n"
      "from torch.distributed._tensor.placement_types import Shard as S\n"
      "from torch.distributed.algorithms.ddp_comm_hooks import default_hooks\n"
      "from torch.distributed.elastic.multiprocessing.errors import record\n"
      "from torch.distributed.fsdp import FSDPModule, MixedPrecisionPolicy, fully_shard\n"
      "from torch.distributed.optim import ZeroRedundancyOptimizer\n"
      "from torch.distributed.tensor.debug import CommDebugMode, visualize_sharding\n"
      "from torch.distributed.tensor.device_mesh import init_device_mesh as i\n"
      "from torch.distributed.tensor.experimental import implicit_replication, local_map\n"
      "print(D is DTensor, S is Shard, older is fully_shard, record(print) is print,\n"
      "      dist.get_backend_config(), dist.get_pg_count(), dist.get_debug_level().name,\n"
      "      dist.get_default_backend_for_device('cuda:1'), dist.supports_complex(dist.ReduceOp.SUM))\n"
      "try: dist.TCPStore\n"
      "except AttributeError as error: print('PyTorch has it' in str(error))\n";
  const std::string said = "True True True True cpu:gloo,cuda:gloo 1 OFF nccl True\nTrue\n";
  EXPECT_EQ(printedBy(2, text), (Texts{said, said}));
}

TEST(ProgramRanks, ShardedParametersTrainAsWholeOnes) {
  const std::string text =
      usesDTensor +
      "from torch.distributed.fsdp import FSDPModule, fully_shard\n"
      "def made():\n"
      "    torch.manual_seed(0)\n"
      "    return torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.Tanh(), torch.nn.Linear(5, 2)).double()\n"
      "whole, net = made(), made()\n"
      "x = torch.arange(12.0, dtype=torch.float64).view(4, 3) / 10\n"
      "for model in (whole, net):\n"
      "    if model is net:\n"
      "        fully_shard(net[0])\n"
      "        fully_shard(net)\n"
      "    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
      "    for step in range(3):\n"
      "        rows = x if model is whole else x[rank * 2:rank * 2 + 2]\n"
      "        loss = model(rows).pow(2).mean()\n"
      "        optimizer.zero_grad()\n"
      "        loss.backward()\n"
      "        optimizer.step()\n"
      "same = [torch.allclose(a.full_tensor(), b) for a, b in zip(net.parameters(), whole.parameters())]\n"
      "print(isinstance(net, FSDPModule), type(net[0]).__name__, net[0].weight.placements,\n"
      "      tuple(net[0].weight.to_local().shape), same)\n";
  EXPECT_EQ(printedBy(2, text), (Texts{"True FSDPLinear (Shard(dim=0),) (3, 3) [True, True, True, True]\n",
                                       "True FSDPLinear (Shard(dim=0),) (2, 3) [True, True, True, True]\n"}));
}

TEST(ProgramRanks, FunctionsOnPartsAndImplicitReplication) {
  const std::string text =
      usesDTensor +
      "from torch.distributed.tensor.experimental import implicit_replication, local_map\n"
      "from torch.distributed.tensor.debug import CommDebugMode, visualize_sharding\n"
      "x = distribute_tensor(torch.arange(8.0).view(4, 2), mesh, [Shard(0)])\n"
      "sums = local_map(lambda a: a.sum(0), out_placements=[Partial()], in_placements=([Shard(0)],))\n"
      "with CommDebugMode() as mode:\n"
      "    total = sums(x).full_tensor()\n"
      "with implicit_replication():\n"
      "    y = x + torch.tensor([10.0, 20.0])\n"
      "visualize_sharding(x)\n"
      "print(total.tolist(), mode.get_comm_counts()[torch.ops.c10d_functional.all_reduce], mode.get_total_counts())\n"
      "print(y.placements, y.full_tensor().sum().item())\n"
      "x + torch.tensor([10.0, 20.0])\n";
  for (const std::string& rank : printedBy(2, text))
    EXPECT_NE(rank.find("got tensors with placements and one without"), std::string::npos) << rank;
  const auto said = printedBy(2, text.substr(0, text.rfind("x + torch")));
  const std::string rest = "[12.0, 16.0] 1 1\n(Shard(dim=0),) 148.0\n";
  EXPECT_EQ(said, (Texts{"Row 0-1, Col 0-1: cpu:0\nRow 2-3, Col 0-1: cpu:1\n" + rest, rest}));
}

TEST(ProgramRanks, CollectivesHaveGradients) {
  const std::string text =
      "import torch.distributed.nn.functional as nn\n"
      "x = torch.tensor([1.0 + rank, 2.0], requires_grad=True)\n"
      "(nn.all_reduce(x)[0] * (rank + 1)).backward()\n"
      "y = torch.tensor([1.0 + rank], requires_grad=True)\n"
      "(torch.cat(nn.all_gather(y)) * torch.tensor([1.0, 10.0])).sum().mul(rank + 1).backward()\n"
      "z = torch.tensor([5.0 + rank], requires_grad=True)\n"
      "(nn.broadcast(z, 1) * (rank + 1)).backward()\n"
      "w = torch.tensor([1.0, 2.0], requires_grad=True)\n"
      "(nn.all_to_all_single(torch.zeros(2), w) * torch.tensor([1.0, 10.0]) * (rank + 1)).sum().backward()\n"
      "print(x.grad.tolist(), y.grad.tolist(), z.grad.tolist(), w.grad.tolist())\n";
  EXPECT_EQ(printedBy(2, text),
            (Texts{"[3.0, 0.0] [3.0] [0.0] [1.0, 2.0]\n", "[3.0, 0.0] [30.0] [3.0] [10.0, 20.0]\n"}));
}

TEST(ProgramRanks, DataParallelRanksMayReachDifferentParameters) {
  const std::string text =
      "class Net(torch.nn.Module):\n"
      "    def __init__(self):\n"
      "        super().__init__()\n"
      "        self.a, self.b, self.c = (torch.nn.Parameter(torch.ones(1)) for _ in range(3))\n"
      "    def forward(self, x): return x * (self.a if rank == 0 else self.b)\n"
      "net = torch.nn.parallel.DistributedDataParallel(Net(), find_unused_parameters=True)\n"
      "net(torch.tensor([4.0])).sum().backward()\n"
      "print([p.grad.tolist() if p.grad is not None else None for p in net.parameters()])\n";
  EXPECT_EQ(printedBy(2, text), (Texts{"[[2.0], [2.0], None]\n", "[[2.0], [2.0], None]\n"}));
}

TEST(ProgramRanks, HooksReduceGradientsAndOptimizersShareTheirState) {
  const std::string text =
      "from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import bf16_compress_hook\n"
      "from torch.distributed.optim import ZeroRedundancyOptimizer\n"
      "torch.manual_seed(0)\n"
      "net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 1))\n"
      "net.register_comm_hook(None, bf16_compress_hook)\n"
      "optimizer = ZeroRedundancyOptimizer(net.parameters(), torch.optim.Adam, lr=0.5)\n"
      "before = [p.detach().clone() for p in net.parameters()]\n"
      "net(torch.tensor([[1.0, 2.0]]) * (1 + 2 * rank)).sum().backward()\n"
      "optimizer.step()\n"
      "moved = [(p - b).detach().abs().max().item() for p, b in zip(net.parameters(), before)]\n"
      "seen = [torch.zeros(1, 2) for _ in range(2)]\n"
      "dist.all_gather(seen, net.module.weight.detach())\n"
      "optimizer.consolidate_state_dict(to=0)\n"
      "told = sorted(optimizer.state_dict()['state']) if rank == 0 else None\n"
      "print(net.module.weight.grad.tolist(), [round(m, 3) for m in moved], torch.equal(*seen),\n"
      "      len(optimizer.optim.state), told)\n";
  EXPECT_EQ(printedBy(2, text),
            (Texts{"[[2.0, 4.0]] [0.5, 0.5] True 1 [0, 1]\n", "[[2.0, 4.0]] [0.5, 0.5] True 1 None\n"}));
}

/// The first pages on writing distributed programs start processes by hand.
TEST(ProgramRanks, ProcessesAreRanks) {
  const std::string text =
      "import torch.multiprocessing as mp\n"
      "def run(number, size): print(number, size, dist.get_rank())\n"
      "mp.set_start_method('spawn')\n"
      "started = []\n"
      "for number in range(2):\n"
      "    process = mp.Process(target=run, args=(number, 2))\n"
      "    process.start()\n"
      "    started.append(process)\n"
      "for process in started: process.join()\n";
  EXPECT_EQ(printedBy(2, text), (Texts{"0 2 0\n", "1 2 1\n"}));
}

/// How often a backend was asked for a graph when both ranks call with other sizes, then with a third one.
const std::string compilesTwice =
    "asked = []\n"
    "def backend(gm, inputs):\n"
    "    asked.append(gm)\n"
    "    return gm.forward\n"
    "f = torch.compile(lambda x: x * 2 + 1, backend=backend)\n"
    "first = f(torch.ones(3 + rank))\n"
    "f(torch.ones(7))\n"
    "print(len(asked), first.tolist())\n";

TEST(ProgramRanks, RanksAgreeOnSizesBeforeTheyCompile) {
  EXPECT_EQ(printedBy(2, "torch._dynamo.config.enable_compiler_collectives = True\n" + compilesTwice),
            (Texts{"1 [3.0, 3.0, 3.0]\n", "1 [3.0, 3.0, 3.0, 3.0]\n"}));
  EXPECT_EQ(printedBy(2, compilesTwice), (Texts{"2 [3.0, 3.0, 3.0]\n", "2 [3.0, 3.0, 3.0, 3.0]\n"}));
}

TEST(ProgramRanks, ARankThatCompilesNothingIsNamed) {
  const auto alone = printedBy(2,
                               "torch._dynamo.config.enable_compiler_collectives = True\n"
                               "f = torch.compile(lambda x: x * 2, backend='eager')\n"
                               "if rank == 0: f(torch.ones(3))\n");
  ASSERT_EQ(alone.size(), 2u);
  EXPECT_NE(alone[0].find("waited in all_gather_object"), std::string::npos) << alone[0];
  EXPECT_NE(alone[0].find("rank 1 has ended"), std::string::npos) << alone[0];
}

/// A program whose ranks compile together; `asked`: the calls of each graph that a backend got.
const std::string compilesTogether =
    "import torch.distributed._functional_collectives as funcol\n"
    "torch._dynamo.config.enable_compiler_collectives = True\n"
    "asked = []\n"
    "def backend(gm, inputs):\n"
    "    asked.append(sum(n.op not in ('placeholder', 'output') for n in gm.graph.nodes))\n"
    "    return gm.forward\n"
    "def summed(y): return funcol.all_reduce(y, 'sum', dist.group.WORLD)\n";

/// What rank 0 prints ends its graph; rank 1 ends its own where the ways come together.
TEST(ProgramRanks, ABreakOfOneRankIsTakenByAll) {
  const std::string text = compilesTogether +
                           "def f(x):\n"
                           "    y = x * 2\n"
                           "    if rank == 0:\n"
                           "        print('first', y.sum().item())\n"
                           "        print('second', y.mean().item())\n"
                           "    return summed(y + rank) * 2\n"
                           "f = torch.compile(f, backend=backend)\n"
                           "print(f(torch.ones(3)).tolist(), asked[0], asked[-1])\n";
  EXPECT_EQ(printedBy(2, text), (Texts{"first 6.0\nsecond 2.0\n[10.0, 10.0, 10.0] 2 4\n", "[10.0, 10.0, 10.0] 1 4\n"}));
}

TEST(ProgramRanks, BreaksInBranchesAndBehindValuesMeet) {
  const std::string text = compilesTogether +
                           "def shown(y):\n"
                           "    torch._dynamo.graph_break()\n"
                           "    return y\n"
                           "def f(x):\n"
                           "    y = x * 2\n"
                           "    if rank == 0: print('zero')\n"
                           "    elif rank == 1: print('one')\n"
                           "    with torch.no_grad():\n"
                           "        if rank == 2: print('two')\n"
                           "        y = y - 1\n"
                           "    return summed(shown(y) if rank == 1 else y) + 1\n"
                           "f = torch.compile(f, backend=backend)\n"
                           "print(f(torch.ones(2)).tolist(), f(torch.ones(3 + rank)[:3]).tolist())\n";
  const std::string values = "[4.0, 4.0] [4.0, 4.0, 4.0]\n";
  EXPECT_EQ(printedBy(3, text), (Texts{"zero\nzero\n" + values, "one\none\n" + values, "two\ntwo\n" + values}));
}

/// A graph cannot end in a loop: rank 0 runs the function as it was written, and so do the others.
TEST(ProgramRanks, ASkipOfOneRankIsTakenByAll) {
  const std::string text = compilesTogether +
                           "def inner(y): return summed(y.cos()) + 1\n"
                           "def f(x):\n"
                           "    y = x * 0\n"
                           "    for k in range(2):\n"
                           "        if rank == 0: print('step', k)\n"
                           "    return inner(y)\n"
                           "f = torch.compile(f, backend=backend)\n"
                           "print(f(torch.ones(2)).tolist(), asked)\n";
  EXPECT_EQ(printedBy(2, text), (Texts{"step 0\nstep 1\n[3.0, 3.0] [4]\n", "[3.0, 3.0] [4]\n"}));
}

/// Nothing of rank 1 comes after its return: rank 0 compiles the rest alone, and is told who has not come.
TEST(ProgramRanks, ABreakThatOthersCannotTakeNamesTheRanks) {
  const std::string text = compilesTogether +
                           "def f(x):\n"
                           "    y = x * 2\n"
                           "    if rank == 1: return y\n"
                           "    print('on')\n"
                           "    return y.cos()\n"
                           "f = torch.compile(f, backend=backend)\n"
                           "print(f(torch.ones(2)).tolist())\n";
  const auto said = printedBy(2, text);
  ASSERT_EQ(said.size(), 2u);
  EXPECT_NE(said[0].find("rank 1 has ended"), std::string::npos) << said[0];
  EXPECT_EQ(said[1], "[2.0, 2.0]\n");
}

TEST(ProgramRanks, MeshesThatAreEqualAreOne) {
  EXPECT_EQ(
      printedBy(2, usesDTensor + "again = init_device_mesh('cpu', (world,))\n"
                                 "a = distribute_tensor(torch.arange(4.0), mesh, [Shard(0)])\n"
                                 "b = distribute_tensor(torch.ones(4), again, [Shard(0)])\n"
                                 "print((a + b).full_tensor().tolist(), torch.stack([a, b]).device_mesh == mesh)\n"),
      (Texts{"[1.0, 2.0, 3.0, 4.0] True\n", "[1.0, 2.0, 3.0, 4.0] True\n"}));
  EXPECT_EQ(
      printedBy(2,
                "from torch.distributed.fsdp import fully_shard\n"
                "net = torch.nn.Sequential(torch.nn.Linear(2, 2, bias=False), torch.nn.Linear(2, 2, bias=False))\n"
                "for part in net: torch.nn.init.constant_(part.weight, 0.5)\n"
                "for part in net: fully_shard(part)\n"
                "fully_shard(net)\n"
                "net(torch.ones(1, 2)).sum().backward()\n"
                "norm = torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)\n"
                "print(round(norm.full_tensor().item(), 4))\n"),
      (Texts{"2.8284\n", "2.8284\n"}));
}

TEST(ProgramRanks, SamplersShareTheExamples) {
  EXPECT_EQ(printedBy(2,
                      "from torch.utils.data import DistributedSampler\n"
                      "print(list(DistributedSampler(list(range(6)), shuffle=False)), "
                      "list(DistributedSampler(list(range(6)), num_replicas=3, rank=1, shuffle=False)))\n"),
            (Texts{"[0, 2, 4] [1, 4]\n", "[1, 3, 5] [1, 4]\n"}));
}

/// One graph, though the group is asked for this rank.
TEST(ProgramRanks, GroupsAreKnownWhileFunctionsAreCompiled) {
  EXPECT_EQ(printedBy(2,
                      "import torch.distributed._functional_collectives as funcol\n"
                      "def f(x): return funcol.all_reduce(x * (dist.get_rank() + 1), 'sum', dist.group.WORLD)\n"
                      "print(torch.compile(f, fullgraph=True, backend='eager')(torch.ones(2)).tolist())\n"),
            (Texts{"[3.0, 3.0]\n", "[3.0, 3.0]\n"}));
}

TEST(ProgramRanks, APartIsNotReadAsTheWhole) {
  const auto refused = printedBy(2, usesDTensor +
                                        "x = distribute_tensor(torch.ones(4), mesh, [Shard(0)])\n"
                                        "dist.all_reduce(x)\n");
  for (const std::string& rank : refused) EXPECT_NE(rank.find("of a DTensor"), std::string::npos) << rank;
}

/// The losses that the bundled example prints.
std::vector<double> lossesOfExample(int ranks) {
  std::ifstream file(std::string(KERF_SOURCE_DIR) + "/resources/samples/train_convnext_example.py");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_FALSE(text.empty());
  workbench::CaptureProgramRequest request;
  request.path = "train_convnext_example.py";
  request.ranks = ranks;
  request.timeout = std::chrono::seconds(300);
  const auto captured = workbench::runProgramText(text, request, {});
  EXPECT_TRUE(captured) << captured.error().text();
  if (!captured) return {};
  for (const auto& rank : *captured) EXPECT_EQ(rank.doc.exitStatus, 0) << rank.doc.exception << rank.doc.errors;
  const std::string& output = captured->front().doc.output;
  std::vector<double> losses;
  for (std::size_t at = output.find("loss "); at != std::string::npos; at = output.find("loss ", at + 1))
    losses.push_back(std::stod(output.substr(at + 5)));
  return losses;
}

TEST(ProgramRanks, TheConvNextExampleHasTheLossOfOneRank) {
  const std::vector<double> whole = lossesOfExample(1), sharded = lossesOfExample(4);
  ASSERT_EQ(whole.size(), 2u);
  ASSERT_EQ(sharded.size(), 2u);
  EXPECT_GT(whole[0], 1);
  for (std::size_t step = 0; step < 2; ++step) EXPECT_NEAR(sharded[step], whole[step], 1e-4) << step;
  EXPECT_NE(whole[0], whole[1]) << "a step changes the parameters";
}

TEST(ProgramRanks, OneRankIsAWorldOfOne) {
  EXPECT_EQ(
      printedBy(1, "x = torch.ones(2)\ndist.all_reduce(x)\nprint(world, rank, x.tolist(), dist.is_available())\n"),
      Texts{"1 0 [1.0, 1.0] True\n"});
}

}  // namespace
}  // namespace kerf
