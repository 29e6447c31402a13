// perform(RankRunsRequest): the graphs of all ranks run, compared and verified together, in a child or over mpirun's
// processes.
#include "app/workbench/engine_options.h"
#include "app/workbench/protocol/rank_files.h"
#include "app/workbench/ranks/rank_compare.h"
#include "app/workbench/ranks/stored_ranks.h"
#include "app/workbench/workbench.h"
#include "engine/accuracy/expectation.h"
#include "engine/distributed/graphs/collective_passes.h"
#include "engine/process/in_child.h"
#include "engine/process/value_codec.h"
#include "engine/support/atomic_files.h"
#include "engine/tensor/safetensors.h"

namespace kerf::workbench {

namespace {

using Purpose = RankRunsRequest::Purpose;

std::string shortText(const Value& value) {
  if (value.isTensor()) return tensorText(value.tensor());
  if (const auto* integer = value.as<std::int64_t>()) return std::to_string(*integer);
  return value.isNone() ? "None" : "?";
}

/// Over what compiled graphs talk over, where that is threads: collectives of NCCL are tried without a compiler too.
Replay interpretedOver(const RankWorld& world, const std::vector<RankProgram>& programs) {
  return world.processes ? replayOver(world, programs, {}) : replayRanks(programs, {.start = world.start});
}

/// What a run of the ranks came to, with what each of them gives where that is to be saved.
struct RunOfRanks {
  RankRunsDoc doc;
  std::vector<ValueList> outputs;

  RunOfRanks() = default;
  RunOfRanks(RankRunsDoc made) : doc(std::move(made)) {}  // NOLINT: most purposes have a document alone

  KERF_FIELDS(doc, outputs)
};

Result<RunOfRanks> runOnly(const std::vector<RankProgram>& given, const RankRunsRequest& request,
                           const CompileOptions& compile, const RankWorld& world) {
  std::vector<RankProgram> programs = given;
  if (request.dtype == "f64") {
    KERF_TRY(programs, ranksInFloat64(given));
  }
  Result<Replay> replay = Replay();
  if (request.backend == "interp")
    replay = interpretedOver(world, programs);
  else
    replay = replayCompiled(programs, compile, world);
  KERF_CHECK(replay);
  RunOfRanks outcome;
  RankRunsDoc& doc = outcome.doc;
  if (!replay->ran) {
    doc.failure = replay->ran.error().text();
    doc.failedRank = replay->failedRank;
    return outcome;
  }
  for (std::size_t rank = 0; rank < replay->ranks.size(); ++rank) {
    doc.ranks.push_back({int(rank), {}, {}, true});
    for (const Value& output : replay->ranks[rank].outputs) doc.ranks.back().outputs.push_back(shortText(output));
    if (!request.save.empty()) outcome.outputs.push_back(std::move(replay->ranks[rank].outputs));
  }
  return outcome;
}

/// A file for each rank, all or none.
Result<void> saveRanks(const std::vector<ValueList>& ranks, const RankRunsRequest& request) {
  const char* const prefix = request.dtype == "f64" ? "out64_" : "out";
  std::vector<std::string> names;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) names.push_back(fmt::format("rank{}.safetensors", rank));
  KERF_CHECK(checkOnlyRankFiles(request.save, names));
  KERF_TRY(AtomicFiles files, AtomicFiles::in(request.save));
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    SafetensorsFile values;
    for (std::size_t i = 0; i < ranks[rank].size(); ++i)
      if (ranks[rank][i].isTensor())
        values.tensors.emplace_back(fmt::format("{}{}", prefix, i), ranks[rank][i].tensor());
    KERF_TRY(AtomicFile* const file, files.add(names[rank]));
    KERF_CHECK(writeSafetensors(*file, values));
  }
  return files.commit();
}

/// Two sets of ranks' graphs by value, on the inputs of the first.
RankCheckDoc valueCheck(std::string what, const std::vector<RankProgram>& before, const std::vector<RankProgram>& after,
                        const RankWorld& world) {
  RankCheckDoc check{std::move(what), false, {}};
  const Replay first = replayOver(world, before, {}), second = replayOver(world, after, {});
  if (!first.ran)
    check.text = "before: " + first.ran.error().text();
  else if (!second.ran)
    check.text = "after: " + second.ran.error().text();
  else
    check.text = firstOfRanks(first.ranks, second.ranks);
  check.same = check.text.empty();
  return check;
}

Result<void> checkPasses(const std::vector<RankProgram>& programs, const std::string& of, const RankWorld& world,
                         RankRunsDoc& doc) {
  for (const CollectivePass& pass : collectivePasses()) {
    std::vector<RankProgram> changed = programs;
    for (RankProgram& program : changed) KERF_CHECK(pass.run(program.module));
    doc.checks.push_back(valueCheck(fmt::format("{}{}", of, pass.name), programs, changed, world));
  }
  return {};
}

/// What two stages of the same compilation take is the same: then the later one runs on what the earlier one got.
bool takeTheSame(const RankSources& a, const RankSources& b) {
  if (a.programs.size() != b.programs.size()) return false;
  for (std::size_t rank = 0; rank < a.programs.size(); ++rank) {
    const ValueList &first = a.programs[rank].inputs, &second = b.programs[rank].inputs;
    if (first.size() != second.size()) return false;
    for (std::size_t i = 0; i < first.size(); ++i)
      if (first[i].isTensor() != second[i].isTensor() ||
          (first[i].isTensor() && first[i].tensor().sizes() != second[i].tensor().sizes()))
        return false;
  }
  return true;
}

struct RankStages {
  std::vector<RankStage> names;
  std::vector<RankSources> graphs;
};

/// The graphs that AOTAutograd and what comes after it left; the others call what has no kernels yet.
bool isRunStage(const RankStage& stage) {
  return stage.stage.starts_with("aot_") || stage.stage.find("post_grad") != std::string::npos || stage.stage.empty();
}

Result<RankStages> openStages(Workbench& bench, const RankRunsRequest& request, const Job& job) {
  const auto [folder, chosen] = splitRanksAddress(request.graph.text);
  RankStages stages;
  KERF_TRY(const auto all, stagesOfRanks(folder));
  for (const RankStage& stage : all) {
    const bool isAsked = chosen.empty() ? all.size() == 1 || isRunStage(stage) : stage.name == chosen;
    if (!isAsked || stage.stage == "aot_joint_graph") continue;
    KERF_TRY(RankSources sources, rankSources(bench, request.graph, stage.name, job));
    stages.names.push_back(stage);
    stages.graphs.push_back(std::move(sources));
  }
  if (stages.graphs.empty())
    return fail(ErrorCode::NotFound, "{} has no graph of a rank that can be run", request.graph.text);
  return stages;
}

Result<RankRunsDoc> verifyStages(const RankStages& stages, const RankWorld& world) {
  RankRunsDoc doc;
  for (std::size_t i = 0; i < stages.graphs.size(); ++i) {
    KERF_TRY(const auto wide, ranksInFloat64(stages.graphs[i].programs));
    const std::string of = stages.graphs.size() == 1 ? std::string() : stages.names[i].name + ": ";
    if (const Replay own = replayOver(world, wide, {}); !own.ran) {  // nothing to compare with
      doc.failure = of + own.ran.error().text();
      doc.failedRank = own.failedRank;
      return doc;
    }
    KERF_CHECK(checkPasses(wide, of, world, doc));
    for (std::size_t k = i + 1; k < stages.graphs.size(); ++k) {
      if (stages.names[i].compileId != stages.names[k].compileId || !takeTheSame(stages.graphs[i], stages.graphs[k]))
        continue;
      std::vector<RankProgram> later = stages.graphs[k].programs;
      for (std::size_t rank = 0; rank < later.size(); ++rank)
        later[rank].inputs = stages.graphs[i].programs[rank].inputs;
      KERF_TRY(const auto wideLater, ranksInFloat64(later));
      doc.checks.push_back(
          valueCheck(fmt::format("{} -> {}", stages.names[i].name, stages.names[k].name), wide, wideLater, world));
      break;
    }
  }
  return doc;
}

using RankWork = std::function<Result<RunOfRanks>(const RankWorld&)>;

/// In a child, or in this process where mpirun started it as a rank: MPI must not be forked.
Result<RunOfRanks> outcomeOver(const RankRunsRequest& request, int ranks, bool isCompiled, const Job& job,
                               const RankWork& work) {
  const bool wantsDevices = isCompiled && request.backend == "cuda";
  if (startedByMpirun() > 1) {
    const auto timeout = request.timeout.count() > 0 ? request.timeout : std::chrono::seconds(30);
    KERF_TRY(const RankWorld world, mpiRankWorld(wantsDevices, ranks, timeout));
    auto outcome = work(world);
    if (outcome) outcome->doc.ownRank = world.processes->rank();
    return outcome;
  }
  const std::function body = [&]() -> Result<RunOfRanks> {  // the CUDA driver must not be asked before it is there
    if (!isCompiled) return work({});
    KERF_TRY(const RankWorld world, rankWorld(wantsDevices, ranks));
    return work(world);
  };
  return inChild(body, patientLimits(request.timeout), job.stop, "running the ranks", ErrorCode::RuntimeFailed);
}

/// The first process of mpirun saves, as it prints.
Result<RankRunsDoc> overWorld(const RankRunsRequest& request, int ranks, bool isCompiled, const Job& job,
                              const RankWork& work) {
  KERF_TRY(RunOfRanks outcome, outcomeOver(request, ranks, isCompiled, job, work));
  const bool isSaved = !request.save.empty() && outcome.doc.ownRank == 0 && outcome.doc.failure.empty();
  if (isSaved) KERF_CHECK(saveRanks(outcome.outputs, request));
  return std::move(outcome.doc);
}

Result<RankRunsDoc> againstRanks(Workbench& bench, const RankRunsRequest& request, const RankSources& own,
                                 const Job& job) {
  GraphAddress other = request.graph;
  other.text = request.against;
  KERF_TRY(RankSources sources, rankSources(bench, other, splitRanksAddress(request.against).second, job));
  if (sources.programs.size() != own.programs.size())
    return fail(ErrorCode::BadUsage, "{} has {} ranks, {} has {}", request.graph.text, own.programs.size(),
                request.against, sources.programs.size());
  for (std::size_t rank = 0; rank < own.programs.size(); ++rank)
    sources.programs[rank].inputs = own.programs[rank].inputs;
  return overWorld(request, int(own.programs.size()), false, job, [&](const RankWorld& world) -> Result<RankRunsDoc> {
    KERF_TRY(const auto before, ranksInFloat64(own.programs));
    KERF_TRY(const auto after, ranksInFloat64(sources.programs));
    RankRunsDoc doc;
    doc.checks.push_back(valueCheck("against " + request.against, before, after, world));
    return doc;
  });
}

Result<RankRunsDoc> againstWhole(Workbench& bench, const RankRunsRequest& request, RankSources own, const Job& job) {
  GraphAddress address = request.graph;
  address.text = request.against;
  KERF_TRY(GraphSource found, resolveGraph(bench, address, job));
  KERF_TRY(const RunnableGraph whole, runnable(std::move(found), job));
  const int ranks = int(own.programs.size());
  const auto folder = splitRanksAddress(request.graph.text).first;
  KERF_TRY(RankSharding sharding, shardingOfRanks(folder, ranks, request.mesh, request.placements));
  KERF_CHECK(takePartsOf(whole, sharding, own.programs));
  return overWorld(request, ranks, false, job, [&](const RankWorld& world) {
    return compareWithWhole(own.programs, {whole.graph().module, whole.inputs}, sharding, world);
  });
}

Result<RankRunsDoc> performOn(Workbench& bench, const RankRunsRequest& request, const Job& job) {
  const std::string graph = splitRanksAddress(request.graph.text).second;
  if (request.purpose == Purpose::Verify && request.against.empty()) {
    KERF_TRY(const RankStages stages, openStages(bench, request, job));
    return overWorld(request, int(stages.graphs[0].programs.size()), false, job,
                     [&](const RankWorld& world) { return verifyStages(stages, world); });
  }
  KERF_TRY(RankSources own, rankSources(bench, request.graph, graph, job));
  const bool isPlaced = !request.mesh.empty() || !request.placements.empty();
  if (isPlaced && (request.against.empty() || namesRanks(request.against)))
    return fail(ErrorCode::BadUsage, "placements say how the ranks lie beside the graph of one rank: give that graph");
  if (!request.against.empty())
    return namesRanks(request.against) ? againstRanks(bench, request, own, job)
                                       : againstWhole(bench, request, std::move(own), job);
  KERF_TRY(auto options, engineOptions(request.plants, {}, request.tolerance, request.timeout));
  KERF_CHECK(setBackend(options, request.backend));
  options.compile.cache = bench.codeCache(job);
  for (const RankProgram& program : own.programs) KERF_CHECK(checkOptions(program.module, options.compile));
  const int ranks = int(own.programs.size());
  return overWorld(request, ranks, true, job, [&](const RankWorld& world) -> Result<RunOfRanks> {
    if (request.purpose == Purpose::Run) return runOnly(own.programs, request, options.compile, world);
    return compareRanks(own.programs, options.compile, options.compare, world);
  });
}

}  // namespace

Result<RankRunsDoc> perform(Workbench& bench, const RankRunsRequest& given, const Job& job) {
  KERF_TRY(const RanksPlace place, ranksPlace(bench, given.graph.text, job));
  KERF_TRY(const RanksPlace other, ranksPlace(bench, given.against, job));
  RankRunsRequest request = given;
  request.graph.text = place.text;
  request.against = other.text;
  if (request.dtype != "f64" && !request.dtype.empty())
    return fail(ErrorCode::BadUsage, "ranks run as recorded or in f64, not in {}", request.dtype);
  if (!request.save.empty() && request.save.ends_with(".safetensors"))
    return fail(ErrorCode::BadUsage, "{} is the name of one file: what ranks give is saved as a folder of them",
                request.save);
  const auto start = std::chrono::steady_clock::now();
  auto doc = performOn(bench, request, job);
  if (!doc) return fail(other.named(place.named(std::move(doc.error()))));
  doc->failure = place.named(std::move(doc->failure));
  for (RankCheckDoc& check : doc->checks) check.what = other.named(std::move(check.what));
  const auto folder = splitRanksAddress(request.graph.text).first;
  doc->graph = splitRanksAddress(given.graph.text).second;
  for (const auto& [rank, file] : rankFiles(folder))
    if (rank == doc->failedRank) doc->failedFile = place.named(file.string());
  doc->time = std::chrono::steady_clock::now() - start;
  return doc;
}

}  // namespace kerf::workbench
