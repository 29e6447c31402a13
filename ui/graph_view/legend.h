// Legend: what the colours mean, in the corner of the view; only the kinds that occur.
#pragma once

#include <QPainter>
#include <QRect>

#include "ui/graph_view/graph_colors.h"

namespace kerf::ui::inline graph_view {

void paintLegend(QPainter& painter, const QRect& view, const Scene& scene, const ViewState& state);

}  // namespace kerf::ui::inline graph_view
