// Recorded answers of torch._dynamo.utils.same, replayed through Kerf's same().
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/support/result.h"

namespace kerf::inline accuracy {

/// A case whose answer differs from the recorded one.
struct SameCaseMismatch {
  std::string id;
  bool expected = false;
  bool got = false;
  std::string reason;  ///< Kerf's reason for calling the two different, empty if it called them same
};

struct ConformanceReport {
  std::int64_t cases = 0;
  std::int64_t agreed = 0;
  std::vector<SameCaseMismatch> mismatches;
  std::vector<std::filesystem::path> files;  ///< what was read
};

/// Whether `path` (a folder or one .json/.jsonl file) holds recorded same() cases; decided by content.
bool holdsSameCases(const std::filesystem::path& path);

/// Replays all cases of a folder, or of one .json ({"cases": […]}) or .jsonl (one case a line) file. Tensors
/// "<id>.ref",
/// "<id>.res", "<id>.fp64" come from the .safetensors of the same stem beside it. BadInput names file and case when a
/// tensor is missing, an option is unknown or a field has the wrong type; NotFound when there are no cases at all.
Result<ConformanceReport> checkSameCases(const std::filesystem::path& path);

}  // namespace kerf::inline accuracy
