#include "ui/panels/figures_table.h"

#include <algorithm>

#include <QCheckBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>

#include "ui/models/format.h"

namespace kerf::ui::inline panels {
namespace {

bool hasOddElements(const workbench::NodeFigures& row) {
  return std::ranges::any_of(row.sides, [](const auto& side) { return side.figures.finite < side.figures.elements; });
}

}  // namespace

FiguresTable::FiguresTable(Session& session, QWidget* parent)
    : QWidget(parent),
      m_session(session),
      m_model(makeFiguresModel().release()),
      m_table(new DataTable(m_model)),
      m_status(new QLabel),
      m_onlyOdd(new QCheckBox(tr("Only with NaN or inf"))) {
  m_table->setObjectName("figuresOfNodes");
  m_table->setAccessibleName(tr("Values of all nodes"));
  m_table->setStretchColumn(m_model->columnCount() - 1);
  m_table->setHint(tr("Compare (Ctrl+R) to see what the values of all nodes are like on every side."));
  m_status->setObjectName("status");
  m_status->setMinimumWidth(1);
  auto* bar = new QHBoxLayout;
  bar->setContentsMargins(12, 8, 12, 8);
  bar->addWidget(m_status, 1);
  bar->addWidget(m_onlyOdd);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addLayout(bar);
  column->addWidget(m_table, 1);
  connect(m_onlyOdd, &QCheckBox::toggled, this, &FiguresTable::applyFilter);
  connect(m_table, &DataTable::picked, this,
          [this](int row) { m_session.selectNode(QString::fromStdString(m_model->row(row).node)); });
  connect(&session, &Session::nodeChanged, this, [this] {
    const auto* node = m_session.nodeDoc();
    const auto* row = m_shown && node ? m_shown->figuresOf(node->name) : nullptr;
    m_table->selectSourceRow(row ? int(row - m_shown->values.data()) : -1);
  });
  for (const auto signal : {&Session::accuracyChanged, &Session::graphChanged})
    connect(&session, signal, this, &FiguresTable::showFigures);
  showFigures();
}

QString FiguresTable::status() const { return m_status->text(); }

void FiguresTable::showFigures() {
  const auto accuracy = m_session.accuracy();
  const auto shown = accuracy && !accuracy->running && accuracy->error.isEmpty() ? accuracy : nullptr;
  if (shown == m_shown) return;
  m_shown = shown;
  m_model->setRows(shown ? shown->values : std::vector<workbench::NodeFigures>());
  m_table->fitColumns();
  applyFilter();
}

void FiguresTable::applyFilter() {
  const bool only = m_onlyOdd->isChecked() && m_shown;
  m_table->filter().setKeep(only ? std::function<bool(int)>([doc = m_shown](int row) {
    return row < int(doc->values.size()) && hasOddElements(doc->values[std::size_t(row)]);
  })
                                 : std::function<bool(int)>());
  if (!m_shown) return m_status->clear();
  const auto odd = std::ranges::count_if(m_shown->values, hasOddElements);
  const auto counted = plural(std::ssize(m_shown->values), "value");
  m_status->setText(odd == 0 ? tr("%1, all finite").arg(counted)
                             : tr("%1, of which %2 with NaN or infinities").arg(counted, formatCount(odd)));
}

}  // namespace kerf::ui::inline panels
