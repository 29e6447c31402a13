// loadArgsText: the `def load_args(reader):` block as torch's InputWriter prints it.
#pragma once

#include <string>

#include "engine/capture/common/capture.h"

namespace kerf::inline capture {

/// All lines up to, not including, `load_args._version = 0`; each ends in a newline.
std::string loadArgsText(const CapturedGraph& graph);

/// "device(type='cuda', index=0)".
std::string pythonDevice(const Device& device);
/// "(2, 3)", "(2,)", "()"; entries of `texts`, if any, replace the numbers.
std::string pythonTuple(const Sizes& values, const std::vector<std::string>& texts = {});

}  // namespace kerf::inline capture
