// The line scanner: strings, brackets, comments, and what it refuses.
#include "engine/capture/repro/sections.h"
#include "tests/unit/capture_testing.h"

namespace kerf {
namespace {

SourceText scanned(std::string_view text) {
  auto source = scanSource(text, {});
  EXPECT_TRUE(source) << source.error().text();
  return std::move(*source);
}

TEST(SourceText, LinesJoinedGiveTheTextBack) {
  const SourceText source = scanned("a\n\nb = '\\'#'  # (\nc");
  ASSERT_EQ(source.lines.size(), 4u);
  EXPECT_EQ(source.lines[2], "b = '\\'#'  # (");
  EXPECT_EQ(source.slice({0, 4}), "a\n\nb = '\\'#'  # (\nc");
}

TEST(SourceText, KnowsLinesInsideStringsAndBrackets) {
  const SourceText source = scanned("x = '''\nclass A(\n'''\ny = f(1,\n  2)\nz = 3\n");
  EXPECT_FALSE(source.startsStatement(1));
  EXPECT_FALSE(source.startsStatement(2));
  EXPECT_TRUE(source.startsStatement(3));
  EXPECT_FALSE(source.startsStatement(4));
  EXPECT_EQ(source.statementEnd(3, 6), 5u);
  EXPECT_EQ(source.statementEnd(0, 6), 3u);
}

TEST(SourceText, AQuoteInACommentOpensNothing) {
  const SourceText source = scanned("a = 1  # it's (\nb = 2\n");
  EXPECT_TRUE(source.startsStatement(1));
}

TEST(SourceText, RefusesWhatIsNoText) {
  struct Case {
    std::string text;
    int line;
    ErrorCode code;
  };
  const Case cases[] = {
      {std::string("a\nb\0c", 5), 2, ErrorCode::BadInput},
      {"a\n\xff\xfe", 2, ErrorCode::BadInput},
      {"\xed\xa0\x80", 1, ErrorCode::BadInput},
      {"\xc0\xaf", 1, ErrorCode::BadInput},
      {"a\n\"\"\"never\nends\n", 2, ErrorCode::BadInput},
      {"a\n\nf(1,\n2\n", 3, ErrorCode::BadInput},
      {"a\n" + std::string(300, '['), 2, ErrorCode::TooLarge},
  };
  for (const Case& expected : cases) {
    const auto source = scanSource(expected.text, {});
    ASSERT_FALSE(source) << expected.text;
    EXPECT_EQ(source.error().line, expected.line) << source.error().text();
    EXPECT_EQ(source.error().code, expected.code);
  }
}

TEST(SourceText, RefusesLongLinesAndFiles) {
  ImportLimits limits;
  limits.lineBytes = 10;
  const auto longLine = scanSource("short\n" + std::string(11, 'x'), limits);
  ASSERT_FALSE(longLine);
  EXPECT_EQ(longLine.error().code, ErrorCode::TooLarge);
  EXPECT_EQ(longLine.error().line, 2);
  limits.fileBytes = 5;
  EXPECT_EQ(scanSource("123456", limits).error().code, ErrorCode::TooLarge);
}

TEST(ReproSections, FindsTheParts) {
  const std::string text = testing::reluRepro("    reader.symint(1)  # x\n");
  const SourceText source = scanned(text);
  const auto sections = findSections(source);
  ASSERT_TRUE(sections) << sections.error().text();
  EXPECT_EQ(sections->model.name, "Repro");
  EXPECT_EQ(source.lines[sections->header.last], "class Repro(torch.nn.Module):");
  EXPECT_EQ(trimmed(source.lines[sections->model.forward.first]), "def forward(self, x):");
  EXPECT_EQ(sections->model.forward.last - sections->model.forward.first, 3u);
  EXPECT_EQ(source.lines[sections->loader.first], "def load_args(reader):");
  EXPECT_EQ(source.lines[sections->main.first], "load_args._version = 0");
}

TEST(ReproSections, IsNotFooledByAReproInsideAString) {
  const std::string text =
      "isolate_fails_code_str = \"\"\"\nclass Repro(torch.nn.Module):\n    def forward(self):\n        pass\n\"\"\"\n" +
      testing::reluRepro("    reader.symint(1)  # x\n");
  const SourceText source = scanned(text);
  const auto sections = findSections(source);
  ASSERT_TRUE(sections);
  EXPECT_GT(sections->model.all.first, 5u);
}

}  // namespace
}  // namespace kerf
