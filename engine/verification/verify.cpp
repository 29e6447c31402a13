#include "engine/verification/verify.h"

#include <algorithm>
#include <set>

#include "engine/ir/printer.h"
#include "engine/verification/pair_gradients.h"
#include "engine/verification/pair_values.h"
#include "engine/verification/stage_search.h"

namespace kerf::inline verification {
namespace {

constexpr std::string_view verdictNames[] = {"same", "identical", "different", "not compared"};

using Kind = PairVerdict::Kind;

bool ran(const StageOutcome& outcome) { return outcome.failures[0].empty(); }

/// Judges the pairs in their order. A stage that is at fault is no measure for what follows: the stage behind it is
/// held against the last good one too, so that a second fault is seen beside the first.
class Verifier {
 public:
  Verifier(const Capture& capture, const StagePlan& plan, const SlotValues& inputs, const VerifyOptions& options)
      : m_plan(plan), m_options(options), m_runs(capture, plan, inputs, options), m_search(plan, m_runs, options) {}

  Result<CompileVerdict> run() {
    m_verdict = {m_plan.compile, {}, {}, m_plan.notes};
    std::vector<const StagePair*> chosen;
    for (const StagePair& pair : m_plan.pairs)
      if (isChosen(pair)) chosen.push_back(&pair);
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      addUnread(chosen[i]->after.front());
      KERF_CHECK(judgePair(*chosen[i]));
      releaseUnused(chosen, i + 1);
    }
    addUnread(m_plan.stages.size());
    m_verdict.notes.insert(m_verdict.notes.end(), m_notes.begin(), m_notes.end());
    return std::move(m_verdict);
  }

 private:
  const Stage& stage(std::size_t index) const { return m_plan.stages[index]; }

  bool isChosen(const StagePair& pair) const {
    const auto isNamed = [&](std::size_t index) { return stage(index).name == m_options.stage; };
    return m_options.stage.empty() || isNamed(pair.before) || std::ranges::any_of(pair.after, isNamed);
  }

  /// What cannot be read in front of stage `next` has failed.
  void addUnread(std::size_t next) {
    for (; m_unread < m_plan.unread.size() && m_plan.unread[m_unread].next <= next; ++m_unread) {
      const UnreadStage& unread = m_plan.unread[m_unread];
      if (!m_options.stage.empty() && m_options.stage != unread.name) continue;
      PairVerdict verdict;
      verdict.kind = Kind::Different;
      verdict.before = unread.next > 0 ? stage(unread.next - 1).name : "";
      verdict.after = verdict.changedIn = unread.name;
      verdict.why = fmt::format("{} cannot be read: {}", unread.name, unread.why);
      m_verdict.pairs.push_back(std::move(verdict));
    }
  }

  /// The pair is over; a stage that stands in for the next one is needed still.
  void releaseUnused(const std::vector<const StagePair*>& pairs, std::size_t next) {
    std::set<std::size_t> needed;
    for (std::size_t i = next; i < pairs.size(); ++i) {
      needed.insert(standingIn(*pairs[i]).before);
      needed.insert(goodStage(pairs[i]->before));
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

  /// The stage itself, or the last good one before it where it is at fault.
  std::size_t goodStage(std::size_t index) const {
    const auto found = m_references.find(index);
    return found == m_references.end() ? index : found->second;
  }

  Result<void> judgePair(const StagePair& given) {
    const auto start = std::chrono::steady_clock::now();
    const StagePair pair = standingIn(given);
    PairVerdict verdict = named(pair);
    KERF_TRY(const bool ready, lendFor(pair));
    if (ready) {
      KERF_TRY(verdict, compare(pair));
      if (verdict.kind == Kind::Different && m_references.contains(pair.before)) KERF_CHECK(settle(pair, verdict));
    } else {
      verdict.kind = Kind::NotCompared;
      verdict.why = "nothing tells what the forward graph saved";
    }
    noteFaults(pair, verdict);
    verdict.time = std::chrono::steady_clock::now() - start;
    const bool bad = verdict.kind == Kind::Different || verdict.kind == Kind::NotCompared;
    m_verdict.pairs.push_back(std::move(verdict));
    return bad && pair.after.size() == 2 ? judgeBackwardAlone(pair) : Result<void>();
  }

  /// A backward graph behind a joint graph, or a forward graph behind one, needs what the joint graph's nodes of those
  /// names give.
  Result<bool> lendFor(const StagePair& pair) {
    const StagePart part = stage(pair.after.front()).part;
    if (stage(pair.before).part != StagePart::Joint || pair.after.size() != 1 || part != StagePart::Backward)
      return true;
    return m_runs.lendSaved(pair.before);
  }

  /// The forward graph is at fault, so that what the backward graph was given is wrong.
  Result<void> judgeBackwardAlone(const StagePair& pair) {
    const std::size_t forward = pair.after.front(), backward = pair.after.back();
    if (stage(pair.before).part != StagePart::Joint || !m_references.contains(forward)) return {};
    KERF_TRY(const bool lent, m_runs.lendSaved(pair.before));
    if (!lent) return {};
    m_standIns.erase(backward);
    m_references.erase(backward);
    m_blamed.erase(backward);
    return judgePair({pair.before, {backward}});
  }

  /// Stages at fault, those that do not run, and those that are as a stage at fault is: what follows is held against the
  /// last good one.
  void noteFaults(const StagePair& pair, const PairVerdict& verdict) {
    const bool same = verdict.kind == Kind::Same || verdict.kind == Kind::Identical;
    if (same && (verdict.before != stage(pair.before).name || !m_references.contains(pair.before))) return;
    for (const std::size_t index : pair.after) {
      if (!verdict.changedIn.empty() && verdict.changedIn != stage(index).name) continue;
      m_references[index] = goodStage(pair.before);
      if (!same) m_blamed[index] = m_verdict.pairs.size();
    }
  }

  /// The stage before is at fault itself. Is what follows as the last good one is? Else it has a fault of its own.
  Result<void> settle(const StagePair& pair, PairVerdict& verdict) {
    const StagePair other{goodStage(pair.before), pair.after};
    if (stage(other.before).part == StagePart::Joint && stage(pair.after.front()).part == StagePart::Forward)
      KERF_CHECK(m_runs.lendSaved(other.before));
    KERF_TRY(PairVerdict second, compare(other));
    if (second.kind == Kind::NotCompared) return {};
    if (second.kind == Kind::Different) {
      const bool nearer = StageSearch::badSlots(second).size() < StageSearch::badSlots(verdict).size();
      if (nearer) verdict = std::move(second);
      return m_search.locate(nearer ? other : pair, verdict, nearer ? pair.before : other.before);
    }
    const auto blamed = m_blamed.find(pair.before);
    const auto slots = StageSearch::badSlots(verdict);
    if (blamed != m_blamed.end()) m_search.refine(pair, slots, m_verdict.pairs[blamed->second]);
    if (!covers(second, slots)) return {};
    m_verdict.odd += (m_verdict.odd.empty() ? "" : ", ") + stage(pair.before).name;
    verdict = std::move(second);
    return {};
  }

  /// Whether what is the same are the values that differ from those of the stage at fault.
  static bool covers(const PairVerdict& verdict, const std::set<Slot>& slots) {
    if (verdict.kind == Kind::Identical) return true;
    const bool gradients = verdict.gradients && verdict.gradients->done;
    return std::ranges::all_of(slots, [&](const Slot& slot) {
      return (gradients && slot.starts_with("grad:")) ||
             std::ranges::find(verdict.values, slot, &SlotVerdict::slot) != verdict.values.end();
    });
  }

  Result<PairVerdict> compare(const StagePair& pair) {
    PairVerdict verdict = named(pair);
    for (const std::size_t index : pair.after) verdict.nodes += m_runs.module(index).graph.size();
    if (pair.after.size() == 1 && m_runs.identical(pair.before, pair.after.front())) {
      verdict.kind = Kind::Identical;
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
      verdict.kind = Kind::NotCompared;
      verdict.why = why;
      blameWhatFailed(pair, *before, after, verdict);
      for (std::size_t i = 0; i < after.size(); ++i)
        if (ran(*before) && !ran(*after[i])) m_standIns[pair.after[i]] = pair.before;
      return verdict;
    }
    for (std::size_t i = 0; i < after.size(); ++i) noteUnrun(pair.after[i], *after[i]);
    KERF_CHECK(compareOutcomes(*before, after, m_options.tolerance, m_options.exact, verdict));
    KERF_CHECK(checkPairGradients(m_plan, m_runs, m_options, pair, verdict));
    mapAll(pair, verdict);
    if (verdict.kind == Kind::Different) KERF_CHECK(m_search.locate(pair, verdict));
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
    if (!ran(before)) return fmt::format("{} does not run: {}", stage(pair.before).name, before.failures[0]);
    for (std::size_t i = 0; i < after.size(); ++i)
      if (!ran(*after[i])) return fmt::format("{} does not run: {}", stage(pair.after[i]).name, after[i]->failures[0]);
    return {};
  }

  /// Of two stages with the same inputs one runs: what stops the other is that stage's own fault.
  void blameWhatFailed(const StagePair& pair, const StageOutcome& before, const std::vector<StageOutcomePtr>& after,
                       PairVerdict& verdict) {
    const bool allAfterRan = std::ranges::all_of(after, [](const StageOutcomePtr& each) { return ran(*each); });
    if (!ran(before)) {
      if (before.ownFault) m_failedFirst.push_back({m_verdict.pairs.size(), pair.before, before.failedNode});
      if (allAfterRan) blameFirst(verdict);
      return;
    }
    const auto failed = std::ranges::find_if(after, [](const StageOutcomePtr& each) { return !ran(*each); });
    const std::size_t index = pair.after[std::size_t(failed - after.begin())];
    if (failed != after.end() && (*failed)->ownFault) blame(index, (*failed)->failedNode, verdict);
  }

  /// The first stage that runs shows that those before it, which did not, are at fault.
  void blameFirst(PairVerdict& current) {
    for (const FailedFirst& failed : m_failedFirst)
      blame(failed.stage, failed.node,
            failed.verdict == m_verdict.pairs.size() ? current : m_verdict.pairs[failed.verdict]);
    m_failedFirst.clear();
  }

  void blame(std::size_t index, const std::string& node, PairVerdict& verdict) const {
    verdict.kind = Kind::Different;
    verdict.changedIn = stage(index).name;
    verdict.changed.node = node;
    const Graph& graph = m_runs.module(index).graph;
    if (const auto id = graph.find(node)) verdict.changed.call = printNode(graph, *id);
  }

  void mapAll(const StagePair& pair, PairVerdict& verdict) const {
    for (const std::size_t index : pair.after) {
      const auto before = m_runs.printed(pair.before), after = m_runs.printed(index);
      for (const auto& [later, earlier] : mapNodes(before, after, m_options.tolerance))
        verdict.map.emplace_back(after.module->graph.node(later).name(), before.module->graph.node(earlier).name());
    }
    verdict.mapped = verdict.map.size();
  }

  /// A stage that did not run by its own fault while none had run yet.
  struct FailedFirst {
    std::size_t verdict, stage;
    std::string node;
  };

  const StagePlan& m_plan;
  const VerifyOptions& m_options;
  StageRuns m_runs;
  StageSearch m_search;
  CompileVerdict m_verdict;
  std::set<std::string> m_notes;
  std::size_t m_unread = 0;                         ///< of the plan's unread stages: those that were told
  std::map<std::size_t, std::size_t> m_standIns;    ///< for stages that do not run: the last one before that does
  std::map<std::size_t, std::size_t> m_references;  ///< for stages at fault: the last good one before
  std::map<std::size_t, std::size_t> m_blamed;      ///< and the verdict that says so
  std::vector<FailedFirst> m_failedFirst;
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
