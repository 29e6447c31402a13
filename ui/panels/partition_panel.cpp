#include "ui/panels/partition_panel.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QSlider>
#include <QSplitter>
#include <QStackedWidget>
#include <QTabBar>
#include <QVBoxLayout>

#include <algorithm>

#include "ui/models/format.h"
#include "ui/panels/cut_view.h"
#include "ui/panels/pareto_chart.h"

namespace kerf::ui::inline panels {

PartitionPanel::PartitionPanel(Session& session, QWidget* parent)
    : QWidget(parent),
      m_session(session),
      m_model(makeSavedModel().release()),
      m_table(new DataTable(m_model)),
      m_chart(new ParetoChart),
      m_cut(new CutView),
      m_tabs(new QTabBar),
      m_relation(new QLabel),
      m_run(new QPushButton(tr("Partition"))),
      m_budget(new QSlider(Qt::Horizontal)),
      m_summary(new QLabel),
      m_hint(new QLabel),
      m_content(new QSplitter(Qt::Horizontal)) {
  m_run->setObjectName("primary");
  m_run->setToolTip(tr("Split the joint graph into forward and backward for each memory budget"));
  m_budget->setObjectName("budget");
  m_budget->setAccessibleName(tr("Memory budget"));
  m_budget->setMaximumWidth(320);
  m_budget->setToolTip(tr("Memory budget: at 1, forward saves what makes backward fastest; at 0, only what it must"));
  m_summary->setObjectName("status");
  m_summary->setMinimumWidth(1);
  m_hint->setObjectName("hint");
  m_hint->setAlignment(Qt::AlignCenter);
  m_hint->setWordWrap(true);
  m_table->setObjectName("saved");
  m_table->setAccessibleName(tr("Saved values"));
  m_table->setStretchColumn(3);
  auto* bar = new QHBoxLayout;
  bar->setContentsMargins(12, 8, 12, 8);
  bar->setSpacing(10);
  bar->addWidget(m_run);
  bar->addWidget(m_budget, 1);
  bar->addWidget(m_summary, 2);
  m_tabs->setObjectName("inner");
  m_tabs->setDrawBase(false);
  m_tabs->setExpanding(false);
  m_tabs->addTab(tr("Forward | backward"));
  m_tabs->addTab(tr("Table"));
  m_relation->setObjectName("quiet");
  m_relation->setContentsMargins(12, 3, 12, 3);
  m_relation->setMinimumWidth(1);
  auto* pages = new QStackedWidget;
  pages->addWidget(m_cut);
  pages->addWidget(m_table);
  connect(m_tabs, &QTabBar::currentChanged, pages, &QStackedWidget::setCurrentIndex);
  auto* left = new QWidget;
  auto* stack = new QVBoxLayout(left);
  stack->setContentsMargins(0, 0, 0, 0);
  stack->setSpacing(0);
  stack->addWidget(m_tabs);
  stack->addWidget(pages, 1);
  stack->addWidget(m_relation);
  m_content->addWidget(left);
  m_content->addWidget(m_chart);
  m_content->setChildrenCollapsible(false);
  m_content->setSizes({640, 360});
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addLayout(bar);
  column->addWidget(m_hint, 1);
  column->addWidget(m_content, 1);
  connect(m_run, &QPushButton::clicked, &session, &Session::partition);
  connect(m_budget, &QSlider::valueChanged, this, &PartitionPanel::showCut);
  connect(m_chart, &ParetoChart::pointPicked, m_budget, &QSlider::setValue);
  connect(m_table, &DataTable::picked, this,
          [this](int row) { m_session.selectNode(QString::fromStdString(m_model->row(row).name)); });
  connect(m_cut, &CutView::nodePicked, this, [this](int node) {
    m_session.selectNode(node);
    QStringList names;
    const auto graph = m_session.graph();
    for (const int other : graph ? counterparts(*graph, node) : std::vector<int>())
      names << QString::fromStdString(graph->nodes[std::size_t(other)].name);
    emit counterpartsPicked(names);
  });
  connect(&session, &Session::nodeChanged, this, &PartitionPanel::showNode);
  connect(&session, &Session::partitionsChanged, this, &PartitionPanel::showPartitions);
  connect(&session, &Session::graphChanged, this, &PartitionPanel::showPartitions);
  showPartitions();
}

QString PartitionPanel::relation() const { return m_relation->text(); }

/// A forward node and the nodes of its gradient, as far as PyTorch's names and stacks tell.
void PartitionPanel::showNode() {
  m_cut->setCurrent(m_session.node());
  const auto* node = m_session.nodeDoc();
  m_relation->setVisible(node != nullptr && chosen() != nullptr);
  if (node == nullptr) return;
  constexpr qsizetype most = 8;
  QStringList names;
  for (const int other : counterparts(*m_session.graph(), m_session.node()))
    names << text(m_session.graph()->nodes[std::size_t(other)].name);
  const auto more = names.size() > most ? tr(" and %1 more").arg(names.size() - most) : QString();
  const auto named = QStringList(names.first(std::min(most, names.size()))).join(", ") + more;
  m_relation->setToolTip(names.join(", "));
  if (names.isEmpty())
    m_relation->setText(node->backward ? tr("%1: part of the backward graph").arg(text(node->name))
                                       : tr("%1: no node is known to compute its gradient").arg(text(node->name)));
  else
    m_relation->setText(
        (node->backward ? tr("%1: computes the gradient of %2") : tr("%1: its gradient is computed by %2"))
            .arg(text(node->name), named));
}

QString PartitionPanel::summary() const { return m_summary->text(); }

const workbench::PartitionDoc* PartitionPanel::chosen() const {
  const auto at = std::size_t(m_budget->value());
  return m_shown && at < m_shown->partitions.size() ? &m_shown->partitions[at] : nullptr;
}

void PartitionPanel::showPartitions() {
  const auto doc = m_session.partitions();
  const bool running = doc && doc->running, told = doc && !running && doc->error.isEmpty();
  m_run->setEnabled(m_session.graph() && !running);
  m_content->setVisible(told);
  m_budget->setVisible(told);
  m_hint->setVisible(!told);
  if (running)
    m_hint->setText(tr("Partitioning the joint graph for 21 budgets…"));
  else if (doc && !told)
    m_hint->setText(doc->error);
  else
    m_hint->setText(m_session.graph() ? tr("Partition to see which values forward saves for backward, and why.")
                                      : tr("Open a capture to partition its joint graph."));
  const auto shown = told ? doc : nullptr;
  if (shown == m_shown) return showCut();
  m_shown = shown;
  if (m_shown) {
    const QSignalBlocker quiet(m_budget);
    m_budget->setRange(0, int(m_shown->partitions.size()) - 1);
    m_budget->setValue(m_budget->maximum());
    m_chart->setPartitions(m_shown->partitions);
  }
  showCut();
}

void PartitionPanel::showCut() {
  const auto* cut = chosen();
  m_cut->setCut(m_session.graph(), cut);
  showNode();
  m_model->setRows(cut ? cut->saved : std::vector<workbench::SavedValueDoc>());
  m_table->fitColumns();
  m_chart->setCurrent(cut ? m_budget->value() : -1);
  QHash<QString, QString> saved;
  QStringList recomputed;
  if (cut) {
    for (const auto& value : cut->saved) saved.insert(text(value.name), formatBytes(value.bytes));
    recomputed = texts(cut->recomputed);
    m_summary->setText(tr("Budget %1  ·  saves %2 in %3  ·  computes %4 again  ·  %5 forward, %6 backward")
                           .arg(cut->budget, 0, 'f', 2)
                           .arg(formatBytes(cut->savedBytes), plural(qint64(cut->saved.size()), "value"),
                                plural(qint64(cut->recomputed.size()), "call"), formatCount(cut->forwardNodes),
                                plural(cut->backwardNodes, "node")));
  } else {
    m_summary->clear();
  }
  emit cutChanged(saved, recomputed);
}

}  // namespace kerf::ui::inline panels
