#include "engine/compilation/recorded_provenance.h"

namespace kerf::inline compilation {

RecordedOrigins recordedBetween(const Capture& a, std::size_t before, const Capture& b, std::size_t after) {
  const GraphOrigin &first = a.graphs[before].origin, &second = b.graphs[after].origin;
  const bool post = second.stage.find("post_grad") != std::string::npos && !second.stage.starts_with("before");
  const bool pre = first.stage == "dynamo_output_graph" || first.stage.find("pre_grad") != std::string::npos;
  const bool together = a.path == b.path && first.compileId == second.compileId && first.rank == second.rank;
  RecordedOrigins origins;
  if (!post || !pre || !together || !b.details) return origins;
  const std::string prefix = second.compileId + " ";
  for (auto at = b.details->preToPost.lower_bound(prefix); at != b.details->preToPost.end(); ++at) {
    if (!at->first.starts_with(prefix)) break;
    origins.emplace_back(at->first.substr(prefix.size()), at->second);
  }
  return origins;
}

}  // namespace kerf::inline compilation
