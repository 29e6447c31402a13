#include "ui/panels/code_view.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QPainter>
#include <QRegularExpression>
#include <QScrollBar>
#include <QToolTip>

#include "ui/models/theme.h"

namespace kerf::ui::inline panels {
namespace {

constexpr int mostPaintedChars = 2000;  ///< of one line: longer ones are cut on screen, never in a copy
constexpr qsizetype mostNoteChars = 4000, mostNoteRows = 200;  ///< of a note: more of it nobody reads

/// What is cut ends with "…".
QStringList shortNote(const QStringList& note) {
  QStringList kept;
  qsizetype left = mostNoteChars;
  for (const auto& part : note) {
    kept << (left <= 0 ? QString("  …") : part.size() > left ? part.left(left) + "…" : part);
    if (part.size() > left) break;
    left -= part.size();
  }
  return kept;
}

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

void CodeView::setCode(CodeLines lines) {
  m_lines = std::move(lines);
  m_longest = m_lines.longest();
  m_current = -1;
  m_marked.clear();
  m_colors.clear();
  m_signs.clear();
  m_labels.clear();
  m_noteLine = -1;
  m_note.clear();
  m_noteRows.clear();
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
  const QFontMetrics metrics(codeFont());
  const int signs = m_signs.isEmpty() ? 0 : metrics.height() + 4;
  return metrics.horizontalAdvance(QString::number(std::max(m_lines.size(), 10))) + 24 + signs;
}

void CodeView::updateBars() {
  const int width =
      QFontMetrics(codeFont()).horizontalAdvance('m') * std::min(m_longest, mostPaintedChars) + gutter() + 16;
  verticalScrollBar()->setRange(
      0, std::max(0, (m_lines.size() + int(m_noteRows.size())) * lineHeight() + 8 - viewport()->height()));
  verticalScrollBar()->setPageStep(viewport()->height());
  verticalScrollBar()->setSingleStep(lineHeight() * 2);
  horizontalScrollBar()->setRange(0, std::max(0, width - viewport()->width()));
  horizontalScrollBar()->setPageStep(viewport()->width());
}

void CodeView::setCurrentLine(int line) {
  m_current = line < m_lines.size() ? line : -1;
  const int top = rowOf(m_current) * lineHeight() + 4, seen = verticalScrollBar()->value();
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

void CodeView::setLabels(const QStringList& labels) {
  m_labels = labels;
  viewport()->update();
}

void CodeView::setSigns(const QHash<int, LineSign>& signs) {
  m_signs = signs;
  updateBars();
  viewport()->update();
}

void CodeView::setNote(int line, const QStringList& note) {
  m_noteLine = line >= 0 && line < m_lines.size() && !note.isEmpty() ? line : -1;
  m_note = m_noteLine < 0 ? QStringList() : note;
  layOutNote();
  updateBars();
  const int bottom = (rowOf(m_noteLine) + int(m_noteRows.size()) + 1) * lineHeight() + 4;
  const int hidden = bottom - verticalScrollBar()->value() - viewport()->height();
  const int room = rowOf(m_noteLine) * lineHeight() - verticalScrollBar()->value();
  if (m_noteLine >= 0 && hidden > 0)
    verticalScrollBar()->setValue(verticalScrollBar()->value() + std::min(hidden, room));
  viewport()->update();
}

/// Words that do not fit go to the next row; a continued row stands below its text.
void CodeView::layOutNote() {
  m_noteRows.clear();
  const int advance = std::max(1, QFontMetrics(codeFont()).horizontalAdvance('m'));
  const int room = std::max(24, (viewport()->width() - gutter() - 28) / advance);
  for (const auto& given : shortNote(m_note)) {
    qsizetype spaces = 0;
    while (spaces < std::min<qsizetype>(given.size(), 8) && given[spaces] == ' ') ++spaces;
    const QString indent(spaces, ' ');
    auto rest = given;
    while (int(rest.size()) > room) {
      auto cut = rest.lastIndexOf(' ', room);
      if (cut <= indent.size() + 2) cut = room;  // so that each row takes something
      m_noteRows << rest.left(cut);
      rest = indent + "  " + rest.mid(cut).trimmed();
    }
    m_noteRows << rest;
  }
  if (m_noteRows.size() > mostNoteRows) m_noteRows = m_noteRows.first(mostNoteRows - 1) << "  …";
}

/// Rows are lines and, below one of them, its note.
int CodeView::rowOf(int line) const {
  return m_noteLine >= 0 && line > m_noteLine ? line + int(m_noteRows.size()) : line;
}

/// -1 beyond the text; the line above for a note.
int CodeView::lineAt(double y) const {
  const int row = int(std::floor((y + verticalScrollBar()->value() - 4) / lineHeight()));
  int line = row;
  if (m_noteLine >= 0 && row > m_noteLine) line = std::max(m_noteLine, row - int(m_noteRows.size()));
  return row >= 0 && line < m_lines.size() ? line : -1;
}

QPoint CodeView::placeOf(int line) const {
  return {gutter() + 4, 4 + rowOf(line) * lineHeight() - verticalScrollBar()->value() + lineHeight() / 2};
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
  const int first = std::max(0, lineAt(0)), beyond = lineAt(area.height());
  const int last = beyond < 0 ? m_lines.size() - 1 : beyond;
  for (int line = first; line <= last; ++line) paintRow(painter, line, 4 + rowOf(line) * height - scrolled);
  if (m_noteLine >= first && m_noteLine <= last) paintNote(painter);
}

void CodeView::paintRow(QPainter& painter, int line, int y) const {
  const int height = lineHeight(), width = viewport()->width();
  auto behind = theme().base;
  const auto own = m_colors.constFind(line);
  if (own != m_colors.constEnd()) behind = blend(*own, behind, theme().dark ? 0.14 : 0.10);
  if (m_marked.contains(line)) behind = blend(theme().accent, behind, 0.14);
  if (behind != theme().base) painter.fillRect(0, y, width, height, behind);
  if (line == m_current) {
    painter.fillRect(0, y, width, height, theme().selection);
    painter.fillRect(0, y, 3, height, theme().accent);
  }
  paintLine(painter, line, gutter() - horizontalScrollBar()->value(), y + 1 + QFontMetrics(codeFont()).ascent());
  const QRect number(0, y, gutter() - 14, height);
  painter.fillRect(number.adjusted(3, 0, 6, 0), line == m_current ? theme().selection : behind);
  if (own != m_colors.constEnd()) painter.fillRect(0, y, m_marked.contains(line) ? 6 : 3, height, *own);
  painter.setPen(line == m_current ? theme().text : theme().muted);
  painter.drawText(number, Qt::AlignRight | Qt::AlignVCenter,
                   m_labels.isEmpty() ? QString::number(line + 1) : m_labels.value(line));
  const auto sign = m_signs.constFind(line);
  if (sign == m_signs.constEnd()) return;
  const QRect badge(7, y + 1, height - 3, height - 3);
  painter.setPen(Qt::NoPen);
  painter.setBrush(sign->color);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.drawRoundedRect(badge, 3, 3);
  painter.setRenderHint(QPainter::Antialiasing, false);
  painter.setPen(theme().base);
  painter.drawText(badge, Qt::AlignCenter, sign->letter);
}

void CodeView::paintNote(QPainter& painter) const {
  const int height = lineHeight(), top = 4 + (rowOf(m_noteLine) + 1) * height - verticalScrollBar()->value();
  const auto sign = m_signs.constFind(m_noteLine);
  const auto color = sign == m_signs.constEnd() ? theme().accent : sign->color;
  const QRect box(gutter() - 6, top, viewport()->width() - gutter(), height * int(m_noteRows.size()));
  painter.fillRect(box, blend(color, theme().base, theme().dark ? 0.16 : 0.10));
  painter.fillRect(QRect(box.left(), box.top(), 3, box.height()), color);
  painter.setPen(theme().text);
  const int ascent = QFontMetrics(codeFont()).ascent();
  for (int row = 0; row < int(m_noteRows.size()); ++row)
    painter.drawText(box.left() + 12, top + row * height + 1 + ascent, m_noteRows[row]);
}

void CodeView::paintLine(QPainter& painter, int line, double x, double baseline) const {
  const auto text = m_lines.at(line).left(mostPaintedChars);
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

void CodeView::resizeEvent(QResizeEvent*) {
  layOutNote();
  updateBars();
}

void CodeView::changeEvent(QEvent* event) {
  QAbstractScrollArea::changeEvent(event);
  if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange) layOutNote();
}

bool CodeView::viewportEvent(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QAbstractScrollArea::viewportEvent(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const auto sign = m_signs.constFind(lineAt(help->pos().y()));
  if (sign == m_signs.constEnd())
    QToolTip::hideText();
  else
    QToolTip::showText(help->globalPos(), sign->tip, viewport());
  return true;
}

void CodeView::mousePressEvent(QMouseEvent* event) {
  const int line = lineAt(event->position().y());
  if (event->button() == Qt::LeftButton && line >= 0) emit linePicked(line);
}

void CodeView::mouseDoubleClickEvent(QMouseEvent* event) {
  const int line = lineAt(event->position().y());
  if (event->button() == Qt::LeftButton && line >= 0) emit lineEntered(line);
}

void CodeView::keyPressEvent(QKeyEvent* event) {
  if (event->matches(QKeySequence::Copy))
    return QApplication::clipboard()->setText(m_current >= 0 ? m_lines.at(m_current).trimmed() : code());
  if (walk(*event)) return;
  QAbstractScrollArea::keyPressEvent(event);
}

/// From a marked line to the one above or below, with Ctrl to the next sign; Enter picks it again.
bool CodeView::walk(const QKeyEvent& event) {
  const int key = event.key();
  const int step = key == Qt::Key_Down ? 1 : key == Qt::Key_Up ? -1 : 0;
  if (step != 0 && event.modifiers().testFlag(Qt::ControlModifier)) return walkSigns(step);
  if (m_current < 0) return false;
  const bool enters = key == Qt::Key_Return || key == Qt::Key_Enter;
  if (!enters && step == 0) return false;
  const int line = std::clamp(m_current + step, 0, m_lines.size() - 1);
  if (enters || line != m_current) emit linePicked(line);
  if (enters) emit lineEntered(line);
  return true;
}

bool CodeView::walkSigns(int step) {
  int next = -1;
  for (const int line : m_signs.keys()) {
    const bool behind = step > 0 ? line > m_current : line < m_current;
    if (behind && (next < 0 || (step > 0 ? line < next : line > next))) next = line;
  }
  if (next >= 0) emit linePicked(next);
  return !m_signs.isEmpty();
}

void CodeView::contextMenuEvent(QContextMenuEvent* event) {
  if (m_lines.isEmpty()) return;
  const bool byMouse = event->reason() == QContextMenuEvent::Mouse;
  const int line = byMouse ? lineAt(event->y()) : m_current;
  QMenu menu(this);
  emit menuAsked(&menu, line);
  if (!menu.isEmpty()) menu.addSeparator();
  if (line >= 0)
    menu.addAction(tr("Copy line"), this,
                   [this, line] { QApplication::clipboard()->setText(m_lines.at(line).trimmed()); });
  if (m_noteLine >= 0 && line == m_noteLine)
    menu.addAction(tr("Copy the note"), this, [this] { QApplication::clipboard()->setText(m_note.join('\n')); });
  menu.addAction(tr("Copy all"), this, [this] { QApplication::clipboard()->setText(code()); });
  menu.exec(byMouse ? event->globalPos() : viewport()->mapToGlobal(placeOf(std::max(0, line))));
}

}  // namespace kerf::ui::inline panels
