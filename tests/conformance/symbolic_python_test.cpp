// 6,000 random expressions: read, simplified, printed and evaluated as Python evaluates the text that was read. Skipped
// where there is no python3.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <random>

#include "engine/symbolic/symbolic.h"

namespace kerf {
namespace {

/// torch.utils._sympy.functions on Python's integers and floats.
constexpr const char* evaluator = R"py(
import math, sys
names = {
    "FloorDiv": lambda a, b: a // b, "Mod": lambda a, b: a % b, "PythonMod": lambda a, b: a % b,
    "CeilDiv": lambda a, b: -(-a // b), "Max": max, "Min": min, "Abs": abs,
    "ModularIndexing": lambda a, b, c: a // b % c, "PowByNatural": lambda a, b: a ** b,
    "IntTrueDiv": lambda a, b: a / b, "TruncToInt": lambda a: math.trunc(a), "FloorToInt": lambda a: math.floor(a),
    "CeilToInt": lambda a: math.ceil(a), "ToFloat": float, "Where": lambda c, a, b: a if c else b,
    "Eq": lambda a, b: a == b, "Ne": lambda a, b: a != b, "LShift": lambda a, b: a << b, "RShift": lambda a, b: a >> b,
    "__builtins__": {},
}
for line in open(sys.argv[1]):
    text, values = line.rstrip("\n").split("\t")
    try:
        value = eval(text, names, eval(values))
        fits = not isinstance(value, complex) and (isinstance(value, float) or abs(int(value)) < 2 ** 62)
        print(repr(float(value)) if fits else "none")
    except (ZeroDivisionError, OverflowError, ValueError):
        print("none")
)py";

class RandomExpressions {
 public:
  explicit RandomExpressions(unsigned seed) : m_random(seed) {}

  std::string integer(int depth) {
    if (depth == 0) return leaf();
    const auto next = [&] { return integer(depth - 1 - int(below(2) * std::size_t(depth > 1))); };
    switch (below(18)) {
      case 0:
      case 1:
        return "(" + next() + " + " + next() + ")";
      case 2:
        return "(" + next() + " - " + next() + ")";
      case 3:
      case 4:
        return next() + "*" + "(" + next() + ")";
      case 5:
      case 6:
        return "((" + next() + ")//(" + next() + "))";
      case 7:
        return "((" + next() + ") % (" + next() + "))";
      case 8:
        return "Max(" + next() + ", " + next() + ")";
      case 9:
        return "Min(" + next() + ", " + next() + ")";
      case 10:
        return "(" + next() + ")**" + std::to_string(below(4));
      case 11:
        return "PythonMod(" + next() + ", " + next() + ")";
      case 12:
        return "Where(" + relation(depth - 1) + ", " + next() + ", " + next() + ")";
      case 13:
        return "CeilToInt(IntTrueDiv(" + next() + ", " + next() + "))";
      case 14:
        return "FloorToInt(IntTrueDiv(" + next() + ", " + next() + "))";
      case 15:
        return "TruncToInt(IntTrueDiv(" + next() + ", " + next() + "))";
      case 16:
        return "-(" + next() + ")";
      default:
        return "Abs(" + next() + ")";
    }
  }
  std::string relation(int depth) {
    static constexpr const char* ops[] = {" < ", " <= ", " > ", " >= ", " == ", " != "};
    return "(" + integer(depth) + ops[below(std::size(ops))] + integer(depth) + ")";
  }
  std::int64_t number(std::int64_t low, std::int64_t high) {
    return low + std::int64_t(m_random() % std::uint64_t(high - low + 1));
  }
  std::size_t below(std::size_t count) { return m_random() % count; }

 private:
  std::string leaf() {
    static constexpr const char* symbols[] = {"s0", "s1", "u0"};
    return below(3) == 0 ? std::to_string(number(0, 9)) : symbols[below(3)];
  }
  std::mt19937_64 m_random;
};

struct Case {
  std::string text;
  SymbolBindings values;
};

std::vector<Case> makeCases() {
  RandomExpressions random(21);
  std::vector<Case> cases;
  for (int i = 0; i < 6000; ++i) {
    const int depth = 1 + i % 4;
    Case item{i % 7 == 0 ? random.relation(depth) : random.integer(depth), {}};
    item.values = {{"s0", random.number(2, 40)}, {"s1", random.number(2, 40)}, {"u0", random.number(-9, 9)}};
    cases.push_back(std::move(item));
  }
  return cases;
}

/// Kerf's value as Python prints floats read back; none where it has none.
std::optional<double> valueOf(const Symbolic& expression, const SymbolBindings& values) {
  const auto number = expression.evaluate(values);
  if (!number) return {};
  return std::visit([](auto held) { return double(held); }, *number);
}

/// What Python says, by case; empty where there is no Python.
std::vector<std::optional<double>> pythonValues(const std::vector<Case>& cases) {
  const std::filesystem::path folder = ::testing::TempDir() + "/kerf-symbolic-python";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "evaluate.py") << evaluator;
  {
    std::ofstream lines(folder / "cases.txt");
    for (const Case& item : cases) {
      lines << item.text << '\t' << '{';
      for (const auto& [name, value] : item.values) lines << "'" << name << "': " << value << ", ";
      lines << "}\n";
    }
  }
  const std::string command = fmt::format("cd {0} && python3 evaluate.py cases.txt > values.txt", folder.string());
  std::vector<std::optional<double>> values;
  if (std::system(command.c_str()) != 0) return values;
  std::ifstream lines(folder / "values.txt");
  for (std::string line; std::getline(lines, line);)
    values.push_back(line == "none" ? std::nullopt : std::optional(std::stod(line)));
  std::filesystem::remove_all(folder);
  return values;
}

TEST(SymbolicExpressions, HaveTheValuesThatPythonGivesThem) {
  if (std::system("python3 -c pass >/dev/null 2>&1") != 0) GTEST_SKIP() << "python3 is not installed";
  const std::vector<Case> cases = makeCases();
  const auto expected = pythonValues(cases);
  ASSERT_EQ(expected.size(), cases.size());
  int compared = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto read = Symbolic::parse(cases[i].text);
    ASSERT_TRUE(read) << cases[i].text << ": " << read.error().text();
    const std::string printed = read->text();
    const auto again = Symbolic::parse(printed);
    ASSERT_TRUE(again) << printed;
    EXPECT_EQ(again->text(), printed) << "of " << cases[i].text;
    if (!expected[i]) continue;  // no value, or none that fits
    for (const Symbolic& form : {*read, *again, read->expanded()}) {
      const auto value = valueOf(form, cases[i].values);
      if (!value) continue;  // an intermediate result beyond 64 bits, or a division by zero that Python did not reach
      EXPECT_EQ(*value, *expected[i]) << cases[i].text << " printed as " << form.text();
      ++compared;
    }
  }
  fmt::print("{} values compared\n", compared);
  EXPECT_GE(compared, 12000);
}

}  // namespace
}  // namespace kerf
