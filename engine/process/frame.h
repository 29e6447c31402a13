// Frame: one message between two Kerf processes: what kind it is, and its body. The same for forked children and for
// workers.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "engine/support/result.h"

namespace kerf::inline process {

/// Raised whenever a message, or a field of one, changes: both sides must have the same.
inline constexpr std::uint16_t protocolVersion = 9;

enum class FrameKind : std::uint16_t { Hello, Request, Cancel, Event, Answer, Failure, Log, Control };
constexpr FrameKind lastOf(FrameKind) { return FrameKind::Control; }

struct Frame {
  FrameKind kind = FrameKind::Hello;
  std::string body;
};

/// Magic, version, kind and length of the body, before every body.
inline constexpr std::size_t frameHeaderBytes = 16;
std::array<char, frameHeaderBytes> frameHeader(FrameKind kind, std::size_t bodyBytes);

/// Cuts a stream of bytes into frames. Memory grows with what has arrived, never with what a header promises: when an
/// eighth of a body is there, the rest has its place.
class FrameParser {
 public:
  explicit FrameParser(std::size_t mostBytes) : m_most(mostBytes) {}
  /// BadInput for bytes of something else and for another version of the protocol, TooLarge for a body over the limit.
  /// Nothing more can be read after an error.
  Result<void> feed(std::string_view bytes);
  /// The next whole frame.
  std::optional<Frame> take();
  /// Whether the stream stands between two frames.
  bool atBoundary() const { return m_header.empty(); }

 private:
  Result<void> readHeader();
  void appendToOpen(std::string_view part);

  std::size_t m_most;
  std::string m_header;
  std::size_t m_missing = 0;  ///< bytes of the open frame's body
  Frame m_open;
  std::deque<Frame> m_whole;
};

}  // namespace kerf::inline process
