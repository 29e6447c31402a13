// Few rows times a large matrix that lies row by row: threads take rows of it, which are whole pages, instead of
// columns, which are pieces of all its rows. Private to mathlib.
#pragma once

#include "engine/mathlib/panel_parts.h"

namespace kerf::inline mathlib {

/// By shape alone: where both operands must be packed, and threads have no columns to themselves as they have where the
/// left one is read where it lies.
template <class T>
bool suitsBlocks(const Part<T>& whole, bool packsA, bool packsB);

/// Each block of products has sums of its own, which are added in their order afterwards: the bits of multiplyPart().
template <class T>
void multiplyBlocks(const Part<T>& whole);

/// c = sums of the first block + keep * c + those of the blocks after it, in their order; `apart` lies between blocks.
template <class T>
void addBlocks(const T* sums, std::int64_t apart, std::int64_t blocks, T keep, T* c, std::int64_t count);

}  // namespace kerf::inline mathlib
