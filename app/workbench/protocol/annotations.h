// Recorded values that the op of their node does not give.
#pragma once

#include <string>

#include "engine/support/fields.h"

namespace kerf::workbench {

struct AnnotationRow {
  std::string stage;               ///< graph of a compilation; empty where there is one graph
  std::string node;                ///< "add", "true_graph_0/add" in a nested graph
  std::string op;                  ///< "aten.slice_scatter.default"
  std::string what;                ///< "dtype", "shape" or "stride"
  std::string recorded, computed;  ///< "f32[4, 13, 33][33, 0, 1]"

  KERF_FIELDS(stage, node, op, what, recorded, computed)
};

}  // namespace kerf::workbench
