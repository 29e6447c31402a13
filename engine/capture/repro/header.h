// readHeader: the lines before the model class, kept verbatim, and what they say: symbols, environment, config,
// versions.
#pragma once

#include "engine/capture/common/call_syntax.h"
#include "engine/capture/repro/sections.h"

namespace kerf::inline capture {

/// Fills the envelope's header, environment, config, symbols and versions; `symbols` gets the `s0 = 4` lines.
void readHeader(const SourceText& source, LineRange lines, ReproEnvelope& envelope, Symbols& symbols);

/// Copies of lines as strings.
std::vector<std::string> copyLines(const SourceText& source, LineRange lines);

}  // namespace kerf::inline capture
