// How the ops that write along one dimension combine what they write with what is there.
#pragma once

#include <optional>
#include <string_view>

#include "engine/ops/core/lowering.h"
#include "engine/ops/core/op_call.h"

namespace kerf::inline ops {

enum class Writing : std::uint8_t { Assign, Sum, Product, Mean, Max, Min };

/// By the op or its argument `reduce`; none where that is no known word.
std::optional<Writing> writingOf(const BoundArguments& bound);
/// Whether what is there counts among what is combined.
bool includesSelf(const BoundArguments& bound);
/// Of the scatter ops: one index after the other along their dimension.
extern const WriteLowering elementWrites;

}  // namespace kerf::inline ops
