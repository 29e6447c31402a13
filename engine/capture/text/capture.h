// Graphs out of FX text: print_readable in all forms, "graph():" text, print_tabular, also as users paste them.
#pragma once

#include <string_view>
#include <vector>

#include "engine/capture/common/capture.h"

namespace kerf::inline capture {

/// Graph text: print_readable in all forms, "graph():" text, print_tabular (formats B.3).
bool looksLikeGraphText(std::string_view head);
Result<Capture> importGraphText(std::string_view text, const std::filesystem::path& path,
                                const ImportLimits& limits = {});

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

/// The graph as its own Python text reads, so that it is written back exactly: bare words become what they mean, and
/// placeholders get names that Python can say. BadInput for what has no Python form.
Result<GraphModule> throughPython(GraphModule module);

}  // namespace kerf::inline capture
