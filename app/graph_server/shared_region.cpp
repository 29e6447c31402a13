#include "app/graph_server/shared_region.h"

#include <cerrno>
#include <cstring>

#include <sys/mman.h>
#include <sys/stat.h>

namespace kerf::graph_server {

Result<std::shared_ptr<SharedRegion>> SharedRegion::map(int file, std::size_t bytes) {
  if (bytes == 0) return std::shared_ptr<SharedRegion>(new SharedRegion(nullptr, 0));
  struct stat about{};
  if (fstat(file, &about) != 0 || std::size_t(about.st_size) < bytes)
    return fail(ErrorCode::BadInput, "the shared memory is shorter than {} bytes", bytes);
  void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (data == MAP_FAILED)
    return fail(ErrorCode::Environment, "cannot map {} bytes of shared memory: {}", bytes, std::strerror(errno));
  return std::shared_ptr<SharedRegion>(new SharedRegion(static_cast<std::byte*>(data), bytes));
}

SharedRegion::~SharedRegion() {
  if (m_data != nullptr) munmap(m_data, m_bytes);
}

}  // namespace kerf::graph_server
