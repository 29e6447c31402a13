// What `kerf capture` prints of a program: its own output, then what was compiled.
#pragma once

#include "app/cli/json_forms.h"

namespace kerf::cli {

/// Where the program's graphs are kept: "c7", and how many.
struct StoredProgram {
  std::string capture;
  std::size_t graphs = 0;
};
StoredProgram storedProgram(const ProgramDoc& doc);

Json programJson(const ProgramDoc& doc);
/// `all`: reasons of breaks with hints, and guards.
void printProgram(const ProgramDoc& doc, bool all);

}  // namespace kerf::cli
