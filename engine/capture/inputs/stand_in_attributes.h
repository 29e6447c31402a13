// Values for attributes that a graph reads from `self` and its text does not define.
#pragma once

#include "engine/capture/common/capture.h"

namespace kerf::inline capture {

/// Gives what the graph reads from `self` but the text does not define something to stand for it: a tensor of the
/// annotated shape and dtype (random floats, zero integers), else an attribute without value. Also in nested graphs.
void addStandInAttributes(GraphModule& module, const ImportLimits& limits, std::vector<std::string>* notes = nullptr);

}  // namespace kerf::inline capture
