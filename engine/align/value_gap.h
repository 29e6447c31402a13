// ValueGap: how far one tensor of two recordings is apart, from whatever both of them tell of it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/accuracy/bit_distance.h"
#include "engine/align/run_recording.h"

namespace kerf::inline align {

enum class GapKind : unsigned char {
  Unknown,   ///< nothing that both tell can be compared
  Equal,     ///< in every bit, or in every figure that is recorded
  Rounding,  ///< no more than the dtype's rounding and another order of sums make of it
  Unequal,   ///< other bits; by how much is not recorded
  Wrong,     ///< more than rounding
};
constexpr GapKind lastOf(GapKind) { return GapKind::Wrong; }
/// "unknown", "equal", "rounding", "unequal", "wrong".
std::string_view gapKindName(GapKind kind);
inline bool differs(GapKind kind) { return kind >= GapKind::Rounding; }
inline bool isWrong(GapKind kind) { return kind == GapKind::Wrong || kind == GapKind::Unequal; }

struct ValueGap {
  GapKind kind = GapKind::Unknown;
  std::string_view basis;           ///< "bits", "checksum", "sum of magnitudes", "figures", "shape", "absent"
  double relative = -1;             ///< of the values, or of their sums; -1: not known
  std::optional<BitDistance> bits;  ///< where both have the values

  /// "rounding only: sums of magnitudes differ by 3.1e-08".
  std::string text() const;
};

/// What rounding may make of a figure over a tensor of this dtype: relative to it.
double roundingOf(std::string_view dtype);

/// The same for elements: the root of mean squares, relative.
double elementRoundingOf(std::string_view dtype);

/// What a step was given: the relative difference, and the rounding of the coarsest dtype that values come from.
struct Growth {
  double given = 0, rounding = 0;
};
/// What is not far above `growth` is rounding, too.
ValueGap gapBetween(const StepValue& a, const StepValue& b, const Growth& growth = {});

}  // namespace kerf::inline align
