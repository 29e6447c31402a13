// findCulprits(): one, several, together, hidden.
#include <gmock/gmock.h>

#include "minifier/bisect/culprit_search.h"

namespace kerf {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using On = std::vector<bool>;

std::vector<std::string> letters(std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(std::string(1, char('a' + i)));
  return names;
}

struct Asked {
  CulpritReport bisection;
  int trials = 0;
};

Asked ask(std::size_t parts, const std::function<bool(const On&)>& differs) {
  Asked asked;
  const PartTrial trial = [&](const On& on) -> Result<std::string> {
    ++asked.trials;
    return differs(on) ? "out0 differs" : "";
  };
  asked.bisection = findCulprits(letters(parts), "part", trial, {}).value();
  return asked;
}

TEST(Culprits, OneOfManyTakesLogarithmicallyManyTrials) {
  const auto asked = ask(26, [](const On& on) { return on[17]; });
  EXPECT_THAT(asked.bisection.culprits, ElementsAre("r"));
  EXPECT_THAT(asked.bisection.remarks, IsEmpty());
  EXPECT_TRUE(asked.bisection.different);
  EXPECT_LE(asked.trials, 9) << "all, none, five halvings, alone, all others";
}

TEST(Culprits, BothTrialsAroundTheCulpritAreThere) {
  const auto asked = ask(26, [](const On& on) { return on[3]; });
  const auto with = ::testing::AllOf(::testing::Field(&CulpritTrial::enabled, letters(4)),
                                     ::testing::Field(&CulpritTrial::same, false),
                                     ::testing::Field(&CulpritTrial::detail, "out0 differs"));
  const auto without = ::testing::AllOf(::testing::Field(&CulpritTrial::enabled, letters(3)),
                                        ::testing::Field(&CulpritTrial::same, true));
  EXPECT_THAT(asked.bisection.trials, Contains(with));
  EXPECT_THAT(asked.bisection.trials, Contains(without));
}

TEST(Culprits, SeveralAreFoundOneAfterTheOther) {
  const auto asked = ask(26, [](const On& on) { return on[20] || on[4] || on[11]; });
  EXPECT_THAT(asked.bisection.culprits, ElementsAre("e", "l", "u"));
}

TEST(Culprits, WhatDiffersOnlyTogetherNamesAllThatItNeeds) {
  const auto asked = ask(26, [](const On& on) { return on[2] && on[9] && on[14]; });
  EXPECT_THAT(asked.bisection.culprits, ElementsAre("o"));
  EXPECT_THAT(asked.bisection.remarks, ElementsAre("o differs only together with c, j"));
}

TEST(Culprits, WhatHidesTheDifferenceIsNamed) {
  const auto asked = ask(5, [](const On& on) { return on[1] && (!on[2] || on[4]); });
  EXPECT_THAT(asked.bisection.culprits, Contains("b"));
  EXPECT_THAT(asked.bisection.remarks, Contains("c hides the difference again"));
}

TEST(Culprits, NothingAndEverythingAreSaid) {
  const auto healthy = ask(5, [](const On&) { return false; });
  EXPECT_FALSE(healthy.bisection.different);
  EXPECT_EQ(healthy.bisection.note, "no difference with every part on");
  const auto elsewhere = ask(5, [](const On&) { return true; });
  EXPECT_TRUE(elsewhere.bisection.different);
  EXPECT_THAT(elsewhere.bisection.culprits, IsEmpty());
  EXPECT_THAT(elsewhere.bisection.note, HasSubstr("there with every part off"));
  EXPECT_EQ(ask(0, [](const On&) { return true; }).bisection.culprits.size(), 0u);
}

TEST(Culprits, AnErrorOfATrialEndsTheSearch) {
  const PartTrial trial = [](const On&) -> Result<std::string> { return fail(ErrorCode::Cancelled, "stopped"); };
  EXPECT_EQ(findCulprits(letters(3), "part", trial, {}).error().code, ErrorCode::Cancelled);
}

}  // namespace
}  // namespace kerf
