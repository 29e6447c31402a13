// How tensors of ranks and one whole tensor belong together: by placements that are known, or told from their sizes and
// values.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/distributed/group/device_mesh.h"
#include "engine/distributed/sharding/placement.h"
#include "engine/tensor/tensor.h"

namespace kerf::inline distributed::inline replay {

/// Placements under which the ranks' sizes are those of parts of the whole: replicas before shards, first dimensions
/// before later ones. None where there are none.
std::optional<Placements> placementsOfSizes(const Sizes& whole, const std::vector<Sizes>& parts,
                                            const DeviceMesh& mesh);

/// Every rank's part of a whole tensor: of a pending sum the first rank has all, and the others zeros. ShapeMismatch for a
/// dimension that the tensor has not; UnsupportedOp for pending products.
Result<std::vector<Tensor>> partsUnder(const Tensor& whole, const Placements& placements, const DeviceMesh& mesh);

using SameTensor = std::function<bool(const Tensor& own, const Tensor& whole)>;

/// How the ranks' tensors make the whole one.
struct Fit {
  std::string placement;       ///< "R", "S(1)", "P(sum)"; "[S(0), R]" on a mesh of more dimensions; empty: in no way
  Placements placements;       ///< the same
  std::vector<int> wrong;      ///< ranks that differ; those of a pending sum that is wrong, all of them
  bool hasOtherSizes = false;  ///< what is wrong is their sizes

  bool isRight() const { return !placements.empty() && wrong.empty(); }
};
/// Under placements that are known.
Fit fitUnder(const std::vector<Tensor>& parts, const Tensor& whole, const Placements& placements,
             const DeviceMesh& mesh, const SameTensor& isSame);
/// Under those that fit best: replicas and shards whose sizes fit, then stripes of the split factors that somebody named,
/// then pending sums and means.
Fit fitOf(const std::vector<Tensor>& parts, const Tensor& whole, const DeviceMesh& mesh, const SameTensor& isSame,
          const std::set<std::int64_t>& splitFactors = {});

}  // namespace kerf::inline distributed::inline replay
