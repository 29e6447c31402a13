// Arena drops: which pages of a large arena the system may have back while a program still runs.
#pragma once

#include <span>

#include "engine/lower/lowered_graph.h"
#include "engine/runtime/program.h"

namespace kerf::inline backend {

/// Sets Step::arenaDrops: after each step the pieces that no later one reads or writes. Activations go while the
/// gradients come, which are the results and must stay. None in arenas below 256 MiB, where the next run would pay more
/// for fresh pages than this one needs.
///
///     steps 0 to 9, [0, 64 MiB) needed up to 3, [64, 512 MiB) up to 9      →      step 3 drops [0, 64 MiB)
void addArenaDrops(Program& program, std::span<const Lifetime> lifetimes);

}  // namespace kerf::inline backend
