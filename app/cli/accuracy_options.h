// Options of the commands that judge by same(): --tol, --require-fp64, --ignore-non-fp, --only-fwd.
#pragma once

#include <CLI/CLI.hpp>

#include "app/workbench/protocol/accuracy_choice.h"

namespace kerf::cli {

/// `--tol 1e-2` for all results and, where `byName` allows it, `--tol out3=1e-2` for one; any number of them.
void addAccuracyOptions(CLI::App& command, double& tolerance, workbench::AccuracyChoice& choice, bool byName,
                        const std::string& help);

}  // namespace kerf::cli
