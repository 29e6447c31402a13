// clusterFailures(): which failures are probably one bug.
#pragma once

#include <vector>

#include "minifier/triage/triage.h"

namespace kerf::inline minifier::inline triage {

/// Failing rows with the same fingerprint, culprits and ops are a cluster. A row whose graph is not minimal calls more
/// than its bug needs: it joins the largest cluster of its fingerprint and culprits (where it has any) whose ops it
/// calls all. Largest first; sets the rows' `cluster`.
std::vector<FailureCluster> clusterFailures(std::vector<TriagedGraph>& rows);

}  // namespace kerf::inline minifier::inline triage
