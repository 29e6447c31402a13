// readPt2Program: models/*.json to a graph with its signature; everything else in it is kept as text.
#pragma once

#include "engine/capture/common/capture.h"
#include "engine/capture/pt2/program.h"

namespace kerf::inline capture::pt2 {

struct ReadProgram {
  Pt2Program program;
  GraphModule module;
  GraphSignature signature;
  std::vector<std::string> constants;  ///< Python text of inputs that are plain values, by position; else empty
  std::string torchVersion;
};

/// Ranges of symbols from the program's range_constraints; what is no range there is passed over.
std::vector<SymbolRange> readRangeConstraints(std::string_view json, int nesting);

/// `name` is the member, for messages. BadInput for schema versions other than 8, with both versions in the message.
Result<ReadProgram> readPt2Program(std::string_view text, std::string_view name, const ImportLimits& limits,
                                   const ImportProgress& progress);

}  // namespace kerf::inline capture::pt2
