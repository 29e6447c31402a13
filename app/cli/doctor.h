// What of the environment works, one row a part.
#pragma once

#include <string>
#include <vector>

#include "app/cli/context.h"

namespace kerf::cli {

struct DoctorRow {
  enum class State { Works, Limited, Missing };
  std::string part;               ///< "PyTorch"
  State state = State::Works;     ///< Limited: there, but not all of it works
  std::string found, gives, get;  ///< `gives`: what the part is for; `get`: how to get what is missing
  bool needed = false;            ///< without it Kerf itself does not work
};

/// Kerf's own parts: run, not only looked for. `store`: its file; empty: the user's own.
std::vector<DoctorRow> ownParts(const std::string& store);
/// Programs and devices around it. `python`: the Python that should have PyTorch.
std::vector<DoctorRow> surroundings(const std::string& python);

}  // namespace kerf::cli
