#include "app/workbench/ranks/rank_sources.h"

#include <memory>
#include <set>
#include <string>

#include "app/workbench/protocol/rank_files.h"
#include "engine/accuracy/same.h"
#include "engine/distributed/replay/whole_values.h"
#include "engine/distributed/sharding/spec.h"

namespace kerf::workbench {

namespace {

Result<std::vector<std::filesystem::path>> filesOfAllRanks(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> result;
  for (const auto& [rank, file] : rankFiles(folder)) {
    if (rank == int(result.size())) {
      result.push_back(file);
      continue;
    }
    if (rank < int(result.size()))
      return fail(ErrorCode::BadUsage, "{} has two files of rank {}: {} and {}", folder.string(), rank,
                  result.back().filename().string(), file.filename().string());
    return fail(ErrorCode::NotFound, "{} has no file of rank {}, but one of rank {}: collectives need all ranks",
                folder.string(), result.size(), rank);
  }
  return result;
}

/// The job, with each note told once: files of ranks are alike.
Job tellingOnce(const Job& job) {
  Job once = job;
  once.onEvent = [onEvent = job.onEvent, told = std::make_shared<std::set<std::string>>()](const JobEvent& event) {
    const auto* note = std::get_if<NoteEvent>(&event);
    if (note != nullptr && !told->insert(note->text).second) return;
    if (onEvent) onEvent(event);
  };
  return once;
}

}  // namespace

Result<RankSources> rankSources(Workbench& bench, const GraphAddress& address, const std::string& graph,
                                const Job& job) {
  KERF_TRY(const auto files, filesOfAllRanks(splitRanksAddress(address.text).first));
  const Job once = tellingOnce(job);
  RankSources result;
  for (const auto& file : files) {
    GraphAddress own = address;
    own.text = graph.empty() ? file.string() : fmt::format("{}#{}", file.string(), graph);
    own.seed += result.sources.size();
    KERF_TRY(GraphSource found, resolveGraph(bench, own, once));
    KERF_TRY(RunnableGraph source, runnable(std::move(found), once));
    result.programs.push_back({source.graph().module, source.inputs});
    result.sources.push_back(std::move(source));
  }
  return result;
}

Result<std::vector<RankStage>> stagesOfRanks(const std::filesystem::path& folder) {
  KERF_TRY(const auto files, filesOfAllRanks(folder));
  if (files.empty()) return fail(ErrorCode::NotFound, "{} has no files of ranks", folder.string());
  KERF_TRY(const Capture capture, importCapture(files[0]));
  std::vector<RankStage> stages;
  for (const CapturedGraph& graph : capture.graphs)
    stages.push_back({graph.name, graph.origin.compileId, graph.origin.stage});
  return stages;
}

namespace {

/// The ranks' sizes of an input; none where it is no tensor on one of them.
Result<std::optional<std::vector<Sizes>>> sizesOfInput(const std::vector<RankProgram>& programs, std::size_t index,
                                                       std::size_t inputs) {
  std::vector<Sizes> sizes;
  for (const RankProgram& program : programs) {
    if (program.inputs.size() != inputs)
      return fail(ErrorCode::ShapeMismatch, "a rank's graph takes {} inputs, the whole one {}", program.inputs.size(),
                  inputs);
    if (program.inputs[index].isTensor()) sizes.push_back(program.inputs[index].tensor().sizes());
  }
  return sizes.size() == programs.size() ? std::optional(std::move(sizes)) : std::nullopt;
}

/// What is known of an input's placements, or what its sizes say.
Result<Placements> placementsOfInput(const std::string& name, const Tensor& whole,
                                     const std::optional<std::vector<Sizes>>& parts, const RankSharding& sharding) {
  const auto known = sharding.inputs.find(name);
  const std::string sizes = fmt::format("[{}]", fmt::join(whole.sizes(), ", "));
  if (known == sharding.inputs.end()) {
    const auto told = parts ? placementsOfSizes(whole.sizes(), *parts, sharding.mesh) : std::nullopt;
    if (told) return *told;
    return fail(ErrorCode::ShapeMismatch, "the ranks' inputs '{}' are no parts of one of sizes {} on the mesh {}", name,
                sizes, sharding.mesh.text());
  }
  KERF_TRY(const Placements placements, normalized(known->second, whole.dim()));
  for (std::size_t rank = 0; rank < std::size_t(sharding.mesh.ranks()); ++rank) {
    const Sizes asked =
        localSizes({placements, whole.sizes(), whole.dtype()}, sharding.mesh, sharding.mesh.coordinate(int(rank)));
    if (!parts || (*parts)[rank] != asked)
      return fail(ErrorCode::ShapeMismatch, "rank {}'s input '{}' is no {} part of one of sizes {}: it has not [{}]",
                  rank, name, placementsText(placements), sizes, fmt::join(asked, ", "));
  }
  return placements;
}

}  // namespace

Result<void> takePartsOf(const RunnableGraph& whole, RankSharding& sharding, std::vector<RankProgram>& programs) {
  const Graph& graph = whole.graph().module.graph;
  const auto placeholders = graph.placeholders();
  for (const std::string& name : sharding.asked)
    if (const auto id = graph.find(name); !id || graph.node(*id).op() != Opcode::Placeholder)
      return fail(ErrorCode::BadUsage, "the graph of one rank has no input '{}'", name);
  for (std::size_t i = 0; i < whole.inputs.size(); ++i) {
    const std::string& name = graph.node(placeholders[i]).name();
    KERF_TRY(const auto sizes, sizesOfInput(programs, i, whole.inputs.size()));
    if (!whole.inputs[i].isTensor()) {
      for (RankProgram& program : programs) program.inputs[i] = whole.inputs[i];
      continue;
    }
    const Tensor& tensor = whole.inputs[i].tensor();
    KERF_TRY(const Placements placements, placementsOfInput(name, tensor, sizes, sharding));
    KERF_TRY(const std::vector<Tensor> parts, partsUnder(tensor, placements, sharding.mesh));
    for (std::size_t rank = 0; rank < programs.size(); ++rank) programs[rank].inputs[i] = Value(parts[rank]);
    sharding.inputs.insert_or_assign(name, placements);
  }
  return {};
}

std::string firstOfRanks(const std::vector<ReplayedRank>& before, const std::vector<ReplayedRank>& after) {
  constexpr double exactly = 1e-12;  // both in float64: sums may be added up in another order
  for (std::size_t rank = 0; rank < before.size(); ++rank) {
    if (before[rank].outputs.size() != after[rank].outputs.size())
      return fmt::format("rank {}: {} results instead of {}", rank, after[rank].outputs.size(),
                         before[rank].outputs.size());
    for (std::size_t i = 0; i < before[rank].outputs.size(); ++i) {
      const auto report =
          same(before[rank].outputs[i], after[rank].outputs[i], Value(), {.tolerance = exactly, .equalNan = true});
      if (!report.same)
        return fmt::format("rank {}: result {}: {}", rank, i,
                           report.outputs.empty() ? "differs" : report.outputs[0].reason);
    }
  }
  return {};
}

}  // namespace kerf::workbench
