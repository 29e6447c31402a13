// Pattern expressions: what a matched place of a graph must look like, written from its result to its inputs.
//
//     callFunction("aten.relu.default"_op, {callFunction("aten.add.Tensor"_op, {keywordArg("x"), keywordArg("y")})})
//
// matches `add = aten.add.Tensor(a, b); relu = aten.relu.default(add)` where relu is the only user of add.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/ir/argument.h"
#include "engine/ir/op_id.h"

namespace kerf::inline patterns {

enum class PatternKind : std::uint8_t {
  Call,         ///< a call of one of several ops
  Keyword,      ///< any value, also a number; the replacement is given it by name
  Positional,   ///< any value; the replacement is given it by place
  Ignored,      ///< any value
  Literal,      ///< this value
  List,         ///< a list or tuple, item by item
  ListOf,       ///< a list of any length, each item of one form
  MultiOutput,  ///< several results of one pattern
  Repeated,     ///< one form, and every other place that has it with the same inputs
};

struct PatternExpr;
/// Shared: where one expression stands twice in a pattern, both places must be the same node.
using Pattern = std::shared_ptr<const PatternExpr>;
using NamedPatterns = std::vector<std::pair<std::string, Pattern>>;

/// How many users a matched call may have; none: any number. A result of the pattern may always have any number.
using UserCount = std::optional<std::size_t>;
inline constexpr UserCount anyUsers = std::nullopt;

struct PatternExpr {
  PatternKind kind = PatternKind::Ignored;
  std::vector<OpId> ops;  ///< Call
  std::vector<Pattern>
      operands;            ///< of a Call; items of List; results of MultiOutput (null: none); the one form of others
  NamedPatterns kwargs;    ///< Call
  UserCount users = 1;     ///< Call
  std::string name;        ///< Keyword
  bool exclusive = false;  ///< Keyword: no other exclusive one may stand for the same node
  bool partial = false;    ///< ListOf: some items suffice, the others are left out
  Argument literal;        ///< Literal
};

Pattern callFunction(OpId op, std::vector<Pattern> operands, NamedPatterns kwargs = {}, UserCount users = 1);
Pattern callFunction(std::vector<OpId> ops, std::vector<Pattern> operands, NamedPatterns kwargs = {},
                     UserCount users = 1);
Pattern keywordArg(std::string name, bool exclusive = false);
Pattern arg();
Pattern ignored();
Pattern literal(Argument value);
Pattern listPattern(std::vector<Pattern> items);
Pattern listOf(Pattern item, bool partial = false);
/// The first result is the one that a graph is searched for.
Pattern multiOutput(std::vector<Pattern> results);
Pattern repeatedExpr(Pattern inner);

/// The expression whose calls a graph is searched for: a call, the first result of several, the form that is repeated.
const PatternExpr& anchorOf(const PatternExpr& pattern);
/// One line per call, equal for equal patterns: "%0 = aten.add.Tensor(x, y)".
std::string patternText(const PatternExpr& pattern);
/// How many calls a pattern has.
std::size_t callCount(const PatternExpr& pattern);

}  // namespace kerf::inline patterns
