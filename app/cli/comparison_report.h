// A comparison for people and for scripts.
#pragma once

#include "app/cli/context.h"

namespace kerf::cli {

Json comparisonJson(const CompareRequest& request, const Comparison& comparison);
/// `all`: also the nodes that are the same.
void printComparison(const Comparison& comparison, CompareRequest::Depth depth, bool all);

/// A row for each output, without NaN and infinity counts.
std::string outputTable(const Comparison& comparison);

}  // namespace kerf::cli
