// Messages and collectives of programs of several ranks: their order, their dtypes, their gradients, and their graphs.
#include <stop_token>
#include <string>

#include <gtest/gtest.h>

#include "tests/unit/rank_programs.h"

namespace kerf {
namespace {

using namespace rank_programs;

TEST(RankCollectives, MessagesGoToReceivesInTheOrderOfPosting) {
  EXPECT_EQ(printedBy(2,
                      "a, b, c = torch.zeros(1), torch.zeros(1), torch.zeros(1)\n"
                      "first, second = dist.irecv(a, 1 - rank), dist.irecv(b, 1 - rank)\n"
                      "other = dist.irecv(c, 1 - rank, tag=5)\n"
                      "for value in (1.0, 2.0): dist.send(torch.tensor([value + 10 * rank]), 1 - rank)\n"
                      "dist.send(torch.tensor([3.0 + 10 * rank]), 1 - rank, tag=5)\n"
                      "other.wait(), second.wait(), first.wait()\n"
                      "print(a.item(), b.item(), c.item())\n"),
            (Texts{"11.0 12.0 13.0\n", "1.0 2.0 3.0\n"}));
}

TEST(RankCollectives, PollingAReceiveEnds) {
  EXPECT_EQ(printedBy(2,
                      "a = torch.zeros(2)\n"
                      "work = dist.irecv(a, 1 - rank)\n"
                      "early = work.is_completed()\n"
                      "dist.barrier()\n"
                      "dist.isend(torch.full((2,), float(rank)), 1 - rank)\n"
                      "while not work.is_completed(): pass\n"
                      "print(early, a.tolist(), work.is_success())\n"),
            (Texts{"False [1.0, 1.0] True\n", "False [0.0, 0.0] True\n"}));
}

TEST(RankCollectives, AReceiveOfAnyRankSaysWhoSent) {
  EXPECT_EQ(printedBy(3,
                      "if rank == 0:\n"
                      "    a, seen = torch.zeros(1), []\n"
                      "    for _ in range(2): seen.append((dist.recv(a), a.item()))\n"
                      "    print(sorted(seen))\n"
                      "else: dist.send(torch.tensor([float(rank)]), 0)\n"),
            (Texts{"[(1, 1.0), (2, 2.0)]\n", "", ""}));
}

TEST(RankCollectives, NothingIsConvertedOnTheWay) {
  const auto refused = printedBy(2,
                                 "def said(call):\n"
                                 "    try: call()\n"
                                 "    except ValueError as error: print(str(error).split(';')[0])\n"
                                 "x = torch.ones(2)\n"
                                 "said(lambda: dist.all_gather([torch.zeros(2, dtype=torch.int32)] * 2, x))\n"
                                 "said(lambda: dist.all_gather_into_tensor(torch.zeros(4, dtype=torch.float64), x))\n"
                                 "said(lambda: dist.reduce_scatter_tensor(torch.zeros(1, dtype=torch.int64), x))\n"
                                 "said(lambda: dist.all_to_all_single(torch.zeros(2, dtype=torch.float16), x))\n"
                                 "dist.send(x, 1 - rank)\n"
                                 "said(lambda: dist.recv(torch.zeros(2, dtype=torch.int32), 1 - rank))\n");
  ASSERT_EQ(refused.size(), 2u);
  EXPECT_EQ(refused[1],
            "rank 1: all_gather of float32 into a tensor of int32\n"
            "rank 1: all_gather_into_tensor of float32 into a tensor of float64\n"
            "rank 1: reduce_scatter_tensor of float32 into a tensor of int64\n"
            "rank 1: all_to_all_single of float32 into a tensor of float16\n"
            "rank 1: recv from rank 0 of float32 into a tensor of int32\n");
}

const std::string usesFunctional =
    "import torch.distributed._functional_collectives as funcol\n"
    "G = dist.group.WORLD\n";

TEST(RankCollectives, FunctionalCollectivesHaveGradientsEagerAndCompiled) {
  EXPECT_EQ(printedBy(2, usesFunctional +
                             "steps = {'reduced': lambda x: funcol.all_reduce(x * 2, 'sum', G),\n"
                             "         'mean': lambda x: funcol.all_reduce(x * x, 'avg', G),\n"
                             "         'gathered': lambda x: funcol.all_gather_tensor(x * x, 0, G)[0:2],\n"
                             "         'scattered': lambda x: funcol.reduce_scatter_tensor(x * x, 'sum', 0, G),\n"
                             "         'exchanged': lambda x: funcol.all_to_all_single(x * x, None, None, G)}\n"
                             "for name, step in steps.items():\n"
                             "    got = []\n"
                             "    for run in (step, torch.compile(step, fullgraph=True)):\n"
                             "        x = (torch.tensor([1.0, 2.0]) + 2 * rank).requires_grad_()\n"
                             "        (run(x) * (1 + rank)).sum().backward()\n"
                             "        got.append(x.grad.tolist())\n"
                             "    print(name, got[0], got[0] == got[1])\n"),
            (Texts{"reduced [6.0, 6.0] True\nmean [3.0, 6.0] True\ngathered [6.0, 12.0] True\n"
                   "scattered [2.0, 8.0] True\nexchanged [2.0, 8.0] True\n",
                   "reduced [6.0, 6.0] True\nmean [9.0, 12.0] True\ngathered [0.0, 0.0] True\n"
                   "scattered [6.0, 16.0] True\nexchanged [6.0, 16.0] True\n"}));
}

TEST(RankCollectives, CollectivesOfListsAreCompiledWhole) {
  EXPECT_EQ(printedBy(2,
                      "def gathers(x):\n"
                      "    parts = [torch.empty(2) for _ in range(2)]\n"
                      "    dist.all_gather(parts, x)\n"
                      "    y = x * 1\n"
                      "    dist.all_reduce(y)\n"
                      "    z = torch.ops._c10d_functional.all_reduce(x, 'max', '0')\n"
                      "    return torch.cat(parts), y, torch.ops._c10d_functional.wait_tensor(z)\n"
                      "x = torch.tensor([1.0, 2.0]) + 10 * rank\n"
                      "eager, whole = gathers(x), torch.compile(gathers, fullgraph=True)(x)\n"
                      "print([one.tolist() for one in whole], all(map(torch.equal, eager, whole)))\n"),
            (Texts(2, "[[1.0, 2.0, 11.0, 12.0], [12.0, 14.0], [11.0, 12.0]] True\n")));
}

TEST(RankCollectives, ExportKeepsCollectivesAsNodes) {
  EXPECT_EQ(
      printedBy(2, usesFunctional +
                       "class Summed(torch.nn.Module):\n"
                       "    def forward(self, x):\n"
                       "        y = x * 2\n"
                       "        dist.all_reduce(y)\n"
                       "        return funcol.all_reduce(y, 'max', G) + 1\n"
                       "made = torch.export.export(Summed(), (torch.ones(2),))\n"
                       "targets = [str(node.target) for node in made.graph.nodes]\n"
                       "print(sum('all_reduce' in one for one in targets), any('constant' in one for one in targets))\n"
                       "print(made.module()(torch.tensor([3.0, float(rank)])).tolist())\n"),
      (Texts(2, "2 False\n[13.0, 3.0]\n")));
}

TEST(RankCollectives, WhatAGraphCannotHoldIsNotExported) {
  EXPECT_EQ(
      printedBy(
          2,
          "class Sends(torch.nn.Module):\n"
          "    def __init__(self, call):\n"
          "        super().__init__()\n"
          "        self.call = call\n"
          "    def forward(self, x):\n"
          "        self.call(x)\n"
          "        return x + 1\n"
          "for call in (lambda x: dist.gather(x, [x, x] if rank == 0 else None), lambda x: dist.send(x, 1 - rank),\n"
          "             lambda x: dist.recv(x, 1 - rank), lambda x: dist.barrier(),\n"
          "             lambda x: dist.all_gather_object([None] * 2, 1)):\n"
          "    try: torch.export.export(Sends(call), (torch.ones(2),))\n"
          "    except Exception as error: print(type(error).__name__, str(error).split(' has')[0])\n"),
      (Texts(2,
             "RuntimeError gather\nRuntimeError send\nRuntimeError recv\nRuntimeError barrier\n"
             "RuntimeError a collective of objects\n")));
}

TEST(RankCollectives, AFakeWorldHasRanksThatBringTheSame) {
  EXPECT_EQ(
      printedBy(2, usesDTensor + "dist.destroy_process_group()\n"
                                 "dist.init_process_group('fake', rank=5, world_size=8)\n"
                                 "wide = init_device_mesh('cpu', (2, 4))\n"
                                 "d = distribute_tensor(torch.arange(16.0).view(2, 8), wide, [Shard(0), Shard(1)])\n"
                                 "x, untouched = torch.ones(1), torch.zeros(1)\n"
                                 "dist.all_reduce(x), dist.send(x, 1), dist.recv(untouched, 1)\n"
                                 "print(dist.get_rank(), d.to_local().tolist(), x.item(), untouched.item())\n"
                                 "dist.destroy_process_group()\n"
                                 "dist.init_process_group('gloo')\n"
                                 "y = torch.tensor([rank + 1.0])\n"
                                 "dist.all_reduce(y)\n"
                                 "e = distribute_tensor(torch.arange(4.0), init_device_mesh('cpu', (2,)), [Shard(0)])\n"
                                 "print(dist.get_world_size(), y.item(), e.to_local().tolist())\n"),
      (Texts{"5 [[10.0, 11.0]] 8.0 0.0\n2 3.0 [0.0, 1.0]\n", "5 [[10.0, 11.0]] 8.0 0.0\n2 3.0 [2.0, 3.0]\n"}));
}

TEST(RankCollectives, AStoppedProgramIsToldInASentence) {
  std::stop_source stop;
  stop.request_stop();
  workbench::CaptureProgramRequest request;
  request.path = "program.py";
  request.ranks = 2;
  const auto captured = workbench::runProgramText("while True: pass\n", request, stop.get_token());
  ASSERT_FALSE(captured);
  EXPECT_EQ(captured.error().code, ErrorCode::Cancelled);
  EXPECT_EQ(captured.error().message, "stopped while the program was running");
}

}  // namespace
}  // namespace kerf
