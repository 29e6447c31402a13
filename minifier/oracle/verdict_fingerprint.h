// Fingerprints: the part of a failure that stays the same while the graph around it shrinks (formats A.5).
#pragma once

#include <string>
#include <string_view>

#include "engine/accuracy/same_two_models.h"
#include "engine/support/error.h"
#include "minifier/oracle/message_mask.h"

namespace kerf::inline minifier::inline oracle {

/// "compile_error:compile_failed:relu: planted …": phase, error class, masked message.
std::string errorFingerprint(std::string_view phase, const Error& error);

/// "accuracy:magnitude", ":nan", ":inf", ":shape" or ":dtype": the gravest kind among the outputs that differ. Where no
/// output does, "accuracy:mutation:magnitude" (and so on) of the values that inputs and buffers were left with; where
/// these agree too, "accuracy:alias" or "accuracy:strides". Then the op of `graph` that makes the worst of them and, of
/// magnitudes, the power of ten of its ratio to the limit: ":aten.relu.default:10^3" (AccuracyIdentity). Empty if
/// nothing differs.
std::string accuracyFingerprint(const ComparisonReport& report, const Graph& graph);

/// One line about the worst output: its name, the op that makes it and its dtype in `graph`, error and ratio to the
/// limit with its power of ten. `--match` finds them.
std::string accuracyDetail(const ComparisonReport& report, const Graph& graph);

}  // namespace kerf::inline minifier::inline oracle
