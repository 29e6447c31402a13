// A program as one of several ranks: what it finds under torch.distributed talks to the others.
#pragma once

#include <memory>

#include "engine/distributed/processes/shared_world.h"
#include "engine/python/program.h"

namespace kerf::inline torch_distributed {

/// Gives programs torch._C._distributed_c10d. Call before interpreters start. A program that was made no rank of a world
/// is alone in one.
void addDistributedModule();

/// The environment of a program that is that rank of the world; the world must outlive the program. Letters of the rank
/// that are on their way when the program ends still go out.
ProgramEnvironment rankEnvironment(ProgramEnvironment environment, std::shared_ptr<SharedWorld> world, int rank);

}  // namespace kerf::inline torch_distributed
