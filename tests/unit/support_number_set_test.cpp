#include <random>
#include <set>

#include <gtest/gtest.h>

#include "engine/support/append_missing.h"
#include "engine/support/number_set.h"

namespace kerf {
namespace {

TEST(NumberSet, FindsTheNextFreeNumberAsASetWould) {
  std::mt19937 random(7);
  NumberSet numbers;
  std::set<std::int64_t> expected;
  for (int i = 0; i < 20000; ++i) {
    const std::int64_t number = std::int64_t(random() % 60);
    if (random() % 3 == 0) {
      numbers.erase(number);
      expected.erase(number);
    } else {
      numbers.insert(number);
      expected.insert(number);
    }
    const std::int64_t asked = std::int64_t(random() % 64) - 2;
    std::int64_t free = asked + 1;
    while (expected.contains(free)) ++free;
    ASSERT_EQ(numbers.nextFree(asked), free) << "step " << i;
    ASSERT_EQ(numbers.contains(asked), expected.contains(asked)) << "step " << i;
  }
}

TEST(AppendMissing, KeepsTheOrderAndOneOfEach) {
  std::vector<int> few{3, 1};
  appendMissing(few, {1, 2, 2, 4});
  EXPECT_EQ(few, (std::vector<int>{3, 1, 2, 4}));
  std::vector<int> many, items, expected;
  for (int i = 0; i < 2000; ++i) items.push_back(i * 7 % 500);
  for (int i = 0; i < 500; ++i) expected.push_back(i * 7 % 500);
  appendMissing(many, items);
  EXPECT_EQ(many, expected);
}

}  // namespace
}  // namespace kerf
