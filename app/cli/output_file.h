// emit(): a command's text goes to stdout, or to the file the user named, whole or not at all.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "engine/support/result.h"

namespace kerf::cli {

/// Writes `text` to stdout, or atomically to `path` when it is not empty. A picture that goes to stdout gets past the
/// terminal's guard.
enum class EmitKind { Text, Picture };
Result<void> emit(std::string_view text, const std::string& path, EmitKind kind = EmitKind::Text);

}  // namespace kerf::cli
