// inChild(): work of the compiled side in a process of its own, whose every end is a value or an error.
#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <string_view>
#include <utility>

#include "engine/process/isolation.h"

namespace kerf::inline process {

/// `code` naming what happened, for a child that did not finish: "compiling crashed (SIGSEGV)". Cancelled when it
/// was asked to stop.
Error errorOfEnd(const IsolatedOutcome& outcome, std::string_view doing, ErrorCode code);

/// Limits for work that a user waits for: no limit on memory, and as many threads as the parent uses.
IsolationLimits patientLimits(std::chrono::milliseconds timeout);

/// `body`'s own result. `doing` is what it does ("compiling"); `code` is that of a crash or hang.
template <class T>
Result<T> inChild(const std::function<Result<T>()>& body, const IsolationLimits& limits, std::stop_token stop,
                  std::string_view doing, ErrorCode code) {
  const std::function work = [&](const SendEvent&) { return body(); };
  KERF_TRY(auto ended, callIsolated<T>(work, limits, std::move(stop)));
  if (ended.answer) return std::move(*ended.answer);
  return fail(errorOfEnd(ended.outcome, doing, code));
}

}  // namespace kerf::inline process
