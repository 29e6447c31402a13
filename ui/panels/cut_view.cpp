#include "ui/panels/cut_view.h"

#include <algorithm>

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>

#include "ui/models/format.h"
#include "ui/models/theme.h"

namespace kerf::ui::inline panels {
namespace {

constexpr int margin = 10, between = 12;
constexpr double edges[] = {0, 0.32, 0.68, 1};  ///< of the three columns

void elided(QPainter& painter, const QRect& rect, const QString& said, int flags = Qt::AlignLeft | Qt::AlignVCenter) {
  painter.drawText(rect, flags, painter.fontMetrics().elidedText(said, Qt::ElideRight, rect.width()));
}

}  // namespace

CutView::CutView(QWidget* parent) : QAbstractScrollArea(parent) {
  setFrameShape(NoFrame);
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(tr("Cut between forward and backward"));
  setMinimumSize(280, 110);
}

void CutView::setCut(GraphDocPtr graph, const workbench::PartitionDoc* cut) {
  m_graph = std::move(graph);
  m_rows = m_graph && cut ? cutRows(*m_graph, *cut) : std::vector<CutRow>();
  m_row = -1;
  if (cut) {
    m_forward = tr("Forward  ·  %1").arg(plural(cut->forwardNodes, "node"));
    m_saved = tr("%1 saved").arg(formatBytes(cut->savedBytes));
    m_backward = tr("Backward  ·  %1").arg(plural(cut->backwardNodes, "node"));
  }
  updateBar();
  setCurrent(m_node);
}

/// A row where the node is computed or taken; what belongs to it on the other side is marked.
void CutView::setCurrent(int node) {
  m_node = node;
  m_related = m_graph ? counterparts(*m_graph, node) : std::vector<int>();
  const auto own = std::ranges::find_if(m_rows, [&](const CutRow& row) { return node >= 0 && row.forward == node; });
  const auto taken = std::ranges::find_if(
      m_rows, [&](const CutRow& row) { return node >= 0 && std::ranges::find(row.users, node) != row.users.end(); });
  const auto at = own != m_rows.end() ? own : taken;
  m_row = at == m_rows.end() ? -1 : int(at - m_rows.begin());
  if (m_row >= 0 && (top(m_row) < headHeight() || top(m_row) + rowHeight() > viewport()->height()))
    verticalScrollBar()->setValue(m_row * rowHeight() - viewport()->height() / 2 + headHeight());
  viewport()->update();
}

int CutView::rowHeight() const { return QFontMetrics(interfaceFont()).height() + 8; }

int CutView::top(int row) const { return headHeight() + row * rowHeight() - verticalScrollBar()->value(); }

int CutView::rowAt(int y) const {
  if (y < headHeight()) return -1;
  const int row = (y - headHeight() + verticalScrollBar()->value()) / rowHeight();
  return row < int(m_rows.size()) ? row : -1;
}

int CutView::column(int at) const { return int(edges[at] * viewport()->width()); }

void CutView::updateBar() {
  const int room = viewport()->height() - headHeight();
  verticalScrollBar()->setRange(0, std::max(0, int(m_rows.size()) * rowHeight() - room));
  verticalScrollBar()->setPageStep(std::max(1, room));
  verticalScrollBar()->setSingleStep(rowHeight());
}

void CutView::resizeEvent(QResizeEvent*) { updateBar(); }

QRect CutView::forwardRect(int row) const {
  return {column(0) + margin, top(row), column(1) - column(0) - margin - between, rowHeight()};
}

/// Users stand beside each other as long as there is room.
QRect CutView::userRect(int row, int user) const {
  const auto& users = m_rows[std::size_t(row)].users;
  const QFontMetrics metrics(interfaceFont());
  int left = column(2) + between;
  for (int i = 0; i < int(users.size()); ++i) {
    const int width = metrics.horizontalAdvance(text(m_graph->nodes[std::size_t(users[std::size_t(i)])].name)) + 4;
    const int room = column(3) - margin - left;
    if (i > 0 && width > room) return {};
    if (i == user) return {left, top(row), std::min(width, room), rowHeight()};
    left += width + between;
  }
  return {};
}

void CutView::paintEvent(QPaintEvent*) {
  QPainter painter(viewport());
  painter.setFont(interfaceFont());
  painter.fillRect(viewport()->rect(), theme().base);
  if (!m_graph) return;
  const int first = std::max(0, verticalScrollBar()->value() / rowHeight());
  for (int row = first; row < int(m_rows.size()) && top(row) < viewport()->height(); ++row) paintRow(painter, row);
  paintHead(painter);
  if (!hasFocus()) return;
  painter.setPen(QPen(theme().accent, 1));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(viewport()->rect().adjusted(0, 0, -1, -1));
}

void CutView::paintHead(QPainter& painter) const {
  painter.fillRect(0, 0, viewport()->width(), headHeight(), theme().raised);
  painter.setPen(theme().muted);
  const QString titles[] = {m_forward, m_saved, m_backward};
  for (int at = 0; at < 3; ++at)
    elided(painter, {column(at) + margin, 0, column(at + 1) - column(at) - 2 * margin, headHeight()}, titles[at]);
  painter.setPen(theme().border);
  painter.drawLine(0, headHeight() - 1, viewport()->width(), headHeight() - 1);
}

void CutView::paintRow(QPainter& painter, int row) const {
  const auto& shown = m_rows[std::size_t(row)];
  const int y = top(row), height = rowHeight();
  if (row == m_row) {
    painter.fillRect(0, y, viewport()->width(), height, theme().selection);
    painter.fillRect(0, y, 3, height, theme().accent);
  }
  const auto place = forwardRect(row);
  const bool known = shown.forward >= 0;
  const bool related = std::ranges::find(m_related, shown.forward) != m_related.end();
  painter.setPen(Qt::NoPen);
  painter.setBrush(known ? theme().kind(m_graph->nodes[std::size_t(shown.forward)].kind) : theme().faint);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.drawEllipse(QPointF(place.left() + 4, y + height / 2.0), 4, 4);
  painter.setPen(related || shown.forward == m_node ? theme().accent : theme().text);
  elided(painter, place.adjusted(16, 0, 0, 0), shown.name);
  paintSaved(painter, row);
  paintUsers(painter, row);
}

/// A box on the cut, filled by its share of the bytes, with an arrow from the left and one to the right.
void CutView::paintSaved(QPainter& painter, int row) const {
  const auto& shown = m_rows[std::size_t(row)];
  const QRect box(column(1) + between, top(row) + 2, column(2) - column(1) - 2 * between, rowHeight() - 4);
  const int middle = box.center().y();
  painter.setPen(QPen(theme().faint, 1, shown.recomputed ? Qt::DotLine : Qt::SolidLine));
  painter.drawLine(column(1) - between / 2, middle, box.left() - 2, middle);
  painter.drawLine(box.right() + 2, middle, column(2) + between / 2, middle);
  painter.setPen(
      QPen(shown.recomputed ? theme().faint : theme().border, 1, shown.recomputed ? Qt::DotLine : Qt::SolidLine));
  painter.setBrush(theme().base);
  painter.drawRoundedRect(box, 4, 4);
  const QRect filled(box.left() + 1, box.top() + 1, int((box.width() - 2) * std::min(1.0, shown.share)),
                     box.height() - 2);
  painter.fillRect(filled, blend(theme().accent, theme().base, 0.25));
  const auto bytes = shown.recomputed ? QString("↻") : formatBytes(shown.bytes);
  const int room = painter.fontMetrics().horizontalAdvance(bytes) + 8;
  painter.setPen(theme().text);
  painter.drawText(box.adjusted(8, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter, bytes);
  painter.setPen(theme().muted);
  elided(painter, box.adjusted(8 + room, 0, -6, 0), shown.reason, Qt::AlignRight | Qt::AlignVCenter);
}

void CutView::paintUsers(QPainter& painter, int row) const {
  const auto& users = m_rows[std::size_t(row)].users;
  for (int i = 0; i < int(users.size()); ++i) {
    const auto place = userRect(row, i);
    if (place.isEmpty()) {
      painter.setPen(theme().muted);
      const auto before = userRect(row, i - 1);
      painter.drawText(QRect(before.right() + 4, top(row), 60, rowHeight()), Qt::AlignLeft | Qt::AlignVCenter,
                       QString("+%1").arg(int(users.size()) - i));
      return;
    }
    const int node = users[std::size_t(i)];
    const bool marked = node == m_node || std::ranges::find(m_related, node) != m_related.end();
    painter.setPen(marked ? theme().accent : theme().text);
    elided(painter, place, text(m_graph->nodes[std::size_t(node)].name));
  }
}

void CutView::mousePressEvent(QMouseEvent* event) {
  const int row = rowAt(int(event->position().y()));
  if (event->button() != Qt::LeftButton || row < 0) return;
  const auto& shown = m_rows[std::size_t(row)];
  for (int i = 0; i < int(shown.users.size()); ++i)
    if (userRect(row, i).contains(event->position().toPoint())) return emit nodePicked(shown.users[std::size_t(i)]);
  if (shown.forward >= 0) emit nodePicked(shown.forward);
}

/// Up and Down go from row to row, Right to the backward side of one, Left back.
void CutView::keyPressEvent(QKeyEvent* event) {
  const int step = event->key() == Qt::Key_Down ? 1 : event->key() == Qt::Key_Up ? -1 : 0;
  const bool right = event->key() == Qt::Key_Right, left = event->key() == Qt::Key_Left;
  if (m_rows.empty() || (step == 0 && !right && !left)) return QAbstractScrollArea::keyPressEvent(event);
  const int row = std::clamp(m_row < 0 ? 0 : m_row + step, 0, int(m_rows.size()) - 1);
  const auto& shown = m_rows[std::size_t(row)];
  const int node = right && !shown.users.empty() ? shown.users.front() : shown.forward;
  if (node >= 0) emit nodePicked(node);
}

bool CutView::viewportEvent(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QAbstractScrollArea::viewportEvent(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const int row = rowAt(help->pos().y());
  if (row < 0) return true;
  const auto& shown = m_rows[std::size_t(row)];
  QStringList users;
  for (const int user : shown.users) users << text(m_graph->nodes[std::size_t(user)].name);
  QToolTip::showText(help->globalPos(), tr("%1: %2\n%3\ntaken by %4")
                                            .arg(shown.name, shown.value, shown.reason,
                                                 users.isEmpty() ? tr("nothing that is shown") : users.join(", ")));
  return true;
}

}  // namespace kerf::ui::inline panels
