#include "engine/support/hash_stream.h"

#include <array>

#include <fmt/format.h>
#include <openssl/evp.h>
#include <xxhash.h>

namespace kerf::inline support {

struct HashStream::State {
  XXH3_state_t* xxh = XXH3_createState();
  ~State() { XXH3_freeState(xxh); }
};

HashStream::HashStream() : m_state(std::make_unique<State>()) { XXH3_128bits_reset(m_state->xxh); }
HashStream::~HashStream() = default;

void HashStream::add(std::span<const std::byte> bytes) {
  XXH3_128bits_update(m_state->xxh, bytes.data(), bytes.size());
}

Hash128 HashStream::finish() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(m_state->xxh);
  return {hash.high64, hash.low64};
}

struct Sha1Stream::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~State() { EVP_MD_CTX_free(context); }
};

Sha1Stream::Sha1Stream() : m_state(std::make_unique<State>()) {
  EVP_DigestInit_ex(m_state->context, EVP_sha1(), nullptr);
}
Sha1Stream::~Sha1Stream() = default;

void Sha1Stream::add(std::span<const std::byte> bytes) {
  EVP_DigestUpdate(m_state->context, bytes.data(), bytes.size());
}

std::string Sha1Stream::hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int length = 0;
  EVP_DigestFinal_ex(m_state->context, digest.data(), &length);
  std::string out;
  for (unsigned int i = 0; i < length; ++i) out += fmt::format("{:02x}", digest[i]);
  return out;
}

}  // namespace kerf::inline support
