#include "ui/shell/main_window.h"

#include <algorithm>

#include <QApplication>
#include <QChildEvent>
#include <QDockWidget>
#include <QFileInfo>
#include <QLabel>
#include <QStackedWidget>
#include <QStatusBar>
#include <QTabBar>
#include <QTemporaryDir>
#include <QVBoxLayout>

#include "ui/models/format.h"
#include "ui/models/theme.h"
#include "ui/panels/accuracy_panel.h"
#include "ui/panels/captures_panel.h"
#include "ui/panels/changes_panel.h"
#include "ui/panels/difference_panel.h"
#include "ui/panels/fusion_panel.h"
#include "ui/panels/inspector_panel.h"
#include "ui/panels/kernels_panel.h"
#include "ui/panels/log_panel.h"
#include "ui/panels/minify_panel.h"
#include "ui/panels/nodes_panel.h"
#include "ui/panels/notes_panel.h"
#include "ui/panels/output_code_panel.h"
#include "ui/panels/partition_panel.h"
#include "ui/panels/passes_panel.h"
#include "ui/panels/record_panel.h"
#include "ui/panels/search_panel.h"
#include "ui/panels/source_panel.h"
#include "ui/panels/stage_strip.h"
#include "ui/panels/store_panel.h"
#include "ui/panels/timeline_panel.h"
#include "ui/panels/values_panel.h"
#include "ui/session/aot_stages.h"
#include "ui/shell/accessible_names.h"
#include "ui/shell/appearance.h"
#include "ui/shell/banner.h"
#include "ui/shell/choice_popup.h"
#include "ui/shell/plain_labels.h"
#include "ui/shell/search_box.h"
#include "ui/shell/session_memory.h"
#include "ui/shell/welcome.h"

namespace kerf::ui::inline shell {

MainWindow::MainWindow(const WindowOptions& options)
    : m_options(options),
      m_preferences(options.remember, options.settings),
      m_follower(m_session),
      m_actions(new Actions(*this)) {
  const auto theme = options.theme.isEmpty() ? m_preferences.value("theme", "system").toString() : options.theme;
  PlainLabels::install();
  applyAppearance(theme);
  setObjectName("studio");
  setWindowTitle(tr("Kerf Studio"));
  setWindowIcon(programIcon());
  setAcceptDrops(true);
  setDockNestingEnabled(true);
  buildCentre();
  buildDocks();
  buildActions();
  buildMenus();
  buildToolBar();
  buildStatusBar();
  connectSession();
  m_actions->refreshIcons();
  restoreWindow();
  nameWidgets(*this);
  updateEnabled();
}

MainWindow::~MainWindow() {
  // Panels use the session, which would otherwise go before them.
  m_session.disconnect();
  qDeleteAll(findChildren<QDockWidget*>());
  delete takeCentralWidget();
}

void MainWindow::buildCentre() {
  auto* centre = new QWidget;
  auto* column = new QVBoxLayout(centre);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  m_banner = new Banner;
  m_welcome = new Welcome(new StorePanel(m_session));
  m_pane = new GraphPane(m_session);
  m_stack = new QStackedWidget;
  m_stack->addWidget(m_welcome);
  m_stack->addWidget(m_pane);
  m_strip = new StageStrip(m_session);
  column->addWidget(m_banner);
  column->addWidget(m_strip);
  column->addWidget(m_stack, 1);
  setCentralWidget(centre);
  m_welcome->setRecent(m_preferences.recent());
  connect(m_welcome, &Welcome::openFileRequested, this, &MainWindow::chooseFiles);
  connect(m_welcome, &Welcome::openFolderRequested, this, &MainWindow::chooseFolder);
  connect(m_welcome, &Welcome::pathRequested, this, [this](const QString& path) { open({path}); });
  connect(&m_pane->view(), &GraphWidget::contextMenuAt, this, &MainWindow::showContextMenu);
  connect(&m_pane->view(), &GraphWidget::viewChanged, this, &MainWindow::showZoom);
  connect(m_pane, &GraphPane::ghostPicked, this, &MainWindow::showGone);
  connect(m_strip, &StageStrip::compareWithRequested, this, &MainWindow::chooseBaseline);
}

QDockWidget* MainWindow::addPanel(const QString& name, const QString& title, QWidget* panel, Qt::DockWidgetArea area) {
  auto* dock = new QDockWidget(title, this);
  dock->setObjectName(name);
  dock->setWidget(panel);
  dock->setFeatures(QDockWidget::DockWidgetClosable | QDockWidget::DockWidgetMovable);
  // Tabs name the bottom panels already.
  if (area == Qt::BottomDockWidgetArea) dock->setTitleBarWidget(new QWidget(dock));
  addDockWidget(area, dock);
  return dock;
}

void MainWindow::buildDocks() {
  // Panels below have the whole width: tables and graphs side by side need it, and so do the names of sixteen panels.
  setCorner(Qt::BottomLeftCorner, Qt::BottomDockWidgetArea);
  setCorner(Qt::BottomRightCorner, Qt::BottomDockWidgetArea);
  setTabPosition(Qt::AllDockWidgetAreas, QTabWidget::North);
  addPanel("captures", tr("Captures"), m_captures = new CapturesPanel(m_session), Qt::LeftDockWidgetArea);
  addPanel("passes", tr("Passes"), m_passes = new PassesPanel(m_session), Qt::LeftDockWidgetArea);
  auto* passes = findChild<QDockWidget*>("passes");
  tabifyDockWidget(passes,
                   addPanel("changes", tr("Changes"), m_changes = new ChangesPanel(m_session), Qt::LeftDockWidgetArea));
  passes->raise();
  addPanel("inspector", tr("Inspector"), m_inspector = new InspectorPanel(m_session), Qt::RightDockWidgetArea);
  const auto area = Qt::BottomDockWidgetArea;
  auto* first = addPanel("nodes", tr("Nodes"), m_nodes = new NodesPanel(m_session), area);
  // Each where the tabs are at once: side by side they would push the window wider than the screen.
  const auto add = [&](const QString& name, const QString& title, QWidget* panel) {
    tabifyDockWidget(first, addPanel(name, title, panel, area));
  };
  add("find", tr("Found"), m_hits = new SearchPanel(m_session, *m_pane));
  add("source", tr("Source"), m_source = new SourcePanel(m_session));
  add("difference", tr("Difference"), m_difference = new DifferencePanel(m_session));
  add("accuracy", tr("Accuracy"), m_accuracy = new AccuracyPanel(m_session));
  add("values", tr("Values"), m_values = new ValuesPanel(m_session));
  add("minify", tr("Minify"), m_minify = new MinifyPanel(m_session));
  add("partition", tr("Partition"), m_partition = new PartitionPanel(m_session));
  add("kernels", tr("Kernels"), m_kernels = new KernelsPanel(m_session));
  add("code", tr("Output code"), m_code = new OutputCodePanel(m_session));
  add("fusion", tr("Fusion"), m_fusion = new FusionPanel(m_session));
  add("timeline", tr("Timeline"), m_timeline = new TimelinePanel(m_session));
  add("record", tr("Record"), m_record = new RecordPanel(m_session));
  add("store", tr("Store"), m_store = new StorePanel(m_session));
  add("notes", tr("Notes"), m_notes = new NotesPanel(m_session));
  add("log", tr("Log"), new LogPanel(m_log));
  first->raise();
  connect(&m_accuracy->plant(), &PlantPicker::plantChanged, &m_minify->plant(), &PlantPicker::setPlant);
  connect(&m_minify->plant(), &PlantPicker::plantChanged, &m_accuracy->plant(), &PlantPicker::setPlant);
  connect(m_accuracy, &AccuracyPanel::torchBisectRequested, this, &MainWindow::bisectTorch);
  connect(m_minify, &MinifyPanel::settingsChanged, this, [this] { rememberOracle(); });
  connect(m_minify, &MinifyPanel::exportRequested, this, &MainWindow::exportMinified);
  connect(m_kernels, &KernelsPanel::kernelPicked, this, &MainWindow::findNodes);
  connect(m_code, &OutputCodePanel::nodesPicked, this, &MainWindow::findNodes);
  connect(m_code, &OutputCodePanel::recordMissing, this, [this] { raisePanel("record"); });
  connect(m_fusion, &FusionPanel::groupPicked, this, &MainWindow::findNodes);
  connect(m_partition, &PartitionPanel::counterpartsPicked, this, &MainWindow::markNodes);
  connect(m_partition, &PartitionPanel::cutChanged, m_pane, &GraphPane::setCut);
  connect(m_changes, &ChangesPanel::goneNodePicked, this, &MainWindow::showGone);
  connect(m_captures, &CapturesPanel::comparisonAsked, this, [this] {
    raisePanel("changes");
    raisePanel("difference");
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

/// Marks the nodes of these names in the graph.
QSet<int> MainWindow::markNodes(const QStringList& names) {
  QSet<int> found;
  for (const auto& name : names)
    if (const int node = m_session.graph() ? m_session.graph()->find(name.toStdString()) : -1; node >= 0)
      found.insert(node);
  m_pane->view().setFound(found, -1);
  return found;
}

/// And brings the first into view.
void MainWindow::findNodes(const QStringList& names) {
  const auto found = markNodes(names);
  if (!found.isEmpty()) m_pane->view().centerOn(*std::min_element(found.begin(), found.end()));
}

/// A node that only the earlier graph has: its line, and its ghost in the picture.
void MainWindow::showGone(const QString& name) {
  m_difference->showGone(name);
  m_pane->showGhost(name);
}

/// Asks for the graph with which what is shown is to be compared.
void MainWindow::chooseBaseline() {
  std::vector<Choice> choices;
  std::vector<Location> places;
  for (const auto& capture : m_session.captures())
    for (int i = 0; i < int(capture->graphs.size()); ++i) {
      const Location place{capture->id, i, Location::Stage::Captured, -1, {}};
      if (place.sameGraph(m_session.location())) continue;
      choices.push_back({text(capture->graphs[std::size_t(i)].name), QFileInfo(text(capture->path)).fileName()});
      places.push_back(place);
    }
  if (choices.empty()) return m_banner->showError(tr("There is no other graph"), tr("Open another capture first."));
  showChoices(*this, tr("Compare with…"), std::move(choices), [this, places](int at) {
    m_session.compareWith(places[std::size_t(at)]);
    raisePanel("changes");
    raisePanel("difference");
  });
}

/// Goes to the first graph of the compile id that a bar of the timeline belongs to.
void MainWindow::showSpan(int span) {
  const auto capture = m_session.capture(m_session.location().capture);
  if (!capture || !capture->timeline || span < 0) return;
  const auto& bar = capture->timeline->spans[std::size_t(span)];
  statusBar()->showMessage(tr("%1: %2").arg(text(bar.name), formatMilliseconds(double(bar.duration) / 1000)), 8000);
  for (const auto& compile : capture->compiles)
    if (compile.id == bar.compileId && !compile.graphs.empty()) {
      const int graph = compile.graphs.front();
      const auto& here = capture->graphs[std::size_t(m_session.location().graph)];
      if (here.compileId != bar.compileId) m_session.go({capture->id, graph, Location::Stage::Captured, -1, {}});
      return;
    }
}

void MainWindow::raisePanel(const QString& name) {
  if (auto* dock = findChild<QDockWidget*>(name)) {
    dock->show();
    dock->raise();
  }
}

void MainWindow::arrange() {
  const auto dock = [this](const char* name) { return findChild<QDockWidget*>(name); };
  resizeDocks({dock("captures"), dock("inspector")},
              {std::clamp(width() * 26 / 100, 320, 420), std::clamp(width() * 22 / 100, 300, 340)}, Qt::Horizontal);
  resizeDocks({dock("captures"), dock("passes")}, {300, 360}, Qt::Vertical);
  resizeDocks({dock("nodes")}, {std::max(190, height() * 27 / 100)}, Qt::Vertical);
}

void MainWindow::restoreWindow() {
  resize(1440, 900);
  arrange();
  restoreGeometry(m_preferences.value("geometry").toByteArray());
  restoreState(m_preferences.value("state").toByteArray());
  m_stages = m_preferences.value("stages").toMap();
  recallOracle();
  restoreColumnWidths(*this, m_preferences.value("columns").toMap());
  m_passes->hideUnchanged().setChecked(m_preferences.value("hideUnchanged", false).toBool());
  styleTabBars();
  showStart();
}

/// Names of panels are never cut: where there is no room for all, arrows lead to the rest.
void MainWindow::styleTabBars() {
  for (auto* bar : findChildren<QTabBar*>())
    if (bar->parent() == this) {
      bar->setDrawBase(false);
      bar->setExpanding(false);
      bar->setElideMode(Qt::ElideNone);
      bar->setUsesScrollButtons(true);
      bar->setAccessibleName(tr("Panels"));
    }
}

/// Docks make tab bars when they need them.
void MainWindow::childEvent(QChildEvent* event) {
  QMainWindow::childEvent(event);
  if (event->type() == QEvent::ChildPolished && qobject_cast<QTabBar*>(event->child())) styleTabBars();
}

/// While nothing is open, the start page has the window for itself.
void MainWindow::showStart() {
  const bool start = m_session.captures().empty();
  if (start == !m_docks.isEmpty()) return;
  if (!start) {
    restoreState(std::exchange(m_docks, {}));
    return;
  }
  m_docks = saveState();
  for (auto* dock : findChildren<QDockWidget*>()) dock->hide();
}

void MainWindow::buildStatusBar() {
  m_busy = new QLabel;
  m_zoom = new QLabel;
  statusBar()->addWidget(m_busy, 1);
  statusBar()->addPermanentWidget(m_zoom);
  statusBar()->setSizeGripEnabled(false);
  showBusy();
}

void MainWindow::connectSession() {
  connect(&m_session, &Session::failed, m_banner, &Banner::showError);
  connect(&m_session, &Session::busyChanged, this, &MainWindow::showBusy);
  connect(&m_pane->layouts(), &LayoutService::busyChanged, this, &MainWindow::showBusy);
  connect(&m_session, &Session::locationChanged, this, &MainWindow::updateEnabled);
  connect(&m_session, &Session::deletionsChanged, this, &MainWindow::updateEnabled);
  connect(&m_session, &Session::accuracyChanged, this, &MainWindow::showBusy);
  connect(&m_session, &Session::bisectChanged, this, &MainWindow::showBusy);
  connect(&m_session, &Session::minifyChanged, this, &MainWindow::showBusy);
  connect(&m_session, &Session::noted, this, [this](const QString& note) { statusBar()->showMessage(note, 8000); });
  connect(&m_session, &Session::exported, this,
          [this](const QString& path) { statusBar()->showMessage(tr("Exported to %1").arg(path), 8000); });
  connect(&m_session, &Session::capturesChanged, this, &MainWindow::rememberOpened);
  connect(&m_session, &Session::capturesChanged, this, &MainWindow::showStart);
  connect(&m_session, &Session::graphChanged, this, [this] {
    if (m_session.graph() && !m_session.notes()) m_session.listNotes();
    m_stack->setCurrentIndex(m_session.graph() ? 1 : 0);
    if (m_session.graph() && !m_strip->holdsFocus()) m_pane->view().setFocus();
    showTitle();
    followStage();
  });
}

void MainWindow::showTitle() {
  const auto& place = m_session.location();
  const auto capture = m_session.capture(place.capture);
  if (!capture) return setWindowTitle(tr("Kerf Studio"));
  const auto stage = place.aotStage.empty() ? QString() : tr(", %1").arg(titleOfStage(place.aotStage));
  setWindowTitle(QFileInfo(text(capture->path)).fileName() + stage + tr(" – Kerf Studio"));
}

bool MainWindow::idle() const { return !m_session.busy() && !m_pane->busy(); }

void MainWindow::showBusy() {
  const auto accuracy = m_session.accuracy();
  const auto bisected = m_session.bisected();
  const auto minified = m_session.minified();
  QString doing = tr("Ready");
  if (m_session.jobs().busy()) doing = tr("Working…");
  if (m_pane->layouts().busy()) doing = tr("Laying out the graph…");
  if (bisected && bisected->running) doing = tr("Bisecting…");
  if (accuracy && accuracy->running) doing = tr("Comparing…");
  if (minified && minified->state == MinifyDoc::State::Running) doing = tr("Minifying…");
  m_busy->setText(doing);
}

void MainWindow::showZoom() {
  const auto& scene = m_pane->view().scene();
  if (!scene) return m_zoom->clear();
  m_zoom->setText(tr("%1 layout    %2 %").arg(scene->engine).arg(qRound(m_pane->view().zoom() * 100)));
}

void MainWindow::setTheme(const QString& mode) {
  applyAppearance(mode);
  for (auto* top : QApplication::topLevelWidgets())
    if (auto* window = qobject_cast<MainWindow*>(top)) {
      window->m_actions->refreshIcons();
      window->m_banner->refreshIcons();
    }
  m_preferences.set("theme", mode);
}

void MainWindow::toggleTheme() { setTheme(theme().dark ? "light" : "dark"); }

void MainWindow::setDeterministic() {
  m_passes->setTimesVisible(false);
  m_strip->lanes().setTimesVisible(false);
  m_minify->setTimesVisible(false);
}

}  // namespace kerf::ui::inline shell
