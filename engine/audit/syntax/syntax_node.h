// SyntaxNode: one expression or statement of the Python that Inductor writes, or of the C++ in its kernels.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kerf::inline audit {

enum class SyntaxKind : std::uint8_t {
  Name,        ///< text
  Number,      ///< text as written: "16L", "1e-05"
  Text,        ///< a string literal, its content
  Call,        ///< items[0] is called with the rest
  Member,      ///< items[0].text
  Item,        ///< items[0][items[1], …]
  Tuple,       ///< of either kind of bracket
  Unary,       ///< text is the operator
  Binary,      ///< text is the operator
  Choice,      ///< items: condition, then, else
  Slice,       ///< a:b:c and what has no form of its own
  Lambda,      ///< items: statements
  Block,       ///< items: statements
  Assign,      ///< items: target, value; text: the declared type, if it is a declaration
  Update,      ///< target op= value; text is the operator
  Declare,     ///< items: name, and sizes of an array; text: the type
  Expression,  ///< text is "@" for a decorator
  Return,
  Delete,
  For,     ///< Python: target, iterable, block. C++: start, condition, step, block
  If,      ///< condition, block, else block
  With,    ///< item, block
  Define,  ///< text: the name; items: parameters as a tuple, block
  Class,   ///< text: the name; items: block
  Pragma,  ///< text
  Import,
  Unknown,  ///< text: why it could not be read
};

struct SyntaxNode {
  SyntaxKind kind = SyntaxKind::Unknown;
  std::string text;
  std::vector<SyntaxNode> items;
  std::vector<std::string> keywords;  ///< of a call: one for each argument, empty for positional ones
  int line = 0;                       ///< 1-based, in the text that was read
  int depth = 0;                      ///< of an expression: of those inside of each other

  bool is(SyntaxKind other) const { return kind == other; }
  bool isName(std::string_view name) const { return kind == SyntaxKind::Name && text == name; }
  std::size_t argumentCount() const { return items.empty() ? 0 : items.size() - 1; }
  /// An empty node where there are fewer.
  const SyntaxNode& argument(std::size_t i) const { return i < argumentCount() ? items[i + 1] : missing(); }
  const SyntaxNode* keyword(std::string_view name) const;
  static const SyntaxNode& missing();
  /// "torch.ops.aten.mm.default" of names and members; empty for anything else.
  std::string dotted() const;
  /// The callee's dotted(), of a call.
  std::string callee() const { return kind == SyntaxKind::Call && !items.empty() ? items[0].dotted() : std::string(); }
  /// The value of an integer literal, with a sign before it or not.
  std::optional<std::int64_t> integer() const;
};

/// What a text may have: what is beyond is an Unknown, never a crash.
struct SyntaxLimits {
  std::size_t bytes = std::size_t{64} << 20;
  int nesting = 150;
  int depth = 1000;  ///< of an expression: a sum of so many terms
};

/// The statements of a Python text, as a block.
SyntaxNode readPython(std::string_view text, const SyntaxLimits& limits = {});
/// The statements of a C++ text (functions, loops, declarations), as a block; `#include` lines are passed over.
SyntaxNode readCpp(std::string_view text, const SyntaxLimits& limits = {});

}  // namespace kerf::inline audit
