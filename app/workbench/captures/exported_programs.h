// What torch.export made in a captured program. The store keeps its graph as a repro, which has neither the signature nor
// the symbols; both are in the program's log.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "engine/capture/common/capture.h"
#include "storage/stores/store.h"

namespace kerf::workbench {

/// The file of a stored program that holds its log.
inline constexpr const char* programLogName = "program.json";

/// The log of a stored program, as JSON. NotFound where the capture has no files.
Result<std::string> programLogText(Store& store, std::int64_t captureId);
/// The printed ExportedPrograms of a stored program by the names of their graphs; none of other captures.
Result<std::map<std::string, std::string>> exportedTexts(Store& store, const CaptureRow& capture);
/// Gives a stored graph the signature, the symbols and the annotations of its printed ExportedProgram. A text of another
/// graph changes nothing.
void applyExported(const std::string& text, CapturedGraph& graph);

}  // namespace kerf::workbench
