// kerf show --where: nodes that a query describes.
#include "tests/support/cli_test.h"
#include "tests/support/small_repro.h"

namespace kerf::cli {
namespace {

using ::testing::HasSubstr;

class WhereTest : public CliTest {
 protected:
  std::string repro() const { return write("relu.py", test::smallRepro(test::reluForward)).string(); }
};

TEST_F(WhereTest, ListsTheNodesThatFit) {
  const auto shown = run({"show", repro(), "--where", "op:relu shape:*x4"});
  ASSERT_EQ(shown.status, 0) << shown.errors;
  EXPECT_THAT(shown.output, HasSubstr("f32[2, 4]"));
  EXPECT_THAT(shown.output, HasSubstr("1 of 4 nodes"));
  const auto json = runJson({"show", repro(), "--where", "users>0 not:kind:input"});
  EXPECT_EQ(json["found"], 2);
  EXPECT_EQ(json["of"], 4);
  EXPECT_EQ(json["nodes"][0]["name"], "relu");
  EXPECT_EQ(json["nodes"][0]["bytes"], 32);
  EXPECT_EQ(json["nodes"][0]["users"], 1);
}

TEST_F(WhereTest, SaysWhatItCannotDo) {
  const auto wrong = run({"show", repro(), "--where", "usres>1"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.errors, HasSubstr("did you mean users?"));
  EXPECT_THAT(run({"show", repro(), "--where", "diverged"}).errors, HasSubstr("does not say which nodes are diverged"));
  EXPECT_THAT(run({"show", repro(), "--where", "relu", "--format", "text"}).errors, HasSubstr("neither --format"));
  const auto none = run({"show", repro(), "--where", "op:conv*"});
  EXPECT_EQ(none.status, 0);
  EXPECT_EQ(none.output, "0 of 4 nodes\n");
}

}  // namespace
}  // namespace kerf::cli
