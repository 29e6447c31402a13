// What `kerf compare` prints.
#pragma once

#include "app/cli/context.h"

namespace kerf::cli {

// A comparison for people and for scripts.

Json comparisonJson(const CompareRequest& request, const Comparison& comparison);
/// `all`: also the nodes that are the same.
void printComparison(const Comparison& comparison, CompareRequest::Depth depth, bool all);

/// "same", "DIFFERENT"; NaN equals NaN, so a result that drowns in it passes: that is said.
std::string verdictText(const OutputVerdict& row);

/// A row for each output, without NaN and infinity counts.
std::string outputTable(const Comparison& comparison);

// The part of `kerf compare` that --emulate adds: what of the differences the rounding of fused kernels explains.

/// Adds "emulation" to the object of a comparison and "emulated" to each of its outputs; nothing without --emulate.
void addFusionJson(Json& object, const Comparison& comparison);
void printFusion(const Comparison& comparison);

}  // namespace kerf::cli
