// runIsolated(): runs a function in a forked child with limits on time and memory, so that a crash or a hang of
// generated code is an outcome and not the end of the session.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>

#include "engine/support/result.h"

namespace kerf::inline minifier::inline oracle {

struct IsolationLimits {
  std::chrono::milliseconds timeout{10'000};  ///< wall time; the CPU limit is a second above it
  std::int64_t memoryBytes = 8LL << 30;       ///< address space the child may add to what it inherited
  bool limitResources = true;                 ///< false: only wall time counts (programs with many threads)
};

enum class IsolatedExit { Finished, Crashed, TimedOut, Cancelled };

struct IsolatedOutcome {
  IsolatedExit exit = IsolatedExit::Finished;
  std::string payload;             ///< what `body` returned, for Finished
  int signal = 0;                  ///< for Crashed by a signal, else 0
  int status = 0;                  ///< exit status of a child that ended without a payload
  std::string signalName() const;  ///< "SIGSEGV", "exit 3"
  std::chrono::nanoseconds time{};
};

/// Runs `body` in a child: one thread, no core dump, stdin/stdout/stderr on /dev/null, its own process group, killed
/// when the parent dies. Returns when it has ended; never leaves a zombie. Environment if no process can be made.
/// Thread-safe: several threads may run children at once.
Result<IsolatedOutcome> runIsolated(const std::function<std::string()>& body, const IsolationLimits& limits,
                                    std::stop_token stop = {});

}  // namespace kerf::inline minifier::inline oracle
