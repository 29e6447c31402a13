#include "ui/panels/passes_panel.h"

#include <algorithm>

#include <QCheckBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>

#include "ui/models/format.h"

namespace kerf::ui::inline panels {
namespace {
constexpr int stageColumn = 2, passTimeColumn = 4;

QString countOf(qint64 count) { return plural(count, "pass").replace("passs", "passes"); }
}  // namespace

PassesPanel::PassesPanel(Session& session, QWidget* parent)
    : QWidget(parent),
      m_session(session),
      m_model(makePassModel().release()),
      m_table(new DataTable(m_model)),
      m_hide(new QCheckBox(tr("Hide unchanged"))),
      m_summary(new QLabel) {
  m_table->setObjectName("passes");
  m_table->setAccessibleName(tr("Passes"));
  m_table->setColumnHidden(stageColumn, true);  // the tool tip names it
  m_table->setHint(tr("The passes of the opened graph appear here."));
  m_summary->setObjectName("quiet");
  m_summary->setText(tr("No graph yet"));
  m_hide->setObjectName("hideUnchanged");
  auto* row = new QHBoxLayout;
  row->setContentsMargins(10, 6, 10, 6);
  row->addWidget(m_summary, 1);
  row->addWidget(m_hide);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addLayout(row);
  column->addWidget(m_table, 1);
  connect(m_hide, &QCheckBox::toggled, this, &PassesPanel::applyFilter);
  connect(&session, &Session::compiledChanged, this, &PassesPanel::showPasses);
  connect(&session, &Session::locationChanged, this, &PassesPanel::showPlace);
  connect(m_table, &DataTable::picked, this, [this](int row) {
    const int index = m_model->row(row).index;
    const bool captured = index < 0 && m_session.location().aotStage.empty();
    m_session.showStage(captured ? Location::Stage::Captured : Location::Stage::Pass, index);
  });
}

void PassesPanel::setTimesVisible(bool visible) { m_table->setColumnHidden(passTimeColumn, !visible); }

void PassesPanel::applyFilter() {
  m_table->filter().setKeep(m_hide->isChecked()
                                ? [this](int row) {
                                    const PassDoc& pass = m_model->row(row);
                                    return pass.changed || pass.index < 0 || isAotStage(pass);
                                  }
                                : std::function<bool(int)>());
  showPlace();
}

void PassesPanel::showPasses() {
  const auto compiled = m_session.compiled();
  std::vector<PassDoc> rows;
  if (compiled && !compiled->passes.empty()) {
    const int start = compiled->passes.front().nodesBefore;
    rows.push_back({.index = -1,
                    .name = tr("captured graph").toStdString(),
                    .nodesBefore = start,
                    .nodesAfter = start,
                    .milliseconds = -1});
    rows.insert(rows.end(), compiled->passes.begin(), compiled->passes.end());
  }
  m_model->setRows(std::move(rows));
  showSummary();
  m_table->fitColumns();
  applyFilter();
}

int PassesPanel::stageCount() const { return int(std::ranges::count_if(m_model->rows(), isAotStage)); }

void PassesPanel::showSummary() {
  if (m_session.location().capture < 0) return m_summary->setText(tr("No graph yet"));
  if (!m_session.compiled()) return m_summary->setText(tr("Running passes…"));
  const int stages = stageCount();
  const auto changed =
      std::ranges::count_if(m_model->rows(), [](const PassDoc& pass) { return pass.changed && !isAotStage(pass); });
  const auto passes = tr("%1, %2 changed").arg(countOf(m_model->rowCount() - 1 - stages)).arg(changed);
  m_summary->setText(stages == 0 ? passes : plural(stages, "stage") + ", " + passes);
}

void PassesPanel::showPlace() {
  const auto& place = m_session.location();
  const bool pass = place.stage == Location::Stage::Pass;
  // The graph before all passes is what the last of AOTAutograd's stages left.
  m_table->selectSourceRow(pass ? place.index + 1 : place.stage == Location::Stage::Captured ? stageCount() : -1);
}

}  // namespace kerf::ui::inline panels
