#include "tests/differential/seededchanges/campaign.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "engine/verification/stage_inputs.h"
#include "engine/verification/stage_runs.h"
#include "engine/verification/value_difference.h"
#include "engine/verification/verify.h"
#include "tests/differential/seededchanges/change_graph.h"
#include "tests/differential/seededchanges/special_inputs.h"

namespace kerf::seededchanges {
namespace {

using fuzzgraph::Dice;

struct StageChange {
  std::size_t stage;
  GraphChange change;
  std::string text;
  StageOutcomePtr outcome;
};

/// Both changes give the same: the second stage is as it should be behind the first.
bool alike(const StageOutcome& first, const StageOutcome& second) {
  for (const auto& [slot, value] : first.wide().values) {
    const auto other = second.wide().values.find(slot);
    if (other == second.wide().values.end()) continue;
    const auto difference = differenceOf(value, other->second);
    if (!difference || !difference->reason.empty() || difference->relativeError > 1e-7) return false;
  }
  return true;
}

/// What a single changed stage gives beside what it gave: larger than what verifying accepts.
bool differs(const StageOutcome& before, const StageOutcome& after) {
  if (!after.failures[0].empty()) return after.ownFault;
  constexpr double visible = 1e-6;
  for (const auto& [slot, value] : before.wide().values) {
    const auto other = after.wide().values.find(slot);
    if (other == after.wide().values.end()) return true;
    const auto difference = differenceOf(value, other->second);
    if (difference && (!difference->reason.empty() || difference->relativeError > visible)) return true;
    if (hasSpecialsElsewhere(value, other->second)) return true;
  }
  return before.wide().values.size() != after.wide().values.size();
}

class Campaign {
 public:
  Campaign(Capture& capture, const StagePlan& plan, const SlotValues& inputs, const SeededOptions& options)
      : m_capture(capture),
        m_plan(plan),
        m_inputs(inputs),
        m_options(options),
        m_verify{.recorded = true, .gradients = true},
        m_runs(capture, plan, inputs, m_verify) {}

  /// Tries one change, or two at once. An error is Kerf's.
  Result<void> tryOne(Dice& dice, SeededReport& report) {
    ++report.tried;
    std::vector<StageChange> changes;
    Capture capture = m_capture;
    while (changes.size() < (m_options.two ? 2u : 1u)) {
      auto change = draw(dice, capture);
      if (!change) return {};
      if (!changes.empty() && changes.front().stage == change->stage) return {};
      if (!changes.empty() && alike(*changes.front().outcome, *change->outcome)) return {};
      changes.push_back(std::move(*change));
    }
    ++report.effects;
    KERF_TRY(const CompileVerdict verdict, verifyStages(capture, m_plan, m_inputs, m_verify));
    count(changes, verdict, report);
    return {};
  }

 private:
  bool isPaired(std::size_t stage) const {
    return std::ranges::any_of(m_plan.pairs, [&](const StagePair& pair) {
      return pair.before == stage || std::ranges::find(pair.after, stage) != pair.after.end();
    });
  }

  /// A change of one stage in `capture` that has an effect there.
  std::optional<StageChange> draw(Dice& dice, Capture& capture) {
    const std::size_t index = dice.below(m_plan.stages.size());
    if (!isPaired(index)) return {};
    const Stage& stage = m_plan.stages[index];
    Capture alone = m_capture;
    auto change = changeGraph(alone.graphs[stage.graph].module, dice);
    if (!change) return {};
    const auto before = m_runs.outcome(index);
    StageRuns runs(alone, m_plan, m_inputs, m_verify);
    const auto after = runs.outcome(index);
    if (!before || !after || !(*before)->failures[0].empty() || !differs(**before, **after)) return {};
    capture.graphs[stage.graph].module = alone.graphs[stage.graph].module;
    const std::string text = fmt::format("{} {}: {}: {}", m_plan.compile, stage.name, change->node, change->what);
    return StageChange{index, std::move(*change), text, *after};
  }

  /// The stage is named, or, where there is none before it, the pair that begins with it is different.
  bool isNamed(const StageChange& change, const CompileVerdict& verdict) const {
    const std::string& name = m_plan.stages[change.stage].name;
    const bool isFirst = std::ranges::none_of(m_plan.pairs, [&](const StagePair& pair) {
      return std::ranges::find(pair.after, change.stage) != pair.after.end();
    });
    return std::ranges::any_of(verdict.pairs, [&](const PairVerdict& pair) {
      if ((", " + verdict.odd + ",").find(", " + name + ",") != std::string::npos) return true;
      if (pair.kind != PairVerdict::Kind::Different) return false;
      if (pair.changedIn == name || (isFirst && pair.before == name)) return true;
      return pair.changedIn.empty() && pair.after == name;
    });
  }

  static bool nodeNamed(const StageChange& change, const CompileVerdict& verdict) {
    return std::ranges::any_of(verdict.pairs, [&](const PairVerdict& pair) {
      const auto& others = pair.changed.others;
      return pair.kind == PairVerdict::Kind::Different &&
             (pair.changed.node == change.change.node || std::ranges::find(others, change.change.node) != others.end());
    });
  }

  void count(const std::vector<StageChange>& changes, const CompileVerdict& verdict, SeededReport& report) const {
    std::string text;
    for (const StageChange& change : changes) text += (text.empty() ? "" : "; ") + change.text;
    const auto named = [&](const StageChange& change) { return isNamed(change, verdict); };
    const bool seen = !verdict.good(), all = std::ranges::all_of(changes, named);
    report.seen += seen ? 1 : 0;
    report.stagesNamed += seen && all ? 1 : 0;
    report.nodesNamed += std::ranges::all_of(changes, [&](const StageChange& one) { return nodeNamed(one, verdict); });
    if (!seen || !all) {
      for (const PairVerdict& pair : verdict.pairs)
        if (pair.kind != PairVerdict::Kind::Same && pair.kind != PairVerdict::Kind::Identical)
          text += fmt::format("\n    {} → {}: {} ({}) {}", pair.before, pair.after, verdictName(pair.kind),
                              pair.changedIn, pair.why);
      report.missed.push_back((seen ? "not named: " : "unseen: ") + text);
    }
    if (m_options.shout) fmt::print("{} {}\n", seen ? all ? "named " : "seen  " : "UNSEEN", text);
  }

  Capture& m_capture;
  const StagePlan& m_plan;
  const SlotValues& m_inputs;
  const SeededOptions& m_options;
  VerifyOptions m_verify;
  StageRuns m_runs;
};

/// The compilation as it was recorded: whatever is different is a false alarm.
Result<void> verifyUnchanged(const Capture& capture, const StagePlan& plan, const SlotValues& inputs,
                             const SeededOptions& options, SeededReport& report) {
  KERF_TRY(const CompileVerdict verdict, verifyStages(capture, plan, inputs, {}));
  for (const PairVerdict& pair : verdict.pairs) {
    if (options.shout)
      fmt::print("{} {} → {}: {} {}\n", plan.compile, pair.before, pair.after, verdictName(pair.kind), pair.why);
    if (options.shout && pair.gradients)
      fmt::print("  gradients: {} {:.1e} {}\n", pair.gradients->done ? "done" : "not checked",
                 pair.gradients->relativeError, pair.gradients->why);
    if (pair.kind == PairVerdict::Kind::Different)
      report.missed.push_back(
          fmt::format("false alarm: {} {} → {}: {}", plan.compile, pair.before, pair.after, pair.why));
  }
  return {};
}

}  // namespace

Result<SeededReport> runSeededChanges(const std::filesystem::path& log, const SeededOptions& options) {
  KERF_TRY(Capture capture, importCapture(log));
  KERF_TRY(const auto plans, planStages(capture));
  SeededReport report;
  Dice dice(options.seed * 0xd1342543de82ef95ULL);  // streams of neighbouring seeds overlap
  for (const StagePlan& plan : plans) {
    if (plan.pairs.empty()) continue;
    KERF_TRY(auto inputs, makeStageInputs(capture, plan, {}, loadWith({})));
    if (options.nan) KERF_CHECK(placeSpecials(inputs.values, dice));
    if (options.count == 0) {
      KERF_CHECK(verifyUnchanged(capture, plan, inputs.values, options, report));
      continue;
    }
    Campaign campaign(capture, plan, inputs.values, options);
    SeededReport here;
    for (int tries = 0; here.effects < options.count && tries < 40 * options.count; ++tries)
      KERF_CHECK(campaign.tryOne(dice, here));
    report.tried += here.tried;
    report.effects += here.effects;
    report.seen += here.seen;
    report.stagesNamed += here.stagesNamed;
    report.nodesNamed += here.nodesNamed;
    std::ranges::move(here.missed, std::back_inserter(report.missed));
  }
  return report;
}

}  // namespace kerf::seededchanges
