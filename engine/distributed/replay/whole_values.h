// How tensors of ranks and one whole tensor belong together, told from their sizes and values.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/distributed/sharding/placement.h"
#include "engine/tensor/tensor.h"

namespace kerf::inline distributed::inline replay {

/// R where the sizes are the same on every rank, S(d) where they are the parts of torch.chunk along d; none else.
std::optional<Placement> placementOfSizes(const Sizes& whole, const std::vector<Sizes>& parts);

using SameTensor = std::function<bool(const Tensor& own, const Tensor& whole)>;

/// How the ranks' tensors make the whole one.
struct Fit {
  std::string placement;   ///< "R", "S(1)", "P(sum)", "P(avg)"; empty: in no way
  std::vector<int> wrong;  ///< ranks that differ, where sizes alone say R or S
};
Fit fitOf(const std::vector<Tensor>& parts, const Tensor& whole, const SameTensor& isSame);

}  // namespace kerf::inline distributed::inline replay
