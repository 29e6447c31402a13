// StageCellPainter: one cell of the stage strip: title, time, nodes before and after, what changed, the verdict.
#pragma once

#include <QFont>
#include <QPainter>

#include "ui/panels/stage_cells.h"

namespace kerf::ui::inline panels {

struct StageCellLook {
  bool current = false, focused = false;
  bool times = true;  ///< they are shown
};

QFont stageTitleFont(bool bold);
QFont stageSmallFont();
/// Wide enough for what the cell says, within limits.
int stageCellWidth(const StageCell& cell, bool times);
void paintStageCell(QPainter& painter, const StageCell& cell, const QRect& rect, const StageCellLook& look);

}  // namespace kerf::ui::inline panels
