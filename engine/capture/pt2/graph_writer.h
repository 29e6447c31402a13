// pt2GraphJson: a GraphModule as the Graph object of torch.export's schema.
#pragma once

#include <string>
#include <vector>

#include "engine/capture/pt2/program.h"
#include "engine/ir/graph_module.h"
#include "engine/support/result.h"

namespace kerf::inline capture::pt2 {

struct WrittenGraph {
  std::string json;
  std::vector<std::string> inputs, outputs;  ///< Argument object of each, as the signature repeats them
};

/// `program` gives names and types that the graph alone does not tell; may be null. `lifted` are get_attr nodes of
/// tensors that become inputs in front of the placeholders (constants). Every node must know its value's meta.
Result<WrittenGraph> pt2GraphJson(const GraphModule& module, const Pt2Program* program,
                                  const std::vector<NodeId>& lifted = {});

}  // namespace kerf::inline capture::pt2
