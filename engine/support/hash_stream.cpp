#include "engine/support/hash_stream.h"

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

}  // namespace kerf::inline support
