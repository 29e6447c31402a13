#include "ui/panels/changes_panel.h"

#include <algorithm>

#include <QLabel>
#include <QSplitter>
#include <QVBoxLayout>

#include "ui/models/format.h"

namespace kerf::ui::inline panels {

ChangesPanel::ChangesPanel(Session& session, QWidget* parent)
    : QWidget(parent),
      m_session(session),
      m_summary(new QLabel),
      m_ops(makeOpCountModel().release()),
      m_nodes(makeChangeModel().release()),
      m_opTable(new DataTable(m_ops)),
      m_nodeTable(new DataTable(m_nodes)),
      m_tables(new QSplitter(Qt::Vertical)) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  m_summary->setObjectName("quiet");
  m_summary->setWordWrap(true);
  m_summary->setContentsMargins(10, 6, 10, 6);
  m_opTable->setObjectName("opCounts");
  m_opTable->setAccessibleName(tr("Op counts"));
  m_opTable->setStretchColumn(0);
  m_opTable->setHint(tr("Ops that are called more or less often appear here."));
  m_nodeTable->setObjectName("changedNodes");
  m_nodeTable->setAccessibleName(tr("Changed nodes"));
  m_nodeTable->setStretchColumn(1);
  m_nodeTable->setHint(tr("Nodes that differ appear here."));
  m_tables->addWidget(m_opTable);
  m_tables->addWidget(m_nodeTable);
  m_tables->setChildrenCollapsible(false);
  column->addWidget(m_summary);
  column->addWidget(m_tables, 1);
  connect(&session, &Session::differenceChanged, this, &ChangesPanel::showDifference);
  connect(&session, &Session::graphChanged, this, &ChangesPanel::showDifference);
  connect(m_nodeTable, &DataTable::picked, this, &ChangesPanel::pick);
  connect(&session, &Session::nodeChanged, this, [this] {
    const auto* node = m_session.nodeDoc();
    const auto& rows = m_nodes->rows();
    const auto found = std::ranges::find_if(rows, [&](const ChangeRow& row) { return node && row.node == node->name; });
    m_nodeTable->selectSourceRow(found == rows.end() ? -1 : int(found - rows.begin()));
  });
  showDifference();
}

QString ChangesPanel::summary() const { return m_summary->text(); }

void ChangesPanel::showDifference() {
  const auto difference = m_session.difference();
  const bool told = difference && difference->error.isEmpty();
  m_ops->setRows(told ? difference->ops : std::vector<OpCountDoc>());
  m_nodes->setRows(told ? changeRows(*difference) : std::vector<ChangeRow>());
  m_opTable->fitColumns();
  m_nodeTable->fitColumns();
  m_tables->setVisible(told);
  if (!m_session.graph()) return m_summary->setText(tr("No graph yet"));
  if (!difference)
    return m_summary->setText(
        tr("Nothing to compare with yet: go to a stage in the strip above the graph, or drag one "
           "graph onto another in the list of captures."));
  if (!told) return m_summary->setText(tr("Cannot compare with %1: %2").arg(difference->title, difference->error));
  if (difference->same) return m_summary->setText(tr("The same as %1").arg(difference->title));
  const auto rewritten = difference->rewritten.size();
  QStringList parts{
      tr("Against %1").arg(difference->title),
      QString("%1 → %2").arg(formatCount(difference->nodesBefore), plural(difference->nodesAfter, "node"))};
  parts << tr("%1 stayed").arg(formatCount(difference->paired));
  if (rewritten > 0) parts << plural(qint64(rewritten), "rewrite");
  m_summary->setText(parts.join("  ·  "));
}

void ChangesPanel::pick(int row) {
  const auto& change = m_nodes->row(row);
  if (change.node.empty()) return emit goneNodePicked(text(change.gone));
  m_session.selectNode(QString::fromStdString(change.node));
}

}  // namespace kerf::ui::inline panels
