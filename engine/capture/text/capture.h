// Graphs out of FX text: print_readable in all forms, "graph():" text, print_tabular, also as users paste them.
#pragma once

#include <string_view>
#include <vector>

#include "engine/capture/common/capture.h"

namespace kerf::inline capture {

/// The first graph of the text as a CapturedGraph: module with nested graphs, annotations as metadata, file and line of
/// every node (`origin.line` is the number of the text's first line). `inputs` stays empty: values are generated from
/// the annotations when they are asked for. Attributes that the text only mentions get stand-in data.
/// BadInput with file and line if there is no graph or it cannot be read; TooLarge beyond the limits.
Result<CapturedGraph> capturedFromReadable(std::string_view text, GraphOrigin origin, const ImportLimits& limits = {});

/// Every graph of the text, in order; several may follow each other, with anything between them. `notes`, if given,
/// hears what stands in for data that a text does not hold.
Result<std::vector<CapturedGraph>> capturedGraphsOfText(std::string_view text, const GraphOrigin& origin,
                                                        const ImportLimits& limits = {},
                                                        std::vector<std::string>* notes = nullptr);

/// Whether the error says that the text has the source of a model and no graph.
bool saysModelSource(const Error& error);

/// load_args terms of a graph that came without inputs, from its placeholders' annotations: storages without data.
struct AnnotationInputs {
  std::vector<GraphInput> inputs;
  std::vector<StorageRef> storages;
  std::map<std::string, std::int64_t, std::less<>> symbols;  ///< values used; 8 for a symbol that nothing tells
};
AnnotationInputs inputsFromAnnotations(const GraphModule& module);
/// The graph with those inputs; a graph that has inputs, or needs none, as it is.
CapturedGraph withInputs(const CapturedGraph& graph);

/// Gives what the graph reads from `self` but the text does not define something to stand for it: a tensor of the
/// annotated shape and dtype (random floats, zero integers), else an attribute without value. Also in nested graphs.
void addStandInAttributes(GraphModule& module, const ImportLimits& limits, std::vector<std::string>* notes = nullptr);

/// The graph as its own Python text reads, so that it is written back exactly: bare words become what they mean, and
/// placeholders get names that Python can say. BadInput for what has no Python form.
Result<GraphModule> throughPython(GraphModule module);

}  // namespace kerf::inline capture
