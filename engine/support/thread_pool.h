// parallelFor: splits an index range over the process's worker threads; serial inside a worker and in small ranges.
#pragma once

#include <cstdint>
#include <functional>

namespace kerf::inline support {

/// Number of threads that parallelFor may use (KERF_NUM_THREADS, else the cores of this machine).
int threadCount();

/// Limits threads from now on; 1 makes everything serial (used in forked candidate processes). Values below 1 mean 1.
void setThreadCount(int count);

/// Calls body(begin, end) over disjoint sub-ranges of [0, size) that cover it, each at least `grain` long (but the
/// last). `body` must not throw. Nested calls run serially. Safe in a child made by fork(): the pool is rebuilt there.
void parallelFor(std::int64_t size, std::int64_t grain, const std::function<void(std::int64_t, std::int64_t)>& body);

}  // namespace kerf::inline support
