// Calls of an overload: valid ones, and what becomes of them when arguments are spoiled.
#pragma once

#include <optional>

#include "tests/differential/fuzzgraph/dice.h"
#include "tests/differential/wrongcalls/call_case.h"

namespace kerf::wrongcalls {

/// A call that the interpreter takes, drawn as kerf_fuzzgraph draws calls; nothing where it finds none for the seed.
std::optional<CallCase> validCall(const OpInfo& op, std::uint64_t seed);

/// The call with one argument wrong, or two.
CallCase spoiled(CallCase call, fuzzgraph::Dice& dice);

/// `count` calls of the op, the same for a seed: the first is valid where one is found, the others are spoiled.
std::vector<CallCase> wrongCalls(const OpInfo& op, std::uint64_t seed, int count);

}  // namespace kerf::wrongcalls
