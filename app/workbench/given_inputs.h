// Inputs that a user gives in a safetensors file: "in0", "in1", … for the user inputs of a graph in their order.
#pragma once

#include <string>

#include "app/workbench/graph_source.h"
#include "engine/tensor/safetensors.h"

namespace kerf::workbench {

/// Whether the file holds "in0".
bool hasInputs(const SafetensorsFile& file);
/// Shapes, inputs and --sym values as prepareToRun; "in<i>" of `file` stands in for the i-th user input. Sizes of the
/// given tensors settle the graph's symbols. ShapeMismatch when one has another dtype or shape; BadInput for an "in<i>"
/// beyond the last user input, or on none at all.
Result<ValueList> prepareWithInputs(GraphSource& source, const SafetensorsFile& file, const Job& job);

/// Outputs that a recording holds: without the mutated buffers that an exported program returns first.
ValueList userValues(const CapturedGraph& graph, const ValueList& outputs);

}  // namespace kerf::workbench
