// The most bytes that storages took at once.
#pragma once

#include <cstdint>

namespace kerf::inline tensor {

/// Most that liveStorageBytes() was since the last call; counting starts again with what lives now.
std::int64_t takePeakStorageBytes();

}  // namespace kerf::inline tensor
