// ShapeEnv: what SymInts become, what is decided by ranges, what becomes a guard, and what guards settle.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/symbolic/shape_env.h"

namespace kerf {
namespace {

using ::testing::HasSubstr;

class SymbolicSizes : public ::testing::Test {
 protected:
  SymInt symbol(const char* name, std::int64_t hint, std::int64_t lower = 2) {
    return env.addSymbol({.name = name, .hint = hint, .range = {lower, ValueRange::greatest}});
  }
  std::vector<std::string> guards() const {
    std::vector<std::string> texts;
    for (const ShapeGuard& guard : env.guards()) texts.push_back(guard.expression.text());
    return texts;
  }
  using Texts = std::vector<std::string>;

  ShapeEnv env;
  ShapeEnv::Scope scope{env};
};

TEST_F(SymbolicSizes, NumbersStayNumbers) {
  const SymInt a = 6, b = -4;
  EXPECT_FALSE((a * b + 1).isSymbolic());
  EXPECT_EQ(std::int64_t(a * b + 1), -23);
  EXPECT_EQ(std::int64_t(floorDiv(b, 3)), -2);
  EXPECT_EQ(std::int64_t(floorMod(b, 3)), 2);
  EXPECT_EQ(std::int64_t(ceilDiv(b, 3)), -1);
  EXPECT_EQ(std::int64_t(symMax(a, b)), 6);
  EXPECT_TRUE(env.guards().empty());
}

TEST_F(SymbolicSizes, NumbersThatLookLikeExpressionsAreNumbers) {
  for (const std::int64_t number : {INT64_MIN, INT64_MIN + 1, INT64_MIN + 4096}) {
    EXPECT_FALSE(SymInt(number).isSymbolic());
    EXPECT_FALSE(SymSizes(Sizes{number}).isSymbolic());
  }
  EXPECT_EQ(std::int64_t(SymInt(INT64_MAX)), INT64_MAX);
}

TEST_F(SymbolicSizes, ArithmeticGivesTheExpressionsThatPyTorchPrints) {
  const SymInt s0 = symbol("s0", 8), s1 = symbol("s1", 5);
  EXPECT_EQ(env.text(floorDiv(s0 - 1, 2) + 1), "(((s0 - 1)//2)) + 1");
  EXPECT_EQ(env.text(s0 * s1 * 4), "4*s0*s1");
  EXPECT_EQ(env.text(s0 + s0 - s0 * 2 + 3), "3");
  EXPECT_EQ(env.text(floorMod(s0, 3)), "Mod(s0, 3)");
  EXPECT_EQ(env.text(symMax(s0, 1)), "s0") << "the range says so";
  EXPECT_EQ(env.text(symMax(s0, 3)), "Max(3, s0)");
  EXPECT_EQ(env.hint(floorDiv(s0 * s1, 3)), 13);
  EXPECT_TRUE(guards().empty());
}

TEST_F(SymbolicSizes, RangesDecideWithoutGuards) {
  const SymInt s0 = symbol("s0", 8), s1 = symbol("s1", 5);
  EXPECT_FALSE(bool(s0 == 1));
  EXPECT_TRUE(bool(s0 * s1 > s1));
  EXPECT_TRUE(bool(s0 * s1 - s0 >= 2));
  EXPECT_FALSE(bool(s0 * s1 == 0));
  EXPECT_TRUE(bool(2 * (s0 + s1) == s0 * 2 + s1 * 2));
  EXPECT_TRUE(guards().empty());
}

TEST_F(SymbolicSizes, HintsDecideTheRestAndLeaveGuards) {
  const SymInt s0 = symbol("s0", 8), s1 = symbol("s1", 5);
  EXPECT_TRUE(bool(s0 > s1));
  EXPECT_TRUE(bool(s0 > s1));
  EXPECT_FALSE(bool(floorMod(s0, 3) == 0));
  EXPECT_EQ(guards(), (Texts{"s0 > s1", "Ne(Mod(s0, 3), 0)"}));
  EXPECT_EQ(env.violated({{"s0", 9}, {"s1", 5}})->expression.text(), "Ne(Mod(s0, 3), 0)");
  EXPECT_EQ(env.violated({{"s0", 10}, {"s1", 5}}), nullptr);
}

TEST_F(SymbolicSizes, EqualitiesReplaceSymbols) {
  const SymInt s0 = symbol("s0", 8), s1 = symbol("s1", 8), s2 = symbol("s2", 16);
  EXPECT_TRUE(bool(s0 == s1));
  EXPECT_EQ(env.text(s0 + s1), "2*s0") << "the younger symbol is the older one";
  EXPECT_TRUE(bool(s2 == 2 * s1));
  EXPECT_EQ(env.text(s2 - s0), "s0");
  EXPECT_EQ(std::int64_t(s0), 8);
  EXPECT_EQ(env.text(s0 * s2 + s1), "136");
  ASSERT_EQ(env.replacements().size(), 3u);
  EXPECT_EQ(env.replacements()[0].symbol, "s1");
  EXPECT_EQ(env.replacements()[2].symbol, "s0");
  EXPECT_EQ(guards().back(), "Eq(s0, 8)");
}

TEST_F(SymbolicSizes, GuardsNarrowRangesAndImplyOthers) {
  const SymInt s0 = symbol("s0", 8), s1 = symbol("s1", 5);
  EXPECT_TRUE(bool(s0 >= 4));
  EXPECT_TRUE(bool(s0 > 3)) << "known by now";
  EXPECT_TRUE(bool(s0 + s1 <= 13));
  EXPECT_TRUE(bool(s0 + s1 < 20)) << "known by now";
  EXPECT_EQ(guards(), (Texts{"s0 >= 4", "s0 + s1 <= 13"}));
}

TEST_F(SymbolicSizes, NobodyKnowsAnUnbackedSize) {
  const SymInt u0 = env.addUnbacked({0, ValueRange::greatest});
  EXPECT_EQ(env.text(u0 + 1), "u0 + 1");
  EXPECT_FALSE(guardOrFalse(u0 == 1));
  EXPECT_TRUE(guardOrTrue(u0 == 1));
  EXPECT_TRUE(bool(u0 >= 0));
  EXPECT_TRUE(guards().empty());
  try {
    (void)bool(u0 == 1);
    FAIL() << "decided";
  } catch (const SymbolicFailure& failure) {
    EXPECT_THAT(failure.error.message, HasSubstr("GuardOnDataDependentSymNode"));
    EXPECT_THAT(failure.error.message, HasSubstr("Eq(u0, 1)"));
    EXPECT_THAT(failure.error.message, HasSubstr("torch._check"));
  }
}

TEST_F(SymbolicSizes, AssertsAreAssumed) {
  const SymInt u0 = env.addUnbacked({});
  ASSERT_TRUE(env.assume(*Symbolic::parse("(u0 >= 2) & (u0 <= 10)")));
  EXPECT_TRUE(bool(u0 > 1));
  EXPECT_FALSE(bool(u0 == 11));
  EXPECT_EQ(env.range(u0).text(), "VR[2, 10]");
  ASSERT_TRUE(env.assume(*Symbolic::parse("Eq(Mod(u0, 4), 0)")));
  EXPECT_TRUE(bool(floorMod(u0, 4) == 0));
  ASSERT_TRUE(env.assume(*Symbolic::parse("Eq(u0, 8)")));
  EXPECT_EQ(std::int64_t(u0), 8);
  EXPECT_FALSE(env.assume(*Symbolic::parse("Eq(u0, 9)"))) << "8 is not 9";
}

TEST_F(SymbolicSizes, GuardsKnowWhoAsked) {
  const SymInt s0 = symbol("s0", 8);
  env.setAsker("view_3", "model.py", 12);
  (void)std::int64_t{s0};
  ASSERT_EQ(env.guards().size(), 1u);
  EXPECT_EQ(env.guards()[0].node, "view_3");
  EXPECT_EQ(env.guards()[0].where, "model.py:12");
  EXPECT_THAT(env.guards()[0].reason, HasSubstr("specialised"));
}

TEST_F(SymbolicSizes, ExplodingExpressionsEndInAnError) {
  SymInt size = symbol("s0", 8) + symbol("s1", 5);
  const auto explode = [&] {
    for (int i = 0; i < 200; ++i) size = floorDiv(size * size, 3) + floorMod(size, 7);
  };
  try {
    explode();
    FAIL() << "no limit";
  } catch (const SymbolicFailure& failure) {
    EXPECT_EQ(failure.error.code, ErrorCode::TooLarge);
  }
}

TEST(ValueRanges, HoldForEveryValue) {
  const SymbolRanges ranges = [](std::string_view name) { return name == "a" ? ValueRange{-3, 4} : ValueRange{2, 6}; };
  for (const char* text : {"a*b", "a - b", "a*a - b", "(a//b)", "(b//a)", "Mod(b, 3)", "PythonMod(a, b)", "Max(a, b)",
                           "Min(a, 0) - b", "a**2 - a", "b**3 - b**2", "Abs(a)", "(a + b)*(a - b)", "((a*b)//(b + 1))",
                           "Where(a < 1, a, b)", "CeilDiv(a, b)"}) {
    const Symbolic expression = *Symbolic::parse(text);
    const ValueRange range = rangeOf(expression, ranges);
    for (std::int64_t a = -3; a <= 4; ++a)
      for (std::int64_t b = 2; b <= 6; ++b) {
        const auto value = expression.evaluateInteger({{"a", a}, {"b", b}});
        if (!value && a == 0) continue;  // a division by zero
        ASSERT_TRUE(value) << text;
        EXPECT_TRUE(range.contains(*value))
            << text << " at " << a << ", " << b << ": " << *value << " outside of " << range.text();
      }
  }
}

TEST(ShapeEnvs, ExpressionsOutsideOfAnyScopeAreAnError) {
  SymInt leaked;
  {
    ShapeEnv env;
    const ShapeEnv::Scope scope(env);
    leaked = env.addSymbol({.name = "s0", .hint = 4});
  }
  EXPECT_THROW((void)(leaked + 1), SymbolicFailure);
}

}  // namespace
}  // namespace kerf
