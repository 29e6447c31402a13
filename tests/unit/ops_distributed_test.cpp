// Collectives and ops of other libraries: shapes as PyTorch's meta functions give them, and what one process can run.
#include "engine/ir/parser.h"
#include "engine/ops/core/op_call.h"
#include "tests/unit/ops_testing.h"

namespace kerf {
namespace {

using namespace testing;

/// Sizes of the results for an input of [6, 5].
Sizes sizesOf(const char* op, ValueList args) {
  auto shape = inferShapes(op, args, {});
  EXPECT_TRUE(shape) << (shape ? "" : shape.error().text());
  if (!shape) return {};
  return shape->isList() ? shape->list().at(0).tensor().sizes() : shape->tensor().sizes();
}

TEST(Collectives, HaveShapes) {
  const Tensor x = counting({6, 5});
  const Value group(std::string("0")), sum(std::string("sum")), two(std::int64_t{2});
  const Value list(ValueList{Value(x)});
  EXPECT_EQ(sizesOf("_c10d_functional.all_reduce.default", {x, sum, group}), (Sizes{6, 5}));
  EXPECT_EQ(sizesOf("_c10d_functional.all_gather_into_tensor.default", {x, two, group}), (Sizes{12, 5}));
  EXPECT_EQ(sizesOf("_c10d_functional.all_gather_into_tensor_coalesced.default", {list, two, group}), (Sizes{12, 5}));
  EXPECT_EQ(sizesOf("_c10d_functional.reduce_scatter_tensor.default", {x, sum, two, group}), (Sizes{3, 5}));
  EXPECT_EQ(sizesOf("_c10d_functional.all_to_all_single.default", {x, intList({1, 8}), intList({3, 3}), group}),
            (Sizes{9, 5}));
  EXPECT_EQ(sizesOf("_c10d_functional.wait_tensor.default", {x}), (Sizes{6, 5}));
  EXPECT_EQ(sizesOf("c10d_functional.all_gather_into_tensor.default",
                    {x, Value(std::string()), intList({0, 1}), Value(std::int64_t{2})}),
            (Sizes{12, 5}));
  EXPECT_EQ(sizesOf("fsdp.all_gather_copy_in.default",
                    {list, counting({60}), intList({30}), Value(std::int64_t{30}), Value(std::int64_t{1})}),
            (Sizes{30}));
}

TEST(Collectives, OfProcessGroupsReturnWhatTheyWriteTo) {
  auto module = parseReadable(
      "def forward(self, x: \"f32[4, 3]\", out: \"f32[8, 3]\"):\n"
      "    _torchbind_obj0 = self._torchbind_obj0\n"
      "    _torchbind_obj1 = self._torchbind_obj1\n"
      "    allreduce_ = torch.ops.c10d.allreduce_.default([x], _torchbind_obj0, _torchbind_obj1, None, False)\n"
      "    getitem = allreduce_[0]\n"
      "    getitem_1 = getitem[0]\n"
      "    gather = torch.ops.c10d._allgather_base_.default(out, getitem_1, _torchbind_obj0, False, -1)\n"
      "    getitem_2 = gather[0]\n"
      "    return (getitem_1, getitem_2)\n");
  ASSERT_TRUE(module) << module.error().text();
  const auto done = propagateShapes(*module);
  ASSERT_TRUE(done) << done.error().text();
  const auto sizes = [&](const char* name) {
    const TensorMeta* meta = module->graph.node(*module->graph.find(name)).meta().value.tensor();
    return meta == nullptr ? std::string("unknown") : fmt::format("{}x{}", *meta->sizes[0].hint, *meta->sizes[1].hint);
  };
  EXPECT_EQ(sizes("getitem_1"), "4x3");
  EXPECT_EQ(sizes("getitem_2"), "8x3");
  const auto run = referenceOps().call("c10d.barrier.default", {counting({1}), Value(), intList({0})}, {});
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().code, ErrorCode::UnsupportedOp);
}

TEST(Collectives, KeepStridesOnlyWhereTheyAreTheSameTensor) {
  const Tensor x = metaTensor(DType::Float32, SymSizes{4, 6}, SymSizes{1, 4});
  const auto reduced =
      inferShapes("_c10d_functional.all_reduce.default", {x, Value(std::string("avg")), Value(std::string("0"))}, {});
  ASSERT_TRUE(reduced);
  EXPECT_EQ(reduced->tensor().strides(), (Sizes{1, 4}));
  const auto gathered = inferShapes("_c10d_functional.all_gather_into_tensor.default",
                                    {x, Value(std::int64_t{3}), Value(std::string("0"))}, {});
  ASSERT_TRUE(gathered);
  EXPECT_EQ(gathered->tensor().strides(), (Sizes{6, 1}));
}

TEST(Collectives, RunWhereThisIsTheOnlyRank) {
  const Tensor x = counting({2, 3});
  const Value group(std::string("0"));
  EXPECT_EQ(valuesOf(callTensor("_c10d_functional.wait_tensor.default", {x})), valuesOf(x));
  EXPECT_EQ(valuesOf(callTensor("_c10d_functional.all_gather_into_tensor.default", {x, Value(std::int64_t{1}), group})),
            valuesOf(x));
  const auto several =
      referenceOps().call("_c10d_functional.all_gather_into_tensor.default", {x, Value(std::int64_t{2}), group}, {});
  ASSERT_FALSE(several);
  EXPECT_EQ(several.error().code, ErrorCode::UnsupportedOp);
  EXPECT_NE(several.error().message.find("needs the other ranks of its group"), std::string::npos);
}

TEST(Collectives, RefuseWhatHasNoShape) {
  const Value group(std::string("0"));
  EXPECT_EQ(inferShapes("_c10d_functional.all_gather_into_tensor.default",
                        {Tensor::scalar(1, DType::Float32), Value(std::int64_t{2}), group}, {})
                .error()
                .code,
            ErrorCode::ShapeMismatch);
  EXPECT_EQ(
      inferShapes("_c10d_functional.all_gather_into_tensor.default", {counting({2}), Value(std::int64_t{0}), group}, {})
          .error()
          .code,
      ErrorCode::ShapeMismatch);
}

TEST(Collectives, CarryShapesThroughAGraph) {
  auto module = parseReadable(
      "def forward(self, p: \"f32[5, 128]\", x: \"f32[32, 128]\", shard: \"f32[4, 4]\"):\n"
      "    gather = torch.ops._c10d_functional.all_gather_into_tensor.default(p, 2, '0')\n"
      "    wait = torch.ops._c10d_functional.wait_tensor.default(gather)\n"
      "    moved: \"f32[8, 2]\" = torch.ops._dtensor.shard_dim_alltoall.default(shard, 0, 1, '0')\n"
      "    permute = torch.ops.aten.permute.default(wait, [1, 0])\n"
      "    mm = torch.ops.aten.mm.default(x, permute)\n"
      "    return (mm, moved)\n");
  ASSERT_TRUE(module);
  ASSERT_TRUE(propagateShapes(*module));
  const auto sizes = [&](const char* name) {
    const auto* meta = module->graph.node(*module->graph.find(name)).meta().value.tensor();
    return meta != nullptr ? meta->concreteSizes().value_or(Sizes{}) : Sizes{};
  };
  EXPECT_EQ(sizes("mm"), (Sizes{32, 10}));
  EXPECT_EQ(sizes("moved"), (Sizes{8, 2}));
}

TEST(OtherLibraries, HaveShapes) {
  const Tensor x = counting({4, 6}), ones = counting({4});
  EXPECT_EQ(sizesOf("fbgemm.asynchronous_complete_cumsum.default", {ones}), (Sizes{5}));
  EXPECT_EQ(sizesOf("fbgemm.jagged_to_padded_dense.default",
                    {counting({7, 3}), Value(ValueList{Value(ones)}), intList({9}), Value(0.0)}),
            (Sizes{3, 9, 3}));
  EXPECT_EQ(sizesOf("torchao.choose_qparams_affine.default",
                    {x, Value(std::string("ASYMMETRIC")), intList({1, 3}), Value(DType::Int8)}),
            (Sizes{4, 2}));
  const auto quantized =
      inferShapes("torchao.quantize_affine.default", {x, intList({1, 6}), ones, Value(), Value(DType::Int8)}, {});
  ASSERT_TRUE(quantized) << quantized.error().text();
  EXPECT_EQ(quantized->tensor().dtype(), DType::Int8);
}

}  // namespace
}  // namespace kerf
