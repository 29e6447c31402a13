// Schema texts and the table that is made of them.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/op_registry.h"

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

/// The files of engine/ops that register tables, once for each registration.
std::multiset<std::string> filesThatRegister() {
  namespace fs = std::filesystem;
  std::multiset<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(KERF_SOURCE_DIR) / "engine/ops")) {
    std::ifstream stream(entry.path());
    if (entry.path().extension() != ".cpp") continue;
    for (std::string line; std::getline(stream, line);)
      if (line.starts_with("const OpRegistration ")) files.insert(fs::relative(entry.path(), KERF_SOURCE_DIR).string());
  }
  return files;
}

/// No list names the files, so the linker must drop none of them.
TEST(OpTable, HasWhatEveryFileRegisters) {
  std::multiset<std::string> registered;
  for (const OpRegistration* one : opRegistrations())
    registered.emplace(one->file().substr(one->file().find("engine/ops/")));
  EXPECT_GT(registered.size(), 100u);
  EXPECT_EQ(registered, filesThatRegister());
}

TEST(OpTable, KnowsTheFolderOfARow) {
  EXPECT_EQ(folderOf(*findOp("aten.relu.default")), "pointwise");
  EXPECT_EQ(folderOf(*findOp("aten.rot90.default")), "composite");
}

/// What gives columns to an op: its row, a line for its overload, a line for all of its overloads, in this order.
struct Giver {
  int order;
  const OpFacts* facts;
};

std::vector<Giver> giversOf(const OpInfo& op) {
  std::vector<Giver> givers{{0, &op.row->facts}};
  for (const OpFactRows table : opFactTables())
    for (const OpFacts& facts : table) {
      if (op.schema.name + "." + op.schema.overload == facts.op) givers.push_back({1, &facts});
      if (op.schema.name == facts.op) givers.push_back({2, &facts});
    }
  std::ranges::stable_sort(givers, {}, &Giver::order);
  return givers;
}

struct GivenColumn {
  const char* name;
  bool (*has)(const OpFacts&);
};
constexpr GivenColumn givenColumns[] = {
    {"lowering", [](const OpFacts& facts) { return bool(facts.lowering); }},
    {"decomposition", [](const OpFacts& facts) { return facts.decomposition != nullptr; }},
    {"gradient", [](const OpFacts& facts) { return facts.gradient != nullptr; }},
    {"jvp", [](const OpFacts& facts) { return facts.jvp != nullptr; }},
    {"flops", [](const OpFacts& facts) { return facts.flops != nullptr; }},
    {"sharding", [](const OpFacts& facts) { return bool(facts.sharding); }},
};

/// A column given twice would leave one of the two unused.
TEST(OpTable, FactsNameOpsOfTheTableAndGiveAColumnOnce) {
  std::set<std::pair<const OpFacts*, std::string_view>> used;
  for (const OpInfo& op : allOps()) {
    const std::vector<Giver> givers = giversOf(op);
    for (const GivenColumn& column : givenColumns) {
      const Giver* first = nullptr;
      for (const Giver& giver : givers) {
        if (!column.has(*giver.facts)) continue;
        if (first == nullptr) first = &giver;
        EXPECT_TRUE(first == &giver || first->order != giver.order)
            << op.schema.qualifiedName() << " has two of column " << column.name;
      }
      if (first != nullptr) used.emplace(first->facts, column.name);
    }
  }
  for (const OpFactRows table : opFactTables())
    for (const OpFacts& facts : table)
      for (const GivenColumn& column : givenColumns)
        EXPECT_TRUE(!column.has(facts) || used.contains({&facts, column.name}))
            << facts.op << " is no op of the table, or each of its rows has a " << column.name << " of its own";
}

std::string_view nameIn(std::string_view schema) { return schema.substr(0, schema.find('(')); }

TEST(OpTable, RowsForComplexArgumentsStandInForRows) {
  std::set<std::string_view> rows, complex;
  for (const OpRows& family : opFamilies())
    for (const OpRow& row : family) rows.insert(nameIn(row.schema));
  for (const OpRows& family : complexFamilies())
    for (const OpRow& row : family) {
      EXPECT_TRUE(rows.contains(nameIn(row.schema))) << row.schema << " stands in for no row";
      EXPECT_TRUE(complex.insert(nameIn(row.schema)).second) << "two rows for complex arguments of " << row.schema;
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
