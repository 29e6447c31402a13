// Decomposition tables: what they list has programs, and traces write what PyTorch's traces hold.
#include <gtest/gtest.h>

#include <set>

#include "engine/ops/core/decomposition_lists.h"
#include "engine/ops/core/decomposition_tables.h"
#include "engine/ops/core/op_call.h"
#include "engine/ops/core/symbolic_checks.h"
#include "tests/unit/ops_testing.h"

namespace kerf {
namespace {

using namespace testing;
using enum DecompositionTable;

/// Targets of the calls that a trace writes for one call, without "torch.ops." and what is only getitem.
std::vector<std::string> traced(DecompositionTable table, OpId op, const ValueList& args,
                                const KeywordValues& kwargs = {}) {
  GraphModule module;
  OpTracer tracer(module, decomposesBy(table));
  ValueList values;
  for (const Value& value : args) values.push_back(tracer.placeholder("x", value).value());
  const auto result = withoutThrowing([&] { return tracer.call(op, values, kwargs); });
  if (!result) return {result.error().text()};
  const auto output = tracer.argumentOf(*result);
  EXPECT_TRUE(output) << output.error().text();
  module.graph.output(*output);
  EXPECT_TRUE(module.graph.lint());
  std::vector<std::string> targets;
  for (const NodeId id : module.graph.order()) {
    const Node& node = module.graph.node(id);
    if (node.op() != Opcode::CallFunction || node.isCall("operator.getitem"_op)) continue;
    targets.push_back(node.target().substr(std::string_view("torch.ops.").size()));
  }
  return targets;
}

using Targets = std::vector<std::string>;

TEST(DecompositionTables, HaveNames) {
  for (const DecompositionTable table : {None, Core, Inductor})
    EXPECT_EQ(parseDecompositionTable(decompositionTableName(table)), table);
  EXPECT_EQ(decompositionTableName(Inductor), "inductor");
  EXPECT_EQ(parseDecompositionTable("prims"), std::nullopt);
}

TEST(DecompositionTables, ListOpsThatHavePrograms) {
  for (const DecompositionList& list : decompositionLists()) {
    for (const std::string_view name : list.ops) {
      int found = 0;
      for (const OpInfo& op : allOps()) {
        const std::string overload = op.schema.qualifiedName();
        if (overload != fmt::format("aten.{}", name) && op.schema.name != fmt::format("aten::{}", name)) continue;
        ++found;
        EXPECT_NE(op.decomposition, nullptr) << overload;
      }
      EXPECT_GT(found, 0) << name;
    }
  }
}

TEST(DecompositionTables, NameEveryOpWithAProgramOfItsOwn) {
  std::set<std::pair<std::string, DecompositionTable>> given;
  for (const TablePrograms programs : tableProgramTables())
    for (const TableProgram& program : programs) {
      EXPECT_TRUE(given.emplace(program.op, program.from).second) << "two programs for " << program.op;
      int found = 0;
      for (const OpInfo& op : allOps())
        found += program.op == op.schema.name || program.op == op.schema.name + "." + op.schema.overload;
      EXPECT_GT(found, 0) << program.op;
    }
}

TEST(DecompositionTables, DifferInWhatTheyWrite) {
  const Tensor x = counting({2, 3});
  EXPECT_EQ(traced(None, "aten.silu.default"_op, {x}), (Targets{"aten.silu.default"}));
  EXPECT_EQ(traced(Core, "aten.silu.default"_op, {x}), (Targets{"aten.sigmoid.default", "aten.mul.Tensor"}));
  EXPECT_EQ(traced(Inductor, "aten.silu.default"_op, {x}),
            (Targets{"aten.neg.default", "aten.exp.default", "aten.add.Tensor", "aten.div.Tensor"}));
  EXPECT_EQ(traced(Core, "aten.gelu.default"_op, {x}), (Targets{"aten.gelu.default"}));
  EXPECT_EQ(traced(Inductor, "aten.gelu.default"_op, {x}),
            (Targets{"aten.mul.Tensor", "aten.mul.Tensor", "aten.erf.default", "aten.add.Tensor", "aten.mul.Tensor"}));
  EXPECT_EQ(traced(Core, "aten.clamp_min.default"_op, {x, 0.0}), (Targets{"aten.clamp.default"}));
  EXPECT_EQ(traced(Inductor, "aten.clamp.default"_op, {x, 0.0, 1.0}),
            (Targets{"aten.clamp_min.default", "aten.clamp_max.default"}));
  EXPECT_EQ(traced(None, "aten.t.default"_op, {x}), (Targets{"aten.t.default"}));
  EXPECT_EQ(traced(Core, "aten.t.default"_op, {x}), (Targets{"aten.permute.default"}));
  EXPECT_EQ(traced(None, "aten.reshape.default"_op, {x, ints({6})}), (Targets{"aten.view.default"}));
  EXPECT_EQ(traced(Core, "aten.unbind.int"_op, {x}),
            (Targets{"aten.slice.Tensor", "aten.slice.Tensor", "aten.squeeze.dims", "aten.squeeze.dims"}));
  EXPECT_EQ(traced(Inductor, "aten.unbind.int"_op, {x}), (Targets{"aten.unbind.int"}));
}

TEST(DecompositionTables, ReplaceOnlyTheCallsThatAProgramIsFor) {
  const Tensor row = counting({1, 4}), column = counting({4, 1}), wide = counting({4, 20}), bias = counting({1});
  EXPECT_EQ(traced(Inductor, "aten.mm.default"_op, {row, wide}), (Targets{"aten.mm.default"}));
  EXPECT_EQ(traced(Inductor, "aten.mm.default"_op, {row, column}),
            (Targets{"aten.squeeze.dim", "aten.squeeze.dim", "aten.mul.Tensor", "aten.sum.dim_IntList",
                     "aten.unsqueeze.default"}));
  EXPECT_EQ(traced(Core, "aten.mm.default"_op, {row, column}), (Targets{"aten.mm.default"}));
  EXPECT_EQ(traced(Inductor, "aten.addmm.default"_op, {bias, counting({2, 4}), wide}), (Targets{"aten.addmm.default"}));
  const Tensor image = counting({1, 1, 8, 8});
  EXPECT_EQ(traced(Inductor, "aten.max_pool2d_with_indices.default"_op, {image, ints({2, 2})}),
            (Targets{"prims._low_memory_max_pool_with_offsets.default",
                     "prims._low_memory_max_pool_offsets_to_indices.default"}));
  EXPECT_EQ(traced(Inductor, "aten.max_pool2d_with_indices.default"_op, {image, ints({6, 6})}),
            (Targets{"aten.max_pool2d_with_indices.default"}));
  const Value two = ValueList{row, row}, one = ValueList{row};
  EXPECT_EQ(traced(Inductor, "aten.cat.default"_op, {one}), (Targets{"aten.clone.default"}));
  EXPECT_EQ(traced(Inductor, "aten.cat.default"_op, {two}), (Targets{"aten.cat.default"}));
}

/// As golden graphs of PyTorch 2.11 hold them, in this order.
TEST(DecompositionTables, WriteNormalizationsAsRecorded) {
  const Tensor x = counting({2, 3}), w = counting({3});
  EXPECT_EQ(traced(Inductor, "aten.native_layer_norm.default"_op, {x, ints({3}), w, w, 1e-5}),
            (Targets{"aten.var_mean.correction", "aten.add.Tensor", "aten.rsqrt.default", "aten.sub.Tensor",
                     "aten.mul.Tensor", "aten.mul.Tensor", "aten.add.Tensor"}));
  EXPECT_EQ(traced(Core, "aten.native_layer_norm.default"_op, {x, ints({3}), w, w, 1e-5}),
            (Targets{"aten.native_layer_norm.default"}));
  const Tensor image = counting({2, 3, 4, 4});
  EXPECT_EQ(
      traced(Inductor, "aten._native_batch_norm_legit_functional.default"_op, {image, w, w, w, w, true, 0.1, 1e-5}),
      (Targets{"aten.var_mean.correction", "aten.add.Tensor",   "aten.rsqrt.default",     "aten.sub.Tensor",
               "aten.mul.Tensor",          "aten.squeeze.dims", "aten.squeeze.dims",      "aten.mul.Tensor",
               "aten.mul.Tensor",          "aten.add.Tensor",   "aten.squeeze.dims",      "aten.mul.Tensor",
               "aten.mul.Tensor",          "aten.mul.Tensor",   "aten.add.Tensor",        "aten.unsqueeze.default",
               "aten.unsqueeze.default",   "aten.mul.Tensor",   "aten.unsqueeze.default", "aten.unsqueeze.default",
               "aten.add.Tensor"}));
}

TEST(DecompositionTables, WriteBackwardOpsAsRecorded) {
  const Tensor x = counting({2, 3});
  EXPECT_EQ(traced(Core, "aten.threshold_backward.default"_op, {x, x, std::int64_t{0}}),
            (Targets{"aten.le.Scalar", "aten.scalar_tensor.default", "aten.where.self"}));
  EXPECT_EQ(traced(Inductor, "aten._softmax_backward_data.default"_op, {x, x, std::int64_t{1}, DType::Float32}),
            (Targets{"aten.mul.Tensor", "aten.sum.dim_IntList", "aten.neg.default", "prims.fma.default"}));
  const Tensor indices = counting({2}, DType::Int64);
  EXPECT_EQ(traced(Inductor, "aten.embedding_dense_backward.default"_op,
                   {x, indices, std::int64_t{7}, std::int64_t{-1}, false}),
            (Targets{"aten.eq.Scalar", "aten.unsqueeze.default", "aten.scalar_tensor.default", "aten.where.self",
                     "aten.full.default", "aten.index_put.default"}));
  EXPECT_EQ(traced(Inductor, "aten.select_backward.default"_op,
                   {counting({3}), ints({2, 3}), std::int64_t{0}, std::int64_t{1}}),
            (Targets{"aten.full.default", "aten.select_scatter.default"}));
}

/// 16-bit floats are computed in float32 and rounded once; Inductor names the casts of prims.
TEST(DecompositionTables, ComputeHalfFloatsInFloat32) {
  const Tensor x = counting({3}, DType::BFloat16);
  EXPECT_EQ(traced(Core, "aten.silu.default"_op, {x}),
            (Targets{"aten._to_copy.default", "aten.sigmoid.default", "aten.mul.Tensor", "aten._to_copy.default"}));
  EXPECT_EQ(traced(Inductor, "aten.leaky_relu.default"_op, {x}),
            (Targets{"prims.convert_element_type.default", "aten.gt.Scalar", "aten.mul.Tensor", "aten.where.self",
                     "prims.convert_element_type.default"}));
}

TEST(DecompositionTables, CountByIota) {
  EXPECT_EQ(traced(Core, "aten.arange.default"_op, {std::int64_t{5}}), (Targets{"aten.arange.start_step"}));
  EXPECT_EQ(traced(Inductor, "aten.arange.default"_op, {std::int64_t{5}}), (Targets{"prims.iota.default"}));
  EXPECT_EQ(
      traced(Inductor, "aten.arange.default"_op, {std::int64_t{5}}, {{"dtype", DType::Float64}}),
      (Targets{"prims.iota.default", "aten.mul.Tensor", "aten.add.Tensor", "prims.convert_element_type.default"}));
}

TEST(DecompositionTables, DropNumbersByAMask) {
  const Tensor x = counting({4});
  EXPECT_EQ(traced(Inductor, "aten.native_dropout.default"_op, {x, 0.5, true}),
            (Targets{"aten.rand.default", "aten.gt.Scalar", "aten.mul.Tensor", "aten.mul.Tensor"}));
  EXPECT_EQ(traced(Core, "aten.dropout.default"_op, {x, 0.5, false}), (Targets{"aten.clone.default"}));
}

}  // namespace
}  // namespace kerf
