#include "minifier/triage/triage.h"

#include <algorithm>
#include <limits>

#include "minifier/core/accuracy_identity.h"
#include "minifier/oracle/message_mask.h"

namespace kerf::inline minifier::inline triage {

namespace {

using State = TriagedGraph::State;

/// Among rows of one cluster the graph to show first: minimal, then small.
int rankOf(const TriagedGraph& row) { return row.nodes > 0 ? row.nodes : std::numeric_limits<int>::max(); }

/// PyTorch's bisector counts steps and names nodes, which are other ones in every graph.
bool sameCulprits(const FailureCluster& cluster, const TriagedGraph& row) {
  return std::ranges::equal(cluster.culprits, row.culprits, {}, maskedMessage, maskedMessage);
}

bool sameFailure(const FailureCluster& cluster, const TriagedGraph& row) {
  return failureName(cluster.fingerprint) == failureName(row.fingerprint);
}

bool isExactly(const FailureCluster& cluster, const TriagedGraph& row) {
  return sameFailure(cluster, row) && cluster.ops == row.ops && sameCulprits(cluster, row);
}

/// Whether the row's graph, which was not cut down to its bug, has room for the cluster's.
bool mayHold(const FailureCluster& cluster, const TriagedGraph& row) {
  const bool fits = row.culprits.empty() || sameCulprits(cluster, row);
  return failureKind(cluster.fingerprint) == failureKind(row.fingerprint) && fits && !cluster.ops.empty() &&
         std::ranges::includes(row.ops, cluster.ops);
}

FailureCluster& newCluster(std::vector<FailureCluster>& clusters, const TriagedGraph& row) {
  return clusters.emplace_back(FailureCluster{0, row.fingerprint, row.culprits, row.ops, {}, {}});
}

void join(std::vector<FailureCluster>& clusters, const TriagedGraph& row, int index) {
  auto exact = std::ranges::find_if(clusters, [&](const auto& cluster) { return isExactly(cluster, row); });
  (exact != clusters.end() ? *exact : newCluster(clusters, row)).members.push_back(index);
}

void joinLoosely(std::vector<FailureCluster>& clusters, const TriagedGraph& row, int index) {
  FailureCluster* best = nullptr;
  for (auto& cluster : clusters)
    if (mayHold(cluster, row) && (best == nullptr || cluster.members.size() > best->members.size())) best = &cluster;
  if (best != nullptr) return best->members.push_back(index);
  join(clusters, row, index);
}

}  // namespace

std::vector<FailureCluster> clusterFailures(std::vector<TriagedGraph>& rows) {
  std::vector<FailureCluster> clusters;
  for (const bool minimal : {true, false}) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].state != State::Fails || rows[i].oneMinimal != minimal) continue;
      (minimal ? join : joinLoosely)(clusters, rows[i], int(i));
    }
  }
  std::ranges::stable_sort(clusters, std::ranges::greater(),
                           [](const auto& cluster) { return cluster.members.size(); });
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    auto& cluster = clusters[i];
    cluster.number = int(i) + 1;
    std::ranges::stable_sort(cluster.members, {}, [&](int row) { return rankOf(rows[std::size_t(row)]); });
    for (const int row : cluster.members) rows[std::size_t(row)].cluster = cluster.number;
  }
  return clusters;
}

}  // namespace kerf::inline minifier::inline triage
