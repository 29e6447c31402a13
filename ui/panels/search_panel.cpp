#include "ui/panels/search_panel.h"

#include <utility>

#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>
#include <QVBoxLayout>
#include <QWhatsThis>

#include "ui/models/format.h"
#include "ui/session/node_search.h"

namespace kerf::ui::inline panels {
namespace {

/// What a query may be made of, as a table.
QString searchHelp() {
  QString rows;
  for (const auto& [word, what] : searchWords())
    rows += "<tr><td style='padding-right:18px'><code>" + word.toHtmlEscaped() + "</code></td><td>" +
            what.toHtmlEscaped() + "</td></tr>";
  return SearchPanel::tr(
             "<p>All words must fit. Plain words are parts of a name, target or type; <code>*</code> and "
             "<code>?</code> stand for any letters, commas between texts for or, quotation marks for texts "
             "with spaces.</p>") +
         "<table cellpadding='1'>" + rows + "</table>";
}

}  // namespace

SearchPanel::SearchPanel(Session& session, GraphPane& pane, QWidget* parent)
    : QWidget(parent),
      m_session(session),
      m_pane(pane),
      m_model(makeNodeModel().release()),
      m_table(new DataTable(m_model)),
      m_said(new QLabel) {
  m_said->setObjectName("quiet");
  m_table->setObjectName("hits");
  m_table->setAccessibleName(tr("Found nodes"));
  m_table->setHint(
      tr("Type into the search box (Ctrl+F): words, or such as\n"
         "op:relu users>1 shape:*x512 not:dtype:bf16 module:layers.3 bytes>1M diverged"));
  m_table->setStretchColumn(m_model->columnCount() - 1);
  auto* help = new QToolButton;
  help->setObjectName("searchHelp");
  help->setText(tr("What can be asked?"));
  help->setAccessibleName(help->text());
  connect(help, &QToolButton::clicked, this,
          [help] { QWhatsThis::showText(help->mapToGlobal(QPoint(0, help->height())), searchHelp(), help); });
  auto* row = new QHBoxLayout;
  row->setContentsMargins(12, 8, 12, 8);
  row->addWidget(m_said, 1);
  row->addWidget(help);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addLayout(row);
  column->addWidget(m_table, 1);
  connect(&pane, &GraphPane::searchChanged, this, &SearchPanel::showHits);
  connect(&session, &Session::graphChanged, this, &SearchPanel::showHits);
  connect(m_table, &DataTable::picked, this, [this](int hit) {
    if (hit < int(m_pane.hits().size())) m_pane.showHit(hit);
  });
}

QString SearchPanel::said() const { return m_said->text(); }

void SearchPanel::showHits() {
  const auto graph = m_session.graph();
  if (graph != m_graph || m_pane.hits() != m_listed) {
    const auto before = std::exchange(m_graph, graph);  // until no row is of it any more
    m_listed = m_pane.hits();
    std::vector<NodeRef> rows;
    for (const int node : m_listed)
      if (graph && node < int(graph->nodes.size())) rows.push_back({graph.get(), node});
    m_model->setRows(std::move(rows));
    m_table->fitColumns();
  }
  m_table->selectSourceRow(m_pane.currentHit());
  const auto count =
      tr("%1 of %2").arg(formatCount(qint64(m_listed.size())), plural(graph ? qint64(graph->nodes.size()) : 0, "node"));
  m_said->setText(!m_pane.searchProblem().isEmpty() ? m_pane.searchProblem() : graph ? count : QString());
}

}  // namespace kerf::ui::inline panels
