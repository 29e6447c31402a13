// GraphWidget: mouse, wheel and keys.
#include <algorithm>
#include <cmath>

#include <QApplication>
#include <QContextMenuEvent>
#include <QMouseEvent>
#include <QToolTip>

#include "ui/graph_view/graph_widget.h"
#include "ui/graph_view/minimap.h"

namespace kerf::ui::inline graph_view {

void GraphWidget::resizeEvent(QResizeEvent*) {
  m_minimap->place();
  if (m_untouched) startView();
  emit viewChanged();
  emit resized();
}

void GraphWidget::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::StyleChange) {
    m_minimap->refresh();
    update();
  }
  QWidget::changeEvent(event);
}

void GraphWidget::wheelEvent(QWheelEvent* event) {
  if (!m_scene) return;
  if (event->modifiers() & Qt::ShiftModifier)
    return moveTo(m_center - QPointF(event->angleDelta().y() + event->angleDelta().x(), 0) / m_zoom);
  setZoom(m_zoom * std::pow(1.0015, event->angleDelta().y()), event->position());
  event->accept();
}

void GraphWidget::mousePressEvent(QMouseEvent* event) {
  m_pressed = event->position();
  m_centerAtPress = m_center;
  m_dragging = false;
}

void GraphWidget::mouseMoveEvent(QMouseEvent* event) {
  if (!(event->buttons() & (Qt::LeftButton | Qt::MiddleButton))) return hover(event->position());
  const auto moved = event->position() - m_pressed;
  if (!m_dragging && moved.manhattanLength() < QApplication::startDragDistance()) return;
  m_dragging = true;
  setCursor(Qt::ClosedHandCursor);
  moveTo(m_centerAtPress - moved / m_zoom);
}

void GraphWidget::mouseReleaseEvent(QMouseEvent* event) {
  unsetCursor();
  if (std::exchange(m_dragging, false) || event->button() != Qt::LeftButton || !m_scene || m_stale) return;
  const int node = m_scene->nodeAt(toScene(event->position()));
  if (event->modifiers() & Qt::ShiftModifier && node >= 0)
    emit pathRequested(node);
  else
    emit nodePicked(node);
}

void GraphWidget::mouseDoubleClickEvent(QMouseEvent* event) {
  if (!m_scene || m_stale) return;
  const auto point = toScene(event->position());
  const int node = m_scene->nodeAt(point), card = m_scene->cardAt(point);
  if (node < 0) {
    const int title = m_scene->titleAt(point);
    return title < 0 ? fit() : toggle(title, false);
  }
  if (const int group = m_scene->cards[std::size_t(card)].group; group >= 0) return toggle(group, true);
  emit nodePicked(node);
  centerOn(node);
  emit nodeOpened(node);
}

void GraphWidget::toggle(int group, bool open) {
  const auto& asked = m_scene->groups->groups[std::size_t(group)];
  holdCard(asked.result);
  emit groupToggled(asked.path, open);
}

/// Opens the selected group, or closes the one around the selected node; false where there is none.
bool GraphWidget::toggleSelected(bool open) {
  if (!m_scene || m_stale || !m_scene->groups || m_state.selected < 0) return false;
  const auto& card = m_scene->cards[std::size_t(m_scene->cardOfNode[std::size_t(m_state.selected)])];
  const int around = card.group >= 0 ? m_scene->groups->groups[std::size_t(card.group)].parent
                                     : m_scene->groups->groupOf[std::size_t(m_state.selected)];
  const int group = open ? card.group : around;
  if (group < (open ? 0 : 1)) return false;
  toggle(group, open);
  return true;
}

void GraphWidget::leaveEvent(QEvent*) {
  m_state.hovered = -1;
  update();
}

void GraphWidget::hover(const QPointF& position) {
  const int node = m_scene && !m_stale ? m_scene->nodeAt(toScene(position)) : -1;
  if (node == m_state.hovered) return;
  m_state.hovered = node;
  setCursor(node >= 0 ? Qt::PointingHandCursor : Qt::ArrowCursor);
  const int card = node >= 0 ? m_scene->cardAt(toScene(position)) : -1;
  if (card >= 0 && m_scene->cards[std::size_t(card)].group >= 0) {
    const auto& shown = m_scene->cards[std::size_t(card)];
    setToolTip(shown.title + "\n" + shown.name + tr(", double click or Enter opens it"));
  } else if (node >= 0) {
    const auto& doc = m_scene->graph->nodes[std::size_t(node)];
    auto tip = text(doc.name + "\n" + doc.target + (doc.value.empty() ? "" : "\n" + doc.value));
    if (!doc.bodies.empty()) tip += "\n" + tr("Double click or Enter goes into %1").arg(texts(doc.bodies).join(", "));
    setToolTip(tip);
  } else {
    setToolTip({});
  }
  update();
}

void GraphWidget::keyPressEvent(QKeyEvent* event) {
  const bool plain = !(event->modifiers() & (Qt::ControlModifier | Qt::AltModifier));
  static const QSet<int> walking{Qt::Key_Up, Qt::Key_Down, Qt::Key_Left, Qt::Key_Right,
                                 Qt::Key_J,  Qt::Key_K,    Qt::Key_Home, Qt::Key_End};
  if (plain && m_scene && walking.contains(event->key())) return walk(event->key());
  if (plain && (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter)) {
    if (!toggleSelected(true)) emit nodeOpened(m_state.selected);
    return;
  }
  if (plain && event->key() == Qt::Key_Backspace) {
    if (!toggleSelected(false)) emit leaveRequested();
    return;
  }
  if (event->key() == Qt::Key_Escape) return emit nodePicked(-1);
  QWidget::keyPressEvent(event);
}

void GraphWidget::walk(int key) {
  const int next = neighbour(key);
  if (next >= 0) emit nodePicked(next);
}

/// Up and down follow edges, left and right stay on the same rank, J and K follow execution order.
int GraphWidget::neighbour(int key) const {
  const auto& nodes = m_scene->graph->nodes;
  const int last = int(nodes.size()) - 1;
  if (m_state.selected > last) return -1;
  if (m_state.selected < 0) return nodes.empty() ? -1 : m_scene->cards.front().node;
  const auto& node = nodes[std::size_t(m_state.selected)];
  const int own = m_scene->cardOfNode[std::size_t(m_state.selected)];
  if (m_scene->cards[std::size_t(own)].group >= 0 && (key == Qt::Key_Up || key == Qt::Key_Down))
    return alongEdges(own, key == Qt::Key_Down);
  switch (key) {
    case Qt::Key_Up: {
      // The node's own parameters come last: a walk upwards follows the data.
      for (const int input : node.inputs)
        if (nodes[std::size_t(input)].kind != NodeKind::Input && nodes[std::size_t(input)].kind != NodeKind::Parameter)
          return input;
      return node.inputs.empty() ? -1 : node.inputs.front();
    }
    case Qt::Key_Down:
      return node.users.empty() ? -1 : node.users.front();
    case Qt::Key_Left:
      return sibling(-1);
    case Qt::Key_Right:
      return sibling(1);
    case Qt::Key_J:
      return std::min(m_state.selected + 1, last);
    case Qt::Key_K:
      return std::max(m_state.selected - 1, 0);
    case Qt::Key_Home:
      return 0;
    default:
      return last;
  }
}

/// The node to which the first edge out of a closed group leads, or from which one comes.
int GraphWidget::alongEdges(int card, bool down) const {
  for (const auto& edge : m_scene->edges)
    if ((down ? edge.from : edge.to) == card) return m_scene->cards[std::size_t(down ? edge.to : edge.from)].node;
  return -1;
}

int GraphWidget::sibling(int step) const {
  const auto& own = m_scene->cards[std::size_t(m_scene->cardOfNode[std::size_t(m_state.selected)])].rect;
  int best = -1;
  double nearest = 1e300;
  for (const auto& card : m_scene->cards) {
    const double distance = (card.rect.center().x() - own.center().x()) * step;
    const bool level = card.rect.top() < own.bottom() && card.rect.bottom() > own.top();
    if (!level || distance <= 0 || distance >= nearest) continue;
    nearest = distance;
    best = card.node;
  }
  return best;
}

void GraphWidget::contextMenuEvent(QContextMenuEvent* event) {
  if (m_scene && !m_stale) emit contextMenuAt(m_scene->nodeAt(toScene(event->pos())), event->globalPos());
}

}  // namespace kerf::ui::inline graph_view
