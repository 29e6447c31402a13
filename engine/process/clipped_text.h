// ClippedText: the head and the tail of a stream that may be endless.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kerf::inline process {

class ClippedText {
 public:
  /// Keeps at most `mostBytes` of the beginning and as many of the end.
  explicit ClippedText(std::size_t mostBytes) : m_most(mostBytes) {}
  ClippedText() = default;  ///< 64 KiB of either
  void add(std::string_view bytes);
  /// All bytes that came, kept or not.
  std::int64_t bytes() const { return m_bytes; }
  /// What is kept; where something is left out, a line between head and tail says how many bytes.
  std::string text() const;

 private:
  std::size_t m_most = 64 << 10;
  std::int64_t m_bytes = 0;
  std::string m_head, m_tail;
};

}  // namespace kerf::inline process
