// Which texts sympy may be given to evaluate. Private to the audit of exported programs.
#pragma once

#include <string_view>

namespace kerf::inline capture::pt2 {

/// Arithmetic over symbols: "2*s0 + 1", or as sympy's srepr writes it: "Mul(Integer(2), Symbol('s0', integer=True))".
bool isAllowedSrepr(std::string_view text);

}  // namespace kerf::inline capture::pt2
