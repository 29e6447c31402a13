// A graph whose compiled side gives other NaN, infinities or numbers once a fault is planted, and what is true of it.
//
//     sw = erf(z)            0, and with the fault erf=accuracy 1
//     gate = sw > 0.5
//     w = where(gate, a, b)  b, and with the fault a
//
// What differs is not taken from Kerf's comparison: the interpreter runs with the gate open and shut, and the results
// are looked at element by element here.
#pragma once

#include <string>
#include <vector>

#include "minifier/core/minify.h"
#include "tests/differential/fuzzgraph/dice.h"

namespace kerf::specials {

enum class Truth { Same, Different, Between };  ///< Between: numbers that differ by less than every tolerance refuses

struct SpecialCase {
  Candidate candidate;
  ValueList open;  ///< inputs that make the interpreter give what the compiled side gives with the fault
  std::string text;
  Truth truth = Truth::Same;           ///< with the fault
  std::vector<std::string> different;  ///< nodes that are returned, of which it is sure that they differ
};

/// The case of a seed. An error is the interpreter's.
Result<SpecialCase> makeCase(std::uint64_t seed);

}  // namespace kerf::specials
