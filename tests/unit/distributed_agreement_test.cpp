#include <gtest/gtest.h>

#include "engine/distributed/agreement/break_agreement.h"
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

GraphEnd brokenAt(int instruction, long step) {
  return {.kind = GraphEnd::Kind::Break, .instruction = instruction, .visit = 1, .step = step, .reason = "print"};
}

FrameClaim claimOf(GraphEnd end, int round = 0) { return {.frame = "f", .round = round, .end = std::move(end)}; }

TEST(BreakAgreement, ABreakOfOneRankIsMetByAll) {
  const FrameClaim first = claimOf(brokenAt(20, 9)), second = claimOf(brokenAt(12, 5)), third = claimOf({});
  const Decision decision = decideEnd({first, second, third}, 2);
  EXPECT_FALSE(decision.isSettled);
  ASSERT_TRUE(decision.end);
  EXPECT_EQ(decision.end->instruction, 12) << "the first break on the way";
  EXPECT_EQ(decision.rank, 1);

  // Rank 0 broke in its own branch, rank 2 where the ways come together: both have met it, and have a rest of their own.
  FrameClaim own = claimOf(brokenAt(20, 9), 1), join = claimOf(brokenAt(30, 7), 1);
  own.answered = join.answered = {second.end};
  const Decision met = decideEnd({own, claimOf(brokenAt(12, 5), 1), join}, 0);
  EXPECT_TRUE(met.isSettled);
  EXPECT_TRUE(met.isBreakOfAll);
  ASSERT_TRUE(met.end);
  EXPECT_EQ(met.end->instruction, 12);

  FrameClaim unable = claimOf({}, 1);  // no way from there leads through its trace
  unable.answered = {second.end};
  const Decision apart = decideEnd({own, claimOf(brokenAt(12, 5), 1), unable}, 0);
  EXPECT_TRUE(apart.isSettled);
  EXPECT_FALSE(apart.isBreakOfAll);
}

TEST(BreakAgreement, ASkipComesBeforeBreaksAndOtherFunctionsAreLeftAlone) {
  FrameClaim other = claimOf(brokenAt(3, 1));
  other.frame = "g";
  const GraphEnd skip{.kind = GraphEnd::Kind::Skip, .reason = "a loop"};
  const Decision decision = decideEnd({claimOf(brokenAt(12, 5)), claimOf(skip), other}, 0);
  ASSERT_TRUE(decision.end);
  EXPECT_EQ(decision.end->kind, GraphEnd::Kind::Skip);
  EXPECT_FALSE(decision.isSettled) << "rank 0 has not told that it skips as well";
  EXPECT_EQ(decideEnd({claimOf(brokenAt(12, 5)), claimOf(skip), other}, 2).end->instruction, 3);
  EXPECT_TRUE(decideEnd({claimOf(skip, 1), claimOf(skip, 1), other}, 0).isSettled);
}

TEST(BreakAgreement, SettlesAtOnceWhereNothingDiffers) {
  FrameClaim own = claimOf(brokenAt(12, 5)), other = own;
  own.state = *parseFrameState("L['x']: tensor size=[4] stride=[1]");
  other.state = own.state;
  EXPECT_TRUE(decideEnd({own, other}, 0).isSettled);
  other.state = *parseFrameState("L['x']: tensor size=[5] stride=[1]");
  const Decision sizes = decideEnd({own, other}, 0);
  EXPECT_FALSE(sizes.isSettled) << "they trace again with a symbol";
  EXPECT_EQ(frameStateText(sizes.state), "L['x']: tensor size=[auto_dynamic] stride=[1]");
  own.round = other.round = mostRounds - 1;
  other.end = brokenAt(14, 6);
  EXPECT_TRUE(decideEnd({own, other}, 1).isSettled) << "rounds have an end";
}

TEST(BreakAgreement, ClaimsAreReadBack) {
  FrameClaim claim = claimOf(brokenAt(12, 5), 3);
  claim.end.leavesFrame = true;
  claim.answered = {brokenAt(7, 2)};
  claim.answered[0].isBefore = true;
  claim.state = *parseFrameState("L['n']: scalar 5");
  const auto again = parseClaim(claimText(claim));
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(claimText(*again), claimText(claim));
  EXPECT_TRUE(again->answered[0].isBefore);
  EXPECT_TRUE(again->end.leavesFrame);
  EXPECT_EQ(again->end.step, 5);
  for (const char* text : {"", "[", "{}", R"({"frame": "f", "round": 0, "end": {"kind": "jump"}})", "[1]"})
    EXPECT_FALSE(parseClaim(text)) << text;
}

}  // namespace
}  // namespace kerf
