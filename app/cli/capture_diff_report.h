// What `kerf diff` says of two captures: compilation by compilation, graphs, guards, kernels and figures.
#pragma once

#include <string>

#include "app/cli/context.h"

namespace kerf::cli {

/// same, compiles (before, after, frame, status_before, status_after, same, graphs, guards, kernels, figures), notes.
Json captureDifferenceJson(const CaptureDifference& difference);
/// `a` and `b` name the captures; `all`: every guard, kernel and figure.
std::string captureDifferenceText(const CaptureDifference& difference, const std::string& a, const std::string& b,
                                  bool all);

}  // namespace kerf::cli
