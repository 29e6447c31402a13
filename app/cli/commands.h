// The table of subcommands.
#pragma once

#include "app/cli/command_line.h"

namespace kerf::cli {

/// Registers every subcommand, in the order in which `kerf --help` lists them.
void addCommands(CommandLine& line);

void addAlign(CommandLine& line);
void addAudit(CommandLine& line);
void addBisect(CommandLine& line);
void addCapture(CommandLine& line);
void addCertify(CommandLine& line);
void addCheck(CommandLine& line);
void addCompare(CommandLine& line);
void addCompletions(CommandLine& line);
void addConformance(CommandLine& line);
void addDemo(CommandLine& line);
void addDiff(CommandLine& line);
void addDoctor(CommandLine& line);
void addExport(CommandLine& line);
void addImport(CommandLine& line);
void addJoint(CommandLine& line);
void addLs(CommandLine& line);
void addManual(CommandLine& line);
void addMcp(CommandLine& line);
void addMinify(CommandLine& line);
void addOps(CommandLine& line);
void addPartition(CommandLine& line);
void addPasses(CommandLine& line);
void addPatterns(CommandLine& line);
void addRanks(CommandLine& line);
void addRecheck(CommandLine& line);
void addReport(CommandLine& line);
void addRun(CommandLine& line);
void addShard(CommandLine& line);
void addShare(CommandLine& line);
void addShow(CommandLine& line);
void addStore(CommandLine& line);
void addStudio(CommandLine& line);
void addTriage(CommandLine& line);
void addValue(CommandLine& line);
void addVerify(CommandLine& line);
void addWorker(CommandLine& line);

}  // namespace kerf::cli
