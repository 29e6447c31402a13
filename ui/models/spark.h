// Sparks: a histogram so small that it fits a card or a line of text, and what is said beside it.
#pragma once

#include <QImage>
#include <QRectF>
#include <QString>

#include "ui/session/documents.h"

class QPainter;

namespace kerf::ui::inline models {

/// Bars grow with the logarithm of the count; zero has a tick, where the values are on both sides of it.
void paintSpark(QPainter& painter, const QRectF& area, const workbench::ValueFigures& figures);
QImage sparkImage(const workbench::ValueFigures& figures, const QSize& size, double pixelRatio);

/// "-1.2 … 3.4"; "2" where all are alike.
QString rangeText(const workbench::ValueFigures& figures, int digits = 4);
/// "3 NaN, 1 +inf"; empty where all are finite.
QString oddText(const workbench::ValueFigures& figures);

}  // namespace kerf::ui::inline models
