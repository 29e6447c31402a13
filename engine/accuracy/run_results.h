// What one run of a graph leaves behind beside its outputs: inputs and buffers it wrote into, which output looks at
// whose memory, and strides; and the rows of a comparison that come of it.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/accuracy/same.h"
#include "engine/ir/graph_module.h"
#include "engine/ops/core/memory_writes.h"

namespace kerf::inline accuracy {

/// One run: what it returned, and the values it was given as it left them.
struct RunResults {
  Value outputs;
  ValueList inputs;                                         ///< one for each placeholder
  std::vector<std::pair<std::string, Value>> attributes{};  ///< what ResultNames::attributes names, after the run
};

/// Output `i` becomes None: what only it held is freed.
void forgetOutput(RunResults& run, std::size_t i);

/// Names of a graph's inputs and outputs, and what it writes into.
struct ResultNames {
  std::vector<std::string> inputs;      ///< of the placeholders
  std::vector<std::string> attributes;  ///< attributes that a run writes or may write into
  MemoryWrites writes;

  explicit ResultNames(const GraphModule& module);
  /// Whether a run must get a copy of input `i`; else all runs may look at the same memory.
  bool mayWrite(std::size_t i) const { return writes.placeholders[i] != MemoryWrites::Answer::No; }
  /// Whether a run may change an input or an attribute.
  bool writesAnything() const;
  /// Whether attributes[i] is written for sure.
  bool writesAttribute(std::size_t i) const;
};

/// A value that a run changed: "mutates exp_avg_3" and what is there now.
struct MutatedValue {
  std::string name;
  Value value;
};

/// Inputs and attributes that the graph writes into by its schemas, and those whose bytes differ from `before` after
/// one of `runs` (all of one graph; `before.outputs` is not looked at). Result i belongs to runs[i]; all have the same
/// names in the same order.
std::vector<std::vector<MutatedValue>> mutatedValues(const ResultNames& names, const RunResults& before,
                                                     const std::vector<const RunResults*>& runs);

/// For each output tensor, in flattened order ("out0", "out1.0"): whose memory it looks at: "in2" is named as the
/// placeholder, another output as "out0"; empty for memory of its own. Of several inputs that share memory the first.
std::vector<std::pair<std::string, std::string>> outputAliases(const ResultNames& names, const RunResults& run);

/// Rows of outputs that were compared before, by position in the list that the graph returns.
using ReadyRows = std::map<std::size_t, std::vector<OutputVerdict>>;

/// First rows of same_two_models: outputs, then "mutates NAME" where there is something to say. `fp64` may be null. Of
/// outputs in `ready` the values are not looked at.
///
/// Mutated values follow the same rule as outputs: PyTorch's AOTAutograd returns them as outputs before it copies them
/// back.
SameReport compareValues(const ResultNames& names, const RunResults& before, const RunResults& ref,
                         const RunResults& res, const RunResults* fp64, const SameOptions& options,
                         const ReadyRows& ready = {});

/// The row of an input that the compiled side wrote into though the graph does not.
OutputVerdict strayWrite(const std::string& input);

/// Its last rows: "alias outN" and "strides outN".
///
/// Aliasing must be exact: a caller that writes to one sees it in the other. Strides: Inductor keeps the recorded
/// strides of what a user sees (config.keep_output_stride; FallbackKernels assert theirs), so a difference fails,
/// except for dimensions of size 0 or 1 and empty tensors, whose strides say nothing.
std::vector<OutputVerdict> structureRows(const ResultNames& names, const RunResults& ref, const RunResults& res);

}  // namespace kerf::inline accuracy
