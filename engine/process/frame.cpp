#include "engine/process/frame.h"

#include <algorithm>
#include <cstring>

namespace kerf::inline process {

namespace {

constexpr std::string_view magic = "KERF";
constexpr std::size_t versionAt = 4, kindAt = 6, lengthAt = 8;
constexpr std::size_t reservedPerArrived = 8;

template <class T>
T readAt(std::string_view bytes, std::size_t at) {
  T value{};
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

}  // namespace

std::array<char, frameHeaderBytes> frameHeader(FrameKind kind, std::size_t bodyBytes) {
  std::array<char, frameHeaderBytes> header{};
  const auto length = std::uint64_t(bodyBytes);
  std::ranges::copy(magic, header.begin());
  std::memcpy(header.data() + versionAt, &protocolVersion, sizeof protocolVersion);
  std::memcpy(header.data() + kindAt, &kind, sizeof kind);
  std::memcpy(header.data() + lengthAt, &length, sizeof length);
  return header;
}

Result<void> FrameParser::readHeader() {
  if (!m_header.starts_with(magic))
    return fail(ErrorCode::BadInput, "the other process does not speak Kerf's protocol");
  const auto version = readAt<std::uint16_t>(m_header, versionAt);
  if (version != protocolVersion) {
    return fail(ErrorCode::BadInput,
                "the other process speaks version {} of the protocol and this one {}; both must be of one Kerf",
                version, protocolVersion);
  }
  const auto kind = readAt<std::uint16_t>(m_header, kindAt);
  if (kind > std::uint16_t(lastOf(FrameKind())))
    return fail(ErrorCode::BadInput, "there is no message of kind {}", kind);
  const auto length = readAt<std::uint64_t>(m_header, lengthAt);
  if (length > m_most)
    return fail(ErrorCode::TooLarge, "a message of {} bytes is over the limit of {}", length, m_most);
  m_open = {FrameKind(kind), {}};
  m_missing = std::size_t(length);
  return {};
}

void FrameParser::appendToOpen(std::string_view part) {
  std::string& body = m_open.body;
  const std::size_t whole = body.size() + m_missing;
  if (body.size() >= whole / reservedPerArrived) body.reserve(whole);
  body += part;
  m_missing -= part.size();
}

Result<void> FrameParser::feed(std::string_view bytes) {
  while (!bytes.empty() || (m_header.size() == frameHeaderBytes && m_missing == 0)) {
    if (m_header.size() < frameHeaderBytes) {
      const auto part = bytes.substr(0, frameHeaderBytes - m_header.size());
      m_header += part;
      bytes.remove_prefix(part.size());
      if (m_header.size() < frameHeaderBytes) return {};
      KERF_CHECK(readHeader());
    }
    const auto part = bytes.substr(0, m_missing);
    appendToOpen(part);
    bytes.remove_prefix(part.size());
    if (m_missing > 0) return {};
    m_whole.push_back(std::move(m_open));
    m_header.clear();
  }
  return {};
}

std::optional<Frame> FrameParser::take() {
  if (m_whole.empty()) return std::nullopt;
  auto frame = std::move(m_whole.front());
  m_whole.pop_front();
  return frame;
}

}  // namespace kerf::inline process
