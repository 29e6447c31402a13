// The file of precompiled patterns is what tracing gives now.
#include <gtest/gtest.h>

#include "engine/patterns/attention_patterns.h"
#include "engine/patterns/precompiled_patterns.h"
#include "engine/patterns/shipped_patterns.h"

namespace kerf {
namespace {

TEST(PrecompiledPatterns, AreNotStale) {
  const auto text = precompile(attentionRules());
  ASSERT_TRUE(text) << text.error().text();
  EXPECT_TRUE(*text == precompiledAttention()) << "run `kerf patterns --regenerate` in the repository";
}

TEST(PrecompiledPatterns, AreLoadedOnce) {
  const auto first = attentionMatcher(), second = attentionMatcher();
  ASSERT_TRUE(first) << first.error().text();
  EXPECT_EQ(*first, *second);
  EXPECT_GT((*first)->entries().size(), 60u);
}

TEST(PrecompiledPatterns, RefuseOtherTexts) {
  const auto refused = parsePrecompiled("graph():\n");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::BadInput);
}

}  // namespace
}  // namespace kerf
