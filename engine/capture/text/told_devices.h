// Devices that a printed graph does not tell: print_readable() leaves them out unless it is asked for them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/ir/graph_module.h"

namespace kerf::inline capture {

/// Where no annotation in `text` names a device and the graph's calls name one that is not the CPU: what is annotated is
/// taken to be there, and the device is returned. Empty: nothing is changed.
std::string takeDeviceOfCalls(std::string_view text, GraphModule& module);

}  // namespace kerf::inline capture
