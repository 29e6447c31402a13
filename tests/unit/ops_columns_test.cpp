// How many overloads have each column of the op table. Whoever adds a column to an op changes these numbers.
#include <gtest/gtest.h>

#include <map>

#include "engine/ops/core/op_columns.h"
#include "engine/ops/core/purity.h"

namespace kerf {
namespace {

std::size_t count(std::string_view column, ColumnSource source) {
  std::size_t total = 0;
  for (const OpInfo& op : allOps()) total += findOpColumn(column)->source(op) == source;
  return total;
}

TEST(OpColumns, HaveTheCountsThatAreWrittenDown) {
  struct Counts {
    std::string_view column;
    std::size_t own, program, base, trait;
  };
  constexpr std::size_t overloads = 1686;
  constexpr Counts expected[] = {
      {"kernel", 992, 694, 0, 0},     {"shape", 992, 694, 0, 0},       {"decomposition", 228, 694, 0, 0},
      {"lowering", 274, 675, 129, 0}, {"gradient", 711, 694, 181, 0},  {"jvp", 711, 694, 181, 0},
      {"flops", 19, 589, 145, 439},   {"sharding", 25, 618, 131, 313},
  };
  EXPECT_EQ(allOps().size(), overloads);
  ASSERT_EQ(std::size(expected), opColumns().size());
  for (const Counts& counts : expected) {
    SCOPED_TRACE(counts.column);
    EXPECT_EQ(count(counts.column, ColumnSource::Own), counts.own);
    EXPECT_EQ(count(counts.column, ColumnSource::Program), counts.program);
    EXPECT_EQ(count(counts.column, ColumnSource::Base), counts.base);
    EXPECT_EQ(count(counts.column, ColumnSource::Trait), counts.trait);
  }
}

TEST(OpColumns, SayWhereAnOpHasThemFrom) {
  const auto source = [](std::string_view column, const char* op) { return findOpColumn(column)->source(*findOp(op)); };
  EXPECT_EQ(source("kernel", "aten.relu.default"), ColumnSource::Own);
  EXPECT_EQ(source("kernel", "aten.rot90.default"), ColumnSource::Program);
  EXPECT_EQ(source("decomposition", "aten.relu.default"), ColumnSource::Missing);
  EXPECT_EQ(source("decomposition", "aten.silu.default"), ColumnSource::Own);
  EXPECT_EQ(source("gradient", "aten.add_.Tensor"), ColumnSource::Base);
  EXPECT_EQ(source("flops", "aten.view.default"), ColumnSource::Trait);
  EXPECT_EQ(source("sharding", "aten.mm.default"), ColumnSource::Own);
  EXPECT_EQ(findOpColumn("colour"), nullptr);
}

/// One answer for passes, dead code elimination and the minifier.
TEST(Purity, IsOfTheTableFirstAndOfNamesWhereThereIsNoRow) {
  Graph graph;
  const NodeId x = graph.placeholder("x");
  const auto purity = [&](const char* target) { return purityOf(graph.node(graph.callFunction(target, {x}))); };
  EXPECT_EQ(purityOf(graph.node(x)), Purity::Impure);
  EXPECT_EQ(purity("torch.ops.aten.relu.default"), Purity::Pure);
  EXPECT_EQ(purity("torch.ops.aten.add_.Tensor"), Purity::Impure);
  EXPECT_EQ(purity("torch.ops.aten.rand_like.default"), Purity::Impure);
  EXPECT_EQ(purity("torch.ops.aten._assert_async.msg"), Purity::Impure);
  EXPECT_EQ(purity("operator.getitem"), Purity::Pure);
  EXPECT_EQ(purity("operator.setitem"), Purity::Impure);
  EXPECT_EQ(purity("operator.iadd"), Purity::Impure);
  EXPECT_EQ(purity("torch.ops.mylib.scale_.default"), Purity::Impure);
  EXPECT_EQ(purity("torch.ops.mylib.scale.default"), Purity::Unknown);
  EXPECT_EQ(purity("torch.ops.higher_order.print"), Purity::Impure);
  EXPECT_EQ(purity("torch._C._set_grad_enabled"), Purity::Impure);
  EXPECT_EQ(purityOf(graph.node(graph.getAttr("weight"))), Purity::Pure);
  EXPECT_EQ(purityOf(graph.node(graph.callMethod("add_", {x}))), Purity::Impure);
  EXPECT_EQ(purityOf(graph.node(graph.callMethod("sum", {x}))), Purity::Unknown);
  EXPECT_EQ(purityOf(graph.node(graph.callModule("encoder", {x}))), Purity::Unknown);
}

}  // namespace
}  // namespace kerf
