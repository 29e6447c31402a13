// Names as Python takes them: identifiers that NFKC leaves as they are.
#include <gtest/gtest.h>

#include "engine/ir/graph.h"

namespace kerf {
namespace {

TEST(Identifiers, AreThoseThatPythonKeepsAsTheyAre) {
  for (const char* name : {"x", "_", "x1", "\xC3\xA9", "\xCE\xB1_\xCE\xB2", "\xE5\x90\x8D", "\xEA\xB0\x81",
                           "x\xCC\x82",                  // x with a circumflex, which is no one character
                           "x\xCC\xA3\xCC\x82",          // two marks in their order
                           "\xC3\xB3\xCC\xB3",           // o with an accent, and a line below
                           "\xE0\xA4\x95\xE0\xA4\xBE"})  // a letter with a vowel sign
    EXPECT_TRUE(isPythonIdentifier(name)) << name;
  for (const char* name : {"",
                           "1x",
                           "if",
                           "None",
                           "a b",
                           "a-b",
                           "a\n",
                           "\xEF\xBD\x81",              // full-width a, which is a
                           "\xEF\xAC\x81",              // one character for fi
                           "e\xCC\x81",                 // e and an accent, which are one character
                           "x\xCC\x82\xCC\xA3",         // two marks out of their order
                           "\xC3\xA9\xCC\xA3",          // the mark below comes first
                           "\xE1\x84\x80\xE1\x85\xA1",  // two Korean letters that are one syllable
                           "\xEA\xB0\x80\xE1\x86\xA8",  // a syllable and its end
                           "\xCC\x82x",                 // a mark comes behind something
                           "a\xE2\x80\xA8",
                           "a\xE2\x80\xAE",
                           "\xF0\x9F\x98\x80",
                           "a\xFF",
                           "a\xED\xA0\x80"})
    EXPECT_FALSE(isPythonIdentifier(name)) << name;
}

std::string utf8(std::uint32_t code) {
  const auto tail = [&](int shift) { return char(0x80 | (code >> shift & 0x3F)); };
  if (code < 0x800) return {char(0xC0 | code >> 6), tail(0)};
  if (code < 0x10000) return {char(0xE0 | code >> 12), tail(6), tail(0)};
  return {char(0xF0 | code >> 18), tail(12), tail(6), tail(0)};
}

/// Every character beyond ASCII, alone and behind `x`. Python 3.11 has 128,452 and 131,420 of them; a newer version of
/// Unicode adds characters, and takes none away.
TEST(Identifiers, HaveTheCharactersOfUnicode) {
  int starting = 0, continuing = 0, early[2] = {};
  for (std::uint32_t code = 0x80; code < 0x110000; ++code) {
    if (code >= 0xD800 && code <= 0xDFFF) continue;
    const bool starts = isPythonIdentifier(utf8(code)), continues = isPythonIdentifier("x" + utf8(code));
    starting += starts;
    continuing += continues;
    EXPECT_TRUE(continues || !starts) << code;
    if (code >= 0x800) continue;
    early[0] += starts;
    early[1] += continues;
  }
  EXPECT_GE(starting, 128'452);
  EXPECT_GE(continuing, 131'420);
  EXPECT_LT(continuing, 145'000);
  EXPECT_EQ(early[0], 1325);
  EXPECT_EQ(early[1], 1619);
}

/// Characters that are in names by exception from their category.
TEST(Identifiers, HaveTheExceptionsOfAnnex31) {
  for (const std::uint32_t code : {0x1885u, 0x2118u, 0x212Eu}) EXPECT_TRUE(isPythonIdentifier(utf8(code))) << code;
  for (const std::uint32_t code : {0xB7u, 0x1369u, 0x19DAu}) {
    EXPECT_TRUE(isPythonIdentifier("x" + utf8(code))) << code;
    EXPECT_FALSE(isPythonIdentifier(utf8(code))) << code;
  }
  for (const std::uint32_t code : {0x2E2Fu, 0x37Au, 0x387u, 0xE33u, 0x309Bu, 0xFF9Eu})
    EXPECT_FALSE(isPythonIdentifier("x" + utf8(code))) << code;
}

}  // namespace
}  // namespace kerf
