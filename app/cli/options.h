// Options that several commands have.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "app/workbench/protocol/address.h"
#include "app/workbench/protocol/inputs.h"
#include "app/workbench/protocol/pass_choice.h"
#include "engine/process/candidate_limits.h"

namespace kerf::cli {

/// `--sym NAME=VALUE` (repeatable): values for the symbolic sizes of a graph.
void addSymbolOption(CLI::App& command, std::vector<std::string>& symbols);
/// `--inputs plausible|random|zeros|ones|FILE` and `--seed N`: what stands in for data that a capture does not have.
void addInputOptions(CLI::App& command, workbench::GraphAddress& graph);
/// "s0 = 8, s1 = 3" and a newline; empty without symbols.
std::string symbolLine(const std::vector<std::pair<std::string, std::int64_t>>& symbols);
/// `--decompositions none|core|inductor`.
CLI::Option* addDecompositionOption(CLI::App& command, std::string& table);
/// `--train` and `--decompositions` (of it): the graph with its backward part, as AOTAutograd's joint graph.
void addTrainOptions(CLI::App& command, workbench::GraphAddress& graph, const std::string& help,
                     const std::string& usualTable = "none");
/// `--plant FAULT` (repeatable).
void addPlantOption(CLI::App& command, std::vector<std::string>& plants, const std::string& help);
/// `--passes A,B,…`, `--disable-pass PASS`, `--config PASS.OPTION=VALUE`.
void addPassOptions(CLI::App& command, workbench::PassChoice& passes);
/// `--tol T`.
void addToleranceOption(CLI::App& command, double& tolerance, const std::string& help);
/// `--allow-call TARGET` (repeatable).
void addAllowCallOption(CLI::App& command, std::vector<std::string>& targets);
/// --memory-limit of one run.
void addMemoryOption(CLI::App& command, std::int64_t& bytes);
/// `--memory-limit`, `--max-file-size`: what a graph that runs may use up.
void addRunLimitOptions(CLI::App& command, CandidateLimits& limits);
/// Those, and `--max-processes`, `--max-output`, `--clean-env`, `--keep-env`, `--no-network`: of commands that judge.
void addCommandLimitOptions(CLI::App& command, CandidateLimits& limits);
/// `--timeout S`; the help shows the time that is set already, if any.
void addTimeoutOption(CLI::App& command, std::chrono::milliseconds& time, const std::string& help);

}  // namespace kerf::cli
