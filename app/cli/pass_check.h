// --check-passes and --config numeric_check.…: which pass is the first to change values.
#pragma once

#include "app/cli/context.h"
#include "app/cli/options.h"

namespace kerf::cli {

/// Which passes are checked (Inductor's fx_passes_numeric_check, for each stage).
struct PassCheckChoice {
  std::vector<std::string> stages;  ///< "pre_grad", "joint", "post_grad"; empty: none is checked
  double tolerance = 1e-3;          ///< numeric_check.precision

  bool asked() const { return !stages.empty(); }
};

/// addPassOptions, and `--check-passes`.
void addCheckedPassOptions(CLI::App& command, PassChoice& passes, PassCheckChoice& check);
/// Moves what `--config` says of numeric_check out of `passes`; BadUsage for an option that it does not have.
Result<void> takeNumericCheck(PassChoice& passes, PassCheckChoice& check);
/// What `kerf passes` is asked for it. A graph that is run with --train is checked as its joint graph.
PassesRequest checkRequest(const GraphAddress& graph, const PassChoice& passes, const PassCheckChoice& check,
                           const std::vector<std::string>& plants = {});
/// Asks it, unless nothing is checked; then PassCheckDoc::asked is false.
Result<PassCheckDoc> checkedPasses(Context& context, const PassesRequest& request);

void printPassCheck(const PassCheckDoc& check);

}  // namespace kerf::cli
