#include "engine/accuracy/early_answer.h"

#include <algorithm>
#include <limits>

#include "engine/accuracy/fp64_run.h"

namespace kerf::inline accuracy {
namespace {

/// Times the limit of rule 4 from which rule 5 hardly ever lets a result pass.
constexpr double byFar = 10;

/// Shapes and types fit and values do not, by size alone.
bool isMagnitude(const OutputVerdict& row) {
  return row.reason.starts_with("Accuracy failed") && row.nanRef == row.nanRes && row.infRef == row.infRes;
}

/// Whether every result outside of `open` is settled or the same without fp64.
bool othersAreSame(const OpenComparison& comparison, const SameOptions& options) {
  const ValueList& refs = comparison.ref.outputs.list();
  for (std::size_t i = 0; i < refs.size(); ++i) {
    if (comparison.open.contains(i) || comparison.settled.contains(i)) continue;
    if (!sameNamed(fmt::format("out{}", i), refs[i], comparison.res.outputs.list()[i], {}, options).same) return false;
  }
  return true;
}

/// Where in the graph output `i` is computed.
std::size_t positionOf(const Graph& graph, std::size_t i) {
  constexpr std::size_t nowhere = std::numeric_limits<std::size_t>::max();
  const NodeId output = graph.outputNode();
  if (!output.valid() || graph.node(output).args().empty()) return nowhere;
  const ListArgument* list = graph.node(output).args()[0].asList();
  const NodeId* id = list != nullptr && i < list->items.size() ? list->items[i].as<NodeId>() : nullptr;
  const auto found = id != nullptr ? std::ranges::find(graph.order(), *id) : graph.order().end();
  return found == graph.order().end() ? nowhere : std::size_t(found - graph.order().begin());
}

/// The one that is off by far and computed first.
std::optional<std::size_t> cheapest(const OpenComparison& comparison) {
  std::optional<std::size_t> best;
  std::size_t bestPosition = std::numeric_limits<std::size_t>::max();
  for (const auto& [i, rows] : comparison.open) {
    if (std::ranges::none_of(rows, [](const OutputVerdict& row) { return row.ratioToLimit > byFar; })) continue;
    const std::size_t position = positionOf(comparison.reference.graph, i);
    if (position < bestPosition) best = i, bestPosition = position;
  }
  return best;
}

}  // namespace

Result<std::optional<ReadyRows>> firstFailure(const OpenComparison& comparison, const OpCaller& ops,
                                              const SameOptions& options, std::stop_token stop,
                                              const std::function<void(std::size_t)>& onChosen) {
  const auto isPlain = [](const auto& item) { return std::ranges::all_of(item.second, isMagnitude); };
  if (!std::ranges::all_of(comparison.open, isPlain) || !othersAreSame(comparison, options)) return std::nullopt;
  const auto chosen = cheapest(comparison);
  if (!chosen) return std::nullopt;
  const Value ref = comparison.ref.outputs.list()[*chosen], res = comparison.res.outputs.list()[*chosen];
  if (onChosen) onChosen(*chosen);
  ReadyRows rows;
  const OnOutput compareIt = [&](std::size_t i, const Value& truth) {
    if (i == *chosen) rows[i] = sameNamed(fmt::format("out{}", i), ref, res, truth, options).outputs;
  };
  std::set<std::size_t> others;
  for (std::size_t i = 0; i < comparison.ref.outputs.list().size(); ++i)
    if (i != *chosen) others.insert(i);
  auto run = Float64Run::start(comparison.reference, ops, comparison.inputs, comparison.names, compareIt, stop, others);
  const auto done = run ? run->finish() : Result<RunResults>(std::unexpected(run.error()));
  if (!done && done.error().code == ErrorCode::Cancelled) return fail(done.error());
  const auto differs = [](const auto& item) { return !std::ranges::all_of(item.second, &OutputVerdict::same); };
  if (!done || std::ranges::none_of(rows, differs)) return std::nullopt;
  return rows;
}

}  // namespace kerf::inline accuracy
