// DeviceMesh: ranks laid out along dimensions, and the group of each rank along each of them.
#pragma once

#include "engine/distributed/group/communicator.h"

namespace kerf::inline distributed::inline group {

class DeviceMesh {
 public:
  DeviceMesh() = default;
  /// Ranks 0, 1, … row by row. BadUsage for sizes below one.
  static Result<DeviceMesh> ofSizes(const Sizes& sizes);

  const Sizes& sizes() const { return m_sizes; }
  std::int64_t size(std::size_t dim) const { return m_sizes[dim]; }
  std::size_t dims() const { return m_sizes.size(); }
  int ranks() const { return m_ranks; }
  /// Position of a rank along each dimension.
  Sizes coordinate(int rank) const;
  /// The ranks that differ from `rank` in dimension `dim` only, in order.
  Group group(int rank, std::size_t dim) const;
  std::string text() const { return fmt::format("[{}]", fmt::join(m_sizes, ", ")); }
  bool operator==(const DeviceMesh&) const = default;

 private:
  Sizes m_sizes;
  int m_ranks = 1;
};

}  // namespace kerf::inline distributed::inline group
