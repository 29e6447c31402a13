#include "app/workbench/ranks/rank_world.h"

#include <cstdlib>

#include "engine/distributed/nccl/nccl_ranks.h"
#include "engine/support/log.h"

namespace kerf::workbench {

Result<std::string> chosenProcessGroup() {
  const char* const value = std::getenv("KERF_PROCESS_GROUP");
  const std::string name = value == nullptr || *value == '\0' ? "auto" : value;
  if (name == "auto" || name == "threads" || name == "nccl") return name;
  return fail(ErrorCode::BadUsage, "KERF_PROCESS_GROUP is \"{}\": it may be auto, threads or nccl", name);
}

Result<RankWorld> rankWorld(bool wantsDevices, int ranks, std::chrono::milliseconds timeout) {
  KERF_TRY(const std::string chosen, chosenProcessGroup());
  if (chosen == "threads" || (chosen == "auto" && !wantsDevices)) return RankWorld{};
  if (const auto can = canRunNccl(ranks); !can) {
    if (chosen == "nccl") return fail(Error(can.error()));
    return RankWorld{};
  }
  KERF_TRY(const NcclFunctions* const nccl, installedNccl());
  const RankStarter start = [timeout](int count, const RankBody& body) {
    return runRanksOverNccl(count, body, {.timeout = timeout});
  };
  RankWorld world{"nccl " + ncclVersion(*nccl), start, true};
  logAt(LogCategory::Compile, LogLevel::Info, "{} ranks talk over {}", ranks, world.name);
  return world;
}

}  // namespace kerf::workbench
