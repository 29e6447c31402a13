// Every way in which Kerf judges a compiled graph, against what is true.
#pragma once

#include "tests/differential/specials/special_case.h"

namespace kerf::specials {

struct SpecialsOptions {
  std::uint64_t seed = 1;
  int count = 100;
  std::string backend = "llvm";
  int bisectEvery = 8;  ///< one of so many cases is bisected; 0: none
};

struct SpecialsReport {
  int cases = 0, different = 0, same = 0, between = 0, verdicts = 0;
  std::vector<std::string> wrong;    ///< a verdict that is not true, with its graph
  std::vector<std::string> refused;  ///< graphs that could not be made or compared
};

SpecialsReport runSpecials(const SpecialsOptions& options);

}  // namespace kerf::specials
