#include "engine/distributed/group/device_mesh.h"

namespace kerf::inline distributed::inline group {

Result<DeviceMesh> DeviceMesh::ofSizes(const Sizes& sizes) {
  DeviceMesh mesh;
  constexpr std::int64_t most = 1024;
  std::int64_t ranks = 1;
  for (const std::int64_t size : sizes) {
    if (size < 1 || size > most || ranks * size > most)
      return fail(ErrorCode::BadUsage, "a mesh of [{}] has no ranks, or more than {}", fmt::join(sizes, ", "), most);
    ranks *= size;
  }
  mesh.m_sizes = sizes;
  mesh.m_ranks = int(ranks);
  return mesh;
}

Sizes DeviceMesh::coordinate(int rank) const {
  Sizes result(m_sizes.size(), 0);
  std::int64_t rest = rank;
  for (std::size_t dim = m_sizes.size(); dim-- > 0; rest /= m_sizes[dim]) result[dim] = rest % m_sizes[dim];
  return result;
}

Group DeviceMesh::group(int rank, std::size_t dim) const {
  std::int64_t step = 1;
  for (std::size_t d = dim + 1; d < m_sizes.size(); ++d) step *= m_sizes[d];
  const std::int64_t first = rank - coordinate(rank)[dim] * step;
  Group group{fmt::format("mesh_dim_{}", dim), {}};
  for (std::int64_t i = 0; i < m_sizes[dim]; ++i) group.ranks.push_back(int(first + i * step));
  return group;
}

}  // namespace kerf::inline distributed::inline group
