// Annotations as texts.
#include <gtest/gtest.h>

#include "engine/ir/symbol_text.h"

namespace kerf {
namespace {

TEST(SymbolText, SizesWithoutSymbolsAreNumbersHoweverTheyAreSpelled) {
  const auto annotation = parseAnnotation("f32[----2, 2*3, 2*s0][6*s0, s0, 1]cpu");
  const TensorMeta* tensor = annotation.value.tensor();
  ASSERT_NE(tensor, nullptr);
  EXPECT_EQ(tensor->sizes, (std::vector<Dim>{dim(2), dim(6), {"2*s0", {}}}));
  EXPECT_EQ(tensor->strides, (std::vector<Dim>{{"6*s0", {}}, {"s0", {}}, dim(1)}));
}

TEST(SymbolText, WhatIsNoExpressionStaysText) {
  const auto annotation = parseAnnotation("f32[2**99, ?, 1/2]");
  const TensorMeta* tensor = annotation.value.tensor();
  ASSERT_NE(tensor, nullptr);
  EXPECT_EQ(tensor->sizes, (std::vector<Dim>{{"2**99", {}}, {"?", {}}, {"1/2", {}}}));
}

}  // namespace
}  // namespace kerf
