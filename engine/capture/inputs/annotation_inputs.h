// Inputs of a graph that came without any, from its placeholders' annotations.
#pragma once

#include "engine/capture/common/capture.h"

namespace kerf::inline capture {

/// load_args terms of a graph that came without inputs, from its placeholders' annotations: storages without data.
struct AnnotationInputs {
  std::vector<GraphInput> inputs;
  std::vector<StorageRef> storages;
  std::map<std::string, std::int64_t, std::less<>> symbols;  ///< values used; 8 for a symbol that nothing tells
};
AnnotationInputs inputsFromAnnotations(const GraphModule& module);
/// The graph with those inputs; a graph that has inputs, or needs none, as it is.
CapturedGraph withInputs(const CapturedGraph& graph);

}  // namespace kerf::inline capture
