// claimGraph(): inputs are written, and results share memory and have sizes and types, as the graph's nodes say.
#pragma once

#include "engine/audit/claim_list.h"
#include "engine/audit/run_state.h"
#include "engine/ir/graph_module.h"

namespace kerf::inline audit {

/// What is left when the program's last statement has been gone through.
struct FinishedRun {
  const AuditState& state;
  const WrapperValue& returned;
  int line = 0;              ///< of the return statement
  bool hasBranches = false;  ///< what one of them did is not known
};

void claimGraph(const FinishedRun& run, const GraphModule& graph, ClaimList& claims);

}  // namespace kerf::inline audit
