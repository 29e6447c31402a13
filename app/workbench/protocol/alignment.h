// The request for an alignment: two recordings of runs as one mapping, and the first step that is wrong.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/workbench/protocol/reductions.h"
#include "engine/process/codec.h"

namespace kerf::workbench {

/// One of the two recordings.
struct AlignedSide {
  std::string path, kind;  ///< "DebugMode log", "kerf record", "safetensors"
  std::string part;        ///< "compiled", "eager" of a recording of both; empty: all of it
  int steps = 0;
  int measured = 0;  ///< steps that tell something of what they give
  std::vector<std::string> notes;

  KERF_FIELDS(path, kind, part, steps, measured, notes)
};

/// A step of one side.
struct AlignedStep {
  std::string name, op, module, source;
  std::vector<std::string> parts;  ///< ops that it stands for

  KERF_FIELDS(name, op, module, source, parts)
};

/// What the step gives when it is run in float64 on the values that the first recording has for its inputs.
struct Fp64Distance {
  std::string reference;  ///< "float64"; empty: it was not run
  double a = -1, b = -1;  ///< relative root of mean squares of each side's result from it
  bool same = false;      ///< same() accepts the second result for the first, by this reference
  std::string reason;     ///< why it does not, or why the step was not run

  KERF_FIELDS(reference, a, b, same, reason)
};

/// Steps that belong together.
struct AlignedRow {
  int pair = 0;  ///< its number in the mapping
  std::vector<AlignedStep> a, b;
  std::string role;      ///< "same", "rounding", "first", "follows", "new", "unknown"
  std::string evidence;  ///< "values", "structure", "source line", "order", "place", "name"; empty: one side alone
  std::string inputs, outputs;          ///< kinds: "equal", "rounding", "wrong", "unequal", "unknown"
  std::string inputsText, outputsText;  ///< how far they are apart
  double relative = -1;                 ///< of the results; -1: not known
  std::vector<std::int64_t> ulps;       ///< histogram of the results (BitDistance), where both have the values
  std::string cause;                    ///< why results may differ by rounding
  int reachesBack = -1;                 ///< an earlier pair from which on nothing proves that values agree
  std::string graph, node;              ///< of the step, where a graph has it: what to open and what to go to
  double own =
      -1;  ///< what the inputs' difference does not explain, where the step was run again to tell; -1: it was not
  double allowed = -1;  ///< how much of that rounding makes; both relative to the result
  Fp64Distance fp64;    ///< of the first wrong or unequal pairs, where values are recorded

  KERF_FIELDS(pair, a, b, role, evidence, inputs, outputs, inputsText, outputsText, relative, ulps, cause, reachesBack,
              graph, node, own, allowed, fp64)
};

struct AlignDoc {
  AlignedSide a, b;
  std::string verdict;  ///< "same", "rounding", "different", "unknown"
  int pairs = 0;        ///< with steps on both sides
  int same = 0, rounding = 0, wrong = 0, follows = 0, unknown = 0, onlyA = 0, onlyB = 0;
  int first = -1;         ///< pair that is the first wrong one
  int firstUnequal = -1;  ///< pair that is the first with other bits
  std::vector<AlignedRow> rows;
  std::vector<std::string> notes;
  std::string repro;                 ///< of the first wrong step alone, with the recorded values; empty: not asked for
  std::string reproSays;             ///< what the oracle finds in it: "accuracy:…"; empty: it passes, or was not judged
  std::string reproNote;             ///< why there is no repro, or no smaller one
  std::optional<Minified> minified;  ///< the smaller one

  KERF_FIELDS(a, b, verdict, pairs, same, rounding, wrong, follows, unknown, onlyA, onlyB, first, firstUnequal, rows,
              notes, repro, reproSays, reproNote, minified)
};

/// Paths of recordings; "run#eager" and "run#compiled" are the sides of a folder of `kerf record`. With `b` empty, the
/// sides of one.
struct AlignRequest {
  using Answer = AlignDoc;
  static constexpr std::string_view name = "align";
  std::string a, b;
  std::string graph;  ///< of steps that are named after its nodes; empty: what the recording has
  bool all = false;   ///< every row, not only those that matter
  /// Writes the first wrong step (with `exact`, else of none, the first with other bits) as a repro into `output`, and
  /// minifies it where the oracle sees it fail.
  bool minify = false;
  bool exact = false;
  std::string output;
  OracleSettings oracle;

  KERF_FIELDS(a, b, graph, all, minify, exact, output, oracle)
};

}  // namespace kerf::workbench
