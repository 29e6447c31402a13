// Compilations of two captures of one program: which of them compiled the same frame.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/capture/common/capture.h"

namespace kerf::inline compilation {

/// A compile id of a log, a folder of a debug folder, or all graphs of a capture that has neither.
struct Compilation {
  std::string id, frame;
  const CompileEntry* entry = nullptr;  ///< of a log
  std::vector<std::size_t> graphs;      ///< indices in Capture::graphs
};
std::vector<Compilation> compilationsOf(const Capture& capture);

/// Indices, -1 for none: compilations of one function of one file belong together in their order, wherever its lines
/// and folders are; attempts that were given up only with each other. What knows no frame, or finds none, goes by its
/// id. In the order of the second capture, with those of the first alone at the end.
std::vector<std::pair<int, int>> pairedCompilations(const std::vector<Compilation>& before,
                                                    const std::vector<Compilation>& after);

}  // namespace kerf::inline compilation
