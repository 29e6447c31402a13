// TorchTraceFollower: a TORCH_TRACE log (or folder of logs) that PyTorch is still writing, read as it grows.
#pragma once

#include <memory>

#include "engine/capture/common/capture.h"

namespace kerf::inline capture {

/// Open once, then poll: every call reads only what was written since. Not thread-safe. Example:
///   KERF_TRY(auto follower, TorchTraceFollower::open("trace/"));
///   while (running) { KERF_TRY(auto fresh, follower.poll()); if (fresh > 0) show(follower.capture()); sleep(…); }
class TorchTraceFollower {
 public:
  /// A log, which may be empty so far, or a folder, whose logs may appear later. Reads nothing yet. NotFound if the
  /// path is absent, BadInput for a compressed log (those do not grow).
  static Result<TorchTraceFollower> open(const std::filesystem::path& path, const ImportLimits& limits = {});
  TorchTraceFollower(TorchTraceFollower&&) noexcept;
  TorchTraceFollower& operator=(TorchTraceFollower&&) noexcept;
  ~TorchTraceFollower();

  /// Appends the records that became whole since the last call; how many. A record is whole when its line has ended
  /// and either it has no payload, the payload matches its checksum, or the next record has begun. BadInput if a log
  /// became shorter or holds something else.
  Result<std::size_t> poll();
  /// Takes what is left (the last record's payload as far as it is there); for a log that will not grow any more.
  Result<std::size_t> finish();
  /// Everything read so far; changes with the next poll. Names of graphs may become longer when a second one of the
  /// same kind appears; indices stay.
  const Capture& capture() const;
  /// A copy that later polls leave alone.
  Capture snapshot() const;

 private:
  struct State;
  explicit TorchTraceFollower(std::unique_ptr<State> state);
  std::unique_ptr<State> m_state;
};

}  // namespace kerf::inline capture
