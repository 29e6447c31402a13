#include "engine/support/digest.h"

#include <array>
#include <cstdint>

#include <fmt/format.h>
#include <openssl/evp.h>

namespace kerf::inline support {

namespace {

constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<std::int8_t, 256> valuesOfLetters() {
  std::array<std::int8_t, 256> values{};
  values.fill(-1);
  for (std::size_t i = 0; i < letters.size(); ++i) values[std::uint8_t(letters[i])] = std::int8_t(i);
  return values;
}
constexpr auto letterValues = valuesOfLetters();

std::string digestOf(std::string_view bytes, const EVP_MD* kind) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int count = 0;
  if (kind == nullptr || EVP_Digest(bytes.data(), bytes.size(), digest.data(), &count, kind, nullptr) != 1) return {};
  return {reinterpret_cast<const char*>(digest.data()), count};
}

}  // namespace

std::string md5Hex(std::string_view bytes) {
  std::string hex;
  for (const char byte : digestOf(bytes, EVP_md5())) hex += fmt::format("{:02x}", std::uint8_t(byte));
  return hex;
}

std::string sha256Bytes(std::string_view bytes) { return digestOf(bytes, EVP_sha256()); }

Sha256::Sha256() : m_context(EVP_MD_CTX_new()) {
  EVP_DigestInit_ex(static_cast<EVP_MD_CTX*>(m_context), EVP_sha256(), nullptr);
}
Sha256::~Sha256() { EVP_MD_CTX_free(static_cast<EVP_MD_CTX*>(m_context)); }

void Sha256::add(std::string_view bytes) {
  EVP_DigestUpdate(static_cast<EVP_MD_CTX*>(m_context), bytes.data(), bytes.size());
}

std::string Sha256::bytes() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int count = 0;
  EVP_DigestFinal_ex(static_cast<EVP_MD_CTX*>(m_context), digest.data(), &count);
  return {reinterpret_cast<const char*>(digest.data()), count};
}

std::string base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    std::uint32_t bits = 0;
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
    for (std::size_t i = 0; i < 3; ++i) bits = bits << 8 | (i < count ? std::uint8_t(bytes[at + i]) : 0);
    for (std::size_t i = 0; i < 4; ++i) text += i <= count ? letters[bits >> (18 - 6 * i) & 63] : '=';
  }
  return text;
}

std::optional<std::string> fromBase64(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  std::uint32_t bits = 0;
  int have = 0;
  std::size_t padding = 0;
  for (const char letter : text) {
    if (letter == '\n' || letter == '\r' || letter == ' ' || letter == '\t') continue;
    if (letter == '=' && ++padding <= 2) continue;
    const int value = letterValues[std::uint8_t(letter)];
    if (value < 0 || padding > 0) return std::nullopt;
    bits = bits << 6 | std::uint32_t(value), have += 6;
    if (have < 8) continue;
    have -= 8;
    bytes += char(bits >> have & 255);
  }
  return have < 6 ? std::optional(std::move(bytes)) : std::nullopt;
}

}  // namespace kerf::inline support
