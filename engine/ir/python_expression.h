// PythonExpression: syntax tree of the Python subset that FX text, repros and their loaders are written in. Only
// parsed.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/ir/argument.h"
#include "engine/ir/python_lexer.h"
#include "engine/support/result.h"

namespace kerf::inline ir {

enum class PythonKind : std::uint8_t {
  Name,       ///< text: the whole dotted name, "torch.ops.aten.add.Tensor"
  Constant,   ///< text: "None", "True", "False", "..."
  Integer,    ///< text: as written
  Float,      ///< text: as written
  Imaginary,  ///< text: as written, with its 'j'
  String,     ///< text: the decoded value (str or bytes)
  Tuple,      ///< items
  List,       ///< items
  Set,        ///< items
  Dict,       ///< items: key, value, key, value…
  Call,       ///< items: callee, positional arguments, then one value per entry of `keywords`
  Attribute,  ///< items: object; text: attribute (only where the object is not itself a dotted name)
  Index,      ///< items: object, index
  Slice,      ///< items: start, stop, step (Constant None where absent), from `x[a:b:c]`
  Unary,      ///< text: "-", "+", "~", "not", "*" (unpacking); items: operand
  Binary,     ///< text: operator, also "<", "is not", "and", "or", "if" (items: then, condition, else)
};

struct PythonExpression {
  PythonKind kind = PythonKind::Constant;
  int line = 0;    ///< 1-based
  int height = 0;  ///< of the tree below; bounded by PythonLimits::nesting
  std::string text;
  std::vector<PythonExpression> items;
  std::vector<std::string> keywords;  ///< Call only; "**" for an unpacked dict

  bool isName(std::string_view name) const { return kind == PythonKind::Name && text == name; }
  bool isNone() const { return kind == PythonKind::Constant && text == "None"; }
  /// Call only: number of positional arguments and access to one of them.
  std::size_t positionalCount() const { return items.size() - 1 - keywords.size(); }
  const PythonExpression& positional(std::size_t index) const { return items[1 + index]; }
  /// Call only: value of a keyword argument, or null.
  const PythonExpression* keyword(std::string_view name) const;
};

/// Limits that keep hostile text from eating the stack or the memory; beyond them parsing fails with TooLarge.
struct PythonLimits {
  int nesting = 200;
  std::size_t expressions = 1'000'000;
};

/// Parses expressions from a lexer that the caller also reads from; stops at the first token that is not part of one.
class PythonParser {
 public:
  explicit PythonParser(PythonLexer& lexer, PythonLimits limits = {}) : m_lexer(lexer), m_limits(limits) {}
  /// One expression without top-level commas.
  Result<PythonExpression> expression();
  /// An expression list: a Tuple if there is a comma.
  Result<PythonExpression> expressionList();

 private:
  PythonLexer& m_lexer;
  PythonLimits m_limits;
  std::size_t m_count = 0;
};

/// Parses text that is one expression (a top-level comma makes a tuple). BadInput with the line otherwise.
Result<PythonExpression> parsePythonExpression(std::string_view text, int firstLine = 1);

/// Says what a dotted name means; called only for names that are not torch constants (torch.float32, inf, nan…).
using PythonNameResolver = std::function<Result<Argument>(std::string_view name, int line)>;
/// Refuses every name: BadInput `name 'x' is not defined`.
Result<Argument> undefinedPythonName(std::string_view name, int line);
/// Says what an expression that is no literal means (a call, an operator, an index).
using PythonExpressionResolver = std::function<Result<Argument>(const PythonExpression&)>;
/// Refuses every such expression: BadInput.
Result<Argument> unsupportedPythonExpression(const PythonExpression& expression);
/// Literal to Argument: numbers (also -inf, complex), str, None, bool, tuples, lists, dicts with str keys, slices,
/// torch dtypes, layouts, memory formats, `device(type='cpu', index=0)`, `torch.device('cuda:0')`. Other dotted names
/// that start with "torch." become a PythonName.
Result<Argument> pythonToArgument(const PythonExpression& expression,
                                  const PythonNameResolver& resolveName = undefinedPythonName,
                                  const PythonExpressionResolver& resolveOther = unsupportedPythonExpression);
/// What a dotted name means everywhere: dtype, layout, memory format, inf, nan; empty for other names.
std::optional<Argument> pythonConstant(std::string_view name);
/// BadInput at a line.
std::unexpected<Error> pythonError(int line, std::string message);
/// A short text of the expression for messages ("torch.foo(…)").
std::string describePython(const PythonExpression& expression);

/// BadInput when the text has a NUL byte or is not UTF-8, with the line of the first bad byte.
Result<void> checkPythonText(std::string_view text, int firstLine = 1);

}  // namespace kerf::inline ir
