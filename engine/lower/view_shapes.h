// ViewShapes: what a view makes of its base. A split into many parts is asked for each of them, and answers once.
#pragma once

#include <functional>
#include <unordered_map>

#include "engine/lower/value_table.h"

namespace kerf::inline lower {

class ViewShapes {
 public:
  /// What the shape rule of `call` gives for a tensor like `base`, which is the same whenever the call is.
  Result<Value> of(NodeId call, const BoundArguments& bound, const std::function<Value()>& base);

 private:
  std::unordered_map<NodeId, Value> m_lists;
};

}  // namespace kerf::inline lower
