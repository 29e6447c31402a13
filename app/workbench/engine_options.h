// What requests say of the engine's own two sides, as the oracle's options.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "app/workbench/protocol/accuracy_choice.h"
#include "app/workbench/protocol/job.h"
#include "app/workbench/protocol/pass_choice.h"
#include "engine/process/candidate_limits.h"
#include "minifier/oracle/engine_oracle.h"

namespace kerf::workbench {

class Workbench;

/// BadUsage naming the text that is no fault.
Result<FaultPlan> parsePlants(const std::vector<std::string>& plants);

/// BadUsage, listing what there is, for a pass or option that does not exist, and for an option of a pass that is left
/// out.
Result<PassConfig> passConfig(const PassChoice& choice);

/// From now on what passes measure (the option "benchmark") is kept in the workbench's cache. Nothing where none does.
void keepMeasurements(Workbench& bench, const PassConfig& config, const Job& job);

/// Puts `choice` into the comparison's options; BadUsage for a tolerance that is no NAME=NUMBER.
Result<void> setAccuracy(EngineOracleOptions& options, const AccuracyChoice& choice);

Result<EngineOracleOptions> engineOptions(const std::vector<std::string>& plants, const PassChoice& passes,
                                          double tolerance, std::chrono::milliseconds timeout);

/// Environment where this machine cannot run that backend's code. The memory of a child that runs code on a device is
/// not limited: so this comes after setLimits().
Result<void> setBackend(EngineOracleOptions& options, const std::string& backend);

/// Those limits that a graph in a forked child can come up against: it starts no processes and prints nothing.
void setLimits(EngineOracleOptions& options, const CandidateLimits& limits);

}  // namespace kerf::workbench
