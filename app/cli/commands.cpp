#include "app/cli/commands.h"

#include "app/cli/bench.h"

namespace kerf::cli {

namespace {

using AddCommand = void (*)(CommandLine&);
constexpr AddCommand commands[] = {
    addDemo,        addCapture, addCheck,     addImport, addLs,     addShow,    addReport,
    addJoint,       addPasses,  addPartition, addDiff,   addRun,    addCompare, addValue,
    addBisect,      addVerify,  addMinify,    addTriage, addShard,  addRanks,   addExport,
    addConformance, addOps,     addPatterns,  addBench,  addStudio, addWorker,  addStore,
};

}  // namespace

void addCommands(CommandLine& line) {
  for (const auto add : commands) add(line);
}

}  // namespace kerf::cli
