// Recorded values that the op of their node does not give, as documents have them.
#pragma once

#include <vector>

#include "app/workbench/protocol/annotations.h"
#include "engine/ir/graph_module.h"

namespace kerf::workbench {

/// Of a graph as it was recorded, before its shapes are filled in; `stage` names it in a compilation.
std::vector<AnnotationRow> annotationRows(const GraphModule& recorded, const std::string& stage = {});

}  // namespace kerf::workbench
