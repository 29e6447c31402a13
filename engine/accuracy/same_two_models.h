// same_two_models: run reference, fp64 reference and compiled graph on clones of the inputs and compare (formats A.3).
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <unordered_set>
#include <vector>

#include "engine/accuracy/run_results.h"
#include "engine/ir/graph_module.h"
#include "engine/ir/op_caller.h"

namespace kerf::inline accuracy {

/// Smallest m by which one of the graph's floating outputs is judged, as far as their shapes and dtypes are recorded; 0
/// where none is. Any graph made of this one is judged by no smaller m.
double leastMultiplierOf(const Graph& graph, const SameOptions& options);

/// Runs the graph under test on its own clone of the inputs. What it writes into the inputs, and into attributes of the
/// reference's module, is compared too; attributes get their values back afterwards.
using RunModel = std::function<Result<Value>(const ValueList& inputs)>;

struct ComparisonReport {
  bool same = false;
  bool haveFp64 = false;
  std::string fp64Note;                ///< why there is no fp64 reference
  std::string failure;                 ///< the compiled side's exception, if it raised
  std::string backwardNote{};          ///< what of run_fwd_maybe_bwd was left out; empty where nothing was
  std::vector<OutputVerdict> outputs;  ///< one for each result: outputs, mutations, aliases, strides (run_results.h)

  KERF_FIELDS(same, haveFp64, fp64Note, failure, outputs, backwardNote)
};

struct CompareOptions {
  double tolerance = 1e-3;  ///< repro_tolerance
  bool requireFp64 = false;
  bool ignoreNonFloat = false;
  bool useFp64 = true;
  bool forwardOnly = false;  ///< only_fwd: outputs that require gradients are not reduced to a scalar loss
  std::vector<std::pair<std::string, double>> tolerances{};  ///< of single results (SameOptions::tolerances)
  double leastMultiplier = 0;                                ///< SameOptions::leastMultiplier
  bool torchSame = false;                                    ///< PyTorch's answer: no SameOptions::exactSpecials
  bool exactBits = false;                                    ///< SameOptions::exactBits
  SameOptions sameOptions() const;
};

/// Copy of `module` as cast_to_fp64 makes it: prims.convert_element_type to a float type becomes float64, a float
/// `dtype=` keyword becomes float64, float attributes are converted, nested graphs too. Positional dtypes stay, as in
/// PyTorch, but for aten.to and _assert_tensor_metadata, which only exported programs have.
Result<GraphModule> castToFp64(const GraphModule& module);
/// As above, but of the module's own attributes only `attributes` are converted: the others where they are read.
Result<GraphModule> castToFp64(const GraphModule& module, const std::vector<std::string>& attributes);
/// Copy of `module` whose calls name float64 wherever they name another float type: in every position and keyword, by
/// methods (x.float()) and in nested graphs. For graphs that castToFp64, which leaves what PyTorch leaves, cannot make
/// run: a softmax with float32 at its third position meets a matmul in float64.
GraphModule withFloat64Types(const GraphModule& module);
/// Factories without a dtype that make what other calls write by out=: their dtype must become that of those results.
std::unordered_set<NodeId> untypedOuts(const Graph& graph);
/// Deep copies; aliasing between inputs is kept; floats become fp64 if `toFp64`.
Result<ValueList> cloneInputs(const ValueList& inputs, bool toFp64);

/// PyTorch's same_two_models, over everything that a run leaves behind (compareResults).
Result<ComparisonReport> sameTwoModels(const GraphModule& reference, const OpCaller& ops, const RunModel& compiled,
                                       const ValueList& inputs, const CompareOptions& options,
                                       std::stop_token stop = {});

}  // namespace kerf::inline accuracy
