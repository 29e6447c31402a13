// Channel: frames over a pipe or socket that this end owns.
#pragma once

#include <chrono>
#include <mutex>
#include <string_view>

#include "engine/process/frame.h"

namespace kerf::inline process {

/// Most bytes of a message where a caller has no opinion: tensors of a run may be large.
inline constexpr std::size_t largestMessage = std::size_t{8} << 30;

class Channel {
 public:
  Channel() = default;
  /// Takes the file descriptor over.
  explicit Channel(int file, std::size_t mostBytes = largestMessage) : m_file(file), m_parser(mostBytes) {}
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  ~Channel() { close(); }

  /// Waits until all is written. Environment when the other end is gone. Several threads may send.
  Result<void> send(FrameKind kind, std::string_view body);
  /// The next frame, or nothing when none came within `time`. Environment when the other end closed (isClosed() says
  /// so), BadInput when it sends no frames. One thread may receive.
  Result<std::optional<Frame>> receive(std::chrono::milliseconds time);
  /// The other end is gone, and all that it sent was received.
  bool isClosed() const { return m_closed; }
  int file() const { return m_file; }
  void close();

 private:
  Result<void> readMore();

  int m_file = -1;
  bool m_closed = false;
  std::mutex m_sending;
  FrameParser m_parser{largestMessage};
};

}  // namespace kerf::inline process
