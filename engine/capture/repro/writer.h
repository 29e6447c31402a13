// Writing repro.py: the text that save_graph_repro would have written, and the content store beside it.
#pragma once

#include <filesystem>
#include <string>

#include "engine/capture/common/capture.h"

namespace kerf::inline capture {

/// The whole text of graph `index` as a repro.py: the capture's own header and runner, the graph, load_args. Needs no
/// tensor data: storages are named by StorageRef::hash. Internal if `index` is out of range (returned as empty text).
std::string reproText(const Capture& capture, std::size_t index, const ExportOptions& options = {});

/// Turns a module and the values that its placeholders get into a CapturedGraph whose storages carry their data and are
/// named by SHA-1. Inputs that share a storage still do. `like`, if given, is the graph the module was made from: an
/// input of the same name keeps its symbolic text and what load_args says of values that are not tensors. BadInput when
/// `inputs` and placeholders do not match.
Result<CapturedGraph> makeCapturedGraph(const GraphModule& module, const ValueList& inputs, const CapturedGraph* like);

/// A capture with this one graph and `like`'s envelope, path, torch version and kind (the minifier's result).
Capture makeCapture(CapturedGraph graph, const Capture& like);

/// Writes `directory/<hash>` for every storage that has data or whose file exists in graph.storageDirectory. Files
/// already there with the right name are left alone. `notes`, if given, hears of missing ones.
Result<void> writeStorages(const CapturedGraph& graph, const std::filesystem::path& directory,
                           std::vector<std::string>* notes = nullptr);

}  // namespace kerf::inline capture
