// HashStream and Sha1Stream: hashes of bytes that come piece by piece.
#pragma once

#include <memory>
#include <span>
#include <string>

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

/// hex() gives what sha1Hex() gives of all pieces together. Ask once.
class Sha1Stream {
 public:
  Sha1Stream();
  ~Sha1Stream();
  Sha1Stream(const Sha1Stream&) = delete;
  Sha1Stream& operator=(const Sha1Stream&) = delete;
  void add(std::span<const std::byte> bytes);
  std::string hex();

 private:
  struct State;
  std::unique_ptr<State> m_state;
};

}  // namespace kerf::inline support
