#include "engine/process/channel.h"

#include <array>
#include <cerrno>
#include <cstring>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace kerf::inline process {

namespace {

constexpr std::size_t readBytes = 1 << 16;

/// send() so that a reader who is gone is an error and not a signal; write() for pipes.
ssize_t put(int file, const char* data, std::size_t size) {
  const auto sent = ::send(file, data, size, MSG_NOSIGNAL);
  return sent < 0 && errno == ENOTSOCK ? ::write(file, data, size) : sent;
}

Result<void> writeAll(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = put(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return fail(ErrorCode::Environment, "the other process is gone: {}", std::strerror(errno));
    bytes.remove_prefix(std::size_t(written));
  }
  return {};
}

}  // namespace

Result<void> Channel::send(FrameKind kind, std::string_view body) {
  const std::scoped_lock lock(m_sending);
  const auto header = frameHeader(kind, body.size());
  KERF_CHECK(writeAll(m_file, {header.data(), header.size()}));
  return writeAll(m_file, body);
}

Result<std::optional<Frame>> Channel::receive(std::chrono::milliseconds time) {
  const auto deadline = std::chrono::steady_clock::now() + time;
  for (;;) {
    if (auto frame = m_parser.take()) return frame;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd wait{m_file, POLLIN, 0};
    const int ready = ::poll(&wait, 1, std::max(0, int(left.count())));
    if (ready == 0) return std::nullopt;
    if (ready > 0) KERF_CHECK(readMore());
  }
}

Result<void> Channel::readMore() {
  std::array<char, readBytes> buffer;
  const auto count = ::read(m_file, buffer.data(), buffer.size());
  if (count < 0 && errno == EINTR) return {};
  if (count > 0) return m_parser.feed({buffer.data(), std::size_t(count)});
  m_closed = true;
  return fail(ErrorCode::Environment, "the other process closed its end{}",
              m_parser.atBoundary() ? "" : " in the middle of a message");
}

void Channel::close() {
  if (m_file >= 0) ::close(m_file);
  m_file = -1;
}

}  // namespace kerf::inline process
