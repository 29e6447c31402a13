// Schema texts and the table that is made of them.
#include <gtest/gtest.h>

#include <set>

#include "engine/ops/core/op_facts.h"
#include "engine/ops/core/op_registry.h"
#include "engine/ops/core/op_row.h"

namespace kerf {
namespace {

TEST(ParseSchema, ReadsTypesDefaultsAndAliases) {
  const auto schema = parseSchema(
      "aten::avg_pool2d.x(Tensor(a!) self, int[2] kernel_size, int[2] stride=[], bool ceil_mode=False, *, float "
      "eps=1e-05, "
      "str mode='mean', ScalarType? dtype=None) -> (Tensor(a!), Tensor)");
  ASSERT_TRUE(schema) << schema.error().text();
  EXPECT_EQ(schema->qualifiedName(), "aten.avg_pool2d.x");
  ASSERT_EQ(schema->arguments.size(), 7u);
  EXPECT_EQ(schema->arguments[0].type, "Tensor");
  EXPECT_EQ(schema->arguments[0].alias, "a!");
  EXPECT_EQ(schema->arguments[1].type, "int[2]");
  EXPECT_FALSE(schema->arguments[1].defaultValue);
  EXPECT_TRUE(schema->arguments[2].defaultValue->asList()->items.empty());
  EXPECT_FALSE(schema->arguments[3].keywordOnly);
  EXPECT_TRUE(schema->arguments[4].keywordOnly);
  EXPECT_EQ(*schema->arguments[4].defaultValue->as<double>(), 1e-05);
  EXPECT_EQ(*schema->arguments[5].defaultValue->as<std::string>(), "mean");
  EXPECT_TRUE(schema->arguments[6].defaultValue->isNone());
  EXPECT_EQ(schema->returns.size(), 2u);
}

TEST(ParseSchema, WildcardAliasIsTakenOutOfTheType) {
  const auto schema =
      parseSchema("aten::split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]");
  ASSERT_TRUE(schema);
  EXPECT_EQ(schema->arguments[0].type, "Tensor");
  EXPECT_EQ(schema->arguments[0].alias, "a");
}

TEST(ParseSchema, RefusesWhatIsNoSchema) {
  for (const char* text :
       {"", "aten::add", "aten::add(Tensor self", "(Tensor a) -> Tensor", "aten::add(Tensor) -> Tensor"})
    EXPECT_EQ(parseSchema(text).error().code, ErrorCode::BadInput) << text;
}

TEST(OpTable, EveryRowParsesAndIsComplete) {
  std::set<std::string> names;
  for (const OpRows& family : opFamilies())
    for (const OpRow& row : family) {
      const auto schema = parseSchema(row.schema);
      ASSERT_TRUE(schema) << row.schema;
      EXPECT_TRUE(row.composite || (row.kernel && row.shape)) << row.schema;
      EXPECT_TRUE(names.insert(schema->qualifiedName()).second) << "two rows for " << schema->qualifiedName();
    }
  EXPECT_EQ(names.size(), allOps().size());
}

TEST(OpTable, HasARowForEveryOpLiteral) {
  EXPECT_GT(opLiterals().size(), 0u);
  for (const OpId op : opLiterals()) EXPECT_TRUE(findOp(op)) << opName(op);
}

bool names(const OpFacts& facts, const OpInfo& op) {
  return op.schema.name == facts.op || op.schema.name + "." + op.schema.overload == facts.op;
}

/// A column given twice would leave one of the two unused.
TEST(OpTable, FactsNameOpsOfTheTableAndGiveAColumnOnce) {
  std::set<std::pair<std::string, std::string>> given;
  const auto once = [&](const OpFacts& facts, const char* column, bool has) {
    if (has) {
      EXPECT_TRUE(given.emplace(facts.op, column).second) << facts.op << " has two of column " << column;
    }
  };
  for (const OpFactRows table : opFactTables())
    for (const OpFacts& facts : table) {
      once(facts, "lowering", bool(facts.lowering));
      once(facts, "decomposition", facts.decomposition != nullptr);
      once(facts, "gradient", facts.gradient != nullptr);
      once(facts, "jvp", facts.jvp != nullptr);
      once(facts, "flops", facts.flops != nullptr);
      once(facts, "sharding", bool(facts.sharding));
      EXPECT_TRUE(std::ranges::any_of(allOps(), [&](const OpInfo& op) { return names(facts, op); }))
          << facts.op << " is no op of the table";
    }
}

TEST(OpTable, FindsByEveryForm) {
  ASSERT_NE(findOp("torch.ops.aten.add.Tensor"), nullptr);
  EXPECT_EQ(findOp("torch.ops.aten.add.Tensor"), findOp("aten.add.Tensor"));
  EXPECT_NE(findOp("operator.getitem"), nullptr);
  EXPECT_EQ(findOp("_operator.getitem"), findOp("operator.getitem"));
  EXPECT_EQ(findOp("torch.ops.aten.relu"), findOp("aten.relu.default"));
  EXPECT_EQ(findOp("torch.ops.aten.no_such_op.default"), nullptr);
}

TEST(OpTable, TraitsSayWhatOpsAre) {
  EXPECT_TRUE(has(findOp("aten.mul.Tensor")->traits, OpTrait::Pointwise));
  EXPECT_TRUE(has(findOp("aten.sum.dim_IntList")->traits, OpTrait::Reduction));
  EXPECT_TRUE(has(findOp("aten.view.default")->traits, OpTrait::View));
  EXPECT_TRUE(has(findOp("aten.add_.Tensor")->traits, OpTrait::Inplace));
  EXPECT_TRUE(has(findOp("aten.mm.default")->traits, OpTrait::Matmul));
  EXPECT_TRUE(has(findOp("aten.convolution.default")->traits, OpTrait::Convolution));
  EXPECT_TRUE(has(findOp("aten.rand.default")->traits, OpTrait::Random));
}

}  // namespace
}  // namespace kerf
