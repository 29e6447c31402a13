// The messages of a TORCH_LOGS text: each with its artifact, compile id and rank, freed from the prefixes of its lines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/capture/trace/header.h"

namespace kerf::inline capture::trace {

struct PrintedMessage {
  std::string artifact;  ///< "graph_breaks"; empty where the prefix is lost or tells none
  CompileNumbers id;
  int rank = -1;
  int line = 0;  ///< of its first line, from 1
  std::vector<std::string_view> lines;
};

/// In the order of the text. What belongs to no message is left out. The views are into `text`.
std::vector<PrintedMessage> logMessages(std::string_view text);

/// "[!0/1/2_1]", with or without brackets, as numbers; none for what is no compile id.
CompileNumbers compileNumbers(std::string_view text);

}  // namespace kerf::inline capture::trace
