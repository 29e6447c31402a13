// The mark that planted crashes and hangs must carry.
#pragma once

#include <cstdint>

namespace kerf::inline ops {

/// Random, one per process: a file that calls these ops cannot know it, and so cannot stop Kerf.
std::int64_t plantingMark();

}  // namespace kerf::inline ops
