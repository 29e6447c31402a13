// <Jv, w> = <v, J^T w>: forward mode and the joint graph of one graph are each other's transpose.
#pragma once

#include <string>

#include "app/workbench/protocol/address.h"
#include "app/workbench/workbench.h"

namespace kerf::workbench {

/// Runs forward mode on drawn directions v and the joint graph on drawn tangents w, in fp64 and in a child, and says both
/// products. Different, with the figures, where they are not the same. The address's own stage is not looked at.
Result<std::string> checkTransposes(Workbench& bench, const GraphAddress& address, const Job& job);

}  // namespace kerf::workbench
