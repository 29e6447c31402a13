// CallSyntax: one parsed `name(a, b, key=c)` with the source text of every argument; and what its arguments mean.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/ir/python_expression.h"
#include "engine/tensor/tensor.h"

namespace kerf::inline capture {

struct CallArgument {
  std::string keyword;  ///< empty: positional
  PythonExpression value;
  std::string_view text;  ///< as written
};

struct CallSyntax {
  std::string function;  ///< "reader.tensor"
  std::vector<CallArgument> arguments;
  std::string_view text;  ///< between the parentheses, as written
  int line = 0;

  /// The `position`-th positional argument or the one named `keyword`; null if neither is there.
  const CallArgument* find(std::size_t position, std::string_view keyword) const;
};

/// Reads a call from the lexer, whose current token is its name.
Result<CallSyntax> parseCall(PythonLexer& lexer);

/// Values of names such as "s0".
using Symbols = std::map<std::string, std::int64_t, std::less<>>;

/// Integer arithmetic over symbols (+ - * // % and unary -, Max, Min, FloorDiv, Mod). BadInput for an undefined name,
/// TooLarge on overflow; with the line.
Result<std::int64_t> evaluateInteger(const PythonExpression& expression, const Symbols& symbols);
/// A tuple or list of those (or one alone).
Result<Sizes> evaluateIntegers(const PythonExpression& expression, const Symbols& symbols);
/// Whether the expression is more than literal integers.
bool isSymbolic(const PythonExpression& expression);
/// Source texts of the items of a tuple or list, given its own source text.
std::vector<std::string> itemTexts(std::string_view text);

Result<bool> booleanOf(const CallArgument& argument);
Result<std::string> stringOf(const PythonExpression& expression);
Result<DType> dtypeOf(const PythonExpression& expression);
/// device(type='cuda', index=0), 'cuda:0', torch.device('cuda').
Result<Device> deviceOf(const PythonExpression& expression);

/// BadInput at a line.
std::unexpected<Error> failAtLine(int line, std::string message, ErrorCode code = ErrorCode::BadInput);

}  // namespace kerf::inline capture
