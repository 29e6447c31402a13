#include "engine/lower/view_shapes.h"

#include "engine/symbolic/shape_env.h"

namespace kerf::inline lower {

Result<Value> ViewShapes::of(NodeId call, const BoundArguments& bound, const std::function<Value()>& base) {
  if (const auto known = m_lists.find(call); known != m_lists.end()) return known->second;
  BoundArguments asked = bound;
  asked.values[0] = base();
  KERF_TRY(Value shape, runShapeRule(asked));
  if (shape.isList() && ShapeEnv::current() == nullptr) m_lists.emplace(call, shape);  // else guards name who asks
  return shape;
}

}  // namespace kerf::inline lower
