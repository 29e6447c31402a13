#include "ui/panels/difference_view.h"

#include <algorithm>

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>

#include "ui/models/theme.h"

namespace kerf::ui::inline panels {
namespace {

constexpr int markWidth = 18, context = 2, longestPainted = 600;

using Kind = DiffRow::Kind;

bool differs(const DiffRow& row) { return row.kind != Kind::Same && row.kind != Kind::Renamed; }

QColor colorOf(Kind kind) {
  switch (kind) {
    case Kind::Added:
      return theme().good;
    case Kind::Removed:
      return theme().bad;
    case Kind::Changed:
    case Kind::Rewritten:
      return theme().warn;
    default:
      return {};
  }
}

QString markOf(Kind kind) {
  switch (kind) {
    case Kind::Added:
      return "+";
    case Kind::Removed:
      return "−";
    case Kind::Rewritten:
      return "~";
    case Kind::Changed:
      return "≠";
    default:
      return {};
  }
}

}  // namespace

QString nodeOfLine(const DiffRow& row, bool left) {
  const auto line = text(left ? row.left : row.right);
  if (line.startsWith("return ")) return "output";
  auto end = line.size();
  for (const auto sign : {':', ' '})
    if (const auto at = line.indexOf(sign); at >= 0) end = std::min(end, at);
  const auto name = line.left(end);
  return row.path.empty() || name.isEmpty() ? name : text(row.path) + "/" + name;
}

DifferenceView::DifferenceView(QWidget* parent) : QAbstractScrollArea(parent) {
  setObjectName("difference");
  setAccessibleName(tr("Both graphs side by side"));
  viewport()->setBackgroundRole(QPalette::Base);
  viewport()->setAutoFillBackground(true);
  setFocusPolicy(Qt::StrongFocus);
  setFrameShape(NoFrame);
}

void DifferenceView::setHint(const QString& hint) {
  m_hint = hint;
  viewport()->update();
}

void DifferenceView::setDifference(DifferenceDocPtr difference) {
  if (difference == m_difference) return;
  m_difference = std::move(difference);
  m_current = -1;
  arrange();
  verticalScrollBar()->setValue(0);
  horizontalScrollBar()->setValue(0);
}

void DifferenceView::setOnlyChanges(bool only) {
  m_only = only;
  arrange();
}

/// With changes only, each is seen with a few lines around it.
void DifferenceView::arrange() {
  m_lines.clear();
  m_longest = 0;
  const int count = m_difference ? int(m_difference->rows.size()) : 0;
  std::vector<char> shown(std::size_t(count), m_only ? 0 : 1);
  for (int i = 0; m_only && i < count; ++i)
    if (differs(m_difference->rows[std::size_t(i)]) || i == m_current)
      for (int k = std::max(0, i - context); k <= std::min(count - 1, i + context); ++k) shown[std::size_t(k)] = 1;
  for (int i = 0; i < count; ++i) {
    const auto& row = m_difference->rows[std::size_t(i)];
    if (shown[std::size_t(i)]) {
      m_lines.push_back(i);
      m_longest = std::max({m_longest, int(row.left.size()), int(row.right.size())});
    } else if (m_lines.empty() || m_lines.back() >= 0) {
      m_lines.push_back(-1);
    }
  }
  updateBars();
  viewport()->update();
}

int DifferenceView::lineHeight() const { return QFontMetrics(codeFont()).height() + 4; }

int DifferenceView::lineOf(int row) const {
  const auto found = std::ranges::find(m_lines, row);
  return found == m_lines.end() ? -1 : int(found - m_lines.begin());
}

int DifferenceView::lineAt(int y) const { return (y + verticalScrollBar()->value()) / lineHeight(); }

void DifferenceView::updateBars() {
  const int side = viewport()->width() / 2 - markWidth - 8;
  const int wide = QFontMetrics(codeFont()).horizontalAdvance('m') * std::min(m_longest, longestPainted);
  verticalScrollBar()->setRange(0, std::max(0, int(m_lines.size()) * lineHeight() - viewport()->height()));
  verticalScrollBar()->setPageStep(viewport()->height());
  verticalScrollBar()->setSingleStep(lineHeight() * 2);
  horizontalScrollBar()->setRange(0, std::max(0, wide - side));
  horizontalScrollBar()->setPageStep(side);
}

void DifferenceView::setCurrent(const QString& node, bool left) {
  if (!m_difference) return;
  const auto& rows = m_difference->rows;
  const auto found =
      std::ranges::find_if(rows, [&](const DiffRow& row) { return !node.isEmpty() && nodeOfLine(row, left) == node; });
  const int row = found == rows.end() ? -1 : int(found - rows.begin());
  if (row == m_current) return;
  m_current = row;
  if (m_only && row >= 0 && lineOf(row) < 0) arrange();
  const int top = lineOf(row) * lineHeight(), seen = verticalScrollBar()->value();
  if (row >= 0 && (top < seen || top + lineHeight() > seen + viewport()->height()))
    verticalScrollBar()->setValue(top - viewport()->height() / 2);
  viewport()->update();
}

void DifferenceView::goToChange(int step) {
  if (!m_difference) return;
  const int count = int(m_difference->rows.size());
  for (int i = m_current + (m_current < 0 && step < 0 ? count + 1 : 0) + step; i >= 0 && i < count; i += step)
    if (differs(m_difference->rows[std::size_t(i)]))
      return pickLine(lineOf(i), m_difference->rows[std::size_t(i)].right.empty());
}

void DifferenceView::pickLine(int line, bool left) {
  if (line < 0 || line >= int(m_lines.size())) return;
  const int row = m_lines[std::size_t(line)];
  if (row < 0) return setOnlyChanges(false);
  const auto& shown = m_difference->rows[std::size_t(row)];
  if ((left ? shown.left : shown.right).empty()) left = !left;
  setCurrent(nodeOfLine(shown, left), left);
  m_current = row;
  viewport()->update();
  // A node that both graphs have is selected as the shown graph has it.
  if (left && !shown.right.empty() && shown.kind != Kind::Rewritten) left = false;
  emit nodePicked(nodeOfLine(shown, left), left);
}

void DifferenceView::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton || !m_difference) return;
  const auto point = event->position().toPoint();
  pickLine(lineAt(point.y()), point.x() < viewport()->width() / 2);
}

void DifferenceView::keyPressEvent(QKeyEvent* event) {
  const int step = event->key() == Qt::Key_Down ? 1 : event->key() == Qt::Key_Up ? -1 : 0;
  if (step == 0) return QAbstractScrollArea::keyPressEvent(event);
  if (event->modifiers() & Qt::ControlModifier) return goToChange(step);
  int line = lineOf(m_current) + step;
  while (line >= 0 && line < int(m_lines.size()) && m_lines[std::size_t(line)] < 0) line += step;
  pickLine(line, false);
}

void DifferenceView::resizeEvent(QResizeEvent*) { updateBars(); }

void DifferenceView::paintEvent(QPaintEvent*) {
  QPainter painter(viewport());
  const auto area = viewport()->rect();
  painter.fillRect(area, theme().base);
  if (m_lines.empty()) {
    painter.setFont(interfaceFont());
    painter.setPen(theme().muted);
    painter.drawText(area.adjusted(24, 0, -24, 0), Qt::AlignCenter | Qt::TextWordWrap, m_hint);
    return;
  }
  painter.setFont(codeFont());
  const int height = lineHeight(), half = area.width() / 2, scrolled = verticalScrollBar()->value();
  const int last = std::min(int(m_lines.size()) - 1, lineAt(area.height()));
  for (int line = std::max(0, scrolled / height); line <= last; ++line) {
    const QRect whole(0, line * height - scrolled, area.width(), height);
    const int at = m_lines[std::size_t(line)];
    if (at < 0) {
      painter.fillRect(whole, theme().canvas);
      painter.setPen(theme().muted);
      painter.drawText(whole, Qt::AlignCenter, "···");
      continue;
    }
    const auto& row = m_difference->rows[std::size_t(at)];
    if (at == m_current) painter.fillRect(whole, theme().selection);
    paintSide(painter, row, QRect(0, whole.top(), half - 1, height), true);
    paintSide(painter, row, QRect(half, whole.top(), area.width() - half, height), false);
    if (at == m_current) painter.fillRect(0, whole.top(), 3, height, theme().accent);
  }
  painter.setPen(theme().border);
  painter.drawLine(half - 1, 0, half - 1, area.height());
}

void DifferenceView::paintSide(QPainter& painter, const DiffRow& row, const QRect& area, bool left) const {
  const auto line = text(left ? row.left : row.right);
  const auto color = colorOf(row.kind);
  const bool here = !line.isEmpty();
  if (color.isValid() && here) {
    auto fill = color;
    fill.setAlphaF(theme().dark ? 0.16F : 0.12F);
    painter.fillRect(area, fill);
    painter.setPen(color);
    painter.drawText(QRect(area.left() + 4, area.top(), markWidth, area.height()), Qt::AlignCenter, markOf(row.kind));
  } else if (!here) {
    painter.fillRect(area, QBrush(blend(theme().border, theme().base, 0.35), Qt::BDiagPattern));
    return;
  }
  painter.save();
  const auto room = area.adjusted(markWidth + 6, 0, -4, 0);
  painter.setClipRect(room);
  painter.setPen(differs(row) ? theme().text : theme().muted);
  painter.drawText(room.adjusted(-horizontalScrollBar()->value(), 0, 0, 0),
                   Qt::AlignVCenter | Qt::AlignLeft | Qt::TextDontClip, line.left(longestPainted));
  painter.restore();
}

}  // namespace kerf::ui::inline panels
