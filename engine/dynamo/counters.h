// torch._dynamo.utils.counters: what programs read to see how often something was compiled.
#pragma once

#include <string>

namespace kerf::inline dynamo {

/// Adds to counters[group][what].
void countEvent(const char* group, const std::string& what, long times = 1);

}  // namespace kerf::inline dynamo
