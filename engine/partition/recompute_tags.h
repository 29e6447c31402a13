// What users and AOTAutograd say of a node's place: checkpoint policies and the partitioner's own marks.
#pragma once

#include <map>
#include <string>

#include "engine/ir/graph.h"
#include "engine/support/result.h"

namespace kerf::inline partition {

/// torch.utils.checkpoint.CheckpointPolicy, as meta["recompute"] holds it.
enum class RecomputePolicy : std::uint8_t { None, MustSave, PreferSave, MustRecompute, PreferRecompute };

/// "must_save", "MUST_SAVE", "CheckpointPolicy.MUST_SAVE"; nothing where it is none of them.
std::optional<RecomputePolicy> policyFromName(std::string_view name);

/// By name of node.
using RecomputePolicies = std::map<std::string, RecomputePolicy, std::less<>>;

/// What the partitioner asks of one node.
struct RecomputeTags {
  RecomputePolicy policy = RecomputePolicy::None;
  bool inForward = false;   ///< partitioner_tag "must_be_in_forward"
  bool inBackward = false;  ///< "must_be_in_backward", or a backward node with effects

  /// Of the two recompute policies, which the partitioner does not tell apart; what must be in the forward graph is
  /// not computed again, whatever would be preferred.
  bool recompute() const {
    return !inForward && (policy == RecomputePolicy::MustRecompute || policy == RecomputePolicy::PreferRecompute);
  }
  bool mustSave() const { return policy == RecomputePolicy::MustSave; }
};

/// By index of node. Recorded metas ("recompute", "partitioner_tag", "ac_graph_id", "has_backward_hook") and `given`
/// policies, which win; then, as PyTorch does before it cuts: the last value of a checkpointed region that the next
/// region takes, and one with a backward hook, is saved; so are collectives outside of such regions, and what is copied
/// into an input that the backward graph writes too. NotFound where `given` names no node.
Result<std::vector<RecomputeTags>> recomputeTags(const Graph& graph, const RecomputePolicies& given);

}  // namespace kerf::inline partition
