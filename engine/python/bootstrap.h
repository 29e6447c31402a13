// Kerf's own Python in a program's process: the finder of modules and the streams, run once when the interpreter starts.
#pragma once

#include <span>

#include "engine/support/embedded_file.h"

namespace kerf::inline python {

/// resources/sandbox.
std::span<const EmbeddedFile> bootstrapFiles();

}  // namespace kerf::inline python
