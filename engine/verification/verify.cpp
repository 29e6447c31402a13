#include "engine/verification/verify.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/ranges.h>

#include "engine/ir/printer.h"
#include "engine/verification/stage_search.h"

namespace kerf::inline verification {
namespace {

constexpr std::string_view verdictNames[] = {"same", "identical", "different", "not compared"};

class Verifier {
 public:
  Verifier(const Capture& capture, const StagePlan& plan, const SlotValues& inputs, const VerifyOptions& options)
      : m_plan(plan), m_options(options), m_runs(capture, plan, inputs, options) {}

  Result<CompileVerdict> run() {
    CompileVerdict verdict{m_plan.compile, {}, {}, m_plan.notes};
    std::vector<const StagePair*> chosen;
    for (const StagePair& pair : m_plan.pairs)
      if (isChosen(pair)) chosen.push_back(&pair);
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      const auto start = std::chrono::steady_clock::now();
      KERF_TRY(auto pair, compare(*chosen[i]));
      pair.time = std::chrono::steady_clock::now() - start;
      verdict.pairs.push_back(std::move(pair));
      releaseUnused(chosen, i + 1);
    }
    StageSearch(m_plan, m_runs, m_options).refine(chosen, verdict);
    verdict.notes.insert(verdict.notes.end(), m_notes.begin(), m_notes.end());
    return verdict;
  }

 private:
  const Stage& stage(std::size_t index) const { return m_plan.stages[index]; }

  bool isChosen(const StagePair& pair) const {
    const auto named = [&](std::size_t index) { return stage(index).name == m_options.stage; };
    return m_options.stage.empty() || named(pair.before) || std::ranges::any_of(pair.after, named);
  }

  /// The pair is over; a stage that stands in for the next one is needed still.
  void releaseUnused(const std::vector<const StagePair*>& pairs, std::size_t next) {
    std::set<std::size_t> needed;
    for (std::size_t i = next; i < pairs.size(); ++i) {
      needed.insert(standingIn(*pairs[i]).before);
      needed.insert(pairs[i]->after.begin(), pairs[i]->after.end());
    }
    for (std::size_t i = 0; i < m_plan.stages.size(); ++i)
      if (!needed.contains(i)) m_runs.release(i);
  }

  PairVerdict named(const StagePair& pair) const {
    PairVerdict verdict;
    verdict.before = stage(pair.before).name;
    for (const std::size_t index : pair.after)
      verdict.after += (verdict.after.empty() ? "" : " + ") + stage(index).name;
    return verdict;
  }

  /// The pair with the last stage that runs in place of an earlier one that does not.
  StagePair standingIn(StagePair pair) const {
    for (auto found = m_standIns.find(pair.before); found != m_standIns.end(); found = m_standIns.find(pair.before))
      pair.before = found->second;
    return pair;
  }

  Result<PairVerdict> compare(const StagePair& given) {
    const StagePair pair = standingIn(given);
    PairVerdict verdict = named(pair);
    for (const std::size_t index : pair.after) verdict.nodes += m_runs.module(index).graph.size();
    if (pair.after.size() == 1 && m_runs.identical(pair.before, pair.after.front())) {
      verdict.kind = PairVerdict::Kind::Identical;
      verdict.mapped = verdict.nodes;
      m_runs.adopt(pair.after.front(), pair.before);
      return verdict;
    }
    KERF_TRY(const auto before, m_runs.outcome(pair.before));
    std::vector<StageOutcomePtr> after;
    for (const std::size_t index : pair.after) {
      KERF_TRY(after.emplace_back(), m_runs.outcome(index));
    }
    if (const auto why = failureOf(pair, *before, after); !why.empty()) {
      verdict.kind = PairVerdict::Kind::NotCompared;
      verdict.why = why;
      blameWhatFailed(pair, *before, after, verdict);
      if (before->failures[0].empty() && pair.after.size() == 1) m_standIns[pair.after.front()] = pair.before;
      return verdict;
    }
    for (std::size_t i = 0; i < after.size(); ++i) noteUnrun(pair.after[i], *after[i]);
    KERF_CHECK(compareValues(*before, after, verdict));
    KERF_CHECK(checkGradientsOf(pair, after, verdict));
    mapAll(pair, verdict);
    if (verdict.kind == PairVerdict::Kind::Different)
      KERF_CHECK(StageSearch(m_plan, m_runs, m_options).locate(pair, verdict));
    return verdict;
  }

  /// A branch that the inputs do not take is the same only as far as nobody looked.
  void noteUnrun(std::size_t index, const StageOutcome& outcome) {
    const GraphModule& module = m_runs.module(index);
    for (const NodeId id : module.graph.order()) {
      const Node& node = module.graph.node(id);
      const Submodule* nested = node.op() == Opcode::GetAttr ? module.submodule(node.target()) : nullptr;
      if (nested == nullptr || !nested->graph || outcome.wide().subgraphs.contains(node.target())) continue;
      m_notes.insert(
          fmt::format("{}: {} does not run with these inputs and is not compared", stage(index).name, node.target()));
    }
  }

  std::string failureOf(const StagePair& pair, const StageOutcome& before,
                        const std::vector<StageOutcomePtr>& after) const {
    if (!before.failures[0].empty())
      return fmt::format("{} does not run: {}", stage(pair.before).name, before.failures[0]);
    for (std::size_t i = 0; i < after.size(); ++i)
      if (!after[i]->failures[0].empty())
        return fmt::format("{} does not run: {}", stage(pair.after[i]).name, after[i]->failures[0]);
    return {};
  }

  /// Of two stages with the same inputs one runs: what stops the other is that stage's own fault.
  void blameWhatFailed(const StagePair& pair, const StageOutcome& before, const std::vector<StageOutcomePtr>& after,
                       PairVerdict& verdict) const {
    const auto ran = [](const StageOutcome& outcome) { return outcome.failures[0].empty(); };
    const bool allAfterRan = std::ranges::all_of(after, [&](const StageOutcomePtr& each) { return ran(*each); });
    if (!ran(before) && allAfterRan && before.ownFault) return blame(pair.before, before, verdict);
    if (!ran(before)) return;
    for (std::size_t i = 0; i < after.size(); ++i)
      if (!ran(*after[i])) {
        if (after[i]->ownFault) blame(pair.after[i], *after[i], verdict);
        return;
      }
  }

  void blame(std::size_t index, const StageOutcome& outcome, PairVerdict& verdict) const {
    verdict.kind = PairVerdict::Kind::Different;
    verdict.changedIn = stage(index).name;
    verdict.changed.node = outcome.failedNode;
    const Graph& graph = m_runs.module(index).graph;
    if (const auto id = graph.find(outcome.failedNode)) verdict.changed.call = printNode(graph, *id);
  }

  static const Value* find(const SlotValues& values, const Slot& slot) {
    const auto found = values.find(slot);
    return found == values.end() ? nullptr : &found->second;
  }
  static SlotValuesOf valuesOf(const StageOutcome& outcome, const Slot& slot) {
    return {find(outcome.wide().values, slot), find(outcome.recorded().values, slot)};
  }

  Result<void> compareValues(const StageOutcome& before, const std::vector<StageOutcomePtr>& after,
                             PairVerdict& verdict) {
    for (const auto& [slot, value] : before.wide().values) {
      SlotValuesOf other;
      for (const auto& outcome : after)
        if (other.wide == nullptr) other = valuesOf(*outcome, slot);
      if (other.wide == nullptr) {
        verdict.missing.push_back(slot);
        continue;
      }
      KERF_TRY(verdict.values.emplace_back(), judge(slot, valuesOf(before, slot), other, m_options.tolerance));
    }
    for (const auto& outcome : after) addOneSided(before, *outcome, verdict);
    std::ranges::stable_sort(verdict.values, [](const SlotVerdict& a, const SlotVerdict& b) {
      return std::tuple(a.same, -a.ratio) < std::tuple(b.same, -b.ratio);
    });
    conclude(verdict);
    return {};
  }

  static bool isMutation(const Slot& slot) { return slot.starts_with("mutates:"); }

  /// Inputs that only one side writes into.
  static void addOneSided(const StageOutcome& before, const StageOutcome& after, PairVerdict& verdict) {
    for (const auto& [slot, value] : after.wide().values)
      if (isMutation(slot) && find(before.wide().values, slot) == nullptr)
        verdict.values.push_back(
            {.slot = slot, .same = false, .reason = "only the later stage changes this input", .ratio = HUGE_VAL});
    for (const Slot& slot : verdict.missing)
      if (isMutation(slot))
        verdict.values.push_back(
            {.slot = slot, .same = false, .reason = "only the earlier stage changes this input", .ratio = HUGE_VAL});
    std::erase_if(verdict.missing, isMutation);
  }

  static void conclude(PairVerdict& verdict) {
    const auto bad = std::ranges::find(verdict.values, false, &SlotVerdict::same);
    const auto says = [](const SlotVerdict& row) { return row.finite > 0 || row.elements == 0; };
    if (bad != verdict.values.end()) {
      verdict.kind = PairVerdict::Kind::Different;
      verdict.why = fmt::format("{}: {}", bad->slot, bad->reason);
    } else if (verdict.values.empty()) {
      verdict.kind = PairVerdict::Kind::NotCompared;
      verdict.why = "the stages have no value in common";
    } else if (std::ranges::none_of(verdict.values, says)) {
      verdict.kind = PairVerdict::Kind::NotCompared;
      verdict.why = "no finite element was compared";
    }
  }

  /// Gradients of the joint graph against differences of the graph before it.
  Result<void> checkGradientsOf(const StagePair& pair, const std::vector<StageOutcomePtr>& after,
                                PairVerdict& verdict) {
    const bool applies = m_options.gradients && stage(pair.before).part == StagePart::Dynamo &&
                         pair.after.size() == 1 && stage(pair.after.front()).part == StagePart::Joint;
    if (!applies) return {};
    if (verdict.kind == PairVerdict::Kind::Different) {  // differences of another function say nothing
      verdict.gradients = GradientCheck{.why = "the outputs differ already"};
      return {};
    }
    if (m_options.onProgress) m_options.onProgress("gradients by finite differences", -1);
    const auto differentiable = tangentOutputs(pair.after.front());
    const GradientsAt gradientsAt = [&](const SlotValues& inputs) -> Result<SlotValues> {
      const std::size_t joint = pair.after.front();
      KERF_TRY(StageRun run, runStage(stage(joint), m_runs.module(joint), inputs,
                                      {.draws = m_runs.draws(), .prints = false, .stop = m_options.stop}));
      return std::move(run.values);
    };
    auto check =
        checkGradients(stage(pair.before), m_runs.module(pair.before), m_runs.inputs(), after.front()->wide().values,
                       differentiable, m_runs.draws(), gradientsAt, m_options.stop);
    if (!check && check.error().code == ErrorCode::Cancelled) return fail(check.error());
    verdict.gradients = check ? *check : GradientCheck{.why = check.error().text()};
    if (verdict.gradients->agrees()) return {};
    verdict.kind = PairVerdict::Kind::Different;
    if (verdict.why.empty())
      verdict.why =
          fmt::format("the gradients do not fit the forward graph ({})", fmt::join(verdict.gradients->suspects, ", "));
    return {};
  }

  /// Output slots that the tangents of a joint graph belong to, in the order of the tangents.
  std::vector<Slot> tangentOutputs(std::size_t joint) const {
    std::vector<Slot> slots;
    const Graph& graph = m_runs.module(joint).graph;
    for (const NodeId id : graph.placeholders()) {
      const std::string& text = graph.node(id).meta().description;
      const auto at = text.find("PlainAOTOutput(idx=");
      if (!text.starts_with("TangentAOTInput(") && !graph.node(id).name().starts_with("tangents_")) continue;
      slots.push_back(at == std::string::npos ? fmt::format("out:{}", slots.size())
                                              : fmt::format("out:{}", std::atoi(text.c_str() + at + 19)));
    }
    return slots;
  }

  void mapAll(const StagePair& pair, PairVerdict& verdict) const {
    for (const std::size_t index : pair.after) {
      const auto before = m_runs.printed(pair.before), after = m_runs.printed(index);
      for (const auto& [later, earlier] : mapNodes(before, after, m_options.tolerance))
        verdict.map.emplace_back(after.module->graph.node(later).name(), before.module->graph.node(earlier).name());
    }
    verdict.mapped = verdict.map.size();
  }

  const StagePlan& m_plan;
  const VerifyOptions& m_options;
  StageRuns m_runs;
  std::set<std::string> m_notes;
  std::map<std::size_t, std::size_t> m_standIns;  ///< for stages that do not run: the last one before that does
};

}  // namespace

bool CompileVerdict::good() const {
  return std::ranges::none_of(pairs, [](const PairVerdict& pair) { return pair.kind == PairVerdict::Kind::Different; });
}

std::string_view verdictName(PairVerdict::Kind kind) { return verdictNames[std::size_t(kind)]; }

Result<CompileVerdict> verifyStages(const Capture& capture, const StagePlan& plan, const SlotValues& inputs,
                                    const VerifyOptions& options) {
  return Verifier(capture, plan, inputs, options).run();
}

}  // namespace kerf::inline verification
