// Input modules: which module owns each parameter that a graph takes as an input, where the capture tells.
#pragma once

#include "app/workbench/captures/graph_source.h"
#include "app/workbench/protocol/graphs.h"

namespace kerf::workbench {

/// "L_self_modules_layers_modules_0_modules_fc_parameters_weight_" → "layers.0.fc"; empty for other names.
std::string moduleOfInput(const std::string& name);

/// Sets NodeDoc::modulePath of the inputs by their names, or by those of the Dynamo graph of the same compilation that
/// AOTAutograd's descriptions count ("PlainAOTInput(idx=3)").
void nameInputModules(GraphDoc& doc, GraphSource& source);

}  // namespace kerf::workbench
