// A code object as people read it: one row an instruction, with the line that it stems from.
#pragma once

#include <vector>

#include "engine/dynamo/capture_log.h"

namespace kerf::inline dynamo {

/// In the order of the code. Arguments as `dis` words them: names, constants, targets of jumps.
std::vector<LoggedInstruction> listBytecode(PyCodeObject* code);

}  // namespace kerf::inline dynamo
