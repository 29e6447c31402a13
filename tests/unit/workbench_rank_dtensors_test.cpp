// DTensors in programs of several ranks: writing through views, and what a DTensor says of itself.
#include <string>

#include <gtest/gtest.h>

#include "tests/unit/rank_programs.h"

namespace kerf {
namespace {

using namespace rank_programs;

TEST(RankDTensors, WritesThroughViewsReachTheWholeAndItsGradient) {
  // Values, and the gradient of sum(y * y) by what y was made of, beside those of one rank's tensor.
  const std::string program = usesDTensor +
                              "writes = [\n"
                              "    'y[2] = 7.0',\n"
                              "    'y[2].add_(1)',\n"
                              "    'y[:, 0] = 7.0',\n"
                              "    'y[1:4].zero_()',\n"
                              "    'y[1:4:2].mul_(3)',\n"
                              "    'y[:, 1:3].add_(1)',\n"
                              "    'y[0:2].copy_(y[2:4])',\n"
                              "    'y.t().mul_(2)',\n"
                              "    'y.t()[1:3].mul_(2)',\n"
                              "    'y[1:4][1].mul_(5)',\n"
                              "    'y.diagonal().fill_(0.5)',\n"
                              "    'y.unbind(0)[3].mul_(2)',\n"
                              "    'y.split(2, 1)[1].add_(3)',\n"
                              "    'y.narrow(0, 3, 2).sub_(1)',\n"
                              "    'y[4, 5] = -1.0',\n"
                              "    'y[0].copy_(y[1] + y[2])',\n"
                              "]\n"
                              "def differs(write, placement, taped):\n"
                              "    x = torch.arange(30.0).view(5, 6)\n"
                              "    one = x.clone().requires_grad_(taped)\n"
                              "    many = distribute_tensor(x.clone(), mesh, [placement]).requires_grad_(taped)\n"
                              "    y, z = one * 1, many * 1\n"
                              "    exec(write, {'y': y}), exec(write, {'y': z})\n"
                              "    if not torch.equal(z.full_tensor(), y): return 'values'\n"
                              "    if not taped: return None\n"
                              "    (y * y).sum().backward(), (z * z).sum().backward()\n"
                              "    return None if torch.equal(many.grad.full_tensor(), one.grad) else 'gradient'\n"
                              "count = 0\n"
                              "for write in writes:\n"
                              "    for placement in (Replicate(), Shard(0), Shard(1)):\n"
                              "        for taped in (False, True):\n"
                              "            what, count = differs(write, placement, taped), count + 1\n"
                              "            if what: print(write, placement, what)\n"
                              "print(count)\n";
  EXPECT_EQ(printedBy(2, program), (Texts{"96\n", "96\n"}));
}

TEST(RankDTensors, AViewThatNothingCanBeBroughtBackFromIsNotWrittenInto) {
  const auto refused = printedBy(2, usesDTensor +
                                        "z = distribute_tensor(torch.arange(6.0), mesh, [Shard(0)])\n"
                                        "try: z.as_strided((2, 2), (2, 1)).add_(1)\n"
                                        "except NotImplementedError as error: print('refused')\n"
                                        "print(z.full_tensor().tolist())\n");
  EXPECT_EQ(refused, (Texts(2, "refused\n[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]\n")));
}

TEST(RankDTensors, ViewsSeeWhatIsWrittenIntoTheirBaseAndIntoEachOther) {
  EXPECT_EQ(
      printedBy(2, usesDTensor +
                       "z = distribute_tensor(torch.arange(12.0).view(4, 3), mesh, [Shard(0)])\n"
                       "row, rows, part = z[1], z[0:2], z[1][1:]\n"
                       "z.mul_(2)\n"
                       "print(row.full_tensor().tolist(), rows.full_tensor().tolist())\n"
                       "rows.add_(1)\n"
                       "print(row.full_tensor().tolist(), part.full_tensor().tolist())\n"
                       "part.zero_()\n"
                       "print(z.full_tensor()[1].tolist(), rows.to_local()[1].tolist(), row.full_tensor().tolist())\n"),
      (Texts(2,
             "[6.0, 8.0, 10.0] [[0.0, 2.0, 4.0], [6.0, 8.0, 10.0]]\n[7.0, 9.0, 11.0] [9.0, 11.0]\n"
             "[7.0, 0.0, 0.0] [7.0, 0.0, 0.0] [7.0, 0.0, 0.0]\n")));
}

TEST(RankDTensors, AViewOfAChangedBaseHasTheBasesGradient) {
  EXPECT_EQ(printedBy(2, usesDTensor + "for placement in (None, Replicate(), Shard(0), Shard(1)):\n"
                                       "    x = torch.arange(6.0).view(2, 3)\n"
                                       "    x = x if placement is None else distribute_tensor(x, mesh, [placement])\n"
                                       "    x.requires_grad_()\n"
                                       "    y = x * 2\n"
                                       "    row = y[1]\n"
                                       "    y.mul_(3)\n"
                                       "    (row * row).sum().backward()\n"
                                       "    print((x.grad if placement is None else x.grad.full_tensor()).tolist())\n"),
            (Texts(2,
                   "[[0.0, 0.0, 0.0], [216.0, 288.0, 360.0]]\n[[0.0, 0.0, 0.0], [216.0, 288.0, 360.0]]\n"
                   "[[0.0, 0.0, 0.0], [216.0, 288.0, 360.0]]\n[[0.0, 0.0, 0.0], [216.0, 288.0, 360.0]]\n")));
}

TEST(RankDTensors, AWriteIntoAViewOfATransposedBaseHasTheGradientOfItsPlace) {
  EXPECT_EQ(printedBy(2, usesDTensor + "for placement in (None, Shard(0), Shard(1)):\n"
                                       "    x = torch.ones(3, 2)\n"
                                       "    x = x if placement is None else distribute_tensor(x, mesh, [placement])\n"
                                       "    x.requires_grad_()\n"
                                       "    y = x.t() * 1\n"
                                       "    late = y[:, 2]\n"
                                       "    y[0].mul_(3)\n"
                                       "    (y.sum() + late.sum()).backward()\n"
                                       "    print((x.grad if placement is None else x.grad.full_tensor()).tolist())\n"),
            (Texts(2,
                   "[[3.0, 1.0], [3.0, 1.0], [6.0, 2.0]]\n[[3.0, 1.0], [3.0, 1.0], [6.0, 2.0]]\n"
                   "[[3.0, 1.0], [3.0, 1.0], [6.0, 2.0]]\n")));
}

TEST(RankDTensors, PlacesOfPartsAndSpecs) {
  EXPECT_EQ(
      printedBy(
          2, usesDTensor +
                 "from torch.distributed.tensor._utils import compute_local_shape_and_global_offset as place\n"
                 "d = distribute_tensor(torch.ones(5, 2), mesh, [Shard(0)]).requires_grad_()\n"
                 "print(place((5, 2), mesh, [Shard(0)]), place((1, 4), mesh, [Shard(0)]), d._spec, d._spec.dim_map)\n"
                 "print(repr(d * 1).split('(')[0], 'requires_grad' in repr(d))\n"),
      (Texts{"((3, 2), (0, 0)) ((1, 4), (0, 0)) Spec(S(0) on (5, 2)) [0, -1]\nDTensor False\n",
             "((2, 2), (3, 0)) ((0, 4), (1, 0)) Spec(S(0) on (5, 2)) [0, -1]\nDTensor False\n"}));
}

TEST(RankDTensors, PartsTravelToTheirOwnRankOnly) {
  EXPECT_EQ(
      printedBy(2, usesDTensor +
                       "import pickle\n"
                       "d = torch.nn.Parameter(distribute_tensor(torch.arange(5.0), mesh, [Shard(0)]))\n"
                       "again = pickle.loads(pickle.dumps(d))\n"
                       "print(again.full_tensor().tolist(), again.placements, isinstance(again, torch.nn.Parameter))\n"
                       "seen = [None, None]\n"
                       "whole = distribute_tensor(torch.ones(2), mesh, [Replicate()])\n"
                       "dist.all_gather_object(seen, whole)\n"
                       "print(seen[1 - rank].to_local().tolist())\n"
                       "try: dist.all_gather_object(seen, d)\n"
                       "except RuntimeError as error: print(str(error)[:43])\n"),
      (Texts(2,
             "[0.0, 1.0, 2.0, 3.0, 4.0] (Shard(dim=0),) True\n[1.0, 1.0]\n"
             "a DTensor travels as the part of one rank: \n")));
}

}  // namespace
}  // namespace kerf
