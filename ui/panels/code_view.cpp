#include "ui/panels/code_view.h"

#include <algorithm>
#include <cmath>

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QPainter>
#include <QRegularExpression>
#include <QScrollBar>

#include "ui/models/theme.h"

namespace kerf::ui::inline panels {
namespace {

constexpr int mostPaintedChars = 2000;  ///< of one line: longer ones are cut on screen, never in a copy

/// One pattern, five groups: comment, string, keyword, dotted call, number.
const QRegularExpression& tokens() {
  static const QRegularExpression pattern(
      R"((#.*$|;\s+\w+ = .*None$)|('[^']*'|"[^"]*")|\b(def|return|self|None|True|False|for|in|if|else|import|from|as|with|class|del|lambda|define|load|store|br|ret|call|loop|buffer|auto|void|const|float|double|bool|u?int\d*_t|static_cast|extern|constexpr)\b|((?:torch|aten|operator)(?:\.\w+)+)|(?<![\w%])(-?\d[\d.e+-]*)\b)");
  return pattern;
}

QColor tokenColor(int group) {
  switch (group) {
    case 1:
      return theme().muted;
    case 2:
      return theme().good;
    case 3:
      return theme().kind(NodeKind::Random);
    case 4:
      return theme().accent;
    default:
      return theme().kind(NodeKind::Reduction);
  }
}

}  // namespace

CodeView::CodeView(QWidget* parent) : QAbstractScrollArea(parent) {
  setFont(codeFont());
  viewport()->setBackgroundRole(QPalette::Base);
  viewport()->setAutoFillBackground(true);
  viewport()->setCursor(Qt::IBeamCursor);
  setFocusPolicy(Qt::StrongFocus);
  setFrameShape(NoFrame);
}

void CodeView::setCode(const QStringList& lines) {
  m_lines = lines;
  while (!m_lines.isEmpty() && m_lines.last().trimmed().isEmpty()) m_lines.removeLast();
  m_longest = 0;
  for (const auto& line : m_lines) m_longest = std::max(m_longest, int(line.size()));
  m_current = -1;
  m_marked.clear();
  m_colors.clear();
  updateBars();
  verticalScrollBar()->setValue(0);
  horizontalScrollBar()->setValue(0);
  viewport()->update();
}

void CodeView::setHint(const QString& hint) {
  m_hint = hint;
  viewport()->update();
}

int CodeView::lineHeight() const { return QFontMetrics(codeFont()).height() + 3; }

int CodeView::gutter() const {
  return QFontMetrics(codeFont()).horizontalAdvance(QString::number(std::max<qsizetype>(m_lines.size(), 10))) + 24;
}

void CodeView::updateBars() {
  const int width =
      QFontMetrics(codeFont()).horizontalAdvance('m') * std::min(m_longest, mostPaintedChars) + gutter() + 16;
  verticalScrollBar()->setRange(0, std::max(0, int(m_lines.size()) * lineHeight() + 8 - viewport()->height()));
  verticalScrollBar()->setPageStep(viewport()->height());
  verticalScrollBar()->setSingleStep(lineHeight() * 2);
  horizontalScrollBar()->setRange(0, std::max(0, width - viewport()->width()));
  horizontalScrollBar()->setPageStep(viewport()->width());
}

void CodeView::setCurrentLine(int line) {
  m_current = line < int(m_lines.size()) ? line : -1;
  const int top = m_current * lineHeight() + 4, seen = verticalScrollBar()->value();
  if (m_current >= 0 && (top < seen || top + lineHeight() > seen + viewport()->height()))
    verticalScrollBar()->setValue(top - viewport()->height() / 2);
  viewport()->update();
}

void CodeView::setMarkedLines(const QSet<int>& lines) {
  m_marked = lines;
  viewport()->update();
}

void CodeView::setLineColors(const QHash<int, QColor>& colors) {
  m_colors = colors;
  viewport()->update();
}

void CodeView::paintEvent(QPaintEvent*) {
  QPainter painter(viewport());
  painter.setFont(codeFont());
  const auto area = viewport()->rect();
  painter.fillRect(area, theme().base);
  if (m_lines.isEmpty()) {
    painter.setFont(interfaceFont());
    painter.setPen(theme().muted);
    painter.drawText(area.adjusted(24, 0, -24, 0), Qt::AlignCenter | Qt::TextWordWrap, m_hint);
    return;
  }
  const int height = lineHeight(), scrolled = verticalScrollBar()->value();
  const int first = std::max(0, (scrolled - 4) / height);
  const int last = std::min(int(m_lines.size()) - 1, (scrolled + area.height()) / height);
  const int ascent = QFontMetrics(codeFont()).ascent();
  for (int line = first; line <= last; ++line) {
    const int y = 4 + line * height - scrolled;
    auto behind = theme().base;
    const auto own = m_colors.constFind(line);
    if (own != m_colors.constEnd()) behind = blend(*own, behind, theme().dark ? 0.14 : 0.10);
    if (m_marked.contains(line)) behind = blend(theme().accent, behind, 0.14);
    if (behind != theme().base) painter.fillRect(0, y, area.width(), height, behind);
    if (line == m_current) {
      painter.fillRect(0, y, area.width(), height, theme().selection);
      painter.fillRect(0, y, 3, height, theme().accent);
    }
    paintLine(painter, line, gutter() - horizontalScrollBar()->value(), y + 1 + ascent);
    const QRect number(0, y, gutter() - 14, height);
    painter.fillRect(number.adjusted(3, 0, 6, 0), line == m_current ? theme().selection : behind);
    if (own != m_colors.constEnd()) painter.fillRect(0, y, m_marked.contains(line) ? 6 : 3, height, *own);
    painter.setPen(line == m_current ? theme().text : theme().muted);
    painter.drawText(number, Qt::AlignRight | Qt::AlignVCenter, QString::number(line + 1));
  }
}

void CodeView::paintLine(QPainter& painter, int line, double x, double baseline) const {
  const auto text = m_lines[line].left(mostPaintedChars);
  const double advance = QFontMetricsF(codeFont()).horizontalAdvance('m');
  const auto draw = [&](int start, int length, const QColor& color) {
    painter.setPen(color);
    painter.drawText(QPointF(x + start * advance, baseline), text.mid(start, length));
  };
  int done = 0;
  for (auto match = tokens().globalMatch(text); match.hasNext();) {
    const auto token = match.next();
    draw(done, int(token.capturedStart()) - done, theme().text);
    draw(int(token.capturedStart()), int(token.capturedLength()), tokenColor(token.lastCapturedIndex()));
    done = int(token.capturedEnd());
  }
  draw(done, int(text.size()) - done, theme().text);
}

void CodeView::resizeEvent(QResizeEvent*) { updateBars(); }

void CodeView::mousePressEvent(QMouseEvent* event) {
  const int line = (int(event->position().y()) + verticalScrollBar()->value() - 4) / lineHeight();
  if (event->button() == Qt::LeftButton && line >= 0 && line < int(m_lines.size())) emit linePicked(line);
}

void CodeView::keyPressEvent(QKeyEvent* event) {
  if (event->matches(QKeySequence::Copy))
    return QApplication::clipboard()->setText(m_current >= 0 ? m_lines[m_current].trimmed() : code());
  if (walk(event->key())) return;
  QAbstractScrollArea::keyPressEvent(event);
}

/// From a marked line to the one above or below; Enter picks it again.
bool CodeView::walk(int key) {
  if (m_current < 0) return false;
  const bool enters = key == Qt::Key_Return || key == Qt::Key_Enter;
  const int step = key == Qt::Key_Down ? 1 : key == Qt::Key_Up ? -1 : 0;
  if (!enters && step == 0) return false;
  const int line = std::clamp(m_current + step, 0, int(m_lines.size()) - 1);
  if (enters || line != m_current) emit linePicked(line);
  return true;
}

void CodeView::contextMenuEvent(QContextMenuEvent* event) {
  if (m_lines.isEmpty()) return;
  QMenu menu(this);
  if (m_current >= 0)
    menu.addAction(tr("Copy line"), this, [this] { QApplication::clipboard()->setText(m_lines[m_current].trimmed()); });
  menu.addAction(tr("Copy all"), this, [this] { QApplication::clipboard()->setText(code()); });
  menu.exec(event->globalPos());
}

}  // namespace kerf::ui::inline panels
