#include "engine/torch_distributed/rank_environment.h"

#include <mutex>

#include "engine/torch_api/compile_hook.h"
#include "engine/torch_distributed/own_rank.h"
#include "engine/torch_distributed/rank_module.h"

namespace kerf::inline torch_distributed {

void addDistributedModule() {
  static std::once_flag once;
  std::call_once(once, [] { addSubModule({"_distributed_c10d", makeRankModule}); });
}

ProgramEnvironment rankEnvironment(ProgramEnvironment environment, std::shared_ptr<SharedWorld> world, int rank) {
  environment.prepare = [before = std::move(environment.prepare), world = std::move(world), rank]() -> Result<void> {
    if (before) KERF_CHECK(before());
    becomeRank(world, rank);
    return {};
  };
  environment.finish = leaveWorld;
  return environment;
}

}  // namespace kerf::inline torch_distributed
