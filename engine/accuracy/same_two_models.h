// same_two_models: run reference, fp64 reference and compiled graph on clones of the inputs and compare (formats A.3).
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/accuracy/same.h"
#include "engine/ir/graph_module.h"
#include "engine/ir/op_caller.h"

namespace kerf::inline accuracy {

/// Runs the graph under test on its own clone of the inputs.
using RunModel = std::function<Result<Value>(const ValueList& inputs)>;

struct ComparisonReport {
  bool same = false;
  bool haveFp64 = false;
  std::string fp64Note;  ///< why there is no fp64 reference
  std::string failure;   ///< the compiled side's exception, if it raised
  std::vector<OutputVerdict> outputs;

  KERF_FIELDS(same, haveFp64, fp64Note, failure, outputs)
};

struct CompareOptions {
  double tolerance = 1e-3;  ///< repro_tolerance
  bool requireFp64 = false;
  bool ignoreNonFloat = false;
  bool useFp64 = true;
  SameOptions sameOptions() const;
};

/// Copy of `module` as cast_to_fp64 makes it: prims.convert_element_type to a float type becomes float64, a float
/// `dtype=` keyword becomes float64, float attributes are converted. Positional dtypes stay, as in PyTorch, but
/// for aten.to and _assert_tensor_metadata, which only exported programs have.
Result<GraphModule> castToFp64(const GraphModule& module);
/// Deep copies; aliasing between inputs is kept; floats become fp64 if `toFp64`.
Result<ValueList> cloneInputs(const ValueList& inputs, bool toFp64);

Result<ComparisonReport> sameTwoModels(const GraphModule& reference, const OpCaller& ops, const RunModel& compiled,
                                       const ValueList& inputs, const CompareOptions& options,
                                       std::stop_token stop = {});

/// Divergence of one node between the compiled side and the interpreter, both measured against fp64.
struct NodeDivergence {
  std::string node;
  std::string target;
  bool same = true;
  double rmseRes = 0, rmseRef = 0, ratioToLimit = 0, maxAbsError = 0;
  bool firstBad = false;  ///< no input of this node is bad: the fault starts here

  KERF_FIELDS(node, target, same, rmseRes, rmseRef, ratioToLimit, maxAbsError, firstBad)
};

}  // namespace kerf::inline accuracy
