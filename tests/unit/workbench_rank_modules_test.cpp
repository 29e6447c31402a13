// Modules that several ranks train together: batch norms of all ranks, DistributedDataParallel, fully_shard.
#include <string>

#include <gtest/gtest.h>

#include "tests/unit/rank_programs.h"

namespace kerf {
namespace {

using namespace rank_programs;

TEST(RankModules, SyncBatchNormIsThatOfTheWholeBatch) {
  EXPECT_EQ(printedBy(2,
                      "from torch import nn\n"
                      "torch.manual_seed(0)\n"
                      "whole = nn.Sequential(nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3), nn.ReLU()).double()\n"
                      "import copy\n"
                      "many = nn.SyncBatchNorm.convert_sync_batchnorm(copy.deepcopy(whole))\n"
                      "x = torch.randn(5, 2, 6, 6, dtype=torch.float64)\n"
                      "all_x = x.clone().requires_grad_()\n"
                      "own = x[:2] if rank == 0 else x[2:]\n"
                      "own = own.clone().requires_grad_()\n"
                      "y, z = whole(all_x), many(own)\n"
                      "part = slice(0, 2) if rank == 0 else slice(2, 5)\n"
                      "(y * y).sum().backward(), (z * z).sum().backward()\n"
                      "near = lambda a, b: torch.allclose(a, b, atol=1e-9)\n"
                      "print(type(many[1]).__name__, near(z, y[part]), near(own.grad, all_x.grad[part]))\n"
                      "print(near(many[1].running_mean, whole[1].running_mean), near(many[1].running_var, "
                      "whole[1].running_var))\n"
                      "for a, b in zip(many.parameters(), whole.parameters()):\n"
                      "    dist.all_reduce(a.grad)\n"
                      "    print(near(a.grad, b.grad), end=' ')\n"
                      "many.eval(), whole.eval()\n"
                      "print(near(many(own), whole(all_x)[part]))\n"),
            (Texts(2, "SyncBatchNorm True True\nTrue True\nTrue True True True True\n")));
}

TEST(RankModules, AParameterThatTheLossLeavesOutIsNamed) {
  const auto said = printedBy(2,
                              "from torch import nn\n"
                              "class Two(nn.Module):\n"
                              "    def __init__(self):\n"
                              "        super().__init__()\n"
                              "        self.a, self.b = nn.Linear(2, 2), nn.Linear(2, 2)\n"
                              "    def forward(self, x): return self.a(x)\n"
                              "net = nn.parallel.DistributedDataParallel(Two())\n"
                              "print(net.device_ids, net.device, type(net.module).__name__, "
                              "net.require_backward_grad_sync, dist.get_world_size(net.process_group))\n"
                              "net(torch.ones(1, 2)).sum().backward()\n"
                              "try: net(torch.ones(1, 2))\n"
                              "except RuntimeError as error: print(str(error)[:60], str(error).split('rank ')[-1])\n"
                              "finds = nn.parallel.DistributedDataParallel(Two(), find_unused_parameters=True)\n"
                              "for _ in range(2): finds(torch.ones(1, 2) * (rank + 1)).sum().backward()\n"
                              "print(finds.module.a.weight.grad.tolist(), finds.module.b.weight.grad)\n");
  ASSERT_EQ(said.size(), 2u);
  EXPECT_EQ(said[1],
            "None cpu Two True 2\n"
            "Expected to have finished reduction in the prior iteration b 1: 2 3\n"
            "[[3.0, 3.0], [3.0, 3.0]] None\n");
}

TEST(RankModules, GradientsWithoutSyncAreAddedToTheNextMeans) {
  EXPECT_EQ(printedBy(2,
                      "net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1, bias=False))\n"
                      "w = net.module.weight\n"
                      "with net.no_sync(): net(torch.ones(1, 1) * (rank + 1)).sum().backward()\n"
                      "before = w.grad.item()\n"
                      "net(torch.ones(1, 1) * 10 * (rank + 1)).sum().backward()\n"
                      "print(before, w.grad.item())\n"),
            (Texts{"1.0 16.5\n", "2.0 16.5\n"}));
}

TEST(RankModules, DataParallelOverTensorParallel) {
  EXPECT_EQ(
      printedBy(4,
                "from torch import nn\n"
                "from torch.distributed.tensor import init_device_mesh\n"
                "from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module\n"
                "mesh = init_device_mesh('cpu', (2, 2), mesh_dim_names=('dp', 'tp'))\n"
                "torch.manual_seed(0)\n"
                "one = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 4)).double()\n"
                "import copy\n"
                "many = parallelize_module(copy.deepcopy(one), mesh['tp'], {'0': ColwiseParallel(), '1': "
                "RowwiseParallel()})\n"
                "net = nn.parallel.DistributedDataParallel(many, device_mesh=mesh['dp'])\n"
                "x = torch.randn(4, 4, dtype=torch.float64)\n"
                "part = x[:2] if mesh.get_local_rank('dp') == 0 else x[2:]\n"
                "one(x).pow(2).mean().backward(), net(part).pow(2).mean().backward()\n"
                "print([torch.allclose(a.grad.full_tensor(), b.grad) for a, b in zip(many.parameters(), "
                "one.parameters())])\n"),
      (Texts(4, "[True, True, True, True]\n")));
}

TEST(RankModules, ModulesThatAreShardedTogether) {
  EXPECT_EQ(printedBy(2,
                      "from torch import nn\n"
                      "from torch.distributed.fsdp import fully_shard, FSDPModule\n"
                      "torch.manual_seed(0)\n"
                      "one = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 2)).double()\n"
                      "import copy\n"
                      "many = copy.deepcopy(one)\n"
                      "fully_shard([many[0], many[2]])\n"
                      "fully_shard(many)\n"
                      "many.set_requires_gradient_sync(True), many.set_reshard_after_backward(True)\n"
                      "many.set_modules_to_forward_prefetch([many[0]])\n"
                      "x = torch.randn(4, 3, dtype=torch.float64)\n"
                      "one(x).sum().backward(), many(x[:2] if rank == 0 else x[2:]).sum().backward()\n"
                      "near = [torch.allclose(a.grad.full_tensor() * 2, b.grad) for a, b in zip(many.parameters(), "
                      "one.parameters())]\n"
                      "print(isinstance(many[2], FSDPModule), type(many[0].weight).__name__, near)\n"
                      "many[0].set_gradient_divide_factor(1.0), many.zero_grad()\n"
                      "many(x[:2] if rank == 0 else x[2:]).sum().backward()\n"
                      "print(torch.allclose(many[2].weight.grad.full_tensor(), one[2].weight.grad))\n"),
            (Texts(2, "True DTensor [True, True, True, True]\nTrue\n")));
}

}  // namespace
}  // namespace kerf
