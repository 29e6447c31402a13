// sameTwoModelsLean: a comparison of which only the answer counts.
#pragma once

#include "engine/accuracy/same_two_models.h"

namespace kerf::inline accuracy {

/// sameTwoModels with the same answer, and the same rows of results that differ, in about half of the time and memory:
/// of large comparisons that fail by magnitude only, one of these rows (early_answer.h). The fp64 reference is computed only for results that are not close enough without it (rule 5 of formats A.4), and
/// not at all where there are none. The others' rows lack the figures of it: rmseRef, rmseRes, multiplier. With
/// CompareOptions::requireFp64 it is computed for all, so that a graph without one is an error here too.
Result<ComparisonReport> sameTwoModelsLean(const GraphModule& reference, const OpCaller& ops, const RunModel& compiled,
                                           const ValueList& inputs, const CompareOptions& options,
                                           std::stop_token stop = {});

}  // namespace kerf::inline accuracy
