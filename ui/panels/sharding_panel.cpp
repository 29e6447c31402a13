#include "ui/panels/sharding_panel.h"

#include <algorithm>

#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSplitter>
#include <QTextBrowser>
#include <QVBoxLayout>

#include "ui/models/format.h"
#include "ui/models/placement_words.h"
#include "ui/models/theme.h"

namespace kerf::ui::inline panels {
namespace {

/// "all_gather_into_tensor ×2, all_reduce ×1": collectives of a rank, without their namespaces.
QString collectivesText(const ShardingDoc& doc) {
  QStringList parts;
  for (const auto& [op, calls] : doc.collectives) {
    const auto name = text(op).section("_c10d_functional.", -1).section('.', 0, 0);
    parts << QString("%1 ×%2").arg(name).arg(calls);
  }
  return parts.isEmpty() ? ShardingPanel::tr("no collectives") : parts.join(", ");
}

QString shardingHeadline(const ShardingDoc& doc) {
  double cost = 0;
  for (const auto& node : doc.nodes) cost += node.cost;
  QStringList said{collectivesText(doc), ShardingPanel::tr("moves %1").arg(formatMicroseconds(cost)),
                   ShardingPanel::tr("results %1").arg(texts(doc.outputs).join(", "))};
  said << (doc.isRun ? ShardingPanel::tr("differs from the whole graph by %1").arg(doc.difference, 0, 'g', 3)
                     : ShardingPanel::tr("not run: %1").arg(text(doc.notRun)));
  return said.join("  ·  ");
}

}  // namespace

ShardingPanel::ShardingPanel(Session& session, QWidget* parent)
    : QWidget(parent),
      m_session(session),
      m_model(makeShardingModel().release()),
      m_table(new DataTable(m_model)),
      m_mesh(new QLineEdit("4")),
      m_placements(new QLineEdit),
      m_run(new QPushButton(tr("Shard"))),
      m_headline(new ElidedLabel),
      m_hint(new QLabel),
      m_why(new QTextBrowser),
      m_content(new QSplitter(Qt::Horizontal)) {
  build();
  connect(m_run, &QPushButton::clicked, this, &ShardingPanel::shard);
  for (auto* edit : {m_mesh, m_placements}) connect(edit, &QLineEdit::returnPressed, this, &ShardingPanel::shard);
  connect(m_table, &DataTable::picked, this,
          [this](int row) { m_session.selectNode(QString::fromStdString(m_model->row(row).name)); });
  connect(&session, &Session::nodeChanged, this, &ShardingPanel::showNode);
  for (const auto signal : {&Session::shardingChanged, &Session::locationChanged})
    connect(&session, signal, this, &ShardingPanel::showSharding);
  connect(&session, &Session::graphChanged, this, &ShardingPanel::proposeInput);
  showSharding();
}

void ShardingPanel::build() {
  m_run->setObjectName("primary");
  m_run->setToolTip(tr("Find where each value is placed over the ranks, and what moving it costs"));
  m_mesh->setObjectName("mesh");
  m_mesh->setAccessibleName(tr("Mesh"));
  m_mesh->setToolTip(tr("Sizes of the mesh of ranks: 4, or 2,2"));
  m_mesh->setFixedWidth(70);
  m_placements->setObjectName("inputPlacements");
  m_placements->setAccessibleName(tr("Placements of inputs"));
  m_placements->setToolTip(
      tr("How inputs are placed, one for each dimension of the mesh: S0 is sharded along the first "
         "dimension, R is whole on every rank. Inputs that are not named are whole."));
  m_placements->setClearButtonEnabled(true);
  m_placements->setMinimumWidth(150);
  m_headline->setObjectName("status");
  m_hint->setObjectName("hint");
  m_hint->setAlignment(Qt::AlignCenter);
  m_hint->setWordWrap(true);
  m_table->setObjectName("placements");
  m_table->setAccessibleName(tr("Placements of all nodes"));
  m_table->setStretchColumn(3);
  m_why->setObjectName("whyPlaced");
  m_why->setAccessibleName(tr("Why the node is placed so"));
  m_why->setFrameShape(QFrame::NoFrame);
  m_content->addWidget(m_table);
  m_content->addWidget(m_why);
  m_content->setChildrenCollapsible(false);
  m_content->setSizes({700, 380});
  auto* bar = new QHBoxLayout;
  bar->setContentsMargins(12, 8, 12, 8);
  bar->setSpacing(10);
  bar->addWidget(new QLabel(tr("Mesh")));
  bar->addWidget(m_mesh);
  bar->addWidget(new QLabel(tr("Inputs")));
  bar->addWidget(m_placements, 2);
  bar->addWidget(m_run);
  bar->addWidget(m_headline, 4);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addLayout(bar);
  column->addWidget(m_hint, 1);
  column->addWidget(m_content, 1);
}

QString ShardingPanel::headline() const { return m_headline->text(); }
QString ShardingPanel::why() const { return m_why->toPlainText(); }
QString ShardingPanel::hint() const { return m_hint->text(); }

void ShardingPanel::shard() {
  if (m_session.graph()) m_session.shard(m_mesh->text(), m_placements->text());
}

/// By a name of the graph's own, since that is what somebody would have to look for.
void ShardingPanel::proposeInput() {
  const auto graph = m_session.graph();
  if (!graph) return m_placements->setPlaceholderText({});
  const auto input = std::ranges::find(graph->nodes, NodeKind::Input, &NodeDoc::kind);
  m_placements->setPlaceholderText(input == graph->nodes.end() ? QString() : text(input->name) + "=S0");
}

void ShardingPanel::showSharding() {
  const auto doc = m_session.sharding();
  const bool running = doc && doc->running, told = doc && !running && doc->error.isEmpty();
  if (running && m_run->hasFocus()) m_mesh->setFocus();  // a control that is off would lose it to another panel
  m_run->setEnabled(m_session.graph() && !running);
  m_content->setVisible(told);
  m_hint->setVisible(!told);
  m_hint->setText(running              ? tr("Placing values over the ranks…")
                  : doc && !told       ? doc->error
                  : !m_session.graph() ? tr("Open a graph to place its values over several ranks.")
                                       : tr("Choose a mesh and how inputs are placed: the graph is coloured by where "
                                            "values are, and edges say what moving them costs."));
  const auto shown = told ? doc : nullptr;
  if (shown == m_shown) return;
  m_shown = shown;
  m_model->setRows(shown ? shown->nodes : std::vector<workbench::ShardedNodeDoc>());
  m_table->fitColumns();
  const auto said = shown ? shardingHeadline(*shown) : QString();
  m_headline->setForms({said});
  m_headline->setToolTip(said);
  if (shown) m_mesh->setText(shown->askedMesh);
  if (shown) m_placements->setText(shown->askedPlacements);
  showNode();
}

void ShardingPanel::showNode() {
  const auto* node = m_session.nodeDoc();
  const auto* known = m_shown && node ? m_shown->find(node->name) : nullptr;
  m_table->selectSourceRow(known ? int(known - m_shown->nodes.data()) : -1);
  if (!known) return m_why->setPlainText(m_shown ? tr("Pick a node to see why it is placed as it is.") : QString());
  QString html;
  for (const auto& sentence : whyPlaced(*m_session.graph(), *m_shown, *known))
    html += "<p style='margin:4px'>" + sentence.toHtmlEscaped() + "</p>";
  m_why->setHtml(html);
}

}  // namespace kerf::ui::inline panels
