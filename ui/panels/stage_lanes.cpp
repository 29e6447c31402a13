#include "ui/panels/stage_lanes.h"

#include <algorithm>

#include <QAccessible>
#include <QHelpEvent>
#include <QMouseEvent>
#include <QToolTip>

#include "ui/models/theme.h"
#include "ui/panels/stage_cell_painter.h"

namespace kerf::ui::inline panels {
namespace {

constexpr int laneHeight = 42, titleWidth = 92, gap = 14, tickGap = 4, laneInset = 8;

}  // namespace

StageLanes::StageLanes(QWidget* parent) : QWidget(parent) {
  setObjectName("stageLanes");
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  setAccessibleName(tr("Stages"));
}

QSize StageLanes::sizeHint() const { return {600, laneHeight * std::max(1, int(m_lanes.size())) + 6}; }

QSize StageLanes::minimumSizeHint() const { return {200, sizeHint().height()}; }

void StageLanes::setTimesVisible(bool visible) {
  m_times = visible;
  arrange();
  update();
}

void StageLanes::setLanes(std::vector<StageLane> lanes) {
  const bool grown = lanes.size() != m_lanes.size();
  const auto [lane, code] = m_code;
  const bool there = lane >= 0 && lane < int(lanes.size()) && code < int(lanes[std::size_t(lane)].cells.size()) &&
                     lanes[std::size_t(lane)].cells[std::size_t(code)].record >= 0 && !grown &&
                     lanes[std::size_t(lane)].current == m_lanes[std::size_t(lane)].current;
  if (!there) m_code = {-1, -1};
  m_lanes = std::move(lanes);
  m_lane = std::clamp(m_lane, 0, std::max(0, int(m_lanes.size()) - 1));
  m_offset.resize(m_lanes.size(), 0);
  arrange();
  if (grown) updateGeometry();
  update();
}

void StageLanes::arrange() {
  m_slots.assign(m_lanes.size(), {});
  for (std::size_t i = 0; i < m_lanes.size(); ++i) {
    int x = 0;
    const auto& cells = m_lanes[i].cells;
    for (std::size_t k = 0; k < cells.size(); ++k) {
      const bool close = k > 0 && cells[k].tick && cells[k - 1].tick;
      if (k > 0) x += close ? tickGap : gap;
      m_slots[i].push_back({x, stageCellWidth(cells[k], m_times)});
      x += m_slots[i].back().width;
    }
  }
  reveal();
}

/// The cell where the user is; -1: none.
int StageLanes::position(int lane) const {
  return lane == m_code.first ? m_code.second : m_lanes[std::size_t(lane)].current;
}

/// Scrolls each lane just so far that what is current is seen with its neighbours.
void StageLanes::reveal() {
  const int room = width() - titleWidth - laneInset;
  for (std::size_t i = 0; i < m_lanes.size(); ++i) {
    const auto& cells = m_slots[i];
    const int end = cells.empty() ? 0 : cells.back().left + cells.back().width;
    const int current = position(int(i));
    if (current >= 0 && current < int(cells.size())) {
      const auto& slot = cells[std::size_t(current)];
      constexpr int beside = 60;
      m_offset[i] = std::min(m_offset[i], std::max(0, slot.left - beside));
      m_offset[i] = std::max(m_offset[i], slot.left + slot.width + beside - room);
    }
    m_offset[i] = std::clamp(m_offset[i], 0, std::max(0, end - room));
  }
}

QRect StageLanes::cellRect(int lane, int cell) const {
  if (lane < 0 || lane >= int(m_slots.size()) || cell < 0 || cell >= int(m_slots[std::size_t(lane)].size())) return {};
  const auto& slot = m_slots[std::size_t(lane)][std::size_t(cell)];
  return {titleWidth + slot.left - m_offset[std::size_t(lane)], 4 + lane * laneHeight, slot.width, laneHeight - 5};
}

std::pair<int, int> StageLanes::cellAt(const QPoint& point) const {
  if (point.x() < titleWidth) return {-1, -1};
  for (int lane = 0; lane < int(m_slots.size()); ++lane)
    for (int cell = 0; cell < int(m_slots[std::size_t(lane)].size()); ++cell)
      if (cellRect(lane, cell).adjusted(-2, 0, 2, 0).contains(point)) return {lane, cell};
  return {-1, -1};
}

void StageLanes::pick(int lane, int cell) {
  m_lane = lane;
  m_code = m_lanes[std::size_t(lane)].cells[std::size_t(cell)].record >= 0 ? std::pair(lane, cell) : std::pair(-1, -1);
  reveal();
  update();
  emit cellPicked(lane, cell);
  QAccessibleEvent changed(this, QAccessible::DescriptionChanged);
  setAccessibleDescription(spoken(m_lanes[std::size_t(lane)].cells[std::size_t(cell)]));
  QAccessible::updateAccessibility(&changed);
}

QString StageLanes::spoken(const StageCell& cell) const {
  return QString(cell.part + " " + cell.title + ", " + cell.tip).trimmed().replace('\n', ", ");
}

void StageLanes::step(int offset) {
  if (m_lane >= int(m_lanes.size())) return;
  const auto& lane = m_lanes[std::size_t(m_lane)];
  for (int at = position(m_lane) + offset; at >= 0 && at < int(lane.cells.size()); at += offset)
    if (!lane.cells[std::size_t(at)].tick) return pick(m_lane, at);
}

void StageLanes::jump(bool end) {
  if (m_lane >= int(m_lanes.size()) || m_lanes[std::size_t(m_lane)].cells.empty()) return;
  const auto& cells = m_lanes[std::size_t(m_lane)].cells;
  int at = end ? int(cells.size()) - 1 : 0;
  while (end && at > 0 && cells[std::size_t(at)].tick) --at;
  pick(m_lane, at);
}

void StageLanes::keyPressEvent(QKeyEvent* event) {
  const auto lanes = int(m_lanes.size());
  switch (event->key()) {
    case Qt::Key_Left:
      return step(-1);
    case Qt::Key_Right:
      return step(1);
    case Qt::Key_Home:
      return jump(false);
    case Qt::Key_End:
      return jump(true);
    case Qt::Key_Up:
    case Qt::Key_Down:
      m_lane = std::clamp(m_lane + (event->key() == Qt::Key_Down ? 1 : -1), 0, std::max(0, lanes - 1));
      return update();
    default:
      return QWidget::keyPressEvent(event);
  }
}

void StageLanes::mousePressEvent(QMouseEvent* event) {
  const auto [lane, cell] = cellAt(event->position().toPoint());
  if (event->button() == Qt::LeftButton && cell >= 0) pick(lane, cell);
}

void StageLanes::wheelEvent(QWheelEvent* event) {
  const int lane = (int(event->position().y()) - 4) / laneHeight;
  if (lane < 0 || lane >= int(m_slots.size()) || m_slots[std::size_t(lane)].empty()) return;
  const auto& last = m_slots[std::size_t(lane)].back();
  const int most = std::max(0, last.left + last.width - (width() - titleWidth - laneInset));
  auto& offset = m_offset[std::size_t(lane)];
  offset = std::clamp(offset - (event->angleDelta().y() + event->angleDelta().x()) / 2, 0, most);
  update();
  event->accept();
}

void StageLanes::resizeEvent(QResizeEvent*) { reveal(); }
void StageLanes::focusInEvent(QFocusEvent*) { update(); }
void StageLanes::focusOutEvent(QFocusEvent*) { update(); }

bool StageLanes::event(QEvent* event) {
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::StyleChange) update();
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const auto [lane, cell] = cellAt(help->pos());
  if (cell < 0) return QToolTip::hideText(), true;
  const auto& shown = m_lanes[std::size_t(lane)].cells[std::size_t(cell)];
  const auto verdict = verdictText(shown.verdict);
  QToolTip::showText(help->globalPos(), verdict.isEmpty() ? shown.tip : shown.tip + "\n" + verdict, this);
  return true;
}

void StageLanes::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), theme().base);
  painter.setRenderHint(QPainter::Antialiasing);
  for (int lane = 0; lane < int(m_lanes.size()); ++lane) paintLane(painter, lane);
  if (!m_lanes.empty()) return;
  painter.setFont(stageTitleFont(false));
  painter.setPen(theme().muted);
  painter.drawText(rect().adjusted(12, 0, -12, 0), Qt::AlignVCenter, tr("The stages of an opened graph appear here."));
}

void StageLanes::paintLane(QPainter& painter, int lane) const {
  const auto& shown = m_lanes[std::size_t(lane)];
  const bool here = hasFocus() && lane == m_lane;
  const QRect row(0, 4 + lane * laneHeight, width(), laneHeight - 5);
  painter.setFont(stageTitleFont(true));
  painter.setPen(here ? theme().accent : theme().muted);
  painter.drawText(QRect(12, row.top(), titleWidth - 16, row.height()), Qt::AlignVCenter | Qt::TextWordWrap,
                   shown.title);
  painter.save();
  painter.setClipRect(QRect(titleWidth - 3, row.top() - 3, width() - titleWidth, row.height() + 6));
  if (shown.cells.empty()) {
    painter.setFont(stageTitleFont(false));
    painter.setPen(theme().muted);
    painter.drawText(row.adjusted(titleWidth + 4, 0, 0, 0), Qt::AlignVCenter, tr("Running passes…"));
  }
  for (int i = 0; i < int(shown.cells.size()); ++i) {
    const auto area = cellRect(lane, i);
    if (area.right() < titleWidth || area.left() > width()) continue;
    const auto& cell = shown.cells[std::size_t(i)];
    const bool current = i == position(lane);
    if (i > 0 && !cell.tick) {
      painter.setFont(stageSmallFont());
      painter.setPen(theme().muted);
      painter.drawText(QRect(area.left() - gap, area.top(), gap, area.height()), Qt::AlignCenter, "›");
    }
    paintStageCell(painter, cell, area, {current, current && here, m_times});
  }
  painter.restore();
}

}  // namespace kerf::ui::inline panels
