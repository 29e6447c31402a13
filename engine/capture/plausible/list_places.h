// ListPlaces: where a value stands in lists of arguments, so that a list of many values is gone through once for all of
// them. Private to engine/capture.
#pragma once

#include <unordered_map>
#include <vector>

#include "engine/ir/argument.h"

namespace kerf::inline capture {

class ListPlaces {
 public:
  /// Ascending. The list must stay where it is.
  const std::vector<std::size_t>& of(const ListArgument& list, NodeId value);
  /// Takes one of the values that all inputs together may be followed to; false when none is left.
  bool takePlace() { return m_left > 0 && m_left-- > 0; }

 private:
  std::size_t m_left = 200'000;  ///< half a second: a chain of 4,000 inputs has 8 million
  using Places = std::unordered_map<NodeId, std::vector<std::size_t>>;
  std::unordered_map<const ListArgument*, Places> m_lists;
};

}  // namespace kerf::inline capture
