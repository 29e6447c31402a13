// The operators that FX prints as Python operators instead of calls, both ways.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kerf::inline ir {

/// `operator.add` and "+". Unary, binary and index forms share the table.
struct PythonOperator {
  std::string_view name;    ///< as in the operator module
  std::string_view symbol;  ///< "[]" for getitem and setitem
  int operands;
  bool inplace;  ///< printed as a statement of its own: `a += b;  n = a`
};

/// Row of "operator.<name>" whose call with that many arguments is written with the operator; null for others.
const PythonOperator* operatorOfTarget(std::string_view target, std::size_t operands);
/// Row of an expression's operator ("+", 2 operands), or of "+=" with inplace.
const PythonOperator* operatorOfSymbol(std::string_view symbol, std::size_t operands, bool inplace);
/// "add" of "iadd", "and_" of "iand": what an in-place operator computes. Other names are themselves.
std::string_view plainOperator(std::string_view name);
/// The expression or statement with its operands filled in.
std::string formatOperator(const PythonOperator& op, const std::vector<std::string>& operands);

/// What generated code writes before the parentheses of a call: "builtins.getattr" is "getattr", "operator.index" is
/// "_operator_index", functions outside torch have their dots replaced. Where such a name would not be read as the same
/// target, a form that is: `getattr(torch.ops.aten.random, "from")`, or `globals()["any text"]`.
std::string calledName(std::string_view target);
/// The target that generated code means by a called name that is no local, if a name alone can tell.
std::optional<std::string> targetOfCalledName(std::string_view name);
/// Whether a local of this name would hide something that generated code refers to ("torch", "inf", "slice").
bool isMeaningfulName(std::string_view name);

}  // namespace kerf::inline ir
