// The names that FX text uses for torch's enumerations, both ways. Private to engine/ir.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/tensor/device.h"
#include "engine/tensor/dtype.h"

namespace kerf::inline ir {

/// "torch.strided", "torch.sparse_coo", …
std::string_view layoutName(Layout layout);
/// "torch.contiguous_format", …
std::string_view memoryFormatName(MemoryFormat format);
/// No machine has as many devices of a type.
constexpr int maximumDeviceIndex = 1'000'000;
/// "cpu", "cuda:0"; empty if the text cannot be a device.
std::optional<Device> deviceFromText(std::string_view text);

}  // namespace kerf::inline ir
