// Texts over a Unix socket, each behind its length, some with an open file.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/support/result.h"

namespace kerf::graph_server {

class MessageSocket {
 public:
  /// Takes the file descriptor over.
  explicit MessageSocket(int socket) : m_socket(socket) {}
  MessageSocket(const MessageSocket&) = delete;
  MessageSocket& operator=(const MessageSocket&) = delete;
  ~MessageSocket();

  /// The next text; none when the other end closed. BadInput beyond `mostBytes`.
  Result<std::optional<std::string>> receive();
  Result<void> send(std::string_view text);
  /// The open file that came with the last text, which the caller closes; -1: none.
  int takeFile();

  static constexpr std::size_t mostBytes = std::size_t{1} << 30;

 private:
  /// 0 when the other end closed before the first byte.
  Result<std::size_t> read(char* data, std::size_t bytes);

  int m_socket;
  int m_file = -1;
};

}  // namespace kerf::graph_server
