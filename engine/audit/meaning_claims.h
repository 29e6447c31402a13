// claimMeaning(): whether the program returns what the graph's nodes give, on drawn inputs.
#pragma once

#include "engine/audit/audit.h"
#include "engine/audit/claim_list.h"
#include "engine/audit/program/output_program.h"

namespace kerf::inline audit {

/// False: `options.progress` said stop.
bool claimMeaning(const OutputProgram& program, const AuditOptions& options, ClaimList& claims);

}  // namespace kerf::inline audit
