#include "engine/verification/pair_gradients.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/ranges.h>

#include "engine/verification/slots.h"

namespace kerf::inline verification {
namespace {

/// Output slots that the tangents of a graph belong to, in the order of the tangents.
std::vector<Slot> tangentOutputs(const Graph& graph) {
  constexpr std::string_view key = "PlainAOTOutput(idx=";
  std::vector<Slot> slots;
  for (const NodeId id : graph.placeholders()) {
    if (!isTangent(graph.node(id))) continue;
    const std::string& text = graph.node(id).meta().description;
    const auto at = text.find(key);
    slots.push_back(at == std::string::npos ? fmt::format("out:{}", slots.size())
                                            : fmt::format("out:{}", std::atoi(text.c_str() + at + key.size())));
  }
  return slots;
}

/// The later stages run one after the other: the backward graph takes what the forward graph saved.
Result<SlotValues> valuesAt(const StagePlan& plan, const StageRuns& runs, const StagePair& pair, SlotValues inputs,
                            std::stop_token stop) {
  SlotValues values;
  RandomDraws draws = runs.draws();
  for (const std::size_t index : pair.after) {
    KERF_TRY(StageRun run,
             runStage(plan.stages[index], runs.module(index), inputs, {.draws = draws, .prints = false, .stop = stop}));
    draws = run.draws;
    for (auto& [slot, value] : run.values) {
      if (slot.starts_with("saved:")) inputs.insert_or_assign(slot, value);
      values.insert_or_assign(slot, std::move(value));
    }
  }
  return values;
}

}  // namespace

bool givesGradients(const StagePlan& plan, const StagePair& pair) {
  const auto part = [&](std::size_t index) { return plan.stages[index].part; };
  if (part(pair.before) != StagePart::Dynamo) return false;
  if (pair.after.size() == 1) return part(pair.after.front()) == StagePart::Joint;
  return part(pair.after.front()) == StagePart::Forward && part(pair.after.back()) == StagePart::Backward;
}

Result<void> checkPairGradients(const StagePlan& plan, StageRuns& runs, const VerifyOptions& options,
                                const StagePair& pair, PairVerdict& verdict) {
  if (!options.gradients || !givesGradients(plan, pair)) return {};
  if (verdict.kind == PairVerdict::Kind::Different) {  // differences of another function say nothing
    verdict.gradients = GradientCheck{.why = "the outputs differ already"};
    return {};
  }
  if (options.onProgress) options.onProgress("gradients by finite differences", -1);
  KERF_TRY(const auto recorded, runs.outcome(pair.after.back()));
  const auto differentiable = tangentOutputs(runs.module(pair.after.back()).graph);
  const GradientsAt gradientsAt = [&](const SlotValues& inputs) {
    return valuesAt(plan, runs, pair, inputs, options.stop);
  };
  auto check = checkGradients(plan.stages[pair.before], runs.module(pair.before), runs.inputs(),
                              recorded->wide().values, differentiable, runs.draws(), gradientsAt, options.stop);
  if (!check && check.error().code == ErrorCode::Cancelled) return fail(check.error());
  verdict.gradients = check ? *check : GradientCheck{.why = check.error().text()};
  if (verdict.gradients->agrees()) return {};
  verdict.kind = PairVerdict::Kind::Different;
  if (verdict.why.empty())
    verdict.why =
        fmt::format("the gradients do not fit the forward graph ({})", fmt::join(verdict.gradients->suspects, ", "));
  return {};
}

}  // namespace kerf::inline verification
