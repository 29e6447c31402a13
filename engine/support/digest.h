// MD5, SHA-256 and base64, for formats that ask for them.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace kerf::inline support {

/// 32 hex digits; empty where this machine's OpenSSL has no MD5.
std::string md5Hex(std::string_view bytes);
/// Raw, 32 bytes.
std::string sha256Bytes(std::string_view bytes);

/// The same of bytes that come in pieces.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  void add(std::string_view bytes);
  /// Raw, 32 bytes; nothing may be added after it.
  std::string bytes();

 private:
  void* m_context;
};

std::string base64(std::string_view bytes);
/// Nothing for what is no base64; white space is skipped.
std::optional<std::string> fromBase64(std::string_view text);

}  // namespace kerf::inline support
