// What must hold of a graph: compiled in many ways it gives what the interpreter gives, at other sizes too, and what is
// exported comes back as it was.
#pragma once

#include <string>
#include <vector>

#include "engine/pipeline/compile_fx.h"
#include "engine/support/fields.h"
#include "minifier/core/minify.h"

namespace kerf::fuzzgraph {

struct CheckedWay {
  std::string name;  ///< "O2", "O0 unfused no passes", "O3 only cse"
  CompileOptions compile;
};

/// Every way to compile: backends, levels, fused and not, all passes as by default and with everything on, none, each
/// alone (on) and each left out.
const std::vector<CheckedWay>& allWays();
/// The default way, every pass on the interpreter, and `more` others that depend on the seed.
std::vector<const CheckedWay*> waysFor(std::uint64_t seed, int more);

struct Disagreement {
  std::string check;  ///< a way's name, "sizes", "export"
  std::string kind;   ///< "values", "strides", "aliases", "error", "hash", …
  std::string what;

  KERF_FIELDS(check, kind, what)
};

struct CheckSummary {
  std::vector<Disagreement> disagreements;
  int runs = 0;        ///< compiled runs
  int otherSizes = 0;  ///< of them at sizes that it was not compiled for
  bool haveFp64 = false;
  std::string referenceError;  ///< why the interpreter did not run it; nothing else was checked then

  KERF_FIELDS(disagreements, runs, otherSizes, haveFp64, referenceError)
};

/// Hears the check that begins.
using OnCheck = std::function<void(const std::string& check)>;

/// Runs in this process.
CheckSummary checkGraph(const Candidate& candidate, const std::vector<const CheckedWay*>& ways, const OnCheck& onCheck);

/// The exported repro, read again: the same graph, the same inputs, the same results.
std::vector<Disagreement> checkExport(const Candidate& candidate, const Value& reference);

/// One compilation at other sizes of its symbols.
std::vector<Disagreement> checkSizes(const Candidate& candidate, const CompileOptions& options, int& runs);

/// What a run leaves behind: its outputs, and its inputs as they are then.
struct RunResult {
  Value outputs;
  ValueList inputs;
};
Result<RunResult> interpreted(const GraphModule& module, const ValueList& inputs, bool toFp64);
/// Nothing where `result` is as good as `reference`, by the rule of the verdict; and as it lies in memory.
std::optional<Disagreement> disagreement(const RunResult& reference, const RunResult& result,
                                         const std::optional<RunResult>& fp64);
/// Whether each bit is the same.
bool identical(const Value& a, const Value& b);

}  // namespace kerf::fuzzgraph
