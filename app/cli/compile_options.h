// The options that every command that compiles shares: which passes run, and with which settings.
#pragma once

#include <CLI/CLI.hpp>

#include "engine/passes/pass_config.h"

namespace kerf::cli {

void addPassOptions(CLI::App& command, PassArguments& arguments);
/// The words that say the same on another command line.
std::vector<std::string> passWords(const PassArguments& arguments);

}  // namespace kerf::cli
