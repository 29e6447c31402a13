#include "app/workbench/ranks/rank_beside.h"

#include "engine/accuracy/same.h"
#include "engine/distributed/replay/whole_values.h"

namespace kerf::workbench {

namespace {

constexpr double nearTolerance = 1e-3;  // as recorded, and in another order of sums

bool isNear(const Tensor& own, const Tensor& whole) {
  return same(Value(whole), Value(own), Value(), {.tolerance = nearTolerance, .equalNan = true}).same;
}

/// Known, or told by parts of which most are right.
std::optional<Placements> placementsBeside(const std::string& name, const std::vector<Tensor>& parts,
                                           const Tensor& whole, const RankSharding& sharding) {
  if (const Placements* known = sharding.find(name)) return *known;
  const Fit fit = fitOf(parts, whole, sharding.mesh, isNear, sharding.splitFactors());
  const bool isTold = !fit.placements.empty() && fit.wrong.size() * 2 < parts.size();
  return isTold ? std::optional(fit.placements) : std::nullopt;
}

const Value* valueNamed(const ReplayedRank& rank, const std::string& name) {
  for (const auto& [node, value] : rank.nodes)
    if (node == name) return &value;
  return nullptr;
}

std::vector<Tensor> partsNamed(const Replay& ranks, const std::string& name) {
  std::vector<Tensor> parts;
  for (const ReplayedRank& rank : ranks.ranks)
    if (const Value* value = valueNamed(rank, name); value != nullptr && value->isTensor())
      parts.push_back(value->tensor());
  return parts;
}

}  // namespace

void nameOutputs(const Graph& ofRank, RankSharding& sharding) {
  const auto results = ofRank.outputNode().valid() ? ofRank.node(ofRank.outputNode()).inputs() : std::vector<NodeId>();
  if (results.size() == sharding.outputs.size())
    for (std::size_t i = 0; i < results.size(); ++i)
      if (sharding.outputs[i]) sharding.nodes.emplace(ofRank.node(results[i]).name(), *sharding.outputs[i]);
  sharding.outputs.clear();
}

Result<std::vector<ValuesByCall>> valuesBeside(const std::vector<RankProgram>& programs, const RankSharding& sharding) {
  const std::vector<RankProgram> ranks(programs.begin(), programs.end() - 1);
  const Replay truth = replayRanks({programs.back()}, {.keepsNodes = true});
  KERF_CHECK(truth.ran);
  const Replay own = replayRanks(ranks, {.keepsNodes = true});
  std::vector<ValuesByCall> values(programs.size());
  for (const auto& [name, value] : truth.ranks[0].nodes) {
    const std::vector<Tensor> parts = partsNamed(own, name);
    if (!value.isTensor() || parts.size() != ranks.size()) continue;
    const auto placements = placementsBeside(name, parts, value.tensor(), sharding);
    const auto cut = placements ? partsUnder(value.tensor(), *placements, sharding.mesh)
                                : Result<std::vector<Tensor>>(std::vector<Tensor>());
    if (!cut || cut->size() != ranks.size()) continue;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) values[rank].emplace(name, Value((*cut)[rank]));
    values.back().emplace(name, value);
  }
  return values;
}

RankSharding shardingOfNodes(const Graph& ofRank, const RankSharding& sharding) {
  RankSharding own{.mesh = sharding.mesh};
  for (const NodeId id : ofRank.order()) {
    const Node& node = ofRank.node(id);
    const Placements* known = sharding.find(node.name());
    if (known == nullptr) continue;
    (node.op() == Opcode::Placeholder ? own.inputs : own.nodes).emplace(node.name(), *known);
  }
  return own;
}

}  // namespace kerf::workbench
