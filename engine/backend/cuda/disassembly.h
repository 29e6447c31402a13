// disassembled(): machine code of a device as text, by the tools of the CUDA toolkit.
#pragma once

#include <string>

#include "engine/support/result.h"

namespace kerf::inline backend {

/// A cubin as assembly, by nvdisasm or else cuobjdump. Environment where neither is on PATH, or the one that is there
/// fails. It starts a program, which processes of isolation.h may not: whoever compiles in one disassembles outside.
Result<std::string> disassembled(const std::string& cubin);

}  // namespace kerf::inline backend
