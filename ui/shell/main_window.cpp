#include "ui/shell/main_window.h"

#include <algorithm>

#include <QApplication>
#include <QChildEvent>
#include <QDir>
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
#include "ui/panels/overview_panel.h"
#include "ui/panels/partition_panel.h"
#include "ui/panels/passes_panel.h"
#include "ui/panels/program_panel.h"
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
#include "ui/shell/jobs_button.h"
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
  if (const auto settings = m_preferences.file(); !settings.isEmpty())
    m_session.keepComparisons(QFileInfo(settings).dir().filePath("compared"));
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
  m_welcome = new Welcome(new StorePanel(m_session));
  m_pane = new GraphPane(m_session);
  m_stack = new QStackedWidget;
  m_stack->addWidget(m_welcome);
  m_strip = new StageStrip(m_session);
  m_overview = new OverviewPanel(m_session);
  m_program = new ProgramPanel(m_session);
  m_graphPage = new QWidget;
  auto* page = new QVBoxLayout(m_graphPage);
  page->setContentsMargins(0, 0, 0, 0);
  page->setSpacing(0);
  page->addWidget(m_strip);
  page->addWidget(m_pane, 1);
  m_stack->addWidget(m_graphPage);
  m_stack->addWidget(m_overview);
  m_stack->addWidget(m_program);
  column->addWidget(m_stack, 1);
  m_banner = new Banner(centre);
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
      choices.push_back({text(capture->graphs[std::size_t(i)].name),
                         captureTitle(text(capture->path)) + "  " + QFileInfo(text(capture->path)).fileName()});
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

void MainWindow::restoreWindow() {
  resize(1440, 900);
  arrange();
  restoreGeometry(m_preferences.value("geometry").toByteArray());
  restoreState(m_preferences.value("state" + screenName()).toByteArray());
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

/// Qt 6.4 may leave a tab bar of docks on screen after its last tab has gone: it then covers the edge beside it.
bool MainWindow::event(QEvent* event) {
  const bool done = QMainWindow::event(event);
  if (event->type() == QEvent::LayoutRequest)
    for (auto* bar : findChildren<QTabBar*>(QString(), Qt::FindDirectChildrenOnly))
      if (bar->count() == 0) bar->hide();
  return done;
}

/// While nothing is open, the start page has the window for itself.
void MainWindow::showStart() {
  const bool start = m_session.captures().empty();
  if (start == !m_docks.isEmpty()) return;
  if (!start) {
    restoreState(std::exchange(m_docks, {}));
    return m_places->setEnabled(true);
  }
  setGraphAlone(false);
  m_docks = saveState();
  for (auto* dock : findChildren<QDockWidget*>()) dock->hide();
  m_places->setEnabled(false);
}

void MainWindow::buildStatusBar() {
  m_busy = new JobsButton(m_session);
  m_zoom = new QLabel;
  statusBar()->addWidget(m_busy);
  // Messages cover what is not permanent.
  statusBar()->addPermanentWidget(m_places->panelButtons());
  statusBar()->addPermanentWidget(m_zoom);
  statusBar()->setSizeGripEnabled(false);
  showBusy();
}

void MainWindow::connectSession() {
  connect(&m_session, &Session::failed, m_banner, &Banner::showError);
  connect(&m_session, &Session::busyChanged, this, &MainWindow::showBusy);
  connect(&m_pane->layouts(), &LayoutService::busyChanged, this, &MainWindow::showBusy);
  connect(&m_session, &Session::locationChanged, this, &MainWindow::updateEnabled);
  for (const auto signal : {&Session::deletionsChanged, &Session::undoChanged, &Session::graphChanged})
    connect(&m_session, signal, this, &MainWindow::updateEnabled);
  connect(&m_session, &Session::noted, this, [this](const QString& note) {
    const auto lines = note.split('\n', Qt::SkipEmptyParts);
    const auto more = lines.size() > 1 ? tr("  (and %1 more: see the Inspector)").arg(lines.size() - 1) : QString();
    statusBar()->showMessage(lines.value(0) + more, 8000);
  });
  connect(&m_session, &Session::exported, this,
          [this](const QString& path) { statusBar()->showMessage(tr("Exported to %1").arg(path), 8000); });
  connect(&m_session, &Session::capturesChanged, this, &MainWindow::rememberOpened);
  m_saveSoon.setSingleShot(true);
  m_saveSoon.setInterval(1500);
  connect(&m_saveSoon, &QTimer::timeout, this, &MainWindow::rememberSession);
  for (const auto signal : {&Session::capturesChanged, &Session::locationChanged, &Session::plantChanged,
                            &Session::pinsChanged, &Session::accuracyChanged})
    connect(&m_session, signal, &m_saveSoon, qOverload<>(&QTimer::start));
  connect(&m_session, &Session::capturesChanged, this, &MainWindow::showStart);
  connect(&m_session, &Session::graphChanged, this, [this] {
    if (m_session.graph() && !m_session.notes()) m_session.listNotes();
    showCentre();
    if (m_session.graph() && !m_strip->holdsFocus() && m_graphPage->isVisible()) m_pane->view().setFocus();
    showTitle();
    followStage();
  });
  connect(&m_session, &Session::locationChanged, this, &MainWindow::showFirst);
  connect(m_places, &WorkPlaces::placeChanged, this, &MainWindow::showCentre);
  for (const auto signal :
       {&Session::graphChanged, &Session::fusionChanged, &Session::notesChanged, &Session::recordChanged,
        &Session::stagesChanged, &Session::recordedCodeChanged, &Session::differenceChanged, &Session::locationChanged,
        &Session::programChanged, &Session::shardingChanged})
    connect(&m_session, signal, m_places, &WorkPlaces::refresh);
  connect(m_pane, &GraphPane::searchChanged, m_places, &WorkPlaces::refresh);
}

void MainWindow::showTitle() {
  const auto& place = m_session.location();
  const auto capture = m_session.capture(m_session.shownCapture());
  if (!capture) return setWindowTitle(tr("Kerf Studio"));
  const auto stage =
      place.aotStage.empty() || place.capture != capture->id ? QString() : tr(", %1").arg(titleOfStage(place.aotStage));
  setWindowTitle(captureTitle(text(capture->path)) + stage + tr(" – Kerf Studio"));
}

bool MainWindow::idle() const { return !m_session.busy() && !m_pane->busy(); }

void MainWindow::showBusy() { m_busy->setOwn(m_pane->layouts().busy() ? tr("Laying out the graph…") : QString()); }

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
