// kerf ops: the op table from the command line.
#include "tests/support/cli_test.h"

namespace kerf::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class OpsTest : public CliTest {};

TEST_F(OpsTest, ListsOverloadsWithWhereTheyHaveTheirColumnsFrom) {
  const auto result = run({"ops", "aten.rot90"});
  ASSERT_EQ(result.status, 0);
  EXPECT_THAT(result.output, HasSubstr("aten.rot90.default"));
  EXPECT_THAT(result.output, HasSubstr("1 overload"));
  EXPECT_THAT(run({"ops", "aten.add*"}).output, Not(HasSubstr("aten.rot90.default")));
  EXPECT_THAT(run({"ops", "*.mm.*"}).output, HasSubstr("aten.mm.default"));
}

TEST_F(OpsTest, JsonHoldsRowsAndCounts) {
  const auto ops = runJson({"ops"});
  EXPECT_GT(ops["overloads"], 1000);
  EXPECT_EQ(ops["ops"].size(), ops["overloads"]);
  for (const auto& [column, counts] : ops["counts"].items()) {
    int total = 0;
    for (const auto& [source, count] : counts.items()) total += int(count);
    EXPECT_EQ(total, ops["overloads"]) << column;
  }
  const auto mm = runJson({"ops", "aten.mm.default"})["ops"][0];
  EXPECT_EQ(mm["schema"], "aten::mm(Tensor self, Tensor mat2) -> Tensor");
  EXPECT_EQ(mm["columns"]["gradient"], "own");
  EXPECT_EQ(mm["columns"]["lowering"], nullptr);
}

TEST_F(OpsTest, MissingShowsThoseWithoutAColumn) {
  const auto all = runJson({"ops"}), without = runJson({"ops", "--missing", "lowering"});
  EXPECT_EQ(without["overloads"], all["counts"]["lowering"]["missing"]);
  for (const auto& op : without["ops"]) EXPECT_EQ(op["columns"]["lowering"], nullptr) << op["op"];
  const auto wrong = run({"ops", "--missing", "colour"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.errors, HasSubstr("no column 'colour'; there are kernel, shape"));
}

class BenchTest : public CliTest {};

TEST_F(BenchTest, MeasuresProductsBesideTheLibraries) {
  const auto rows = runJson({"bench", "--products", "--repeats", "1", "--filter", "x [1, 128]"});
  ASSERT_EQ(rows["products"].size(), 1u);
  EXPECT_EQ(rows["products"][0]["product"], "[32, 1] x [1, 128] NN");
  for (const char* time : {"kerf_ms", "openblas_ms", "onednn_ms"})
    EXPECT_GT(rows["products"][0][time].get<double>(), 0);
  EXPECT_EQ(rows["libraries"].size(), 2u);
  EXPECT_THAT(run({"bench", "--products", "--filter", "no such product"}).errors, HasSubstr("no product to measure"));
}

}  // namespace
}  // namespace kerf::cli
