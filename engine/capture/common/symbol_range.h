// Ranges of symbols as texts: "[2, int_oo]", "VR[2, 64]", as ShapeEnv prints them.
#pragma once

#include <string>
#include <string_view>

#include "engine/ir/graph_module.h"

namespace kerf::inline capture {

/// An end that is no number is no bound.
SymbolRange symbolRange(std::string name, std::string_view text);
/// "VR[2, int_oo]".
std::string rangeText(const SymbolRange& range);

}  // namespace kerf::inline capture
