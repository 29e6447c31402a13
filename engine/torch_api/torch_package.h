// The Python half of torch, as it is carried in kerf.
#pragma once

#include <span>

#include "engine/support/embedded_file.h"

namespace kerf::inline torch_api {

/// resources/torch, by paths from there: "nn/modules/linear.py".
std::span<const EmbeddedFile> torchFiles();

}  // namespace kerf::inline torch_api
