// The fp64 reference run, as lean as it can be: inputs and attributes are converted where they are first used and freed
// after their last use, and outputs are handed over and freed as soon as they are final.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <stop_token>

#include "engine/accuracy/run_results.h"
#include "engine/ir/op_caller.h"

namespace kerf::inline accuracy {

/// Gets output `index` of the list that the graph returns.
using OnOutput = std::function<void(std::size_t index, const Value& value)>;

/// One run of `module` as cast_to_fp64 makes it. `inputs` as recorded: those that the graph may write into are
/// converted before the run (aliasing between them is kept), the others at their first use. With `onOutput`, outputs
/// that nothing writes into are handed over when they are computed, and are None in the result. Attributes in `names`
/// must be the module's own (withOwnAttributes). Outputs in `unwanted` are None too, and what only they need does not
/// run. It draws its own random numbers, so that it may run side by side with
/// another.
class Float64Run {
 public:
  static Result<Float64Run> start(const GraphModule& module, const OpCaller& ops, const ValueList& inputs,
                                  const ResultNames& names, const OnOutput& onOutput, std::stop_token stop,
                                  const std::set<std::size_t>& unwanted = {});

  /// Runs up to and including `node`, and returns its value.
  Result<Value> runTo(NodeId node);
  /// Runs the rest.
  Result<RunResults> finish();

 private:
  struct State;
  std::shared_ptr<State> m_state;
};

}  // namespace kerf::inline accuracy
