// The compiler collective: before the first graph of a frame is compiled, the ranks of torch.distributed tell each other
// what they saw of its inputs, and trace again with sizes and numbers that differ as symbols.
#pragma once

#include <string>

#include "engine/dynamo/frame_state.h"

namespace kerf::inline dynamo {

/// Whether the program asks for it (torch._dynamo.config.enable_compiler_collectives) and has a process group of several
/// ranks.
bool agreesWithRanks();

/// One all_gather_object of what `seen` holds and of where this rank ends its graph (`decision`); then `seen` is what all
/// ranks trace with. False with a Python exception set, which names the ranks that did not come.
bool agreeWithRanks(FrameState& seen, const std::string& decision);

}  // namespace kerf::inline dynamo
