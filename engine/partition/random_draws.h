// Random calls that a checkpoint policy has computed again draw the same numbers in the backward graph: the forward
// graph saves the generator's state (functionalize_rng_ops).
//
//     forward:   rand = rand([4])   →   state, rand = run_and_save_rng_state(rand, [4]); … return …, state
//     backward:  rand = rand([4])   →   rand = run_with_rng_state(state, rand, [4])
#pragma once

#include "engine/partition/partition.h"

namespace kerf::inline partition {

/// States are returned before the symbolic numbers and taken before the tangents, as "rng_state_output_0", …
Result<void> repeatRandomDraws(Partition& partition);

}  // namespace kerf::inline partition
