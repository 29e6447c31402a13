// The numbers that PyTorch's registry gives kinds of graph breaks.
#pragma once

#include <string>
#include <string_view>

namespace kerf::inline dynamo {

/// "GB0124" of "Unsupported Tensor.item() call with capture_scalar_outputs=False"; empty for a kind whose number is not
/// known here. From the links that PyTorch 2.11 prints behind its reasons.
std::string_view breakId(std::string_view type);

}  // namespace kerf::inline dynamo
