#include "engine/partition/solve_cut.h"

#include <cmath>

#include "engine/partition/min_cut.h"

namespace kerf::inline partition {

namespace {

/// PyTorch 2.11 weighs symbolic nodes by sym_node_size, 4 for a float. The 1e6 of its get_node_weight (formats A.6) is
/// for them too, but only other nodes come there.
constexpr std::int64_t symFloatWeight = 4;

/// Vertices 0 and 1 are source and sink.
FlowNetwork::Vertex inOf(int place) { return 2 + 2 * place; }
FlowNetwork::Vertex outOf(int place) { return 3 + 2 * place; }

std::int64_t weightOfTensor(const JointGraph& joint, int place, const BanRules& rules) {
  const JointNode& node = joint.nodes[std::size_t(place)];
  if (rules.freeParameters && node.isStatic) return 0;
  const bool isAgain = rules.recomputesViews && has(node.classes, OpClass::View) && !node.tags.inForward;
  if (isAgain) return FlowNetwork::unlimited;
  const int distance = std::max(std::min(node.distance, 100), 1);
  const auto weight = std::int64_t(double(node.bytes) * std::pow(1.1, distance));
  return isMaterialized(joint, place) ? weight : weight * 2;
}

std::int64_t weightOf(const JointGraph& joint, int place, const BanRules& rules) {
  switch (joint.nodes[std::size_t(place)].kind) {
    case SavedKind::SymInt:
      return 1;
    case SavedKind::SymFloat:
      return symFloatWeight;
    case SavedKind::Opaque:
      return 0;
    case SavedKind::Other:
      return FlowNetwork::unlimited;
    case SavedKind::Tensor:
      return weightOfTensor(joint, place, rules);
  }
  return FlowNetwork::unlimited;
}

FlowNetwork networkOf(const JointGraph& joint, const BanRules& rules, const Bans& bans) {
  constexpr auto unlimited = FlowNetwork::unlimited;
  FlowNetwork network(2 + 2 * int(joint.nodes.size()));
  for (int place = 0; place < int(joint.nodes.size()); ++place) {
    const JointNode& node = joint.nodes[std::size_t(place)];
    if (bans.banned(place)) network.add(FlowNetwork::source, inOf(place), unlimited);
    if (node.ofTangents || node.tags.recompute()) {
      network.add(inOf(place), FlowNetwork::sink, unlimited);
      continue;
    }
    if (node.forBackward) network.add(outOf(place), FlowNetwork::sink, unlimited);
    network.add(inOf(place), outOf(place), weightOf(joint, place, rules));
    for (const int user : node.users) network.add(outOf(place), inOf(user), unlimited);
  }
  return network;
}

std::unexpected<Error> cannotCut(const JointGraph& joint, const Bans& bans, const std::vector<int>& path) {
  std::string names;
  int first = -1;
  for (const int vertex : path) {
    if (vertex < 2 || vertex % 2 != 0) continue;
    const int place = (vertex - 2) / 2;
    if (first < 0) first = place;
    names += (names.empty() ? "" : " → ") + joint.name(place);
  }
  Error error = formatError(ErrorCode::BadInput,
                            "a value is needed by the backward part that can neither be saved nor "
                            "computed again ({}): {}",
                            fmt::make_format_args(bans.rules[std::size_t(first)], names));
  error.node = joint.name(first);
  return std::unexpected(std::move(error));
}

}  // namespace

Result<CutSolution> solveCut(const JointGraph& joint, const BanRules& rules, const std::vector<bool>& allowed) {
  CutSolution solution{.saved = {}, .bans = banNodes(joint, rules, allowed)};
  const FlowNetwork::Cut cut = networkOf(joint, rules, solution.bans).minimumCut();
  if (!cut.bounded) return cannotCut(joint, solution.bans, cut.openPath);
  for (int place = 0; place < int(joint.nodes.size()); ++place) {
    const JointNode& node = joint.nodes[std::size_t(place)];
    if (node.ofTangents || node.tags.recompute()) continue;
    if (!cut.sinkSide[std::size_t(inOf(place))] && cut.sinkSide[std::size_t(outOf(place))])
      solution.saved.push_back(place);
  }
  return solution;
}

}  // namespace kerf::inline partition
