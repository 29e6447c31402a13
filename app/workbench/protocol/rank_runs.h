// Requests that run the graphs of several ranks together: run, compare, verify and minify where a folder holds one file
// for each rank.
#pragma once

#include "app/workbench/protocol/runs.h"

namespace kerf::workbench {

/// What one rank came to.
struct RankRunDoc {
  int rank = 0;
  std::vector<std::string> outputs;     ///< "f32[4, 8]"
  std::vector<OutputVerdict> verdicts;  ///< of a comparison
  bool same = true;

  KERF_FIELDS(rank, outputs, verdicts, same)
};

/// The first node, in the order of the graphs, whose value is not what it ought to be.
struct FirstDifference {
  int rank = -1;  ///< -1: none
  std::string node, target, text;

  KERF_FIELDS(rank, node, target, text)
};

/// One thing that a verification checked on all ranks.
struct RankCheckDoc {
  std::string what;  ///< "aot_inference_graph -> inductor_post_grad_graph", "waits sunk", "out0 is S(0) of the whole"
  bool same = false;
  std::string text;  ///< what differs, on which rank

  KERF_FIELDS(what, same, text)
};

struct RankRunsDoc {
  std::string graph;  ///< that was chosen of each rank's file; empty where there is one alone
  std::vector<RankRunDoc> ranks;
  std::vector<RankCheckDoc> checks;
  FirstDifference first;
  std::string failure;  ///< why the ranks did not come to an end: who waited for whom, whose collectives differ
  int failedRank = -1;
  std::string failedFile;  ///< of that rank
  int ownRank = 0;         ///< of this process among those of mpirun, which all come to the same
  std::chrono::nanoseconds time{};

  bool good() const {
    return failure.empty() && std::ranges::all_of(ranks, &RankRunDoc::same) &&
           std::ranges::all_of(checks, &RankCheckDoc::same);
  }

  KERF_FIELDS(graph, ranks, checks, first, failure, failedRank, failedFile, ownRank, time)
};

struct HasRanks {
  bool several = false;

  KERF_FIELDS(several)
};

/// Whether an address means several ranks: a folder with their files, or a stored capture of such a folder. NotFound for a
/// capture that is not in the store.
struct HasRanksRequest {
  using Answer = HasRanks;
  static constexpr std::string_view name = "has_ranks";
  std::string address;

  KERF_FIELDS(address)
};

/// The folder, or stored capture, that `graph` names, all ranks in one process or each in its process of mpirun's, with collectives that meet. NotFound where a rank between
/// others has no file; BadUsage where a file holds several graphs and none was chosen.
struct RankRunsRequest {
  using Answer = RankRunsDoc;
  static constexpr std::string_view name = "rank_runs";
  enum class Purpose : std::uint8_t {
    Run,
    Compare,  ///< the compiled graphs with the interpreter and fp64, or with `against`
    Verify,   ///< passes on collectives, stages of a compilation, or `against`, each by value
  };
  GraphAddress graph;
  Purpose purpose = Purpose::Run;
  std::string against;  ///< graph of one rank, whose inputs and outputs are the whole ones; or a folder of ranks
  std::string backend = "interp";
  std::string dtype;  ///< f64; empty: as recorded
  std::vector<std::string> plants;
  double tolerance = 1e-3;
  std::chrono::milliseconds timeout{};
  std::vector<std::int64_t> mesh = {};  ///< beside the graph of one rank; empty: as the folder says, or one dimension
  std::vector<std::string> placements =
      {};  ///< of its inputs, as in ShardRequest; the others as the folder or sizes say
  /// Folder for what the ranks give: rank0.safetensors, … with out0 (out64_0 in f64), …, all or none. Empty: none
  std::string save = {};

  KERF_FIELDS(graph, purpose, against, backend, dtype, plants, tolerance, timeout, mesh, placements, save)
};
constexpr RankRunsRequest::Purpose lastOf(RankRunsRequest::Purpose) { return RankRunsRequest::Purpose::Verify; }

struct MinifiedRanks {
  std::string failure;
  std::int64_t startNodes = 0, nodes = 0, tests = 0;  ///< calls of all ranks
  bool isMinimal = false;
  std::string folder;  ///< rank0.py, …, storages; whole.py and sharding.json where one rank's graph was cut beside them

  KERF_FIELDS(failure, startNodes, nodes, tests, isMinimal, folder)
};

/// The smallest graphs of all ranks that fail in the same way: their collectives do not meet, a rank fails, the compiled
/// side differs, or, with `against`, they differ from the graph of one rank. BadInput where they do not fail.
struct MinifyRanksRequest {
  using Answer = MinifiedRanks;
  static constexpr std::string_view name = "minify_ranks";
  GraphAddress graph;
  std::string backend = "llvm";
  std::vector<std::string> plants;
  double tolerance = 1e-3;
  std::chrono::milliseconds timeout{10'000};  ///< of one test
  std::int64_t mostTests = 2000;
  std::string output = "kerf-repro-ranks";
  std::string against = {};                  ///< graph of one rank, cut by the same names
  std::vector<std::int64_t> mesh = {};       ///< as in RankRunsRequest
  std::vector<std::string> placements = {};  ///< as in RankRunsRequest

  KERF_FIELDS(graph, backend, plants, tolerance, timeout, mostTests, output, against, mesh, placements)
};

}  // namespace kerf::workbench
