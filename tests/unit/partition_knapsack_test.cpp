// The three knapsack solvers: small sets against every subset of them, hard ones, and what is refused.
#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "engine/partition/knapsack.h"
#include "tests/support/cpu_time.h"

namespace kerf {
namespace {

using Saved = std::vector<bool>;

/// The best pair is the second and third; by runtime per memory the first comes before them.
const std::vector<KnapsackItem> items = {{0.6, 10}, {0.5, 8}, {0.5, 8}};

TEST(Knapsack, FindsTheBestChoice) {
  EXPECT_EQ(dynamicKnapsack(items, 1.0), (Saved{false, true, true}));
  const auto integer = integerKnapsack(items, 1.0);
  ASSERT_TRUE(integer) << integer.error().text();
  EXPECT_EQ(*integer, (Saved{false, true, true}));
}

/// Layers of one model: equal blocks, and small items in between.
TEST(Knapsack, RepeatedItemsAreSolvedAtOnce) {
  std::vector<KnapsackItem> many;
  for (const KnapsackItem& kind : {KnapsackItem{0.0192, 12e8}, {0.0144, 9.1e8}, {0.00488, 1e8}, {0.0048, 3e8}})
    many.insert(many.end(), 12, kind);
  many.insert(many.end(), 25, {0.0000125, 1});
  Result<Saved> saved;
  EXPECT_LT(testing::cpuSecondsOf([&] { saved = integerKnapsack(many, 0.2); }), 1 * testing::slowdown);
  ASSERT_TRUE(saved) << saved.error().text();
  double memory = 0, runtime = 0, best = 0;
  const Saved rounded = dynamicKnapsack(many, 0.2);
  for (std::size_t i = 0; i < many.size(); ++i) {
    memory += (*saved)[i] ? many[i].memory : 0;
    runtime += (*saved)[i] ? many[i].runtime : 0;
    best += rounded[i] ? many[i].runtime : 0;
  }
  EXPECT_LE(memory, 0.2);
  EXPECT_GE(runtime, best * (1 - 1e-4));
}

struct Sums {
  double memory = 0, runtime = 0;
};

Sums sumsOf(const std::vector<KnapsackItem>& all, const Saved& saved) {
  Sums sums;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!saved[i]) continue;
    sums.memory += all[i].memory;
    sums.runtime += all[i].runtime;
  }
  return sums;
}

/// By trying every subset.
double bestRuntime(const std::vector<KnapsackItem>& all, double budget) {
  double best = 0;
  for (std::uint32_t subset = 0; subset < 1u << all.size(); ++subset) {
    Sums sums;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if ((subset >> i & 1) == 0) continue;
      sums.memory += all[i].memory;
      sums.runtime += all[i].runtime;
    }
    if (sums.memory <= budget) best = std::max(best, sums.runtime);
  }
  return best;
}

/// Classes of Pisinger, "Where are the hard knapsack problems?" (2005), with whole numbers, whose sums are exact.
enum class ItemClass { Uncorrelated, Correlated, InverseCorrelated, SubsetSum, EqualRatios, Equal, Zeros };
constexpr ItemClass itemClasses[] = {ItemClass::Uncorrelated, ItemClass::Correlated,  ItemClass::InverseCorrelated,
                                     ItemClass::SubsetSum,    ItemClass::EqualRatios, ItemClass::Equal,
                                     ItemClass::Zeros};

KnapsackItem makeItem(ItemClass kind, double most, std::mt19937& random) {
  const double number = 1 + double(random() % unsigned(most)), other = 1 + double(random() % unsigned(most));
  switch (kind) {
    case ItemClass::Uncorrelated:
      return {number, other};
    case ItemClass::Correlated:
      return {number, number + most / 10};
    case ItemClass::InverseCorrelated:
      return {number + most / 10, number};
    case ItemClass::SubsetSum:
      return {number, number};
    case ItemClass::EqualRatios:
      return {number, 3 * number};
    case ItemClass::Equal:
      return {1 + double(random() % 3), 1 + double(random() % 2)};
    case ItemClass::Zeros:
      return {double(random() % 3), double(random() % 3)};
  }
  return {};
}

TEST(Knapsack, IntegerFindsWhatTryingEverySubsetFinds) {
  std::mt19937 random(34);
  for (const ItemClass kind : itemClasses)
    for (int round = 0; round < 500; ++round) {
      std::vector<KnapsackItem> all(random() % 13);
      double memory = 0;
      for (KnapsackItem& each : all) memory += (each = makeItem(kind, round % 2 ? 1000 : 20, random)).memory;
      const double budget = std::floor(memory * double(random() % 101) / 100);
      const auto saved = integerKnapsack(all, budget);
      ASSERT_TRUE(saved) << saved.error().text();
      const Sums sums = sumsOf(all, *saved);
      EXPECT_LE(sums.memory, budget);
      ASSERT_EQ(sums.runtime, bestRuntime(all, budget)) << "class " << int(kind) << ", round " << round;
    }
}

/// Numbers as partitions have them: parts of a range of memory, and operations.
TEST(Knapsack, IntegerFindsTheBestOfParts) {
  std::mt19937 random(5);
  for (int round = 0; round < 500; ++round) {
    std::vector<KnapsackItem> all(1 + random() % 12);
    const double range = 1 + double(random() % 1'000'000'000);
    for (KnapsackItem& each : all)
      each = {double(random() % 500'000'000) / 1e9 / (range / 1e9), double(random()) * 4096};
    const double budget = double(random() % 1000) / 1000;
    const auto saved = integerKnapsack(all, budget);
    ASSERT_TRUE(saved) << saved.error().text();
    EXPECT_LE(sumsOf(all, *saved).memory, budget * (1 + 1e-11));
    ASSERT_GE(sumsOf(all, *saved).runtime, bestRuntime(all, budget)) << round;
  }
}

TEST(Knapsack, SumsOfDecimalPartsFillTheBudget) {
  EXPECT_GT(0.1 + 0.2, 0.3);
  EXPECT_EQ(integerKnapsack({{0.1, 1}, {0.2, 1}, {0.29, 1.5}}, 0.3).value(), (Saved{true, true, false}));
  EXPECT_EQ(integerKnapsack({{0.1, 1}, {0.2 + 1e-9, 1}, {0.29, 1.5}}, 0.3).value(), (Saved{false, false, true}));
}

/// The order of the items does not matter, and of equal ones the first are saved.
TEST(Knapsack, IntegerTakesTheSameWhateverTheOrder) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<KnapsackItem> all(30);
    for (KnapsackItem& each : all) each = makeItem(ItemClass::Equal, 10, random);
    const auto chosen = [&] {
      const Saved saved = integerKnapsack(all, 20).value();
      std::map<std::pair<double, double>, std::string> taken;
      for (std::size_t i = 0; i < all.size(); ++i) taken[{all[i].memory, all[i].runtime}] += saved[i] ? '1' : '0';
      return taken;
    };
    const auto before = chosen();
    for (const auto& [item, digits] : before) EXPECT_EQ(digits.find("01"), std::string::npos) << digits;
    std::ranges::shuffle(all, random);
    ASSERT_EQ(chosen(), before);
  }
}

/// Classes that are hard for solvers, with numbers that have few equal sums: work is bounded, and the choice near the
/// best.
TEST(Knapsack, HardItemsEndSoon) {
  std::mt19937 random(11);
  for (const ItemClass kind : itemClasses)
    for (const std::size_t count : {40u, 400u}) {
      std::vector<KnapsackItem> all(count);
      double memory = 0;
      for (KnapsackItem& each : all) memory += (each = makeItem(kind, 1e9, random)).memory;
      Result<Saved> saved;
      EXPECT_LT(testing::cpuSecondsOf([&] { saved = integerKnapsack(all, memory / 3); }), 5 * testing::slowdown);
      ASSERT_TRUE(saved) << saved.error().text();
      const Saved quick = greedyKnapsack(all, memory / 3);
      EXPECT_LE(sumsOf(all, *saved).memory, memory / 3 * (1 + 1e-11));
      EXPECT_GE(sumsOf(all, *saved).runtime, sumsOf(all, quick).runtime) << int(kind) << " " << count;
    }
}

TEST(Knapsack, IntegerRefusesWhatIsNoNumber) {
  EXPECT_EQ(integerKnapsack({{0.1, std::nan("")}}, 1).error().code, ErrorCode::BadUsage);
  EXPECT_EQ(integerKnapsack({{-0.1, 1}}, 1).error().code, ErrorCode::BadUsage);
  EXPECT_EQ(integerKnapsack({{0.1, 1e308}, {0.1, 1e308}}, 1).error().code, ErrorCode::BadUsage);
  EXPECT_EQ(integerKnapsack({{0.1, 1}}, INFINITY).error().code, ErrorCode::BadUsage);
  EXPECT_EQ(integerKnapsack(std::vector<KnapsackItem>((1u << 18) + 1), 1).error().code, ErrorCode::TooLarge);
  EXPECT_EQ(integerKnapsack({}, 1).value(), Saved{});
  EXPECT_EQ(integerKnapsack({{0, 1}, {0.1, 1}}, 0).value(), (Saved{true, false}));
}

TEST(Knapsack, GreedyTakesByRuntimePerMemory) { EXPECT_EQ(greedyKnapsack(items, 1.0), (Saved{true, false, false})); }

TEST(Knapsack, SavesWhatWeighsNothing) {
  EXPECT_EQ(dynamicKnapsack({{0.00001, 1}, {0.9, 1}}, 0.5), (Saved{true, false}));
}

TEST(Knapsack, SavesNothingThatDoesNotFit) {
  for (const KnapsackSolver solver : {KnapsackSolver::Dynamic, KnapsackSolver::Greedy, KnapsackSolver::Integer}) {
    const auto saved = solveKnapsack(solver, {{0.3, 5}, {0.2001, 1}}, 0.2);
    ASSERT_TRUE(saved) << saved.error().text();
    EXPECT_EQ(*saved, (Saved{false, false})) << solverName(solver);
  }
}

TEST(Knapsack, RefusesOtherSolvers) {
  EXPECT_EQ(solverFromName("ilp").value(), KnapsackSolver::Integer);
  EXPECT_EQ(solverFromName("simplex").error().code, ErrorCode::BadUsage);
}

}  // namespace
}  // namespace kerf
