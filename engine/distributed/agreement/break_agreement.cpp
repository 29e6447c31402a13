#include "engine/distributed/agreement/break_agreement.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>

#include <nlohmann/json.hpp>

#include "engine/support/read_json.h"

namespace kerf::inline distributed::inline agreement {
namespace {

using ClaimJson = nlohmann::json;

constexpr std::array<std::string_view, 3> endNames{"whole", "break", "skip"};

ClaimJson endJson(const GraphEnd& end) {
  return {{"kind", endNames[std::size_t(end.kind)]},
          {"instruction", end.instruction},
          {"visit", end.visit},
          {"step", end.step},
          {"leaves", end.leavesFrame},
          {"before", end.isBefore},
          {"reason", end.reason}};
}

GraphEnd parseEnd(const ClaimJson& json) {
  const auto name = std::ranges::find(endNames, json.at("kind").get<std::string>());
  if (name == endNames.end()) throw std::out_of_range("kind");
  return {.kind = GraphEnd::Kind(name - endNames.begin()),
          .instruction = json.at("instruction").get<int>(),
          .visit = json.at("visit").get<int>(),
          .step = json.at("step").get<long>(),
          .leavesFrame = json.at("leaves").get<bool>(),
          .isBefore = json.at("before").get<bool>(),
          .reason = json.at("reason").get<std::string>()};
}

bool hasAnswered(const FrameClaim& claim, const GraphEnd& end) {
  return claim.end.isAt(end) || std::ranges::any_of(claim.answered, [&](const GraphEnd& met) { return met.isAt(end); });
}

/// The ranks that trace the same function.
std::vector<std::size_t> ranksIn(const std::vector<FrameClaim>& claims, const std::string& frame) {
  std::vector<std::size_t> ranks;
  for (std::size_t r = 0; r < claims.size(); ++r)
    if (claims[r].frame == frame) ranks.push_back(r);
  return ranks;
}

bool isWhole(const FrameClaim& claim) { return claim.end.kind == GraphEnd::Kind::Whole; }

/// The rank among them whose end the others meet: who skips, or breaks first; one that all have met before any other.
/// None where all go to the end.
std::optional<std::size_t> leaderOf(const std::vector<FrameClaim>& claims, const std::vector<std::size_t>& ranks) {
  const auto order = [&](std::size_t r) {
    const bool isMet =
        std::ranges::all_of(ranks, [&](std::size_t other) { return hasAnswered(claims[other], claims[r].end); });
    return std::tuple(isWhole(claims[r]), claims[r].end.kind != GraphEnd::Kind::Skip, !isMet, claims[r].end.step, r);
  };
  const auto first = std::ranges::min_element(ranks, {}, order);
  if (first == ranks.end() || isWhole(claims[*first])) return std::nullopt;
  return *first;
}

/// Whether all ranks that trace the function of rank `r` have met the end that they are to meet.
bool isMetByAll(const std::vector<FrameClaim>& claims, std::size_t r) {
  const std::vector<std::size_t> ranks = ranksIn(claims, claims[r].frame);
  const auto leader = leaderOf(claims, ranks);
  return !leader ||
         std::ranges::all_of(ranks, [&](std::size_t other) { return hasAnswered(claims[other], claims[*leader].end); });
}

bool saysSame(const InputState& own, const InputState& agreed) {
  return own.scalar == agreed.scalar && own.sizes == agreed.sizes && own.strides == agreed.strides &&
         own.isTensor == agreed.isTensor;
}

/// Whether every rank traced with what they agree on now.
bool tracedWith(const FrameState& agreed, const std::vector<FrameClaim>& claims) {
  return std::ranges::all_of(claims, [&](const FrameClaim& claim) {
    return std::ranges::all_of(claim.state,
                               [&](const auto& input) { return saysSame(input.second, agreed.at(input.first)); });
  });
}

}  // namespace

std::string claimText(const FrameClaim& claim) {
  ClaimJson answered = ClaimJson::array();
  for (const GraphEnd& end : claim.answered) answered.push_back(endJson(end));
  const ClaimJson json = {{"frame", claim.frame},
                          {"round", claim.round},
                          {"end", endJson(claim.end)},
                          {"answered", std::move(answered)},
                          {"state", frameStateText(claim.state)}};
  return json.dump(-1, ' ', false, ClaimJson::error_handler_t::replace);
}

Result<FrameClaim> parseClaim(const std::string& text) {
  const auto json = readJson<ClaimJson>(text);
  if (json.is_discarded()) return fail(ErrorCode::BadInput, "what a rank tells before it compiles {}", whyNoJson(text));
  try {
    FrameClaim claim{
        json.at("frame").get<std::string>(), json.at("round").get<int>(), parseEnd(json.at("end")), {}, {}};
    for (const ClaimJson& end : json.at("answered")) claim.answered.push_back(parseEnd(end));
    KERF_TRY(claim.state, parseFrameState(json.at("state").get<std::string>()));
    return claim;
  } catch (const std::exception& error) {
    return fail(ErrorCode::BadInput, "what a rank tells before it compiles is no claim: {}", error.what());
  }
}

Decision decideEnd(const std::vector<FrameClaim>& claims, int rank) {
  std::vector<FrameState> states;
  int round = 0;
  for (const FrameClaim& claim : claims) {
    states.push_back(claim.state);
    round = std::max(round, claim.round);
  }
  Decision decision{.state = agreedState(states)};
  const FrameClaim& own = claims[std::size_t(rank)];
  if (const auto leader = leaderOf(claims, ranksIn(claims, own.frame))) {
    decision.end = claims[*leader].end;
    decision.rank = int(*leader);
  }
  decision.isBreakOfAll = std::ranges::all_of(claims, [&](const FrameClaim& claim) {
    return claim.frame == own.frame && claim.end.kind == GraphEnd::Kind::Break;
  });
  bool isMet = round > 0 || tracedWith(decision.state, claims);
  for (std::size_t r = 0; r < claims.size(); ++r) isMet = isMet && isMetByAll(claims, r);
  decision.isSettled = isMet || round + 1 >= mostRounds;
  return decision;
}

}  // namespace kerf::inline distributed::inline agreement
