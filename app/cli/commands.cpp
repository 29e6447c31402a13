#include "app/cli/commands.h"

#include "app/cli/bench.h"
#include "app/cli/graphs.h"
#include "app/cli/record.h"

namespace kerf::cli {

namespace {

using AddCommand = void (*)(CommandLine&);
constexpr AddCommand commands[] = {
    addDemo,        addCapture, addCheck,     addRecord, addImport, addLs,          addShow,   addReport,
    addJoint,       addPasses,  addPartition, addDiff,   addRun,    addCompare,     addValue,  addAlign,
    addBisect,      addVerify,  addAudit,     addMinify, addTriage, addShard,       addRanks,  addExport,
    addConformance, addOps,     addPatterns,  addBench,  addStudio, addWorker,      addGraphs, addStore,
    addShare,       addCertify, addRecheck,   addMcp,    addDoctor, addCompletions, addManual,
};

}  // namespace

void addCommands(CommandLine& line) {
  for (const auto add : commands) add(line);
}

}  // namespace kerf::cli
