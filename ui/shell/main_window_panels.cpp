// MainWindow: its docks, the panels below the graph, and where everything stands at first.
#include <algorithm>
#include <utility>

#include <QDockWidget>
#include <QScreen>
#include <QStackedWidget>
#include <QStatusBar>
#include <QToolBar>

#include "ui/panels/accuracy_panel.h"
#include "ui/panels/align_view.h"
#include "ui/panels/captures_panel.h"
#include "ui/panels/changes_panel.h"
#include "ui/panels/difference_panel.h"
#include "ui/panels/figures_table.h"
#include "ui/panels/fusion_panel.h"
#include "ui/panels/inspector_panel.h"
#include "ui/panels/kernels_panel.h"
#include "ui/panels/log_panel.h"
#include "ui/panels/minify_panel.h"
#include "ui/panels/nodes_panel.h"
#include "ui/panels/notes_panel.h"
#include "ui/panels/output_code_panel.h"
#include "ui/panels/overview_panel.h"
#include "ui/panels/partition_panel.h"
#include "ui/panels/passes_panel.h"
#include "ui/panels/path_panel.h"
#include "ui/panels/program_panel.h"
#include "ui/panels/ranks_panel.h"
#include "ui/panels/record_panel.h"
#include "ui/panels/runs_panel.h"
#include "ui/panels/search_panel.h"
#include "ui/panels/sharding_panel.h"
#include "ui/panels/source_panel.h"
#include "ui/panels/stage_strip.h"
#include "ui/panels/store_panel.h"
#include "ui/panels/tabbed_page.h"
#include "ui/panels/timeline_panel.h"
#include "ui/panels/values_panel.h"
#include "ui/shell/banner.h"
#include "ui/shell/editor.h"
#include "ui/shell/main_window.h"
#include "ui/shell/search_box.h"

namespace kerf::ui::inline shell {
namespace {
constexpr int wideWindow = 1500;  ///< from here on there is room at both sides of the graph
constexpr const char* lowerDock = "lower";
}  // namespace

QDockWidget* MainWindow::addPanel(const QString& name, const QString& title, QWidget* panel, Qt::DockWidgetArea area) {
  auto* dock = new QDockWidget(title, this);
  dock->setObjectName(name);
  if (panel) dock->setWidget(panel);
  dock->setFeatures(QDockWidget::DockWidgetClosable | QDockWidget::DockWidgetMovable);
  addDockWidget(area, dock);
  return dock;
}

void MainWindow::buildDocks() {
  setTabPosition(Qt::AllDockWidgetAreas, QTabWidget::North);
  // Panels below have the whole width: tables and graphs side by side need it.
  setCorner(Qt::BottomLeftCorner, Qt::BottomDockWidgetArea);
  setCorner(Qt::BottomRightCorner, Qt::BottomDockWidgetArea);
  addPanel("captures", tr("Captures"), m_captures = new CapturesPanel(m_session), Qt::LeftDockWidgetArea);
  addPanel("passes", tr("Passes"), m_passes = new PassesPanel(m_session), Qt::LeftDockWidgetArea);
  addPanel("changes", tr("Changes"), m_changes = new ChangesPanel(m_session), Qt::LeftDockWidgetArea);
  addPanel("inspector", tr("Inspector"), m_inspector = new InspectorPanel(m_session), Qt::RightDockWidgetArea);
  auto* lower = addPanel(lowerDock, tr("Panel"), nullptr, Qt::BottomDockWidgetArea);
  lower->setTitleBarWidget(new QWidget(lower));  // buttons in the status bar name what is in it
  m_places = new WorkPlaces(*lower, this);
  buildPanels();
  lower->hide();
  connectPanels();
}

/// In the order of their buttons. A panel that says when it has something to show is offered only then.
void MainWindow::buildPanels() {
  using enum WorkPlace;
  const auto add = [this](const char* name, const QString& title, QWidget* panel, std::vector<WorkPlace> places,
                          std::function<bool()> hasContent = {}) {
    m_places->add({name, title, panel, std::move(places), std::move(hasContent)});
  };
  const auto capture = [this] { return m_session.capture(m_session.shownCapture()); };
  add("nodes", tr("Nodes"), m_nodes = new NodesPanel(m_session), {Graph});
  add("source", tr("Source"), m_source = new SourcePanel(m_session), {Graph});
  add("path", tr("Source to kernel"), m_path = new PathPanel(m_session), {Graph});
  add("program", tr("Program"), m_programSource = new ProgramSource(m_session), {Graph},
      [this] { return m_session.shownProgram() >= 0; });
  add("difference", tr("Difference"), m_difference = new DifferencePanel(m_session), {Graph},
      [this] { return m_session.difference() != nullptr; });
  add("code", tr("Output code"), m_code = new OutputCodePanel(m_session), {Graph}, [this] {
    const auto stages = m_session.recordedStages();
    return stages && !stages->code.empty();
  });
  add("kernels", tr("Kernels"), m_kernels = new KernelsPanel(m_session), {Graph});
  add("fusion", tr("Fusion"), m_fusion = new FusionPanel(m_session), {Graph}, [this] {
    const auto fusion = m_session.fusion(m_session.location().capture);
    return fusion && !fusion->empty();
  });
  add("placements", tr("Placements"), m_sharding = new ShardingPanel(m_session), {Graph},
      [this] { return m_session.sharding() != nullptr; });
  add("accuracy", tr("Accuracy"), m_accuracy = new AccuracyPanel(m_session), {Numbers});
  m_values = new ValuesPanel(m_session);
  m_figures = new FiguresTable(m_session);
  add("values", tr("Values"),
      m_valueTabs = new TabbedPage(tr("Values of"), {{tr("Selected node"), m_values}, {tr("All nodes"), m_figures}}),
      {Numbers});
  add("partition", tr("Partition"), m_partition = new PartitionPanel(m_session), {Numbers});
  add("minify", tr("Minify"), m_minify = new MinifyPanel(m_session), {Reduce});
  add("store", tr("Store"), m_store = new StorePanel(m_session), {Reduce});
  add("timeline", tr("Timeline"), m_timeline = new TimelinePanel(m_session), {Overview}, [capture] {
    const auto doc = capture();
    return doc && doc->timeline;
  });
  add("ranks", tr("Ranks"), m_ranks = new RanksPanel(m_session), {Overview, Graph},
      [this] { return m_session.hasRanks(m_session.shownCapture()); });
  m_runs = new RunsPanel(m_session);
  m_align = new AlignView(m_session);
  add("runs", tr("Two runs"),
      m_twoRuns = new TabbedPage(tr("What of the two runs"),
                                 {{tr("Graphs and kernels"), m_runs}, {tr("Recorded values"), m_align}}),
      {Overview, Graph}, [this] { return m_session.captures().size() > 1 || m_session.alignment(); });
  add("record", tr("Record"), m_record = new RecordPanel(m_session), {Overview, Graph},
      [this] { return m_session.record() != nullptr; });
  add("find", tr("Found"), m_hits = new SearchPanel(m_session, *m_pane), {Graph, Numbers},
      [this] { return !m_pane->hits().empty(); });
  add("notes", tr("Notes"), m_notes = new NotesPanel(m_session), {Graph, Numbers, Reduce},
      [this] { return m_session.notes() && !m_session.notes()->empty(); });
  add("log", tr("Log"), new LogPanel(m_log), {Graph, Numbers, Reduce, Overview}, [] { return false; });
}

void MainWindow::connectPanels() {
  connectProgram();
  connect(m_accuracy, &AccuracyPanel::torchBisectRequested, this, &MainWindow::bisectTorch);
  connect(m_accuracy, &AccuracyPanel::oddRequested, this, &MainWindow::goToOdd);
  connect(m_accuracy, &AccuracyPanel::badRequested, this, [this] { goToBad(0); });
  for (auto* picker : {&m_accuracy->plant(), &m_minify->plant()})
    connect(picker, &PlantPicker::choiceRequested, this, &MainWindow::choosePlant);
  connect(m_minify, &MinifyPanel::settingsChanged, this, [this] { rememberOracle(); });
  connect(m_minify, &MinifyPanel::exportRequested, this, &MainWindow::exportMinified);
  connect(m_kernels, &KernelsPanel::kernelPicked, this, &MainWindow::findNodes);
  connect(m_code, &OutputCodePanel::nodesPicked, this, &MainWindow::findNodes);
  connect(m_code, &OutputCodePanel::recordMissing, this, [this] { raisePanel("record"); });
  connect(m_path, &PathPanel::nodesPicked, this, &MainWindow::markNodes);
  connect(m_path, &PathPanel::editorAsked, this, [this](const QString& file, int line) {
    if (const auto problem = openInEditor(file, line); !problem.isEmpty())
      m_banner->showError(tr("Cannot open the editor"), problem);
  });
  connect(m_fusion, &FusionPanel::groupPicked, this, &MainWindow::findNodes);
  connect(m_partition, &PartitionPanel::counterpartsPicked, this, &MainWindow::markNodes);
  connect(m_partition, &PartitionPanel::cutChanged, m_pane, &GraphPane::setCut);
  connect(m_changes, &ChangesPanel::goneNodePicked, this, &MainWindow::showGone);
  connect(m_captures, &CapturesPanel::comparisonAsked, this, [this] {
    raisePanel("changes");
    raisePanel("difference");
  });
  connect(m_captures, &CapturesPanel::graphPicked, this, [this] {
    if (m_places->place() == WorkPlace::Overview) m_places->go(WorkPlace::Graph);
  });
  connect(m_pane, &GraphPane::placementsAsked, this, [this] { raisePanel("placements"); });
  connect(m_pane, &GraphPane::doubtPicked, this, [this] { raisePanel("accuracy"); });
  connect(m_overview, &OverviewPanel::graphPicked, this, &MainWindow::goToGraph);
  connect(m_overview, &OverviewPanel::recordPicked, this,
          [this](int record) { m_session.showRecord(m_session.shownCapture(), record); });
  connect(m_ranks, &RanksPanel::graphPicked, this, [this] { m_places->go(WorkPlace::Graph); });
  connect(m_align, &AlignView::stepPicked, this, [this] { m_places->go(WorkPlace::Graph); });
  connect(m_runs, &RunsPanel::stagePicked, this, [this] {
    m_places->go(WorkPlace::Graph);
    raisePanel("difference");
  });
  connect(m_captures, &CapturesPanel::runsAsked, this, [this](int before, int after) {
    raisePanel("runs");
    m_twoRuns->showView(m_runs);
    m_runs->choose(before, after);
    m_runs->compare();
  });
  connect(m_timeline, &TimelinePanel::spanPicked, this, &MainWindow::showSpan);
  connect(&m_session, &Session::recordChanged, this, [this] {
    const auto record = m_session.record();
    if (!record) return;
    const auto stages = m_session.recordedStages();
    const bool isProgram =
        stages && record->capture == m_session.location().capture &&
        std::ranges::find(stages->code, record->index, &RecordedCodeDoc::record) != stages->code.end();
    raisePanel(isProgram ? "code" : "record");
    if (isProgram) m_code->showRecord(record->index);
  });
}

void MainWindow::raisePanel(const QString& name) {
  if (name == "overview") return m_places->go(WorkPlace::Overview);
  if (m_places->raise(name)) return;
  if (auto* dock = findChild<QDockWidget*>(name); dock && name != lowerDock) {
    dock->show();
    dock->raise();
  }
}

QStringList MainWindow::panelNames() const {
  QStringList names{"overview"};
  for (const auto* dock : findChildren<QDockWidget*>())
    if (dock->objectName() != lowerDock) names << dock->objectName();
  return names + m_places->names();
}

/// On a small screen everything beside the graph stands in one column, so that more than half of the window is graph.
void MainWindow::placeDocks() {
  const auto dock = [this](const char* name) { return findChild<QDockWidget*>(name); };
  const bool wide = width() >= wideWindow;
  addDockWidget(Qt::LeftDockWidgetArea, dock("captures"));
  addDockWidget(Qt::LeftDockWidgetArea, dock("passes"));
  addDockWidget(wide ? Qt::RightDockWidgetArea : Qt::LeftDockWidgetArea, dock("inspector"));
  tabifyDockWidget(dock(wide ? "passes" : "captures"), dock("changes"));
  if (!wide) tabifyDockWidget(dock("captures"), dock("passes"));
  dock(wide ? "passes" : "captures")->raise();
}

void MainWindow::arrange() {
  const auto dock = [this](const char* name) { return findChild<QDockWidget*>(name); };
  placeDocks();
  const bool wide = width() >= wideWindow;
  if (wide)
    resizeDocks({dock("captures"), dock("inspector")}, {std::clamp(width() * 19 / 100, 300, 380), 320}, Qt::Horizontal);
  else
    resizeDocks({dock("captures")}, {std::clamp(width() * 22 / 100, 240, 310)}, Qt::Horizontal);
  resizeDocks({dock("captures"), dock(wide ? "passes" : "inspector")}, {300, 330}, Qt::Vertical);
  if (!dock(lowerDock)->isHidden()) resizeDocks({dock(lowerDock)}, {std::max(200, height() * 29 / 100)}, Qt::Vertical);
}

/// "/1366x768": a layout is remembered for each size of screen.
QString MainWindow::screenName() const {
  const auto size = screen() ? screen()->size() : QSize();
  return QString("/%1x%2").arg(size.width()).arg(size.height());
}

void MainWindow::showCentre() {
  const int capture = m_session.shownCapture();
  const bool graphless = capture != m_session.location().capture;
  const bool overview = graphless || (capture >= 0 && m_places->place() == WorkPlace::Overview);
  QWidget* page = m_overview;
  if (m_session.isProgram(capture)) page = m_program;
  m_stack->setCurrentWidget(overview ? page : m_session.graph() ? m_graphPage : m_stack->widget(0));
}

/// A trace is looked over before anything else is done with it; somebody who goes to a graph sees that.
void MainWindow::showFirst() {
  const auto before = std::exchange(m_lastPlace, m_session.location());
  const int capture = m_lastPlace.capture;
  if (capture < 0) return;
  const bool known = m_overviews.contains(capture), overview = m_places->place() == WorkPlace::Overview;
  m_overviews.insert(capture);
  const bool first = m_session.isTrace(capture) || m_session.isProgram(capture);
  if (!known && first) return m_places->go(WorkPlace::Overview);
  const bool moved = before.capture == capture && !before.sameGraph(m_lastPlace);
  if (overview && (moved || !first)) m_places->go(WorkPlace::Graph);
}

void MainWindow::goToGraph(int graph) {
  m_places->go(WorkPlace::Graph);
  m_session.go({m_session.location().capture, graph, Location::Stage::Captured, -1, {}});
}

void MainWindow::setGraphAlone(bool alone) {
  if (alone == !m_alone.isEmpty()) return;
  (*m_actions)["graphAlone"]->setChecked(alone);
  if (alone && m_places->place() == WorkPlace::Overview) m_places->go(WorkPlace::Graph);
  const auto state = saveState();
  for (auto* bar : findChildren<QToolBar*>()) bar->setVisible(!alone);
  m_strip->setWanted(!alone);
  statusBar()->setVisible(!alone);
  if (!alone) {
    restoreState(std::exchange(m_alone, {}));
    return m_places->refresh();
  }
  m_alone = state;
  for (auto* dock : findChildren<QDockWidget*>()) dock->hide();
}

}  // namespace kerf::ui::inline shell
