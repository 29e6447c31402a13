#include "app/workbench/ranks/rank_world.h"

#include <cstdlib>

#include "engine/distributed/group/collectives.h"
#include "engine/distributed/nccl/nccl_ranks.h"
#include "engine/process/program.h"
#include "engine/process/value_codec.h"
#include "engine/support/log.h"

namespace kerf::workbench {

namespace {

/// What one rank gives the others.
struct SharedRank {
  ValueList outputs;
  std::vector<std::pair<std::string, Value>> nodes;

  KERF_FIELDS(outputs, nodes)
};

/// Every process takes the same values, its own among them, in the form in which they travel: so all decide alike.
Result<void> shareRanks(Communicator& own, Replay& replay) {
  const ReplayedRank& mine = replay.ranks[std::size_t(own.rank())];
  KERF_TRY(const auto all,
           allGatherObject(own, worldGroup(own.worldSize()), encode(SharedRank{mine.outputs, mine.nodes})));
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    KERF_TRY(SharedRank theirs, decode<SharedRank>(all[rank], "the values of a rank"));
    replay.ranks[rank] = {std::move(theirs.outputs), std::move(theirs.nodes)};
  }
  return {};
}

/// Compiled graphs over NCCL, where every process can.
Result<bool> takesNccl(MpiWorld& processes, bool wantsDevices) {
  KERF_TRY(const std::string chosen, chosenProcessGroup());
  if (chosen == "threads" || (chosen == "auto" && !wantsDevices)) return false;
  const auto can = firstCause(processes.run([](Communicator&) { return canRunNccl(placeOnThisMachine() + 1); }));
  if (!can && chosen == "nccl") return fail(Error(can.error()));
  return can.has_value();
}

}  // namespace

int RankWorld::deviceOf(std::size_t rank) const {
  if (!hasDevices) return 0;
  return processes ? placeOnThisMachine() : int(rank);
}

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

Result<std::unique_ptr<MpiWorld>> openOwnMpi(std::chrono::milliseconds timeout) {
  const std::filesystem::path programs = programFolder();
  return openMpiWorld({programs, programs.parent_path() / "lib" / "kerf"}, timeout);
}

Result<RankWorld> mpiRankWorld(bool wantsDevices, int ranks, std::chrono::milliseconds timeout) {
  KERF_TRY(std::shared_ptr<MpiWorld> processes, openOwnMpi(timeout));
  if (processes->worldSize() != ranks)
    return fail(ErrorCode::BadUsage, "mpirun started {} processes for graphs of {} ranks", processes->worldSize(),
                ranks);
  KERF_TRY(const bool overNccl, takesNccl(*processes, wantsDevices));
  RankWorld world{overNccl ? "nccl" : "mpi", {}, overNccl, processes};
  world.start = [processes, overNccl, timeout](int, const RankBody& body) {
    return processes->run([&](Communicator& own) {
      return overNccl ? runRankOverNccl(own, placeOnThisMachine(), body, timeout) : body(own);
    });
  };
  return world;
}

Replay replayOver(const RankWorld& world, const std::vector<RankProgram>& programs, ReplayOptions options,
                  const RankRunner& runner) {
  if (runner)
    options.start = world.start;
  else if (world.processes)
    options.start = [&](int, const RankBody& body) { return world.processes->run(body); };
  Replay replay = replayRanks(programs, options, runner);
  if (!world.processes) return replay;
  if (const auto shared = shareRanks(*world.processes, replay); !shared && replay.ran) replay.ran = shared;
  return replay;
}

}  // namespace kerf::workbench
