#include "engine/verification/stage_runs.h"

#include <algorithm>

namespace kerf::inline verification {
namespace {

/// The module without what is known of its values.
GraphModule bare(const GraphModule& module) {
  GraphModule copy = module;
  const std::vector<NodeId> order(copy.graph.order().begin(), copy.graph.order().end());
  for (const NodeId id : order) copy.graph.setValueMeta(id, {});
  for (auto& [name, submodule] : copy.submodules.edit())
    if (submodule.graph) submodule.graph = std::make_shared<GraphModule>(bare(*submodule.graph));
  return copy;
}

std::string fusedAttentionOf(const Graph& graph) {
  for (const NodeId id : graph.order()) {
    const std::string& target = graph.node(id).target();
    if (target.starts_with("torch.ops.aten._scaled_dot_product_") && target.find("attention.") != std::string::npos)
      return target;
  }
  return {};
}

/// Failures that say nothing of the graph: what Kerf lacks, what nothing tells, and what the machine lacks.
bool isOwnFault(const Error& error) {
  constexpr ErrorCode codes[] = {ErrorCode::ShapeMismatch, ErrorCode::RuntimeFailed, ErrorCode::BadInput};
  if (error.code == ErrorCode::TooLarge && error.message.find("iterations") != std::string::npos) return true;
  return !error.node.empty() && std::ranges::find(codes, error.code) != std::end(codes);
}

void noteFailure(const Error& error, Arithmetic arithmetic, StageOutcome& outcome) {
  outcome.failures[std::size_t(arithmetic)] = error.text();
  if (arithmetic != Arithmetic::Wide) return;
  outcome.failedNode = error.node;
  outcome.ownFault = isOwnFault(error);
}

constexpr std::string_view arithmeticNames[] = {"fp64", "the recorded dtypes"};

}  // namespace

StageRuns::StageRuns(const Capture& capture, const StagePlan& plan, const SlotValues& inputs,
                     const VerifyOptions& options)
    : m_capture(capture), m_plan(plan), m_inputs(inputs), m_options(options) {
  for (const Stage& stage : plan.stages)
    if (m_draws.fusedAttention.empty())
      m_draws.fusedAttention = fusedAttentionOf(capture.graphs[stage.graph].module.graph);
  const auto repeats = [&](const StagePair& pair) {
    return pair.after.size() == 1 && identical(pair.before, pair.after.front());
  };
  const auto fresh = plan.stages.size() - std::size_t(std::ranges::count_if(plan.pairs, repeats));
  m_total = double(fresh * (options.recorded ? 2 : 1));
}

const GraphModule& StageRuns::module(std::size_t stage) const {
  return m_capture.graphs[m_plan.stages[stage].graph].module;
}

Hash128 StageRuns::structure(std::size_t stage) {
  const auto known = m_structures.find(stage);
  if (known != m_structures.end()) return known->second;
  return m_structures.emplace(stage, bare(module(stage)).contentHash()).first->second;
}

bool StageRuns::identical(std::size_t a, std::size_t b) {
  return m_plan.stages[a].outputs == m_plan.stages[b].outputs && m_plan.stages[a].inputs == m_plan.stages[b].inputs &&
         structure(a) == structure(b);
}

std::optional<std::size_t> StageRuns::leader(StagePart part) const {
  const auto found = std::ranges::find(m_plan.stages, part, &Stage::part);
  if (found == m_plan.stages.end()) return std::nullopt;
  return std::size_t(found - m_plan.stages.begin());
}

/// The user's inputs; for a backward graph also what the forward graph saved.
Result<SlotValues> StageRuns::valuesFor(const Stage& stage, Arithmetic arithmetic, RandomDraws& draws) {
  SlotValues values = m_inputs;
  const auto forward = leader(StagePart::Forward);
  if (stage.part == StagePart::Backward && m_lender) {
    for (const auto& [slot, value] : m_lent[std::size_t(arithmetic)]) values.insert_or_assign(slot, value);
    const auto known = forward ? m_outcomes.find(*forward) : m_outcomes.end();
    if (known != m_outcomes.end()) draws = known->second->runs[std::size_t(arithmetic)].draws;
    return values;
  }
  if (stage.part != StagePart::Backward || !forward) return values;
  KERF_TRY(const auto saved, outcome(*forward));
  const auto& failure = saved->failures[std::size_t(arithmetic)];
  if (!failure.empty())
    return fail(ErrorCode::RuntimeFailed, "{} does not run: {}", m_plan.stages[*forward].name, failure);
  const StageRun& run = saved->runs[std::size_t(arithmetic)];
  for (const auto& [slot, value] : run.values)
    if (slot.starts_with("saved:")) values.insert_or_assign(slot, value);
  draws = run.draws;
  return values;
}

Result<void> StageRuns::run(std::size_t stage, Arithmetic arithmetic, StageOutcome& outcome) {
  StageRunOptions options{.arithmetic = arithmetic,
                          .draws = m_draws,
                          .prints = arithmetic == Arithmetic::Wide || m_printAll,
                          .stop = m_options.stop};
  const auto what = fmt::format("{} in {}", m_plan.stages[stage].name, arithmeticNames[std::size_t(arithmetic)]);
  const double before = std::min(1.0, double(m_runs++) / m_total);
  if (m_options.onProgress) {
    m_options.onProgress(what, before);
    options.onProgress = [=, this](double done) { m_options.onProgress(what, std::min(1.0, before + done / m_total)); };
  }
  auto values = valuesFor(m_plan.stages[stage], arithmetic, options.draws);
  auto ended =
      values ? runStage(m_plan.stages[stage], module(stage), *values, options) : Result<StageRun>(fail(values.error()));
  if (ended)
    outcome.runs[std::size_t(arithmetic)] = std::move(*ended);
  else if (ended.error().code == ErrorCode::Cancelled)
    return fail(ended.error());
  else
    noteFailure(ended.error(), arithmetic, outcome);
  return {};
}

Result<StageOutcomePtr> StageRuns::outcome(std::size_t stage) {
  const auto known = m_outcomes.find(stage);
  if (known != m_outcomes.end()) return known->second;
  for (const auto& [other, outcome] : m_outcomes) {
    if (m_plan.stages[other].part != m_plan.stages[stage].part || !identical(other, stage)) continue;
    m_prints[stage] = m_prints[other];
    return m_outcomes.emplace(stage, outcome).first->second;
  }
  auto made = std::make_shared<StageOutcome>();
  KERF_CHECK(run(stage, Arithmetic::Wide, *made));
  if (m_options.recorded && made->failures[0].empty()) KERF_CHECK(run(stage, Arithmetic::Recorded, *made));
  m_prints[stage][0] = std::move(made->runs[0].prints);
  if (m_lender == stage) addLent(*made);
  return m_outcomes.emplace(stage, std::move(made)).first->second;
}

/// Of what backward graphs take, or, where there is none, of what the forward graph gives.
std::set<std::string> StageRuns::savedNames() const {
  std::set<std::string> taken, given;
  const auto add = [](const std::vector<Slot>& slots, std::set<std::string>& names) {
    for (const Slot& slot : slots)
      if (slot.starts_with("saved:")) names.insert(slot.substr(6));
  };
  for (const Stage& stage : m_plan.stages) {
    if (stage.part == StagePart::Backward) add(stage.inputs, taken);
    if (stage.part == StagePart::Forward) add(stage.outputs, given);
  }
  return taken.empty() ? given : taken;
}

void StageRuns::addLent(StageOutcome& outcome) const {
  for (std::size_t i = 0; i < m_lent.size(); ++i)
    for (const auto& [slot, value] : m_lent[i])
      if (outcome.failures[i].empty() && outcome.runs[i].values.try_emplace(slot, value).second)
        outcome.lent.insert(slot);
}

Result<bool> StageRuns::lendSaved(std::size_t joint) {
  if (m_lender == joint) return true;
  const auto names = savedNames();
  std::array<SlotValues, 2> lent;
  for (const Arithmetic arithmetic : {Arithmetic::Wide, Arithmetic::Recorded}) {
    if (arithmetic == Arithmetic::Recorded && !m_options.recorded) continue;
    StageRunOptions options{.arithmetic = arithmetic, .draws = m_draws, .prints = false, .stop = m_options.stop};
    options.keep = names;
    auto run = runStage(m_plan.stages[joint], module(joint), m_inputs, options);
    if (!run && run.error().code == ErrorCode::Cancelled) return fail(run.error());
    if (!run || run->kept.size() != names.size()) return false;
    for (auto& [name, value] : run->kept) lent[std::size_t(arithmetic)].emplace("saved:" + name, std::move(value));
  }
  m_lender = joint;
  m_lent = std::move(lent);
  std::erase_if(m_outcomes, [&](const auto& entry) { return m_plan.stages[entry.first].part == StagePart::Backward; });
  if (const auto known = m_outcomes.find(joint); known != m_outcomes.end()) {
    auto copy = std::make_shared<StageOutcome>(*known->second);
    addLent(*copy);
    known->second = std::move(copy);
  }
  return true;
}

Result<void> StageRuns::printRecorded(std::size_t stage) {
  StageOutcome again;
  m_printAll = true;
  const auto ran = run(stage, Arithmetic::Recorded, again);
  m_printAll = false;
  if (!ran) return ran;
  m_prints[stage][std::size_t(Arithmetic::Recorded)] = std::move(again.runs[std::size_t(Arithmetic::Recorded)].prints);
  return {};
}

void StageRuns::adopt(std::size_t stage, std::size_t other) {
  const auto known = m_outcomes.find(other);
  if (known == m_outcomes.end()) return;
  m_prints[stage] = m_prints[other];
  m_outcomes.emplace(stage, known->second);
}

void StageRuns::release(std::size_t stage) {
  if (leader(StagePart::Forward) == stage) return;  // what it saved is for the backward graphs
  m_outcomes.erase(stage);
}

PrintedGraph StageRuns::printed(std::size_t stage, Arithmetic arithmetic) const {
  static const std::vector<ValuePrint> none;
  const auto found = m_prints.find(stage);
  return {&module(stage), found == m_prints.end() ? &none : &found->second[std::size_t(arithmetic)]};
}

}  // namespace kerf::inline verification
