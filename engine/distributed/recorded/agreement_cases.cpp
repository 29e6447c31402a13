#include "engine/distributed/recorded/agreement_cases.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "engine/distributed/agreement/compile_agreement.h"
#include "engine/distributed/group/in_process.h"

namespace kerf::inline distributed::inline recorded {
namespace {

/// A compilation: frame, its number among the frame's compilations, and the attempt.
using CompileKey = std::tuple<int, int, int>;
using RankStates = std::vector<std::pair<CompileKey, FrameState>>;

Result<RankStates> statesOf(const Json& rank) {
  RankStates states;
  for (const Json& artifact : rank.value("compiler_collective_artifacts", Json::array())) {
    const Json& meta = artifact["meta"];
    KERF_TRY(FrameState state, parseFrameState(artifact["payload"].get<std::string>()));
    states.emplace_back(
        CompileKey{meta.value("frame_id", 0), meta.value("frame_compile_id", 0), meta.value("attempt", 0)},
        std::move(state));
  }
  return states;
}

/// "L_x_" of "L['x']".
std::string placeholderName(const std::string& source) {
  std::string name;
  for (const char c : source)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      name += c;
    else if (!name.ends_with('_'))
      name += '_';
  return name;
}

struct MetStates {
  std::vector<FrameState> states;  ///< of the compilations that all ranks came to, in order
  Result<void> met;                ///< who waits for whom where one did not
};

/// All ranks exchange their states, each as often as it did in the recording.
MetStates agreement(const std::vector<RankStates>& ranks) {
  std::vector<std::vector<FrameState>> agreed(ranks.size());
  const auto results = runRanks(int(ranks.size()),
                                [&](Communicator& link) -> Result<void> {
                                  const Group world = worldGroup(link.worldSize());
                                  const auto me = std::size_t(link.rank());
                                  for (const auto& [key, state] : ranks[me]) {
                                    KERF_TRY(FrameState one, agreeOn(link, world, state));
                                    agreed[me].push_back(std::move(one));
                                  }
                                  return {};
                                },
                                {std::chrono::milliseconds(5000)});
  MetStates result{agreed[0], firstCause(results)};
  for (const auto& own : agreed)
    if (own.size() < result.states.size()) result.states.resize(own.size());
  return result;
}

bool isSymbolic(const Json& number) { return number.is_string(); }

/// Sizes and strides 0 and 1 stay numbers whatever ranks say.
bool isFixedNumber(const Json& number) { return number.is_number_integer() && number.get<std::int64_t>() <= 1; }

std::string listDifference(const char* what, const Json& recorded,
                           const std::optional<std::vector<AgreedNumber>>& agreed) {
  for (std::size_t i = 0; agreed && i < std::min(agreed->size(), recorded.size()); ++i) {
    if (isFixedNumber(recorded[i]) || isSymbolic(recorded[i]) == (*agreed)[i].isDynamic) continue;
    return fmt::format("{} {} is {} where the ranks agree on {}", what, i, recorded[i].dump(), (*agreed)[i].text);
  }
  return {};
}

std::string inputDifference(const Json& val, const InputState& input) {
  if (!input.isTensor) {
    const bool isDynamic = input.scalar && input.scalar->isDynamic;
    const bool isSymbol = val.value("class", std::string()) == "SymInt";
    return isDynamic == isSymbol ? std::string() : "a scalar is symbolic on one side alone";
  }
  if (!val.contains("shape")) return {};
  const std::string sizes = listDifference("size", val["shape"], input.sizes);
  return sizes.empty() ? listDifference("stride", val["stride"], input.strides) : sizes;
}

std::string graphDifference(const Json& nodes, const FrameState& state) {
  for (const Json& node : nodes) {
    if (node.value("op", std::string()) != "placeholder") continue;
    for (const auto& [source, input] : state) {
      if (placeholderName(source) != node.value("target", std::string())) continue;
      const std::string text = inputDifference(node.value("val", Json::object()), input);
      if (!text.empty()) return fmt::format("{}: {}", source, text);
    }
  }
  return {};
}

/// Graphs of Dynamo on each rank against the last compilations that all came to: earlier ones gave none.
void compareGraphs(const std::string& id, const Json& ranks, const std::vector<FrameState>& states,
                   RanksReport& report) {
  const Json& first = ranks[0]["graphs"];
  const std::size_t graphs = std::min(first.size(), states.size());
  for (std::size_t g = 0; g < graphs; ++g) {
    const FrameState& state = states[states.size() - graphs + g];
    std::string text;
    for (std::size_t r = 0; r < ranks.size() && text.empty(); ++r) {
      if (g >= ranks[r]["graphs"].size()) continue;
      text = graphDifference(nodesOf(ranks[r]["graphs"][g], first[g]), state);
      if (!text.empty()) text = fmt::format("graph {} of rank {}: {}", g, r, text);
    }
    report.note(id, RanksField::Values, text);
  }
}

}  // namespace

Result<void> checkAgreementCase(const Json& line, const SavedTensors&, RanksReport& report) {
  const std::string id = line.value("id", std::string());
  ++report.cases;
  if (!line.value("compiler_collectives", false) || !line.contains("ranks")) return {};  // every rank for itself
  std::vector<RankStates> ranks;
  for (const Json& rank : line["ranks"]) {
    KERF_TRY(RankStates states, statesOf(rank));
    ranks.push_back(std::move(states));
  }
  if (std::ranges::all_of(ranks, &RankStates::empty)) return {};
  const MetStates agreed = agreement(ranks);
  const bool isRefused = line.contains("error") && !line["error"].is_null();
  if (isRefused)
    report.note(id, RanksField::Refusals, agreed.met ? "all ranks agree where PyTorch's do not come together" : "");
  else if (!agreed.met)
    report.note(id, RanksField::Values, "fails: " + agreed.met.error().text());
  compareGraphs(id, line["ranks"], agreed.states, report);
  return {};
}

}  // namespace kerf::inline distributed::inline recorded
