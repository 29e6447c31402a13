// RankLetter: what one rank sends another through shared memory, as bytes and back.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/support/result.h"
#include "engine/tensor/tensor.h"

namespace kerf::inline distributed::inline processes {

struct RankLetter {
  std::int64_t number = 0;  ///< of the collective in its group, or the tag of a message
  std::string group;        ///< key of the group
  std::string text;         ///< what was called; the members must agree
  Tensor tensor;
};

/// Dtype, dimensions, sizes, then elements in order; the number and the texts before. The tensor must be contiguous.
std::vector<char> packedLetter(const RankLetter& letter);
/// RuntimeFailed for bytes that are no letter.
Result<RankLetter> unpackedLetter(std::span<const char> bytes);

}  // namespace kerf::inline distributed::inline processes
