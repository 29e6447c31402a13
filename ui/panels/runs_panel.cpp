#include "ui/panels/runs_panel.h"

#include <algorithm>

#include <QComboBox>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QSignalBlocker>
#include <QTextBrowser>
#include <QTreeWidget>

#include "ui/graph_view/theme_change.h"
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

void colourCompile(QTreeWidgetItem& item, const workbench::CompileDifference& compile, const QStringList& stages) {
  if (compile.before.empty() || compile.after.empty()) item.setForeground(idColumn, theme().warn);
  for (const auto& stage : compile.stages)
    item.setForeground(firstStageColumn + int(stages.indexOf(text(stage.graph))),
                       stageCell(stage).same ? theme().muted : theme().warn);
}

}  // namespace

RunsPanel::RunsPanel(Session& session, QWidget* parent)
    : LaneView(
          {"lanes", "runsDetail", "goToFirstDifference", tr("Compile ids of both runs with their stages"),
           tr("How the compilation differs"), tr("Show the first graph that differs, against that of the earlier run")},
          parent),
      m_session(session),
      m_before(new QComboBox),
      m_after(new QComboBox),
      m_compare(new QPushButton(tr("Compare runs"))) {
  buildBar();
  for (auto* combo : {m_before, m_after}) connect(combo, &QComboBox::activated, this, [this] { m_chosen = true; });
  connect(m_compare, &QPushButton::clicked, this, &RunsPanel::compare);
  connect(&goButton(), &QPushButton::clicked, this, &RunsPanel::goToFirst);
  connect(&lanes(), &QTreeWidget::currentItemChanged, this, &RunsPanel::showCompile);
  connect(&lanes(), &QTreeWidget::itemActivated, this, [this](QTreeWidgetItem*, int column) {
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
  onThemeChange(*this, [this] {
    const int count = m_shown ? lanes().topLevelItemCount() : 0;
    for (int i = 0; i < count && i < int(m_shown->compiles.size()); ++i)
      colourCompile(*lanes().topLevelItem(i), m_shown->compiles[std::size_t(i)], m_stages);
    showCompile();
  });
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
  for (auto* combo : {m_before, m_after}) {
    combo->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    combo->setMinimumContentsLength(16);
  }
  int place = 0;
  for (QWidget* widget : std::initializer_list<QWidget*>{m_before, new QLabel("→"), m_after, m_compare})
    bar().insertWidget(place++, widget);
  setTabOrder(m_before, m_after);
  setTabOrder(m_after, m_compare);
  setTabOrder(m_compare, &goButton());
  setTabOrder(&goButton(), &lanes());
  setTabOrder(&lanes(), &detailView());
}

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
      const auto id = capture->isStored() ? "  " + text(capture->name) : QString();
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
    lanes().clear();
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
  goButton().setVisible(told && !runs->same);
  setHeadline({});
  if (!told) {
    m_shown = nullptr;
    return showHint(runs && runs->running            ? tr("Comparing the two runs…")
                    : runs && !runs->error.isEmpty() ? runs->error
                    : m_before->count() < 2          ? tr("Open a second capture to compare two runs of a program.")
                                            : tr("Choose two captures: an earlier and a later run of a program."));
  }
  showLanes();
  if (runs == m_shown) return;
  m_shown = runs;
  setHeadline(runsHeadline(*runs));
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
  const QSignalBlocker quiet(lanes());
  lanes().clear();
  lanes().setColumnCount(int(titles.size()));
  lanes().setHeaderLabels(titles);
  QTreeWidgetItem* first = nullptr;
  for (const auto& compile : runs.compiles) {
    auto* item = new QTreeWidgetItem(&lanes());
    item->setText(idColumn, idsOf(compile));
    item->setText(frameColumn, text(compile.frame));
    item->setToolTip(frameColumn, text(compile.frame));
    for (const auto& stage : compile.stages) {
      const int column = firstStageColumn + int(m_stages.indexOf(text(stage.graph)));
      const auto cell = stageCell(stage);
      item->setText(column, cell.text);
      item->setToolTip(column, cell.tip);
    }
    colourCompile(*item, compile, m_stages);
    if (first == nullptr && !compile.same()) first = item;
  }
  fitLanes(firstStageColumn);
  if (first == nullptr) first = lanes().topLevelItem(0);
  lanes().setCurrentItem(first);
  showCompile();
}

int RunsPanel::currentCompile() const {
  const int row = currentRow();
  return m_shown && row >= 0 && row < int(m_shown->compiles.size()) ? row : -1;
}

void RunsPanel::showCompile() {
  const int compile = currentCompile();
  if (compile < 0) return detailView().clear();
  const auto place = std::size_t(compile);
  const auto first = place < m_shown->firstRows.size() ? m_shown->firstRows[place] : std::nullopt;
  detailView().setHtml(compileHtml(m_shown->compiles[place], first));
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
