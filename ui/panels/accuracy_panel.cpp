#include "ui/panels/accuracy_panel.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QSplitter>
#include <QVBoxLayout>

#include "ui/models/format.h"
#include "ui/models/theme.h"

namespace kerf::ui::inline panels {
namespace {

QWidget* titled(const QString& title, QWidget* content) {
  auto* box = new QWidget;
  auto* column = new QVBoxLayout(box);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  auto* label = new QLabel(title);
  label->setObjectName("tableTitle");
  column->addWidget(label);
  column->addWidget(content, 1);
  return box;
}

}  // namespace

AccuracyPanel::AccuracyPanel(Session& session, QWidget* parent)
    : QWidget(parent),
      m_session(session),
      m_plant(new PlantPicker(session)),
      m_outputs(makeOutputModel().release()),
      m_nodes(makeNodeAccuracyModel().release()),
      m_outputTable(new DataTable(m_outputs)),
      m_nodeTable(new DataTable(m_nodes)) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(buildBar());
  m_hint = new QLabel;
  m_hint->setObjectName("hint");
  m_hint->setAlignment(Qt::AlignCenter);
  m_hint->setWordWrap(true);
  column->addWidget(m_hint, 1);
  m_tables = buildTables();
  column->addWidget(m_tables, 1);
  connect(&session, &Session::accuracyChanged, this, &AccuracyPanel::showAccuracy);
  connect(&session, &Session::graphChanged, this, &AccuracyPanel::showAccuracy);
  connect(m_nodeTable, &DataTable::picked, this, [this](int row) { m_session.selectNode(m_nodes->row(row).node); });
  connect(&session, &Session::nodeChanged, this, [this] {
    const auto accuracy = m_session.accuracy();
    const auto* node = m_session.nodeDoc();
    m_nodeTable->selectSourceRow(accuracy && node ? accuracy->nodeIndex.value(node->name, -1) : -1);
  });
  showAccuracy();
}

QWidget* AccuracyPanel::buildBar() {
  auto* bar = new QWidget;
  auto* row = new QHBoxLayout(bar);
  row->setContentsMargins(12, 8, 12, 8);
  row->setSpacing(10);
  m_run = new QPushButton(tr("Compare"));
  m_run->setObjectName("primary");
  m_run->setToolTip(tr("Compiled graph against the interpreter and an fp64 reference, in a process of its own"));
  m_cancel = new QPushButton(tr("Cancel"));
  m_verdict = new QLabel;
  m_verdict->setObjectName("verdict");
  row->addWidget(m_run);
  row->addWidget(m_cancel);
  row->addWidget(m_plant);
  row->addStretch(1);
  row->addWidget(m_verdict);
  connect(m_run, &QPushButton::clicked, this, &AccuracyPanel::run);
  connect(m_cancel, &QPushButton::clicked, &m_session, &Session::cancelCompare);
  return bar;
}

QWidget* AccuracyPanel::buildTables() {
  m_outputTable->setObjectName("outputs");
  m_nodeTable->setObjectName("nodeAccuracy");
  auto* splitter = new QSplitter(Qt::Horizontal);
  splitter->addWidget(titled(tr("Outputs"), m_outputTable));
  splitter->addWidget(titled(tr("Nodes"), m_nodeTable));
  splitter->setChildrenCollapsible(false);
  splitter->setSizes({340, 660});
  return splitter;
}

void AccuracyPanel::run() { m_session.compare(m_plant->plant()); }

QString AccuracyPanel::verdict() const { return m_verdict->text(); }

void AccuracyPanel::showAccuracy() {
  const auto accuracy = m_session.accuracy();
  const bool running = accuracy && accuracy->running;
  const bool shown = accuracy && !running && accuracy->error.isEmpty();
  m_run->setEnabled(m_session.graph() && !running);
  m_plant->setEnabled(m_run->isEnabled());
  m_cancel->setVisible(running);
  m_tables->setVisible(shown);
  m_hint->setVisible(!shown);
  if (running)
    m_hint->setText(tr("Comparing the compiled graph with the interpreter and an fp64 reference…"));
  else if (accuracy && !accuracy->error.isEmpty())
    m_hint->setText(accuracy->error);
  else
    m_hint->setText(m_session.graph() ? tr("Compare to see where the compiled result leaves the reference.\n"
                                           "Plant a fault to watch it being found.")
                                      : tr("Open a capture to compare its results."));
  m_outputs->setRows(shown ? accuracy->outputs : std::vector<OutputRow>());
  m_nodes->setRows(shown ? accuracy->nodes : std::vector<NodeRow>());
  m_verdict->clear();
  if (!shown) return;
  m_outputTable->fitColumns();
  m_nodeTable->fitColumns();
  showVerdict(*accuracy);
}

void AccuracyPanel::showVerdict(const AccuracyDoc& doc) {
  int bad = 0;
  for (const auto& row : doc.nodes) bad += !row.same;
  const QString first = doc.firstBad();
  auto text = doc.same ? tr("Same") : doc.failure.isEmpty() ? tr("Different") : tr("Failed: %1").arg(doc.failure);
  if (bad > 0) text += tr("  ·  %1 beyond the limit").arg(plural(bad, "node"));
  if (!first.isEmpty()) text += tr("  ·  first bad: %1").arg(first);
  m_verdict->setText(text);
  auto palette = m_verdict->palette();
  palette.setColor(QPalette::WindowText, doc.same && bad == 0 ? theme().good : theme().bad);
  m_verdict->setPalette(palette);
}

}  // namespace kerf::ui::inline panels
