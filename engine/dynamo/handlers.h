// The table of opcode handlers, by file.
#pragma once

#include "engine/dynamo/instruction_translator.h"

namespace kerf::inline dynamo {

/// Whether a graph can end right before an instruction, which then runs as it was written.
bool endsGraphAt(Op op);

}  // namespace kerf::inline dynamo
