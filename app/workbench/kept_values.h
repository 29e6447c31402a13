// KeptValues: the tensors that nodes were found to be lately, so that looking at another slice computes nothing again.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "engine/process/value_codec.h"
#include "engine/tensor/tensor.h"

namespace kerf::workbench {

/// A node's value, contiguous, with the strides that it had in its run.
struct NodeTensor {
  Tensor tensor;
  std::vector<std::int64_t> strides;

  KERF_FIELDS(tensor, strides)
};

class KeptValues {
 public:
  /// Null if it is not kept.
  const NodeTensor* find(const std::string& key) const;
  /// The oldest go when there is more than `mostBytes`.
  void keep(std::string key, NodeTensor value);

 private:
  static constexpr std::int64_t mostBytes = 512LL << 20;
  std::deque<std::pair<std::string, NodeTensor>> m_values;  ///< the newest last
};

}  // namespace kerf::workbench
