// readPt2Graph: the Graph of torch.export's schema, with the nested ones of higher-order ops, to a GraphModule.
#pragma once

#include "engine/capture/common/capture.h"
#include "engine/capture/common/json.h"
#include "engine/capture/pt2/program.h"

namespace kerf::inline capture::pt2 {

struct GraphReading {
  const ImportLimits& limits;
  const ImportProgress& progress;  ///< may be empty
  std::size_t textBytes = 0;       ///< of the whole program: what progress is measured by
  Pt2Program& program;             ///< receives argument names, symbols, layouts
  std::int64_t nodes = 0;          ///< so far, nested graphs included
  std::string scope{};             ///< in front of the node names in `program`: "" or "true_graph_0/"
};

/// Reads the graph object at the cursor. `constantNames` names the inputs that are plain constants, by position.
/// Nodes are named as torch.export.load names them; getitem nodes are added for ops with several results. Errors:
/// BadInput where the graph breaks the schema or names what it does not define, TooLarge beyond the limits, Cancelled.
Result<GraphModule> readPt2Graph(JsonCursor& json, GraphReading& reading,
                                 const std::vector<std::string>& constantNames = {});

}  // namespace kerf::inline capture::pt2
