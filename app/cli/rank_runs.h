// run, compare, verify and minify of a folder with one file for each rank.
#pragma once

#include <memory>

#include <CLI/CLI.hpp>

#include "app/cli/context.h"
#include "app/workbench/protocol/rank_files.h"
#include "app/workbench/protocol/rank_runs.h"

namespace kerf::cli {

/// "4", "2,2" and "2x2".
Result<std::vector<std::int64_t>> meshSizes(const std::string& text);

/// How the ranks of a folder lie beside the graph of one rank.
struct RankPlacing {
  std::string mesh;
  std::vector<std::string> placements;

  bool isGiven() const { return !mesh.empty() || !placements.empty(); }
  /// BadUsage for a text that is no mesh.
  template <class Request>
  Result<void> takeInto(Request& request) const {
    if (!mesh.empty()) {
      KERF_TRY(request.mesh, meshSizes(mesh));
    }
    request.placements = placements;
    return {};
  }
};
/// --mesh and --placement; the command has --against.
std::shared_ptr<RankPlacing> addRankPlacing(CLI::App& command);

/// Whether an address means several ranks: a folder, or a stored capture of one.
Result<bool> meansRanks(Context& context, const std::string& address);

/// Exit 1 where something differs or the ranks do not come to an end.
Result<int> runOnRanks(Context& context, const RankRunsRequest& request);
Result<int> minifyOnRanks(Context& context, const MinifyRanksRequest& request);

}  // namespace kerf::cli
