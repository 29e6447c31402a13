// clusterFailures(): which failures are probably one bug.
#pragma once

#include <vector>

#include "app/workbench/protocol/triage.h"

namespace kerf::workbench {

/// Failing rows with the same fingerprint, culprits and ops are a cluster. A row whose graph is not minimal calls more
/// than its bug needs: it joins the largest cluster of its fingerprint and culprits (where it has any) whose ops it
/// calls all. Largest first; sets the rows' `cluster`.
std::vector<TriageCluster> clusterFailures(std::vector<TriageRow>& rows);

}  // namespace kerf::workbench
