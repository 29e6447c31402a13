#include "ui/panels/nodes_panel.h"

#include <set>
#include <utility>

#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QVBoxLayout>

#include "ui/models/format.h"
#include "ui/session/node_search.h"

namespace kerf::ui::inline panels {
namespace {
constexpr int delayMs = 120;  ///< a filter over 50,000 rows waits until the typing pauses
}

NodesPanel::NodesPanel(Session& session, QWidget* parent)
    : QWidget(parent),
      m_session(session),
      m_model(makeNodeModel().release()),
      m_table(new DataTable(m_model)),
      m_filter(new QLineEdit),
      m_count(new QLabel) {
  m_filter->setPlaceholderText(tr("Filter: words, op:relu users>1 …"));
  m_filter->setClearButtonEnabled(true);
  m_filter->setObjectName("nodeFilter");
  m_filter->setMaximumWidth(360);
  m_count->setObjectName("quiet");
  m_table->setObjectName("nodes");
  m_table->setHint(tr("Every node of the shown graph appears here."));
  m_table->setStretchColumn(m_model->columnCount() - 1);
  auto* row = new QHBoxLayout;
  row->setContentsMargins(12, 8, 12, 8);
  row->addWidget(m_filter, 1);
  row->addStretch(1);
  row->addWidget(m_count);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addLayout(row);
  column->addWidget(m_table, 1);
  m_delay.setSingleShot(true);
  m_delay.setInterval(delayMs);
  connect(&m_delay, &QTimer::timeout, this, &NodesPanel::applyFilter);
  connect(m_filter, &QLineEdit::textChanged, this, [this] { m_delay.start(); });
  connect(&session, &Session::graphChanged, this, &NodesPanel::showGraph);
  connect(&session, &Session::nodeChanged, this, [this] { m_table->selectSourceRow(m_session.node()); });
  connect(m_table, &DataTable::picked, this, [this](int index) { m_session.selectNode(index); });
}

void NodesPanel::showGraph() {
  const auto before = std::exchange(m_shown, m_session.graph());  // until no row is of it any more
  m_model->setRows(nodeRows(m_shown.get()));
  m_table->fitColumns();
  applyFilter();
}

void NodesPanel::applyFilter() {
  const auto wanted = m_filter->text().trimmed();
  const auto found = searchNodes(m_session, wanted);
  if (!found.problem.isEmpty()) return m_count->setText(found.problem);
  const auto keep = [hits = std::set<int>(found.nodes.begin(), found.nodes.end())](int index) {
    return hits.contains(index);
  };
  m_table->filter().setKeep(wanted.isEmpty() ? std::function<bool(int)>() : keep);
  const int shown = m_table->model()->rowCount(), all = m_model->rowCount();
  m_count->setText(shown == all ? plural(all, "node") : tr("%1 of %2").arg(formatCount(shown), plural(all, "node")));
}

}  // namespace kerf::ui::inline panels
