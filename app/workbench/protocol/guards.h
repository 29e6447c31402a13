// Guards: the symbolic sizes of a graph and the conditions under which its shapes hold, derived here and recorded by
// PyTorch.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/workbench/protocol/address.h"
#include "app/workbench/protocol/job.h"

namespace kerf::workbench {

/// Both ends belong to a range; none: no bound.
struct RangeDoc {
  std::optional<std::int64_t> lower, upper;

  KERF_FIELDS(lower, upper)
  bool operator==(const RangeDoc&) const = default;
};

/// A symbol as the log says it was made.
struct RecordedSymbolDoc {
  std::optional<std::int64_t> value;
  RangeDoc range;
  std::string source, where;  ///< "L['x'].size()[0]"; "file.py:12 in forward"

  KERF_FIELDS(value, range, source, where)
};

struct ShapeSymbolDoc {
  std::string name;
  std::optional<std::int64_t> value, given;  ///< recorded; by the address
  RangeDoc range;                            ///< with what the guards say of it
  std::string source;
  bool unbacked = false;  ///< known only when the graph runs
  bool fits = true;       ///< the given value is in the range
  std::vector<RecordedSymbolDoc> recorded;

  KERF_FIELDS(name, value, given, fits, unbacked, range, source, recorded)
};

/// A condition under which the shapes of the graph hold.
struct ShapeGuardDoc {
  std::string expression, node, where, reason;  ///< where: "model.py:12"
  bool deferred = false;                        ///< a runtime assert: assumed, not decided
  bool recorded = false;                        ///< the log has it too
  bool holds = true;                            ///< for the values that the address gave

  KERF_FIELDS(expression, node, where, reason, deferred, recorded, holds)
};

struct RecordedGuardDoc {
  /// Derived: the same condition; Implied: it follows from ranges and guards; NotDerived: it does not; Contradicted: it
  /// is known to be false; OtherGraph: it has symbols that this graph lacks; Unread: no expression.
  enum class Match { Derived, Implied, NotDerived, Contradicted, OtherGraph, Unread };
  std::string expression, kind, reason, where;  ///< kind: of the record, "guard_added_fast"
  int line = 0;                                 ///< in the log
  Match match = Match::NotDerived;

  KERF_FIELDS(expression, match, kind, reason, line, where)
};
constexpr RecordedGuardDoc::Match lastOf(RecordedGuardDoc::Match) { return RecordedGuardDoc::Match::Unread; }
/// "derived", "implied", "not derived", "contradicted", "other symbols", "unread".
std::string_view matchName(RecordedGuardDoc::Match match);

/// A symbol that guards fixed to a number (specialisation) or to an expression of others (replacement).
struct ReplacementDoc {
  std::string symbol, value, guard, node, where;

  KERF_FIELDS(symbol, value, guard, node, where)
};

/// Inputs whose sizes are the same expression: a guard says that they are equal.
struct DuplicateShapeDoc {
  std::string expression;
  std::vector<std::string> places;  ///< "x.size()[0]"

  KERF_FIELDS(expression, places)
};

struct GuardsDoc {
  std::string title, compileId;
  std::vector<ShapeSymbolDoc> symbols;
  std::vector<ShapeGuardDoc> guards;
  std::vector<RecordedGuardDoc> recorded;
  std::vector<ReplacementDoc> specialisations, replacements;
  std::vector<DuplicateShapeDoc> duplicates;
  std::vector<std::string> notes;

  KERF_FIELDS(title, compileId, symbols, guards, recorded, specialisations, replacements, duplicates, notes)
};
using GuardsDocPtr = std::shared_ptr<const GuardsDoc>;

/// Shapes are propagated at the recorded sizes; values that the address gives are checked against the guards.
struct GuardsRequest {
  using Answer = GuardsDocPtr;
  static constexpr std::string_view name = "guards";
  GraphAddress graph;

  KERF_FIELDS(graph)
};

/// "2 to 16", ">= 2", "any": a range for people.
std::string rangeText(const RangeDoc& range);

}  // namespace kerf::workbench
