// What came from a file, on its way to a terminal.
#include <gtest/gtest.h>

#include "engine/support/log.h"
#include "engine/support/printable.h"

namespace kerf {
namespace {

TEST(PrintableText, KeepsWhatPeopleRead) {
  const std::string good = "graph():\n\t%x : f32[s0, 3] = größer → 図 … 👍";
  EXPECT_EQ(printableText(good), good);
  EXPECT_EQ(printableText("one\r\ntwo\r\n"), "one\ntwo\n");
}

TEST(PrintableText, SpellsOutWhatATerminalActsUpon) {
  EXPECT_EQ(printableText("\x1b[31m\x07\x08\x7f\r"), "\\x1b[31m\\x07\\x08\\x7f\\x0d");
  EXPECT_EQ(printableText("\xc2\x9b"
                          "2J\xc2\x85"),
            "\\x9b2J\\x85");
  EXPECT_EQ(printableText(std::string_view("\0", 1)), "\\x00");
}

TEST(PrintableText, SpellsOutWhatMisleads) {
  EXPECT_EQ(printableText("\xe2\x80\xae"
                          "a\xe2\x81\xa6"
                          "b\xe2\x80\xa8"
                          "c\xe2\x80\x8f"
                          "d\xd8\x9c"),
            "\\u202ea\\u2066b\\u2028c\\u200fd\\u061c");
  EXPECT_EQ(printableText("\xf3\xa0\x81\x81"), "\\U000e0041");
  EXPECT_EQ(printableText("\xff\xc3(\xed\xa0\x80\xc0\xaf"), "\\xff\\xc3(\\xed\\xa0\\x80\\xc0\\xaf");
}

TEST(PrintableText, OnOneLineWhereItMustBe) {
  EXPECT_EQ(escapedText("a\nkerf: error: b\tc\r\n"), "a\\nkerf: error: b\\tc\\x0d\\n");
}

/// However the pieces are cut, they say what the whole does.
TEST(PrintableStream, PiecesMayEndWithinCharacters) {
  const std::string whole = "a\r\nb\r\r\n\xe2\x80\xae\xc3\xbc\xf0\x9f\x91\x8d\x1b[0m\xff\xe2\x80";
  for (std::size_t size = 1; size < whole.size(); ++size) {
    PrintableStream stream;
    std::string out;
    for (std::size_t at = 0; at < whole.size(); at += size)
      out += stream.next(std::string_view(whole).substr(at, size));
    EXPECT_EQ(out + stream.rest(), printableText(whole)) << size;
  }
}

}  // namespace
}  // namespace kerf
