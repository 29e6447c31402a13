#include "ui/panels/timeline_panel.h"

#include <algorithm>
#include <cmath>

#include <QHelpEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>
#include <QWheelEvent>

#include "ui/models/format.h"
#include "ui/models/theme.h"

namespace kerf::ui::inline panels {
namespace {

constexpr int barPixels = 20, axisPixels = 22, lanePixels = 18;
constexpr double zoomStep = 1.25, shortest = 1;  ///< zoom per wheel step; microseconds across the view at most zoom
constexpr int scrollSteps = 100'000;

QString formatMicroseconds(double time) { return formatMilliseconds(time / 1000); }

/// A round distance (1, 2 or 5 times a power of ten) of at least `least`.
double roundStep(double least) {
  const double power = std::pow(10, std::floor(std::log10(std::max(least, 1e-3))));
  for (const double factor : {1.0, 2.0, 5.0})
    if (power * factor >= least) return power * factor;
  return power * 10;
}

QColor spanColor(const std::string& name) {
  const auto& kinds = theme().kinds;
  return kinds[qHash(text(name)) % kinds.size()];
}

}  // namespace

TimelinePanel::TimelinePanel(Session& session, QWidget* parent) : QAbstractScrollArea(parent), m_session(session) {
  setObjectName("timeline");
  setAccessibleName(tr("Timeline"));
  setFocusPolicy(Qt::StrongFocus);
  setFrameShape(QFrame::NoFrame);
  viewport()->setMouseTracking(true);
  horizontalScrollBar()->setRange(0, 0);
  connect(horizontalScrollBar(), &QScrollBar::valueChanged, this, [this](int value) {
    if (!m_timeline || horizontalScrollBar()->maximum() == 0) return;
    m_begin = double(value) / horizontalScrollBar()->maximum() * (double(m_timeline->length) - m_length);
    viewport()->update();
  });
  for (const auto signal : {&Session::locationChanged, &Session::capturesChanged, &Session::programChanged})
    connect(&session, signal, this, &TimelinePanel::showCapture);
}

void TimelinePanel::showCapture() {
  const auto capture = m_session.capture(m_session.shownCapture());
  const int id = capture ? capture->id : -1;
  if (id == m_capture) return;
  m_capture = id;
  setTimeline(capture ? capture->timeline : nullptr);
}

void TimelinePanel::setTimeline(std::shared_ptr<const TimelineDoc> timeline) {
  m_timeline = std::move(timeline);
  m_byRow.assign(std::size_t(rows()), {});
  m_picked = -1;
  if (m_timeline)
    for (int i = 0; i < int(m_timeline->spans.size()); ++i)
      m_byRow[std::size_t(m_timeline->spans[std::size_t(i)].row)].push_back(i);
  zoomToAll();
}

int TimelinePanel::rows() const {
  return m_timeline && !m_timeline->lanes.empty() ? m_timeline->lanes.back().firstRow + m_timeline->lanes.back().rows
                                                  : 0;
}

void TimelinePanel::zoomToAll() { setRange(0, m_timeline ? double(m_timeline->length) : 1); }

void TimelinePanel::setRange(double begin, double length) {
  const double whole = m_timeline ? std::max(1.0, double(m_timeline->length)) : 1;
  m_length = std::clamp(length, std::min(shortest, whole), whole);
  m_begin = std::clamp(begin, 0.0, whole - m_length);
  updateBars();
  viewport()->update();
}

void TimelinePanel::updateBars() {
  const double whole = m_timeline ? std::max(1.0, double(m_timeline->length)) : 1;
  const QSignalBlocker quiet(horizontalScrollBar());
  const double hidden = whole - m_length;
  horizontalScrollBar()->setRange(0, hidden > 0 ? scrollSteps : 0);
  horizontalScrollBar()->setPageStep(int(std::min(1e9, hidden > 0 ? scrollSteps * m_length / hidden : scrollSteps)));
  horizontalScrollBar()->setValue(hidden > 0 ? int(m_begin / hidden * scrollSteps) : 0);
  const int lanes = m_timeline ? int(m_timeline->lanes.size()) : 0;
  const int height = axisPixels + rows() * barPixels + lanes * lanePixels;
  verticalScrollBar()->setRange(0, std::max(0, height - viewport()->height()));
  verticalScrollBar()->setPageStep(viewport()->height());
  verticalScrollBar()->setSingleStep(barPixels);
}

double TimelinePanel::xOf(double time) const { return (time - m_begin) / m_length * viewport()->width(); }
double TimelinePanel::timeAt(double x) const { return m_begin + x / std::max(1, viewport()->width()) * m_length; }

QRect TimelinePanel::rectOf(int span) const {
  const auto& bar = m_timeline->spans[std::size_t(span)];
  int lane = 0;
  while (lane + 1 < int(m_timeline->lanes.size()) && m_timeline->lanes[std::size_t(lane + 1)].firstRow <= bar.row)
    ++lane;
  const double left = std::clamp(xOf(double(bar.begin)), -1e6, 1e6);
  const double right = std::clamp(xOf(double(bar.begin + bar.duration)), -1e6, 1e6);
  const int top = axisPixels + bar.row * barPixels + (lane + 1) * lanePixels - verticalScrollBar()->value();
  return {int(left), top, std::max(1, int(right) - int(left)), barPixels - 2};
}

int TimelinePanel::spanAt(const QPoint& point) const {
  if (!m_timeline) return -1;
  for (const auto& row : m_byRow) {
    if (row.empty()) continue;
    const auto box = rectOf(row.front());
    if (point.y() < box.top() || point.y() > box.bottom()) continue;
    for (const int span : row)
      if (rectOf(span).adjusted(-1, 0, 1, 0).contains(point)) return span;
  }
  return -1;
}

void TimelinePanel::paintEvent(QPaintEvent*) {
  QPainter painter(viewport());
  painter.fillRect(viewport()->rect(), theme().base);
  if (!m_timeline) {
    painter.setPen(theme().muted);
    painter.drawText(viewport()->rect(), Qt::AlignCenter,
                     tr("No timeline: open a TORCH_TRACE log with chromium events."));
    return;
  }
  paintGrid(painter, false);
  for (const auto& row : m_byRow) paintRow(painter, row);
  paintLanes(painter);
  paintGrid(painter, true);
}

/// Bars of one row do not overlap: after each, the next one that reaches beyond its last pixel.
void TimelinePanel::paintRow(QPainter& painter, const std::vector<int>& row) const {
  const auto next = [&](std::vector<int>::const_iterator from, double time) {
    return std::partition_point(from, row.end(), [&](int span) {
      const auto& bar = m_timeline->spans[std::size_t(span)];
      return double(bar.begin + bar.duration) <= time;
    });
  };
  for (auto span = next(row.begin(), m_begin - 1); span != row.end();) {
    const auto box = rectOf(*span);
    if (box.left() > viewport()->width() || box.bottom() < 0 || box.top() > viewport()->height()) return;
    paintSpan(painter, *span, box);
    span = next(span + 1, timeAt(box.right() + 1));
  }
}

void TimelinePanel::paintSpan(QPainter& painter, int span, const QRect& box) const {
  const auto& bar = m_timeline->spans[std::size_t(span)];
  const auto color = spanColor(bar.name);
  const auto visible = box.intersected(viewport()->rect());
  painter.fillRect(visible, blend(color, theme().base, span == m_picked ? 0.85 : 0.45));
  if (box.width() > 3) painter.fillRect(QRect(visible.left(), visible.top(), 2, visible.height()), color);
  if (visible.width() < 30) return;
  painter.setPen(theme().text);
  const auto room = visible.adjusted(6, 0, -4, 0);
  painter.drawText(room, Qt::AlignVCenter | Qt::AlignLeft,
                   painter.fontMetrics().elidedText(text(bar.name), Qt::ElideRight, room.width()));
}

void TimelinePanel::paintLanes(QPainter& painter) const {
  painter.setPen(theme().muted);
  int at = 0;
  for (const auto& lane : m_timeline->lanes) {
    const int top = axisPixels + lane.firstRow * barPixels + at++ * lanePixels - verticalScrollBar()->value();
    painter.drawText(QRect(8, top, viewport()->width() - 8, lanePixels), Qt::AlignVCenter | Qt::AlignLeft,
                     text(lane.title));
  }
}

/// The axis above everything, or the lines below the bars.
void TimelinePanel::paintGrid(QPainter& painter, bool axis) const {
  if (axis) painter.fillRect(QRect(0, 0, viewport()->width(), axisPixels), theme().raised);
  const double step = roundStep(m_length * 110 / std::max(1, viewport()->width()));
  for (double time = std::ceil(m_begin / step) * step; time <= m_begin + m_length; time += step) {
    const int x = int(xOf(time));
    painter.setPen(theme().border);
    painter.drawLine(x, axisPixels - 5, x, axis ? axisPixels : viewport()->height());
    if (!axis) continue;
    painter.setPen(theme().muted);
    painter.drawText(QRect(x + 4, 0, 106, axisPixels), Qt::AlignVCenter | Qt::AlignLeft, formatMicroseconds(time));
  }
}

QString TimelinePanel::tip(int span) const {
  const auto& bar = m_timeline->spans[std::size_t(span)];
  return text(bar.name) + (bar.compileId.empty() ? QString() : "  " + text(bar.compileId)) + "\n" +
         tr("%1, from %2").arg(formatMicroseconds(double(bar.duration)), formatMicroseconds(double(bar.begin)));
}

bool TimelinePanel::viewportEvent(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    const int span = spanAt(help->pos());
    if (span >= 0)
      QToolTip::showText(help->globalPos(), tip(span), viewport(), rectOf(span));
    else
      QToolTip::hideText();
    return true;
  }
  return QAbstractScrollArea::viewportEvent(event);
}

void TimelinePanel::resizeEvent(QResizeEvent*) { updateBars(); }

void TimelinePanel::zoomBy(double factor, double around) {
  const double fixed = timeAt(around);
  const double length = m_length / factor;
  setRange(fixed - around / std::max(1, viewport()->width()) * length, length);
}

void TimelinePanel::wheelEvent(QWheelEvent* event) {
  if (event->modifiers() & Qt::ShiftModifier) return QAbstractScrollArea::wheelEvent(event);
  const double steps = event->angleDelta().y() / 120.0;
  if (steps != 0) zoomBy(std::pow(zoomStep, steps), event->position().x());
  event->accept();
}

void TimelinePanel::mousePressEvent(QMouseEvent* event) {
  m_dragged = event->pos();
  if (event->button() == Qt::LeftButton) pick(spanAt(event->pos()));
}

void TimelinePanel::pick(int span) {
  m_picked = span;
  viewport()->update();
  if (span >= 0) emit spanPicked(span);
}

void TimelinePanel::mouseMoveEvent(QMouseEvent* event) {
  if (!(event->buttons() & Qt::LeftButton)) return;
  const auto moved = event->pos() - m_dragged;
  m_dragged = event->pos();
  setRange(m_begin - moved.x() * m_length / std::max(1, viewport()->width()), m_length);
  verticalScrollBar()->setValue(verticalScrollBar()->value() - moved.y());
}

void TimelinePanel::mouseDoubleClickEvent(QMouseEvent* event) {
  const int span = spanAt(event->pos());
  if (span < 0) return zoomToAll();
  const auto& bar = m_timeline->spans[std::size_t(span)];
  const double margin = double(bar.duration) * 0.05;
  setRange(double(bar.begin) - margin, double(bar.duration) + 2 * margin);
}

void TimelinePanel::keyPressEvent(QKeyEvent* event) {
  const double middle = viewport()->width() / 2.0;
  if (event->key() == Qt::Key_Plus || event->key() == Qt::Key_Equal) return zoomBy(zoomStep, middle);
  if (event->key() == Qt::Key_Minus) return zoomBy(1 / zoomStep, middle);
  if (event->key() == Qt::Key_0 || event->key() == Qt::Key_Home) return zoomToAll();
  if (event->key() == Qt::Key_Left) return setRange(m_begin - m_length / 10, m_length);
  if (event->key() == Qt::Key_Right) return setRange(m_begin + m_length / 10, m_length);
  QAbstractScrollArea::keyPressEvent(event);
}

}  // namespace kerf::ui::inline panels
