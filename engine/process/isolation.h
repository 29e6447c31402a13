// callIsolated(): runs a function in a forked child with limits on time and memory, so that a crash or a hang of
// generated code is an outcome and not the end of the session. What the child inherits need not travel; events and the
// answer come back as frames.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "engine/process/codec.h"
#include "engine/process/frame.h"
#include "engine/support/out_of_memory.h"

namespace kerf::inline process {

inline constexpr std::chrono::milliseconds noTimeLimit = std::chrono::hours(24 * 365);

struct IsolationLimits {
  std::chrono::milliseconds timeout{10'000};  ///< wall time; the CPU limit is a second above it
  std::int64_t memoryBytes = 8LL << 30;       ///< address space the child may add to what it inherited
  bool limitResources = true;                 ///< false: only wall time counts (programs with many threads)
  int threads = 1;                            ///< that parallelFor may use in the child; 0: as many as the parent
  std::int64_t fileBytes = 4LL << 30;         ///< of any one file that it writes

  KERF_FIELDS(timeout, memoryBytes, limitResources, threads, fileBytes)
};

enum class IsolatedExit { Finished, Crashed, TimedOut, Cancelled };
constexpr IsolatedExit lastOf(IsolatedExit) { return IsolatedExit::Cancelled; }

struct IsolatedOutcome {
  IsolatedExit exit = IsolatedExit::Finished;
  int signal = 0;                  ///< for Crashed by a signal, else 0
  int status = 0;                  ///< exit status of a child that ended without an answer
  std::string signalName() const;  ///< "SIGSEGV", "exit 3"
  std::chrono::nanoseconds time{};
};

/// Sends an event, in the child, while its work goes on.
using SendEvent = std::function<void(std::string_view bytes)>;
/// Gets each event, in the parent.
using OnEvent = std::function<void(std::string_view bytes)>;

/// What runIsolated leaves to its typed form below: the child's last frame, for Finished.
struct IsolatedFrame {
  IsolatedOutcome outcome;
  Frame frame;
};
Result<IsolatedFrame> runIsolated(const std::function<Frame(const SendEvent&)>& body, const IsolationLimits& limits,
                                  std::stop_token stop, const OnEvent& onEvent);

/// How a child ended, and its answer if it gave one: `answer` is set if and only if outcome.exit is Finished.
template <class T>
struct IsolatedAnswer {
  IsolatedOutcome outcome;
  std::optional<Result<T>> answer;
};

/// Runs `body` in a child: no core dump, stdin/stdout/stderr on /dev/null, its own process group, killed when the
/// parent dies. Returns when it has ended; never leaves a zombie. Environment if no process can be made. Thread-safe:
/// several threads may run children at once.
template <class T>
Result<IsolatedAnswer<T>> callIsolated(const std::function<Result<T>(const SendEvent&)>& body,
                                       const IsolationLimits& limits, std::stop_token stop = {},
                                       const OnEvent& onEvent = {}) {
  const auto encoded = [&](const SendEvent& send) -> Frame {
    Result<Frame> answer = withinMemory([&]() -> Result<Frame> {
      KERF_TRY(const T result, body(send));
      return Frame{FrameKind::Answer, encode(result)};
    });
    return answer ? std::move(*answer) : Frame{FrameKind::Failure, encode(answer.error())};
  };
  KERF_TRY(auto ended, runIsolated(encoded, limits, std::move(stop), onEvent));
  IsolatedAnswer<T> answer{std::move(ended.outcome), {}};
  if (answer.outcome.exit != IsolatedExit::Finished) return answer;
  constexpr std::string_view what = "the answer of a child process";
  if (ended.frame.kind == FrameKind::Failure) {
    KERF_TRY(auto error, decode<Error>(ended.frame.body, what));
    answer.answer = fail(std::move(error));
  } else {
    KERF_TRY(answer.answer, decode<T>(ended.frame.body, what));
  }
  return answer;
}

}  // namespace kerf::inline process
