// Which ops autocast runs in which dtype: PyTorch's lists (aten/src/ATen/autocast_mode.h and .cpp).
#pragma once

#include "engine/ops/core/op_registry.h"

namespace kerf::inline ops {

enum class AutocastPolicy : unsigned char {
  None,
  Lower,     ///< arguments in the region's dtype
  Float32,   ///< arguments in float32
  SetDType,  ///< dtype=float32, where the call names none
  Promote,   ///< arguments in the widest dtype among them
};

/// Devices other than "cpu" follow CUDA's lists.
AutocastPolicy autocastPolicy(std::string_view device, const OpSchema& schema);

}  // namespace kerf::inline ops
