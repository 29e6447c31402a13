// Values as DebugMode prints them: tensors within the arguments of a call, and what a hash function gave for each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/align/run_recording.h"

namespace kerf::inline align {

/// `t$2: f32[32], 1, dt: f32[4, 4]| S(0)`: its tensors in order.
struct PrintedValues {
  std::vector<StepValue> tensors;
  std::string constants;  ///< the text with "·" in the place of each tensor
};
PrintedValues printedValues(std::string_view text);

/// What hash functions gave, flat and in order: numbers as they are written, strings in quotes. None is left out.
using HashLeaves = std::vector<std::string>;

/// Gives each tensor its share of the leaves: one of each hash function. Whole numbers are checksums, others sums of
/// magnitudes. Leaves that do not come out even are left alone.
void giveHashes(std::vector<StepValue>& tensors, const HashLeaves& leaves);

/// The leaves of a Python literal under each key of its outermost dict: `{'hash': (1.0, 2), 'input_hash': …}`.
std::vector<std::pair<std::string, HashLeaves>> literalLeaves(std::string_view dict);

/// The place behind the bracket that closes the one at `open`; npos where none does. Brackets in strings do not count.
std::size_t closingBracket(std::string_view text, std::size_t open);

}  // namespace kerf::inline align
