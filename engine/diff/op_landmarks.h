// Landmarks: the calls without which an op is not what it says, so that a run of calls can be cut where one op of the
// source ends and the next begins.
//
//     linear → view, permute, addmm, view: addmm is its landmark; gelu may hold none of the matrix products
#pragma once

#include <span>
#include <string_view>

namespace kerf::inline diff {

/// Names of calls (baseName) of which one belongs to an op of that name; empty where nothing is known.
std::span<const std::string_view> landmarksOf(std::string_view name);
/// Whether a call of that name belongs to ops of which it is a landmark, and to no others.
bool isLandmark(std::string_view name);
/// Ops that become their landmark and glue, nothing else.
bool isPlain(std::string_view name);
/// Calls that only look at a value, reorder it or convert it: they come along with any op.
bool isGlue(std::string_view name);
/// Ops that take a tensor for its shape alone: new_ones, zeros_like.
bool isMade(std::string_view name);
/// Calls that may vanish: their result is their operand, or nobody asks for it.
bool mayVanish(std::string_view name);

}  // namespace kerf::inline diff
