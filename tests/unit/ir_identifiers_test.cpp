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

}  // namespace
}  // namespace kerf
