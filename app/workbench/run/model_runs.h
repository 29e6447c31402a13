// Running a graph once, and taking its outputs apart.
#pragma once

#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "engine/accuracy/own_attributes.h"
#include "engine/pipeline/compile_fx.h"
#include "engine/pipeline/dtype_module.h"
#include "engine/support/result.h"
#include "engine/tensor/value.h"

namespace kerf::workbench {

/// What one run returned and what it wrote into: placeholders and attributes by name, with the values they were left
/// with.
struct ModelRun {
  Value outputs;
  NamedValues mutated;
};

/// As runOn, with what was written.
Result<ModelRun> runWhole(const CompileOptions& options, const std::string& precision, const CastGraph& runnable,
                          std::stop_token stop);

/// Compiles and runs once, on clones of the inputs; a precision other than "native" ("upcast", "exact") is the
/// interpreter's and takes the graph as it is.
Result<Value> runOn(const CompileOptions& options, const std::string& precision, const CastGraph& runnable,
                    std::stop_token stop);

/// Outputs in order, nested tuples flattened; None stays an element.
ValueList flatOutputs(const Value& result);

}  // namespace kerf::workbench
