// sympyText: an arithmetic expression over symbols, in the one spelling that reads back as itself. Private to
// engine/ir.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "engine/ir/python_expression.h"
#include "engine/ir/sympy_functions.h"

namespace kerf::inline ir {

/// "2*s0 + 1", "(s0//2)", "Max(1, s0)": symbols, numbers, + - * / // % **, unary minus and sympy's functions of them.
/// Empty if the expression is anything else, mentions no symbol, or mentions a name for which `isLocal` is true.
std::string sympyText(const PythonExpression& expression, const std::function<bool(std::string_view)>& isLocal);

}  // namespace kerf::inline ir
