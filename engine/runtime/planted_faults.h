// What planted faults do while a compiled graph runs.
#pragma once

#include "engine/runtime/program.h"

namespace kerf::inline runtime {

/// RuntimeFailed, or does not return: a real segmentation fault, or an endless loop.
Result<void> strike(const Step& step);
/// True with the given probability; a fresh draw in every process.
bool drawsFault(double probability);

float faultAmount(ResultFault fault, float flag);
enum class InPlace : std::uint8_t { No, Yes };
/// Adds `amount` to every floating tensor of a value (copies of them, unless in place).
Result<Value> addToFloats(const Value& value, float amount, InPlace inPlace);

}  // namespace kerf::inline runtime
