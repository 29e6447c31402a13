#include <gtest/gtest.h>

#include "engine/distributed/agreement/compile_agreement.h"
#include "engine/distributed/group/in_process.h"

namespace kerf {
namespace {

TEST(CompileAgreement, MakesSymbolicWhatDiffers) {
  const auto first = parseFrameState("L['x']: tensor size=[4, 5] stride=[S(1), 1]\nL['n']: scalar 5\nL['k']: scalar 2");
  const auto second =
      parseFrameState("L['n']: scalar 6\nL['x']: tensor size=[4, 7] stride=[S(1), 1]\nL['k']: scalar 2");
  ASSERT_TRUE(first && second);
  const FrameState agreed = agreedState({*first, *second});
  EXPECT_EQ(frameStateText(agreed),
            "L['k']: scalar 2\nL['n']: scalar auto_dynamic\nL['x']: tensor size=[4, auto_dynamic] stride=[S(1), 1]");
  EXPECT_TRUE(agreed.at("L['n']").scalar->isDynamic);
}

TEST(CompileAgreement, KeepsWhatOnlySomeRanksHaveAndForgetsOtherRanks) {
  const auto first = parseFrameState("L['x']: tensor size=[4] stride=[1]"), second = parseFrameState("");
  const auto third = parseFrameState("L['x']: tensor size=[4, 1] stride=[1, 1]");
  ASSERT_TRUE(first && second && third);
  EXPECT_EQ(frameStateText(agreedState({*second, *first})), "L['x']: tensor size=[4] stride=[1]");
  EXPECT_EQ(frameStateText(agreedState({*first, *third})), "L['x']: tensor size=auto_dynamic stride=auto_dynamic");
}

TEST(CompileAgreement, IsTheSameOnAllRanksAndNamesWhoDidNotCome) {
  std::vector<std::string> texts(3);
  const auto states = [](int rank) {
    return parseFrameState(fmt::format("L['x']: tensor size=[{}] stride=[1]", 4 + rank));
  };
  const auto results = runRanks(3,
                                [&](Communicator& link) -> Result<void> {
                                  KERF_TRY(const FrameState own, states(link.rank()));
                                  KERF_TRY(const FrameState agreed, agreeOn(link, worldGroup(3), own));
                                  texts[std::size_t(link.rank())] = frameStateText(agreed);
                                  if (link.rank() == 2) return {};  // compiles no second frame
                                  KERF_CHECK(agreeOn(link, worldGroup(3), own));
                                  return {};
                                },
                                {std::chrono::milliseconds(2000)});
  for (const std::string& text : texts) EXPECT_EQ(text, "L['x']: tensor size=[auto_dynamic] stride=[1]");
  EXPECT_TRUE(results[2]);
  ASSERT_FALSE(results[0]);
  EXPECT_NE(results[0].error().message.find("rank 2 has ended, last called all_gather_object"), std::string::npos)
      << results[0].error().message;
}

TEST(CompileAgreement, RefusesOtherTexts) {
  EXPECT_FALSE(parseFrameState("L['x'] tensor"));
  EXPECT_FALSE(parseFrameState("L['x']: module"));
}

}  // namespace
}  // namespace kerf
