#include "ui/panels/runs_panel.h"

#include <algorithm>

#include <QComboBox>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSplitter>
#include <QTextBrowser>
#include <QTreeWidget>
#include <QVBoxLayout>

#include "ui/models/format.h"
#include "ui/models/theme.h"
#include "ui/panels/runs_text.h"

namespace kerf::ui::inline panels {
namespace {

constexpr int idColumn = 0;
constexpr int frameColumn = 1;
constexpr int firstStageColumn = 2;

QString idsOf(const workbench::CompileDifference& compile) {
  const auto before = compile.before.empty() ? QString("—") : text(compile.before);
  const auto after = compile.after.empty() ? QString("—") : text(compile.after);
  return before == after ? before : before + " → " + after;
}

}  // namespace

RunsPanel::RunsPanel(Session& session, QWidget* parent)
    : QWidget(parent),
      m_session(session),
      m_before(new QComboBox),
      m_after(new QComboBox),
      m_compare(new QPushButton(tr("Compare runs"))),
      m_go(new QPushButton(tr("Go there"))),
      m_headline(new QLabel),
      m_hint(new QLabel),
      m_lanes(new QTreeWidget),
      m_detail(new QTextBrowser),
      m_content(new QSplitter(Qt::Horizontal)) {
  buildBar();
  m_hint->setObjectName("hint");
  m_hint->setAlignment(Qt::AlignCenter);
  m_hint->setWordWrap(true);
  m_lanes->setObjectName("lanes");
  m_lanes->setAccessibleName(tr("Compile ids of both runs with their stages"));
  m_lanes->setRootIsDecorated(false);
  m_lanes->setUniformRowHeights(true);
  m_lanes->setTextElideMode(Qt::ElideMiddle);
  m_detail->setObjectName("runsDetail");
  m_detail->setAccessibleName(tr("How the compilation differs"));
  m_detail->setFrameShape(QFrame::NoFrame);
  m_detail->setOpenLinks(false);
  m_content->addWidget(m_lanes);
  m_content->addWidget(m_detail);
  m_content->setChildrenCollapsible(false);
  m_content->setSizes({700, 400});
  layout()->addWidget(m_hint);
  layout()->addWidget(m_content);
  static_cast<QVBoxLayout*>(layout())->setStretchFactor(m_hint, 1);
  static_cast<QVBoxLayout*>(layout())->setStretchFactor(m_content, 1);
  for (auto* combo : {m_before, m_after}) connect(combo, &QComboBox::activated, this, [this] { m_chosen = true; });
  connect(m_compare, &QPushButton::clicked, this, &RunsPanel::compare);
  connect(m_go, &QPushButton::clicked, this, &RunsPanel::goToFirst);
  connect(m_lanes, &QTreeWidget::currentItemChanged, this, &RunsPanel::showCompile);
  connect(m_lanes, &QTreeWidget::itemActivated, this, [this](QTreeWidgetItem*, int column) {
    const int compile = currentCompile();
    if (compile < 0) return;
    const auto name = m_stages.value(column - firstStageColumn).toStdString();
    const auto& stages = m_shown->compiles[std::size_t(compile)].stages;
    const auto found = std::ranges::find(stages, name, &workbench::StageDifference::graph);
    goTo(compile, found == stages.end() ? RunsDoc::firstDifferent(m_shown->compiles[std::size_t(compile)])
                                        : int(found - stages.begin()));
  });
  connect(&session, &Session::capturesChanged, this, &RunsPanel::fillCaptures);
  connect(&session, &Session::runsChanged, this, &RunsPanel::showRuns);
  fillCaptures();
  showRuns();
}

void RunsPanel::buildBar() {
  m_before->setObjectName("runBefore");
  m_before->setAccessibleName(tr("Earlier run"));
  m_after->setObjectName("runAfter");
  m_after->setAccessibleName(tr("Later run"));
  m_compare->setObjectName("primary");
  m_compare->setToolTip(tr("Compare graphs, guards, kernels and times of two captures, compile id by compile id"));
  m_go->setObjectName("goToFirstDifference");
  m_go->setToolTip(tr("Show the first graph that differs, against that of the earlier run"));
  for (auto* combo : {m_before, m_after}) {
    combo->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    combo->setMinimumContentsLength(16);
  }
  m_headline->setObjectName("status");
  m_headline->setMinimumWidth(1);
  auto* bar = new QHBoxLayout;
  bar->setContentsMargins(12, 8, 12, 8);
  bar->setSpacing(10);
  bar->addWidget(m_before);
  bar->addWidget(new QLabel("→"));
  bar->addWidget(m_after);
  bar->addWidget(m_compare);
  bar->addWidget(m_headline, 1);
  bar->addWidget(m_go);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addLayout(bar);
}

QString RunsPanel::headline() const { return m_headline->text(); }

QString RunsPanel::detail() const { return m_detail->toPlainText(); }

void RunsPanel::fillCaptures() {
  const auto captures = m_session.captures();
  for (auto* combo : {m_before, m_after}) {
    const QSignalBlocker quiet(combo);
    const auto chosen = combo->currentData();
    combo->clear();
    for (const auto& capture : captures) {
      if (capture->loading || !capture->error.empty()) continue;
      const auto path = text(capture->path);
      const auto file = QFileInfo(path).fileName(), title = captureTitle(path);
      const auto id = capture->name == capture->path ? QString() : "  " + text(capture->name);
      combo->addItem((title == file ? nameWithFolder(path) : title) + id, capture->id);
      combo->setItemData(combo->count() - 1, path, Qt::ToolTipRole);
    }
    const int found = m_chosen ? combo->findData(chosen) : -1;
    const int last = combo->count() - 1;
    combo->setCurrentIndex(found >= 0 ? found : combo == m_before ? std::max(0, last - 1) : last);
    m_chosen &= found >= 0;
  }
  m_compare->setEnabled(m_before->count() > 1);
  if (m_shown && (!m_session.capture(m_shown->before) || !m_session.capture(m_shown->after))) {
    m_shown = nullptr;
    m_lanes->clear();
  }
  showRuns();
}

void RunsPanel::choose(int before, int after) {
  m_chosen = true;
  m_before->setCurrentIndex(m_before->findData(before));
  m_after->setCurrentIndex(m_after->findData(after));
}

void RunsPanel::compare() {
  if (m_before->count() > 1) m_session.compareRuns(m_before->currentData().toInt(), m_after->currentData().toInt());
}

void RunsPanel::showRuns() {
  auto runs = m_session.runs();
  if (runs && (!m_session.capture(runs->before) || !m_session.capture(runs->after))) runs = nullptr;
  const bool told = runs && !runs->running && runs->error.isEmpty();
  m_content->setVisible(told);
  m_hint->setVisible(!told);
  m_go->setVisible(told && !runs->same);
  m_headline->clear();
  if (!told) {
    m_shown = nullptr;
    return m_hint->setText(runs && runs->running            ? tr("Comparing the two runs…")
                           : runs && !runs->error.isEmpty() ? runs->error
                           : m_before->count() < 2
                               ? tr("Open a second capture to compare two runs of a program.")
                               : tr("Choose two captures: an earlier and a later run of a program."));
  }
  if (runs == m_shown) return;
  m_shown = runs;
  m_headline->setText(runsHeadline(*runs));
  m_headline->setToolTip(m_headline->text());
  fillLanes(*runs);
}

/// A column for each stage that any compile id has, so that the same stage stands below itself.
void RunsPanel::fillLanes(const RunsDoc& runs) {
  m_stages.clear();
  for (const auto& compile : runs.compiles)
    for (const auto& stage : compile.stages)
      if (!m_stages.contains(text(stage.graph))) m_stages << text(stage.graph);
  QStringList titles{tr("Compile id"), tr("Where")};
  for (const auto& stage : m_stages) titles << stageTitle(stage);
  const QSignalBlocker quiet(m_lanes);
  m_lanes->clear();
  m_lanes->setColumnCount(int(titles.size()));
  m_lanes->setHeaderLabels(titles);
  QTreeWidgetItem* first = nullptr;
  for (const auto& compile : runs.compiles) {
    auto* item = new QTreeWidgetItem(m_lanes);
    item->setText(idColumn, idsOf(compile));
    item->setText(frameColumn, text(compile.frame));
    item->setToolTip(frameColumn, text(compile.frame));
    if (compile.before.empty() || compile.after.empty()) item->setForeground(idColumn, theme().warn);
    for (const auto& stage : compile.stages) {
      const int column = firstStageColumn + int(m_stages.indexOf(text(stage.graph)));
      const auto cell = stageCell(stage);
      item->setText(column, cell.text);
      item->setForeground(column, cell.same ? theme().muted : theme().warn);
      item->setToolTip(column, cell.tip);
    }
    if (first == nullptr && !compile.same()) first = item;
  }
  for (int column = 0; column < m_lanes->columnCount(); ++column) m_lanes->resizeColumnToContents(column);
  m_lanes->setColumnWidth(frameColumn, std::min(240, m_lanes->columnWidth(frameColumn)));
  if (first == nullptr) first = m_lanes->topLevelItem(0);
  m_lanes->setCurrentItem(first);
  showCompile();
}

int RunsPanel::currentCompile() const {
  const int row = m_lanes->indexOfTopLevelItem(m_lanes->currentItem());
  return m_shown && row >= 0 && row < int(m_shown->compiles.size()) ? row : -1;
}

void RunsPanel::showCompile() {
  const int compile = currentCompile();
  if (compile < 0) return m_detail->clear();
  const auto place = std::size_t(compile);
  const auto first = place < m_shown->firstRows.size() ? m_shown->firstRows[place] : std::nullopt;
  m_detail->setHtml(compileHtml(m_shown->compiles[place], first));
}

void RunsPanel::goTo(int compile, int stage) {
  const auto& stages = m_shown->compiles[std::size_t(compile)].stages;
  if (stage < 0 || stage >= int(stages.size())) return;
  m_session.goToStagePair(stages[std::size_t(stage)]);
  emit stagePicked();
}

void RunsPanel::goToFirst() {
  for (std::size_t i = 0; m_shown && i < m_shown->compiles.size(); ++i)
    if (const int stage = RunsDoc::firstDifferent(m_shown->compiles[i]); stage >= 0) return goTo(int(i), stage);
}

}  // namespace kerf::ui::inline panels
