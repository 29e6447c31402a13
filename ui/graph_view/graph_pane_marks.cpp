// GraphPane: what is marked in the picture: changes and ghosts, pins and notes, fusion groups, what a partition saves.
#include <algorithm>

#include "ui/graph_view/graph_pane.h"
#include "ui/models/format.h"

namespace kerf::ui::inline graph_view {

/// What is new, rewritten or gone against the graph that this one is compared with.
void GraphPane::readDifference() {
  const auto difference = m_session.difference();
  if (difference == m_difference) return;
  m_difference = difference;
  m_marks = difference && m_session.graph() ? changeMarks(*m_session.graph(), *difference) : ChangeMarks();
  m_options.ghosts = m_marks.ghosts;
}

void GraphPane::showDifference() {
  const auto before = m_options.ghosts;
  readDifference();
  if (!m_session.graph()) return;
  if (m_options.ghosts != before) return relayout(m_view->scene() != nullptr);
  if (m_view->scene() && m_view->scene()->shown == m_session.graph()) markChanges();
  updateTitle();
}

void GraphPane::markChanges() { m_view->setChanges(m_marks.added, m_marks.rewritten); }

void GraphPane::showPins() {
  QSet<int> pinned;
  for (const auto& name : m_session.pins())
    if (const int node = m_session.graph() ? m_session.graph()->find(name.toStdString()) : -1; node >= 0)
      pinned.insert(node);
  m_view->setPinned(pinned);
}

void GraphPane::showNotes() {
  QSet<int> noted;
  const auto graph = m_session.graph();
  if (const auto notes = m_session.notes(); notes && graph)
    for (const auto& note : *notes)
      if (const int node = note.graphHash == graph->hash ? graph->find(note.node) : -1; node >= 0) noted.insert(node);
  m_view->setNoted(noted);
}

void GraphPane::setHulls(bool on) {
  m_hulls = on;
  if (const int capture = m_session.location().capture; on && capture >= 0) m_session.findFusion(capture);
  showHulls();
}

void GraphPane::showHulls() {
  const auto& scene = m_view->scene();
  const bool current = scene && scene->shown == m_session.graph();
  m_view->setHulls(m_hulls && current ? fusionHulls(m_session) : nullptr);
}

/// "+12 −3 ~4 against joint"; `brief`: "+12 −3 ~4".
QString GraphPane::changesText(bool brief) const {
  if (!m_difference) return {};
  if (!m_difference->error.isEmpty()) return tr("not compared with %1").arg(m_difference->title);
  const auto& difference = *m_difference;
  QStringList parts;
  if (!difference.added.empty()) parts << "+" + formatCount(qint64(difference.added.size()));
  if (!difference.removed.empty()) parts << "−" + formatCount(qint64(difference.removed.size()));
  if (!m_marks.rewritten.isEmpty()) parts << "~" + formatCount(m_marks.rewritten.size());
  if (brief) return parts.join(' ');
  auto said = (parts.isEmpty() ? tr("as in") : parts.join(' ') + tr(" against")) + " " + difference.title;
  if (m_marks.notDrawn > 0) said += tr("  ·  %1 gone, too many to draw").arg(plural(m_marks.notDrawn, "node"));
  return said;
}

void GraphPane::setCut(const QHash<QString, QString>& saved, const QStringList& recomputed) {
  QHash<int, QString> kept;
  QSet<int> again;
  const auto find = [this](const QString& name) {
    return m_session.graph() ? m_session.graph()->find(name.toStdString()) : -1;
  };
  for (auto value = saved.constBegin(); value != saved.constEnd(); ++value)
    if (const int node = find(value.key()); node >= 0) kept.insert(node, value.value());
  for (const auto& name : recomputed)
    if (const int node = find(name); node >= 0) again.insert(node);
  m_view->setCut(std::move(kept), std::move(again));
}

void GraphPane::showGhost(const QString& name) {
  const auto& scene = m_view->scene();
  if (!scene || !scene->ghosts || scene->shown != m_session.graph()) return;
  const auto ghost = std::ranges::find(*scene->ghosts, name.toStdString(), &NodeDoc::name);
  if (ghost != scene->ghosts->end())
    m_view->select(int(scene->shown->nodes.size()) + int(ghost - scene->ghosts->begin()), true);
}

/// Whether a node is only a ghost; then it is told to whoever shows the graph that it stems from.
bool GraphPane::pickGhost(int node) {
  const auto& scene = m_view->scene();
  if (!scene || node < 0 || !scene->isGhost(node)) return false;
  m_view->select(node, false);
  emit ghostPicked(text(scene->graph->nodes[std::size_t(node)].name));
  return true;
}

}  // namespace kerf::ui::inline graph_view
