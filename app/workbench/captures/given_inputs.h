// Inputs that a user gives: a rule for missing data, or a safetensors file with "in0", "in1", … for the user inputs of a
// graph in their order, or with the names of its placeholders.
#pragma once

#include <string>

#include "app/workbench/captures/graph_source.h"
#include "app/workbench/protocol/inputs.h"
#include "engine/tensor/safetensors.h"

namespace kerf::workbench {

/// What --inputs says.
struct InputChoice {
  InputFill fill = InputFill::Plausible;
  std::string file;  ///< empty: none
};
/// BadUsage for what is neither one of InputFill's names nor a file.
Result<InputChoice> parseInputChoice(const std::string& text);

/// Whether the file holds "in0".
bool hasInputs(const SafetensorsFile& file);
/// Shapes, inputs and values of symbols as runnable(); "in<i>" of `file` stands in for the i-th user input. Sizes of the
/// given tensors settle the graph's symbols. ShapeMismatch when one has another dtype or shape; BadInput for an "in<i>"
/// beyond the last user input, or on none at all.
Result<RunnableGraph> runnableOn(GraphSource source, const SafetensorsFile& file, const Job& job);

/// The same with the file at `path`, which errors name.
Result<RunnableGraph> runnableOnFile(GraphSource source, const std::string& path, const Job& job);

/// A row for each origin; values as far as there are `inputs`.
std::vector<InputRow> inputRows(const std::vector<InputOrigin>& origins, const ValueList& inputs);

/// Outputs that a recording holds: without the mutated buffers that an exported program returns first.
ValueList userValues(const CapturedGraph& graph, const ValueList& outputs);

}  // namespace kerf::workbench
