// HashStream: the hash of bytes that come piece by piece.
#pragma once

#include <memory>
#include <span>

#include "engine/support/hash.h"

namespace kerf::inline support {

/// finish() gives what hashBytes() gives of all pieces together.
class HashStream {
 public:
  HashStream();
  ~HashStream();
  HashStream(const HashStream&) = delete;
  HashStream& operator=(const HashStream&) = delete;
  void add(std::span<const std::byte> bytes);
  Hash128 finish() const;

 private:
  struct State;
  std::unique_ptr<State> m_state;
};

}  // namespace kerf::inline support
