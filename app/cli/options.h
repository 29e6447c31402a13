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

namespace kerf::cli {

/// `--sym NAME=VALUE` (repeatable): values for the symbolic sizes of a graph.
void addSymbolOption(CLI::App& command, std::vector<std::string>& symbols);
/// `--inputs plausible|random|zeros|ones|FILE` and `--seed N`: what stands in for data that a capture does not have.
void addInputOptions(CLI::App& command, workbench::GraphAddress& graph);
/// "s0 = 8, s1 = 3" and a newline; empty without symbols.
std::string symbolLine(const std::vector<std::pair<std::string, std::int64_t>>& symbols);
/// `--plant FAULT` (repeatable).
void addPlantOption(CLI::App& command, std::vector<std::string>& plants, const std::string& help);
/// `--passes A,B,…`, `--disable-pass PASS`, `--config PASS.OPTION=VALUE`.
void addPassOptions(CLI::App& command, workbench::PassChoice& passes);
/// `--tol T`.
void addToleranceOption(CLI::App& command, double& tolerance, const std::string& help);
/// `--timeout S`; the help shows the time that is set already, if any.
void addTimeoutOption(CLI::App& command, std::chrono::milliseconds& time, const std::string& help);

}  // namespace kerf::cli
