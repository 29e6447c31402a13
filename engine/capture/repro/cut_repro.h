// What is there of a repro that was cut: "buf2 = reader.stor" at the end of a pasted text.
#pragma once

#include "engine/capture/repro/loader_parser.h"

namespace kerf::inline capture {

/// A repro as far as it is there: statements that the cut left open go, load_args ends before the line that cannot be
/// read, inputs behind it are unsupported ones, forward returns what nothing uses, and run_repro may be missing. Notes
/// say all of it. BadInput where load_args makes no input, or forward mentions names that nothing defines.
Result<Capture> importCutRepro(std::string_view text, const std::filesystem::path& path, const ImportLimits& limits);

/// The text before the statement that is left open, if there is one. BadInput where nothing would be left of it.
Result<std::string_view> closedStatements(std::string_view text, const ImportLimits& limits);

/// The lines before the one that cannot be read, whose number `cutLine` is then; else as parseLoader.
Result<LoaderContents> parseCutLoader(const SourceText& source, LineRange lines, const Symbols& symbols,
                                      const ImportLimits& limits, int& cutLine);

/// Adds an input for every placeholder that has none yet: of its annotation, else of unsupported type. How many.
std::size_t addUnsaidInputs(CapturedGraph& graph);

}  // namespace kerf::inline capture
