#include "app/cli/commands.h"

#include "app/cli/bench.h"

namespace kerf::cli {

namespace {

using AddCommand = void (*)(CommandLine&);
constexpr AddCommand commands[] = {
    addDemo,   addImport, addLs,     addShow,        addPasses, addDiff,  addRun,    addCompare,
    addBisect, addMinify, addExport, addConformance, addOps,    addBench, addStudio, addWorker,
};

}  // namespace

void addCommands(CommandLine& line) {
  for (const auto add : commands) add(line);
}

}  // namespace kerf::cli
