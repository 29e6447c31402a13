#include "app/graph_server/message_socket.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include <sys/socket.h>
#include <unistd.h>

namespace kerf::graph_server {

namespace {

/// The file descriptor that a message carries, or -1.
int fileIn(msghdr& message) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS || part->cmsg_len < CMSG_LEN(sizeof(int)))
      continue;
    int file = -1;
    std::memcpy(&file, CMSG_DATA(part), sizeof file);
    return file;
  }
  return -1;
}

}  // namespace

MessageSocket::~MessageSocket() {
  if (m_file >= 0) close(m_file);
  close(m_socket);
}

int MessageSocket::takeFile() { return std::exchange(m_file, -1); }

Result<std::size_t> MessageSocket::read(char* data, std::size_t bytes) {
  std::size_t done = 0;
  while (done < bytes) {
    iovec piece{data + done, bytes - done};
    alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int))];
    msghdr message{};
    message.msg_iov = &piece, message.msg_iovlen = 1;
    message.msg_control = room, message.msg_controllen = sizeof room;
    const auto got = recvmsg(m_socket, &message, MSG_CMSG_CLOEXEC);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(ErrorCode::Environment, "cannot read from the client: {}", std::strerror(errno));
    if (const int file = fileIn(message); file >= 0) {
      if (m_file >= 0) close(m_file);
      m_file = file;
    }
    if (got == 0 && done == 0) return 0;
    if (got == 0) return fail(ErrorCode::BadInput, "the client ended within a message");
    done += std::size_t(got);
  }
  return done;
}

Result<std::optional<std::string>> MessageSocket::receive() {
  std::uint32_t length = 0;
  KERF_TRY(const std::size_t got, read(reinterpret_cast<char*>(&length), sizeof length));
  if (got == 0) return std::optional<std::string>();
  if (length == 0 || length > mostBytes) return fail(ErrorCode::BadInput, "a message of {} bytes", length);
  std::string text(length, '\0');
  KERF_TRY(const std::size_t body, read(text.data(), text.size()));
  if (body == 0) return fail(ErrorCode::BadInput, "the client ended within a message");
  return std::optional<std::string>(std::move(text));
}

Result<void> MessageSocket::send(std::string_view text) {
  std::string frame(sizeof(std::uint32_t), '\0');
  const auto length = std::uint32_t(text.size());
  std::memcpy(frame.data(), &length, sizeof length);
  frame += text;
  for (std::size_t done = 0; done < frame.size();) {
    const auto sent = ::send(m_socket, frame.data() + done, frame.size() - done, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return fail(ErrorCode::Environment, "cannot write to the client: {}", std::strerror(errno));
    done += std::size_t(sent);
  }
  return {};
}

}  // namespace kerf::graph_server
