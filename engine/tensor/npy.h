// The .npy file format (version 1.0): magic, a header that is a Python dict, raw elements in row-major order.
#pragma once

#include <filesystem>

#include "engine/tensor/tensor.h"

namespace kerf::inline tensor {

/// Writes one tensor, whole or not at all. What NumPy has no dtype for (bfloat16, float8) is written as float32, which
/// holds every value of it.
Result<void> writeNpy(const std::filesystem::path& path, const Tensor& tensor);

}  // namespace kerf::inline tensor
