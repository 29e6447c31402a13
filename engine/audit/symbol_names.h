// claimSymbols(): every symbol of a size that a function uses is defined there.
#pragma once

#include "engine/audit/claim_list.h"
#include "engine/audit/program/output_program.h"

namespace kerf::inline audit {

void claimSymbols(const OutputProgram& program, ClaimList& claims);

}  // namespace kerf::inline audit
