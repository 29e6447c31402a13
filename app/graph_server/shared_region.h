// Memory that this process and its client both see.
#pragma once

#include <cstddef>
#include <memory>

#include "engine/support/result.h"

namespace kerf::graph_server {

class SharedRegion {
 public:
  /// Maps the whole of an open file. Environment where that fails, BadInput where the file is shorter than `bytes`.
  static Result<std::shared_ptr<SharedRegion>> map(int file, std::size_t bytes);
  ~SharedRegion();
  SharedRegion(const SharedRegion&) = delete;
  SharedRegion& operator=(const SharedRegion&) = delete;

  std::byte* data() const { return m_data; }
  std::size_t bytes() const { return m_bytes; }

 private:
  SharedRegion(std::byte* data, std::size_t bytes) : m_data(data), m_bytes(bytes) {}

  std::byte* m_data;
  std::size_t m_bytes;
};

}  // namespace kerf::graph_server
