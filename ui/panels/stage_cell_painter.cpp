#include "ui/panels/stage_cell_painter.h"

#include <algorithm>

#include "ui/models/format.h"
#include "ui/models/theme.h"

namespace kerf::ui::inline panels {
namespace {

constexpr int tickWidth = 9, leastWidth = 74, mostWidth = 280, inset = 8, between = 6;

/// "479 → 470", "23 kernels", "?" for a graph that cannot be read.
QString sizeText(const StageCell& cell) {
  if (cell.kernels >= 0) return plural(cell.kernels, "kernel");
  if (cell.nodes < 0) return "?";
  if (cell.nodesBefore < 0 || cell.nodesBefore == cell.nodes) return formatCount(cell.nodes);
  return formatCount(cell.nodesBefore) + " → " + formatCount(cell.nodes);
}

QColor partColor(const StageCell& cell) {
  if (cell.part == "backward") return theme().warn;
  return cell.part == "forward" ? theme().accent : theme().faint;
}

void paintTick(QPainter& painter, const QRect& rect, bool current) {
  painter.setPen(Qt::NoPen);
  painter.setBrush(current ? theme().accent : blend(theme().faint, theme().base, 0.45));
  painter.drawRoundedRect(QRectF(rect).adjusted(2, 8, -2, -8), 2, 2);
}

struct ColoredText {
  QString text;
  QColor color;
};

/// What stands below a cell's title: its size, and what changed.
std::vector<ColoredText> countsBelow(const StageCell& cell) {
  const auto& counts = cell.counts;
  std::vector<ColoredText> parts{{sizeText(cell), theme().muted}};
  if (counts.added > 0) parts.push_back({"+" + formatCount(counts.added), theme().good});
  if (counts.removed > 0) parts.push_back({"−" + formatCount(counts.removed), theme().bad});
  if (const int other = counts.rewritten + counts.changed; other > 0)
    parts.push_back({"~" + formatCount(other), theme().warn});
  if (cell.changed && !*cell.changed) parts.push_back({"=", theme().muted});
  return parts;
}

void paintCounts(QPainter& painter, const StageCell& cell, const QRect& area) {
  painter.setFont(stageSmallFont());
  const QFontMetrics metrics(stageSmallFont());
  int x = area.left();
  for (const auto& [text, color] : countsBelow(cell)) {
    if (x >= area.right()) return;
    painter.setPen(color);
    painter.drawText(QRect(x, area.top(), area.right() - x + 1, area.height()), Qt::AlignLeft | Qt::AlignVCenter, text);
    x += metrics.horizontalAdvance(text) + between;
  }
}

void paintVerdict(QPainter& painter, const StageCell& cell, const QRect& rect) {
  using Verdict = StageCell::Verdict;
  if (cell.verdict == Verdict::Unknown) return;
  const bool same = cell.verdict == Verdict::Same;
  const auto color = same ? theme().good : cell.verdict == Verdict::Different ? theme().bad : theme().faint;
  const QRectF mark(rect.right() - 19, rect.top() + 4, 14, 14);
  painter.setPen(Qt::NoPen);
  painter.setBrush(color);
  painter.drawEllipse(mark);
  QFont font = stageSmallFont();
  font.setBold(true);
  painter.setFont(font);
  painter.setPen(theme().base);
  painter.drawText(mark, Qt::AlignCenter, same ? "✓" : cell.verdict == Verdict::Different ? "✗" : "–");
}

}  // namespace

QFont stageTitleFont(bool bold) {
  QFont font = interfaceFont();
  font.setPixelSize(12);
  font.setBold(bold);
  return font;
}

QFont stageSmallFont() {
  QFont font = interfaceFont();
  font.setPixelSize(11);
  return font;
}

int stageCellWidth(const StageCell& cell, bool times) {
  if (cell.tick) return tickWidth;
  const QFontMetrics title(stageTitleFont(true)), small(stageSmallFont());
  int below = 0;
  for (const auto& part : countsBelow(cell)) below += small.horizontalAdvance(part.text) + between;
  const auto time = times && cell.milliseconds >= 0 ? formatMilliseconds(cell.milliseconds) : QString();
  const int above =
      title.horizontalAdvance(cell.title) + (time.isEmpty() ? 0 : 10 + small.horizontalAdvance(time)) + 16;
  return std::clamp(std::max(above, below) + 2 * inset, leastWidth, mostWidth);
}

void paintStageCell(QPainter& painter, const StageCell& cell, const QRect& rect, const StageCellLook& look) {
  const auto [current, focused, times] = look;
  if (cell.tick) return paintTick(painter, rect, current);
  const bool quiet = cell.changed && !*cell.changed;
  const auto frame = QRectF(rect).adjusted(0.5, 0.5, -0.5, -0.5);
  painter.setPen(QPen(current ? theme().accent : theme().edge, focused ? 2 : 1));
  painter.setBrush(current ? theme().selection : quiet ? theme().base : theme().raised);
  painter.drawRoundedRect(frame, 5, 5);
  painter.setPen(Qt::NoPen);
  painter.setBrush(partColor(cell));
  painter.drawRoundedRect(QRectF(rect.left() + 3, rect.top() + 6, 2.5, rect.height() - 12), 1, 1);
  const auto inner = rect.adjusted(inset + 2, 3, -inset, -3);
  const QRect above(inner.left(), inner.top(), inner.width(), inner.height() / 2);
  const QRect below(inner.left(), above.bottom() + 1, inner.width(), inner.height() - above.height() - 1);
  int room = above.width() - (cell.verdict == StageCell::Verdict::Unknown ? 0 : 16);
  if (const auto time = times && cell.milliseconds >= 0 ? formatMilliseconds(cell.milliseconds) : QString();
      !time.isEmpty()) {
    painter.setFont(stageSmallFont());
    painter.setPen(theme().muted);
    painter.drawText(above.adjusted(0, 0, room - above.width(), 0), Qt::AlignRight | Qt::AlignVCenter, time);
    room -= QFontMetrics(stageSmallFont()).horizontalAdvance(time) + 8;
  }
  painter.setFont(stageTitleFont(current));
  painter.setPen(quiet && !current ? theme().muted : theme().text);
  painter.drawText(above, Qt::AlignLeft | Qt::AlignVCenter,
                   QFontMetrics(stageTitleFont(current)).elidedText(cell.title, Qt::ElideRight, room));
  paintCounts(painter, cell, below);
  paintVerdict(painter, cell, rect);
}

}  // namespace kerf::ui::inline panels
