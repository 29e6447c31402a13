// Fingerprints of a compilation's graph and guards, by which ranks are compared.
#pragma once

#include "engine/capture/trace/compile_log.h"

namespace kerf::inline capture::trace {

/// Sets CompileStory::graphPrint and guardPrint where several ranks are in the log: comments, device numbers and
/// addresses of objects, which differ between ranks that do the same, do not count.
void printGraphs(CompileLog& log, const CaptureDetails& details);

/// "cuda:3" as "cuda", long numbers (addresses) as "#".
std::string withoutRankNumbers(std::string_view text);

}  // namespace kerf::inline capture::trace
