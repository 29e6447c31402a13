// CaptureSource: a whole capture that a path or a store id ("c3") names. Its graphs may still be only indexed; a stored
// one is written to a private folder that lives as long as the source. A store id of one graph ("c3/g1", "m2", "p4") is
// a capture of that graph.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/workbench/workbench.h"
#include "engine/capture/common/capture.h"
#include "storage/stores/store.h"

namespace kerf::workbench {

struct CaptureSource {
  std::string text;  ///< as the user wrote it
  Capture capture;
  std::optional<std::int64_t> captureId;  ///< row in the store, if it came from there
  std::shared_ptr<const void> keeps;      ///< owner of the folder of a stored capture
  std::filesystem::path root = {};        ///< where its files are now; empty: it has none of its own
};
using CaptureSourcePtr = std::shared_ptr<const CaptureSource>;

/// A path, or a capture or graph of the store. Kept by the workbench. NotFound when it is neither.
Result<CaptureSourcePtr> openCapture(Workbench& bench, const std::string& text, const Job& job);
/// Everything that a folder holds, or the one capture of a file or store id. Kept by the workbench.
Result<std::vector<CaptureSourcePtr>> openAll(Workbench& bench, const std::string& path, const Job& job);
/// A capture that the store keeps as files. Kept under "c<id>".
Result<CaptureSourcePtr> openStoredFiles(Workbench& bench, std::int64_t captureId, const Job& job);

/// Whether a stored capture's graphs are read back from its files. Those of a program have texts; its file is its log.
bool isKeptAsFiles(const CaptureRow& row);

/// Nodes that come from the file `copy` itself, not from the user's code, come from `original`.
void nameOriginal(CapturedGraph& graph, const std::filesystem::path& copy, const std::filesystem::path& original);

/// Index of the graph that `name` means: its name, "g3" (its number), or a stage or compile id that only one graph has.
/// With an empty name, the only graph. BadUsage and NotFound list the names; `text` is how the user named the capture.
Result<std::size_t> chooseGraph(const Capture& capture, const std::string& text, const std::string& name);
/// Index of the record that "r17" or a record's own name means; nothing if there is none.
std::optional<std::size_t> findRecord(const Capture& capture, const std::string& name);

/// "c3" and "graph" of "trace.log#graph": the part after '#' is empty where there is none, or where the whole is a
/// path.
std::pair<std::string, std::string> splitAtHash(const std::string& text);

}  // namespace kerf::workbench
