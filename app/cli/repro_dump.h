// ReproDump: what PyTorch's TORCHDYNAMO_REPRO_LEVEL means for Kerf's own compiled side: when a repro is written, and
// which.
#pragma once

#include "app/cli/context.h"
#include "app/cli/options.h"

namespace kerf::cli {

struct ReproDump {
  /// 0 nothing; 1 a repro.py when compiling or running fails; 2 a minifier_launcher.py then; 3 that before anything
  /// runs, for crashes of the machine; 4 when the results differ, too.
  int level = 0;
  std::string folder;
};

/// --repro-level and --repro-dir. Without them $TORCHDYNAMO_REPRO_LEVEL counts where $TORCHDYNAMO_REPRO_AFTER is set (2
/// where that alone is), and $TORCH_COMPILE_DEBUG_DIR.
void addReproOptions(CLI::App& command, ReproDump& dump);

enum class FailureOfRun { None, Exception, Accuracy };

/// Level 3: before the run. Errors are those of an export.
Result<void> dumpBefore(Context& context, const ReproDump& dump, const GraphAddress& graph);
/// What the level asks for. A graph that was written there already is not written again.
Result<void> dumpAfter(Context& context, const ReproDump& dump, const GraphAddress& graph, FailureOfRun failure);

}  // namespace kerf::cli
