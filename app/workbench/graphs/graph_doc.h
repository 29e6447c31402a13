// Graphs as documents: nodes, nested graphs, and the modules that own their inputs.
#pragma once

#include <string>

#include "app/workbench/captures/graph_source.h"
#include "app/workbench/protocol/graphs.h"
#include "engine/ir/graph_module.h"

namespace kerf::workbench {

// buildGraphDoc: everything that is shown of one graph, as plain text and indices.

/// `sourceFile` is where nodes without a file of their own were written.
std::shared_ptr<GraphDoc> buildGraphDoc(const GraphModule& module, const std::string& title,
                                        const std::string& sourceFile);

// nodeDoc: what is shown of one node.

/// All but the places of other nodes: inputs, users and the line of code.
NodeDoc nodeDoc(const Graph& graph, const Node& node, const std::string& sourceFile);

/// "f32[2, 3]", "Sym(s0)", "(f32[2], i64[])"; empty if unknown.
std::string shapeText(const ValueMeta& value);

// Nested graphs: the bodies that higher-order ops and modules call, and how to find one.

/// The graph that lies below `module` by the paths between the slashes ("body_graph_0/true_graph_0"); the module itself
/// where `path` is empty. NotFound with what there is.
Result<const GraphModule*> nestedGraph(const GraphModule& module, const std::string& path);

/// Fills NodeDoc::bodies: of get_attr and call_module nodes their own graph, of calls those that they are given.
void findBodies(GraphDoc& doc, const GraphModule& module);

// Input modules: which module owns each parameter that a graph takes as an input, where the capture tells.

/// "L_self_modules_layers_modules_0_modules_fc_parameters_weight_" → "layers.0.fc"; empty for other names.
std::string moduleOfInput(const std::string& name);

/// Sets NodeDoc::modulePath of the inputs by their names, or by those of the Dynamo graph of the same compilation that
/// AOTAutograd's descriptions count ("PlainAOTInput(idx=3)").
void nameInputModules(GraphDoc& doc, GraphSource& source);

}  // namespace kerf::workbench
