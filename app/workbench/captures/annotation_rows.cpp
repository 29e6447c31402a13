#include "app/workbench/captures/annotation_rows.h"

#include "engine/ops/core/shape_conflicts.h"

namespace kerf::workbench {

std::vector<AnnotationRow> annotationRows(const GraphModule& recorded, const std::string& stage) {
  std::vector<AnnotationRow> rows;
  for (const ShapeConflict& conflict : shapeConflicts(recorded))
    rows.push_back({stage, conflict.node, conflict.op, conflict.what, conflict.recordedText(), conflict.derivedText()});
  return rows;
}

}  // namespace kerf::workbench
