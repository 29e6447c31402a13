// sreprOf: an expression as sympy's srepr writes it, which is how torch.export stores expressions (schema 8.8 on).
#pragma once

#include <string>

#include "engine/symbolic/symbolic.h"

namespace kerf::inline symbolic {

/// "Add(FloorDiv(Symbol('s0', positive=True, integer=True), Integer(2)), Integer(1))". Symbols have the assumptions that
/// ShapeEnv makes them with: backed ones are positive, "u" ones integers, "z" ones real. Reads back by Symbolic::parse.
std::string sreprOf(const Symbolic& expression);

}  // namespace kerf::inline symbolic
