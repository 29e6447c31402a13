// fillAsNeeded: values that meet a need, the same for the same seed on every machine. Private to engine/capture.
#pragma once

#include <string_view>

#include "engine/capture/plausible/value_need.h"
#include "engine/tensor/tensor.h"

namespace kerf::inline capture {

/// What a fill may write: everything of the storage, or only what the tensor sees of it.
enum class FillPart { Storage, View };

/// Fills the storage of `tensor` or its view; a tensor that reaches beyond its storage stays zero. Floats without a
/// need are nearly normal, integers in [0, 8), bools mostly true.
void fillAsNeeded(Tensor& tensor, const ValueNeed& need, FillPart part, std::uint64_t seed);

/// The seed of one input: it depends on nothing but the seed and the input's name.
std::uint64_t seedOfInput(std::uint64_t seed, std::string_view name);

}  // namespace kerf::inline capture
