// Few rows times a large matrix that lies row by row: threads take rows of it, which are whole pages, instead of columns,
// which are pieces of all its rows. Private to mathlib.
#pragma once

#include "engine/mathlib/panel_parts.h"

namespace kerf::inline mathlib {

/// By shape alone.
template <class T>
bool suitsBlocks(const Part<T>& whole, bool packsB);

/// Each block of products has sums of its own, which are added in their order afterwards: the bits of multiplyPart().
template <class T>
void multiplyBlocks(const Part<T>& whole, bool packsA, int threads);

/// c = sums of the first block + keep * c + those of the blocks after it, in their order; `apart` lies between blocks.
template <class T>
void addBlocks(const T* sums, std::int64_t apart, std::int64_t blocks, T keep, T* c, std::int64_t count);

}  // namespace kerf::inline mathlib
