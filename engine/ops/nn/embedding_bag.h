// Bags: which rows of a weight each bag of embedding_bag sums, shared by the forward and backward ops.
#pragma once

#include <vector>

#include "engine/ops/core/op_call.h"

namespace kerf::inline ops {

enum class BagMode : std::uint8_t { Sum, Mean, Max };

/// Checked indices and the bag of each of them.
struct Bags {
  std::vector<std::int64_t> indices;
  std::vector<std::int64_t> offsets;  ///< start of every bag, the total not included
  std::vector<std::int64_t> bagOf;    ///< per index; -1 before the first offset

  std::int64_t count() const { return std::int64_t(offsets.size()); }
  /// Indices of bag `b` are [begin(b), end(b)).
  std::int64_t begin(std::int64_t b) const { return offsets[std::size_t(b)]; }
  std::int64_t end(std::int64_t b) const {
    return b + 1 < count() ? offsets[std::size_t(b + 1)] : std::int64_t(indices.size());
  }
};

/// Reads two int tensors. `rows`: size that indices must be below. RuntimeFailed on an index or offset out of range.
Result<Bags> readBags(const BoundArguments& args, const Tensor& indices, const Tensor& offsets, bool includeLast,
                      std::int64_t rows);
/// 0 sum, 1 mean, 2 max; ShapeMismatch otherwise.
Result<BagMode> bagMode(const BoundArguments& args, std::int64_t mode);

}  // namespace kerf::inline ops
