// One result that differs is enough to know that a comparison fails, and how.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <stop_token>

#include "engine/accuracy/run_results.h"
#include "engine/ir/op_caller.h"

namespace kerf::inline accuracy {

/// Both sides of a comparison, and what is known of its outputs.
struct OpenComparison {
  const GraphModule& reference;  ///< with attributes as before any run, which may be written
  const ResultNames& names;
  const ValueList& inputs;
  const RunResults& ref;
  const RunResults& res;
  const ReadyRows& open;                 ///< of those that are not close enough without fp64, without it
  const std::set<std::size_t>& settled;  ///< those that are
};

/// The fp64 reference of one output that is off by far, and of nothing else: a part of the time and memory that all of
/// them take. Its rows, if they fail and no other result can fail in a graver way than by magnitude; else nothing.
/// Cancelled if `stop` is requested; that there is no fp64 reference is no error here. `onChosen` hears which output it
/// is before the fp64 run: the values of the others are not looked at any more.
Result<std::optional<ReadyRows>> firstFailure(const OpenComparison& comparison, const OpCaller& ops,
                                              const SameOptions& options, std::stop_token stop,
                                              const std::function<void(std::size_t)>& onChosen = {});

}  // namespace kerf::inline accuracy
