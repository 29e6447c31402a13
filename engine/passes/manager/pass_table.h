// The table of Kerf's passes.
#pragma once

#include <vector>

#include "engine/passes/pass.h"

namespace kerf::inline passes {

/// Every pass, in the order in which they run: by stage, and within a stage by the table.
std::vector<Pass> defaultPasses();
/// Those of stage PreGrad: on what Dynamo captured, before AOTAutograd traces it.
std::vector<Pass> preGradPasses();

}  // namespace kerf::inline passes
