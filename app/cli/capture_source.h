// CaptureSource: a whole capture that a path or a store id ("c3") names. Its graphs may still be only indexed; a stored
// one is written to a private folder that lives as long as the source.
#pragma once

#include <optional>
#include <string>

#include "app/cli/context.h"
#include "engine/capture/common/capture.h"
#include "engine/process/temporary_folder.h"

namespace kerf::cli {

struct CaptureSource {
  std::string text;  ///< as the user wrote it
  Capture capture;
  std::optional<std::int64_t> captureId;  ///< row in the store, if it came from there
  std::optional<TemporaryFolder> folder;  ///< of a stored capture
};

/// Opens a path with progress and Ctrl-C. NotFound when there is no such path.
Result<Capture> openPath(Context& context, const std::filesystem::path& path);
/// Everything that a folder holds, or the one capture of a file.
Result<std::vector<Capture>> openAll(Context& context, const std::filesystem::path& path);
/// NotFound when neither a path nor a capture of the store.
Result<CaptureSource> openCapture(Context& context, const std::string& text);
/// A capture that the store keeps as files.
Result<CaptureSource> openStoredFiles(Context& context, const std::string& text, std::int64_t captureId);

/// Index of the graph that `name` means: its name, "g3" (its number), or a stage or compile id that only one graph
/// has. With an empty name, the only graph. BadUsage and NotFound list the names; `text` is how the user named the
/// capture.
Result<std::size_t> chooseGraph(const Capture& capture, const std::string& text, const std::string& name);
/// Index of the record that "r17" or a record's own name means; nothing if there is none.
std::optional<std::size_t> findRecord(const Capture& capture, const std::string& name);

/// "c3" and "graph" of "trace.log#graph": the part after '#' is empty where there is none, or where the whole is a
/// path.
std::pair<std::string, std::string> splitAtHash(const std::string& text);

}  // namespace kerf::cli
