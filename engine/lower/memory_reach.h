// staysWithinBuffers(): whether views look at nothing but the tensors that they are taken of.
#pragma once

#include "engine/lower/buffer_table.h"

namespace kerf::inline lower {

/// False where an as_strided may reach elements of a storage that its tensor does not have, or where a call gives a
/// tensor other memory (set_, resize_). Then two buffers may be the same memory though nothing else says so.
bool staysWithinBuffers(const ValueTable& values, const BufferTable& buffers);

}  // namespace kerf::inline lower
