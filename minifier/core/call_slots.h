// CallSlot: one argument of a call, with what the op's schema says of it.
#pragma once

#include <functional>
#include <string>

#include "engine/ops/core/op_registry.h"

namespace kerf::inline minifier::inline core {

struct CallSlot {
  NodeId call;
  std::size_t position = 0;
  std::string keyword;  ///< empty: by position
};

/// Every argument of all calls of the graph, nested ones not counted, in order; the schema's word is null where there
/// is none.
void forEachSlot(const Graph& graph,
                 const std::function<void(const CallSlot&, const Argument&, const SchemaArgument*)>& visit);

void setArgument(Graph& graph, const CallSlot& slot, const Argument& value);

}  // namespace kerf::inline minifier::inline core
