// auditedPrograms(): output code of a capture, or of a file of it, claim by claim.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/workbench/captures/capture_source.h"

namespace kerf::workbench {

struct AuditLimits {
  double mostElements = 1.5e9;       ///< of a graph that is run to compare what its program computes
  std::size_t mostBytes = SIZE_MAX;  ///< of all programs together; what is beyond is said to be left out
};

/// NotFound where the capture holds no output code.
Result<std::vector<AuditedProgram>> auditedPrograms(const std::string& name, const Capture& capture,
                                                    const AuditLimits& limits, const Job& job);
/// None of a file that is no output code. The graph is looked for next to it.
std::optional<AuditedProgram> auditedFile(const std::filesystem::path& path, const Job& job);

}  // namespace kerf::workbench
