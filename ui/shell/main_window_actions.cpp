// MainWindow: the table of commands, menus and tool bar.
#include <QActionGroup>
#include <QApplication>
#include <QDockWidget>
#include <QMenu>
#include <QMenuBar>
#include <QToolBar>
#include <QToolButton>

#include "ui/panels/accuracy_panel.h"
#include "ui/panels/align_view.h"
#include "ui/panels/minify_panel.h"
#include "ui/panels/nodes_panel.h"
#include "ui/panels/passes_panel.h"
#include "ui/panels/runs_panel.h"
#include "ui/panels/stage_strip.h"
#include "ui/panels/store_panel.h"
#include "ui/panels/tabbed_page.h"
#include "ui/session/aot_stages.h"
#include "ui/shell/banner.h"
#include "ui/shell/command_palette.h"
#include "ui/shell/main_window.h"
#include "ui/shell/problem_report.h"
#include "ui/shell/search_box.h"
#include "ui/shell/story_bar.h"

namespace kerf::ui::inline shell {

std::vector<ActionSpec> MainWindow::fileActions() {
  return {{"open", tr("&Open file…"), "open", "Ctrl+O", {}, [this] { chooseFiles(); }},
          {"openFolder", tr("Open &folder…"), "folder", "Ctrl+Shift+O", {}, [this] { chooseFolder(); }},
          {"captureProgram",
           tr("Capture a &program…"),
           {},
           {},
           tr("Run a Python program in the sandbox, and see what torch.compile makes of it"),
           [this] { chooseProgram(); }},
          {"exportRepro", tr("&Export repro…"), "export", "Ctrl+E",
           tr("Export the captured graph and its inputs as repro.py"), [this] { exportRepro(); }},
          {"newWindow", tr("&New window"), {}, "Ctrl+N", {}, [this] { openWindow(); }},
          {"report",
           tr("Save a repor&t…"),
           {},
           {},
           tr("Write a report about this graph, as PDF or web page"),
           [this] { saveReport(); }},
          {"follow",
           tr("Follo&w growing logs"),
           {},
           {},
           tr("Read a TORCH_TRACE log again while it is written"),
           [this] { m_follower.setEnabled((*m_actions)["follow"]->isChecked()); },
           true},
          {"exportImage", tr("Save graph as &image…"), {}, "Ctrl+Shift+S", {}, [this] { exportImage(); }},
          {"reload", tr("&Reload capture"), {}, "F5", {}, [this] { m_session.reload(); }},
          {"closeCapture",
           tr("&Close capture"),
           {},
           "Ctrl+W",
           {},
           [this] { m_session.close(m_session.location().capture); }},
          {"closeWindow", tr("Close &window"), {}, "Ctrl+Shift+W", {}, [this] { close(); }},
          {"quit", tr("&Quit"), {}, "Ctrl+Q", tr("Close all windows"), [] { QApplication::closeAllWindows(); }}};
}

std::vector<ActionSpec> MainWindow::editActions() {
  const auto undo = [this] { m_session.undo(); };
  return {{"paste",
           tr("&Paste graph"),
           {},
           "Ctrl+V",
           tr("Open the files or the graph text in the clipboard"),
           [this] { paste(); }},
          {"undo", tr("&Undo"), {}, "Ctrl+Z", tr("Take back a note, bookmark, delete, block or pin"), undo},
          {"delete",
           tr("&Delete from store"),
           {},
           {},
           tr("Delete what is selected in the store panel (Del); Undo restores it"),
           [this] {
             raisePanel("store");
             m_store->deleteChosen();
           }}};
}

std::vector<ActionSpec> MainWindow::viewActions() {
  auto& view = m_pane->view();
  return {
      {"fit", tr("&Fit graph"), "fit", "F", {}, [&view] { view.fit(); }},
      {"zoomIn", tr("Zoom &in"), "zoom-in", "+ =", {}, [&view] { view.zoomBy(1.25); }},
      {"zoomOut", tr("Zoom &out"), "zoom-out", "-", {}, [&view] { view.zoomBy(0.8); }},
      {"zoomReset", tr("&Actual size"), {}, "0", {}, [&view] { view.resetZoom(); }},
      {"centre", tr("&Centre selected node"), {}, "C", {}, [this, &view] { view.centerOn(m_session.node()); }},
      {"colorKind", tr("Colour by op &kind"), {}, "1", {}, [this] { m_pane->setColorMode(ColorMode::Kind); }},
      {"colorAccuracy", tr("Colour by &accuracy"), {}, "2", {}, [this] { m_pane->setColorMode(ColorMode::Accuracy); }},
      {"colorPlacement",
       tr("Colour by &placement"),
       {},
       "3",
       {},
       [this] {
         m_pane->setColorMode(ColorMode::Placement);
         if (!m_session.sharding()) raisePanel("placements");
       }},
      {"dim",
       tr("&Dim unrelated nodes"),
       {},
       "D",
       {},
       [this, &view] { view.setDimUnrelated((*m_actions)["dim"]->isChecked()); },
       true},
      {"values",
       tr("Show &values on cards"),
       {},
       "V",
       tr("A histogram and the range of each node's values below its card, after a comparison"),
       [this, &view] { view.setValuesShown((*m_actions)["values"]->isChecked()); },
       true},
      {"separateInputs",
       tr("Draw &parameters as nodes"),
       {},
       "P",
       {},
       [this] { m_pane->setInlineParameters(!(*m_actions)["separateInputs"]->isChecked()); },
       true},
      {"hulls",
       tr("O&utline fusion groups"),
       {},
       "O",
       tr("Around nodes that become one kernel: as PyTorch recorded it, else as Kerf compiles the graph"),
       [this] { m_pane->setHulls((*m_actions)["hulls"]->isChecked()); },
       true},
      {"graphviz",
       tr("Lay out small graphs by &Graphviz"),
       {},
       {},
       {},
       [this] { m_pane->setGraphviz((*m_actions)["graphviz"]->isChecked()); },
       true},
      {"openBlocks", tr("&Open all blocks"), {}, {}, {}, [this] { m_pane->openAll(true); }},
      {"closeBlocks", tr("C&lose all blocks"), {}, {}, {}, [this] { m_pane->openAll(false); }},
      {"groupModules", tr("By &module"), {}, {}, {}, [this] { m_pane->setGrouping(Grouping::Modules); }, true},
      {"groupKernels", tr("By &kernel"), {}, {}, {}, [this] { m_pane->setGrouping(Grouping::Kernels); }, true},
      {"groupNothing", tr("&Not at all"), {}, {}, {}, [this] { m_pane->setGrouping(Grouping::Nothing); }, true},
      {"hideUnchanged", tr("&Hide unchanged passes"), {}, "H", {}, [this] { m_passes->hideUnchanged().toggle(); }},
      {"theme", tr("Switch &light and dark"), "theme", "Ctrl+T", {}, [this] { toggleTheme(); }}};
}

/// "stage0" (the captured graph), "stage1", … under Ctrl+1, Ctrl+2, …
std::vector<ActionSpec> MainWindow::stageActions() {
  std::vector<ActionSpec> specs;
  for (const auto& [stage, title] : aotStageTitles()) {
    const auto number = int(specs.size());
    specs.push_back({QString("stage%1").arg(number),
                     title,
                     {},
                     QString("Ctrl+%1").arg(number + 1),
                     number == 0 ? tr("The graph as it was captured") : tr("AOTAutograd's stage %1").arg(title),
                     [this, stage = stage] { m_session.showAotStage(stage); },
                     true});
  }
  return specs;
}

std::vector<ActionSpec> MainWindow::goActions() {
  return {{"back", tr("&Back"), "back", "Alt+Left", {}, [this] { m_session.back(); }},
          {"forward", tr("&Forward"), "forward", "Alt+Right Ctrl+Shift+Z", {}, [this] { m_session.forward(); }},
          {"find", tr("F&ind node…"), "search", "Ctrl+F /", {}, [this] { m_search->focus(); }},
          {"listFound",
           tr("&List what is found"),
           {},
           "Ctrl+Shift+F",
           tr("Every node that the search finds, as a table"),
           [this] {
             raisePanel("find");
             m_search->focus();
           }},
          {"findNext", tr("Next &match"), {}, "F3 Ctrl+G", {}, [this] { m_pane->nextHit(1); }},
          {"findPrevious", tr("Previous m&atch"), {}, "Shift+F3 Ctrl+Shift+G", {}, [this] { m_pane->nextHit(-1); }},
          {"nextNode", tr("&Next node"), {}, "J", {}, [this] { step(1); }},
          {"previousNode", tr("&Previous node"), {}, "K", {}, [this] { step(-1); }},
          {"captured", tr("&Captured graph"), {}, "Ctrl+Home", {}, [this] { m_session.showAotStage({}); }},
          {"nextStage",
           tr("Next &stage"),
           {},
           "]",
           tr("Go to the next stage that changed something"),
           [this] { m_strip->step(1); }},
          {"previousStage", tr("Previous s&tage"), {}, "[", {}, [this] { m_strip->step(-1); }},
          {"compareWith",
           tr("Compare &with…"),
           {},
           "Ctrl+D",
           tr("Compare the shown graph with another one, node by node"),
           [this] { chooseBaseline(); }},
          {"compareRuns",
           tr("Compare two &runs"),
           {},
           "Ctrl+Shift+D",
           tr("Two captures beside each other: compile ids, stages, guards, kernels and times"),
           [this] {
             raisePanel("runs");
             m_twoRuns->showView(m_runs);
             m_runs->compare();
           }},
          {"alignRecordings",
           tr("Align two recor&dings"),
           {},
           {},
           tr("Recorded values of two runs step by step: the first with equal inputs and unequal results"),
           [this] {
             raisePanel("runs");
             m_twoRuns->showView(m_align);
           }},
          {"showInProgram",
           tr("Show in the pro&gram"),
           {},
           "L",
           tr("The line of the captured program that the selected node comes from"),
           [this] { showInProgram(); }},
          {"compareBefore", tr("Compare with the stage &before"), {}, {}, {}, [this] { m_session.compareWith({}); }},
          {"palette", tr("Command pa&lette…"), {}, "Ctrl+K Ctrl+P Ctrl+Shift+P", {}, [this] {
             showCommandPalette(*this, *m_actions);
           }}};
}

std::vector<ActionSpec> MainWindow::runActions() {
  return {
      {"plant",
       tr("&Try it with a planted fault…"),
       {},
       {},
       tr("Break an op or a pass on purpose, and watch how it is found"),
       [this] { choosePlant(); }},
      {"compare", tr("&Compare"), "compare", "Ctrl+R", tr("Compare the compiled graph with the interpreter and fp64"),
       [this] {
         raisePanel("accuracy");
         m_accuracy->run();
       }},
      {"minify", tr("&Minify"), "minify", "Ctrl+M", tr("Reduce the failing graph to the smallest one that still fails"),
       [this] {
         raisePanel("minify");
         m_minify->start();
       }},
      {"cancel",
       tr("C&ancel"),
       {},
       "Ctrl+.",
       tr("Stop layout, comparison, bisection and reduction"),
       [this] {
         m_pane->cancelLayout();
         m_session.cancelCompare();
         m_session.cancelMinify();
         m_session.cancelCaptureProgram();
       }},
      {"shortcuts", tr("&Keyboard shortcuts"), {}, "F1", {}, [this] { showShortcuts(); }},
      {"help", tr("&Pages of the documentation"), {}, "Shift+F1", {}, [this] { showHelp("studio.md"); }},
      {"queryHelp",
       tr("Words of &queries"),
       {},
       {},
       tr("All words that the search understands"),
       [this] { showHelp("queries"); }},
      {"problem",
       tr("&Report a problem…"),
       {},
       {},
       tr("A text with version, environment and the last messages, to copy"),
       [this] { showProblemReport(*this); }},
      {"about", tr("&About Kerf Studio"), {}, {}, {}, [this] { showAbout(); }}};
}

std::vector<ActionSpec> MainWindow::bisectActions() {
  return {{"bisectNode",
           tr("Bisect by &node"),
           {},
           "Ctrl+B",
           tr("Find the node where the compiled result leaves the reference"),
           [this] { bisect(workbench::BisectRequest::By::Node); }},
          {"bisectPass",
           tr("Bisect by &pass"),
           {},
           "Ctrl+Shift+B",
           tr("Find the pass that makes the compiled result leave the reference"),
           [this] { bisect(workbench::BisectRequest::By::Pass); }}};
}

std::vector<ActionSpec> MainWindow::numberActions() {
  return {{"firstBad",
           tr("First &bad node"),
           {},
           "B",
           tr("Go to the node where the compiled result leaves the reference; compares first where that is not known"),
           [this] { goToBad(0); }},
          {"nextBad", tr("Ne&xt bad node"), {}, "N", tr("The next node beyond the limit"), [this] { goToBad(1); }},
          {"previousBad", tr("Previo&us bad node"), {}, "Shift+N", {}, [this] { goToBad(-1); }},
          {"nextOdd",
           tr("Next Na&N or infinity"),
           {},
           "I",
           tr("Go to the next node whose value is NaN or infinite; the first one where none is selected"),
           [this] { goToOdd(); }},
          {"firstNan",
           tr("First NaN"),
           {},
           "Shift+I",
           tr("Go to the first input or node with a NaN on some side; compares first where that is not known"),
           [this] { goToFirst(AccuracyDoc::Oddity::NaN); }},
          {"firstInf",
           tr("First in&finity"),
           {},
           {},
           tr("Go to the first input or node with an infinity on some side; compares first where that is not known"),
           [this] { goToFirst(AccuracyDoc::Oddity::Infinity); }}};
}

/// "placeOverview" under Alt+1, …; and a command for each panel.
std::vector<ActionSpec> MainWindow::placeActions() {
  static constexpr std::pair<const char*, const char*> places[] = {
      {"workOverview", "&Overview"}, {"workGraph", "&Graph"}, {"workNumbers", "&Numbers"}, {"workReduce", "&Reduce"}};
  std::vector<ActionSpec> specs;
  for (int i = 0; i < workPlaces; ++i)
    specs.push_back({places[i].first, tr(places[i].second), {}, QString("Alt+%1").arg(i + 1), {}, [this, i] {
                       if (!m_session.captures().empty()) m_places->go(WorkPlace(i));
                     }});
  specs.push_back({"graphAlone",
                   tr("Graph a&lone"),
                   {},
                   "F11",
                   tr("Nothing but the graph, and back"),
                   [this] { setGraphAlone((*m_actions)["graphAlone"]->isChecked()); },
                   true});
  specs.push_back({"closePanel", tr("Close the panel belo&w"), {}, "Shift+Esc", {}, [this] { m_places->close(); }});
  for (const auto& name : m_places->names())
    specs.push_back({"panel_" + name,
                     m_places->title(name),
                     {},
                     {},
                     tr("Open the panel %1").arg(m_places->title(name)),
                     [this, name] { raisePanel(name); }});
  return specs;
}

void MainWindow::buildActions() {
  m_actions->add(fileActions());
  m_actions->add(editActions());
  m_actions->add(viewActions());
  m_actions->add(stageActions());
  m_actions->add(goActions());
  m_actions->add(runActions());
  m_actions->add(bisectActions());
  m_actions->add(numberActions());
  m_actions->add(placeActions());
  m_actions->add(noteActions());
  (*m_actions)["follow"]->setChecked(true);
  (*m_actions)["values"]->setChecked(true);
}

void MainWindow::buildMenus() {
  const auto fill = [this](QMenu* menu, const QStringList& ids) {
    for (const auto& id : ids) id.isEmpty() ? menu->addSeparator() : (menu->addAction((*m_actions)[id]), nullptr);
  };
  auto* file = menuBar()->addMenu(tr("&File"));
  fill(file, {"newWindow", "", "open", "openFolder", "captureProgram"});
  m_recentMenu = file->addMenu(tr("Open &recent"));
  connect(m_recentMenu, &QMenu::aboutToShow, this, &MainWindow::fillRecent);
  fill(file,
       {"", "exportRepro", "exportImage", "report", "", "reload", "follow", "closeCapture", "closeWindow", "quit"});
  fill(menuBar()->addMenu(tr("&Edit")), {"undo", "paste", "delete", "", "bookmark", "writeNote"});
  auto* view = menuBar()->addMenu(tr("&View"));
  fill(view, {"fit", "zoomIn", "zoomOut", "zoomReset", "centre", "", "colorKind", "colorAccuracy", "colorPlacement",
              "values", "dim", "separateInputs", "hulls", "graphviz", "hideUnchanged", ""});
  auto* stages = view->addMenu(tr("&Stage"));
  auto* group = new QActionGroup(this);
  for (int i = 0; i < int(aotStageTitles().size()); ++i) stages->addAction(group->addAction(stageAction(i)));
  auto* grouping = view->addMenu(tr("&Group nodes"));
  auto* groupings = new QActionGroup(this);
  for (const char* id : {"groupModules", "groupKernels", "groupNothing"})
    grouping->addAction(groupings->addAction((*m_actions)[id]));
  (*m_actions)["groupModules"]->setChecked(true);
  fill(view, {"openBlocks", "closeBlocks", "", "theme", ""});
  auto* panels = view->addMenu(tr("&Panels"));
  for (const char* name : {"captures", "passes", "changes", "inspector"})
    if (auto* dock = findChild<QDockWidget*>(name)) panels->addAction(dock->toggleViewAction());
  panels->addSeparator();
  for (const auto& name : m_places->names()) panels->addAction((*m_actions)["panel_" + name]);
  fill(view, {"closePanel", "graphAlone"});
  auto* work = view->addMenu(tr("&Work place"));
  fill(work, {"workOverview", "workGraph", "workNumbers", "workReduce"});
  menuBar()->setCornerWidget(m_places->placeButtons());
  fill(menuBar()->addMenu(tr("&Go")), {"back",
                                       "forward",
                                       "",
                                       "find",
                                       "findNext",
                                       "findPrevious",
                                       "listFound",
                                       "",
                                       "firstBad",
                                       "nextBad",
                                       "previousBad",
                                       "firstNan",
                                       "firstInf",
                                       "nextOdd",
                                       "",
                                       "nextNode",
                                       "previousNode",
                                       "nextNote",
                                       "previousNote",
                                       "leaveBody",
                                       "",
                                       "nextStage",
                                       "previousStage",
                                       "captured",
                                       "showInProgram",
                                       "",
                                       "compareWith",
                                       "compareBefore",
                                       "compareRuns",
                                       "alignRecordings",
                                       "",
                                       "palette"});
  fill(menuBar()->addMenu(tr("&Run")), {"compare", "bisectNode", "bisectPass", "minify", "", "cancel"});
  fill(menuBar()->addMenu(tr("&Help")), {"shortcuts", "help", "queryHelp", "plant", "", "problem", "about"});
}

void MainWindow::buildToolBar() {
  auto* bar = addToolBar(tr("Main"));
  bar->setObjectName("mainToolBar");
  bar->setMovable(false);
  bar->setIconSize({18, 18});
  bar->setContextMenuPolicy(Qt::PreventContextMenu);
  for (const QString id :
       {"open", "openFolder", "exportRepro", "", "back", "forward", "", "fit", "zoomOut", "zoomIn", ""})
    id.isEmpty() ? bar->addSeparator() : (bar->addAction((*m_actions)[id]), nullptr);
  bar->addWidget(m_story = new StoryBar(m_session));
  connect(m_story, &StoryBar::stepAsked, this, &MainWindow::takeStep);
  auto* space = new QWidget;
  space->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
  bar->addWidget(space);
  m_search = new SearchBox(*m_pane);
  bar->addWidget(m_search);
  bar->addAction((*m_actions)["theme"]);
}

void MainWindow::updateEnabled() {
  const bool graph = m_session.graph() != nullptr;
  for (const char* id :
       {"exportRepro", "exportImage",   "reload",   "closeCapture", "fit",        "zoomIn",      "zoomOut",
        "zoomReset",   "centre",        "compare",  "bisectNode",   "bisectPass", "minify",      "find",
        "findNext",    "findPrevious",  "nextNode", "previousNode", "captured",   "nextStage",   "previousStage",
        "compareWith", "compareBefore", "report",   "firstBad",     "nextBad",    "previousBad", "nextOdd",
        "plant",       "graphAlone",    "firstNan", "firstInf",     "listFound",  "bookmark",    "writeNote",
        "nextNote",    "previousNote",  "leaveBody"})
    (*m_actions)[id]->setEnabled(graph);
  checkStage();
  (*m_actions)["back"]->setEnabled(m_session.canBack());
  (*m_actions)["undo"]->setEnabled(m_session.canUndo());
  const auto done = m_session.undoTitle();
  (*m_actions)["undo"]->setText(done.isEmpty() ? tr("&Undo") : tr("&Undo %1").arg(done));
  (*m_actions)["forward"]->setEnabled(m_session.canForward());
  m_search->setEnabled(graph);
}

QAction* MainWindow::stageAction(int index) const { return (*m_actions)[QString("stage%1").arg(index)]; }

void MainWindow::checkStage() {
  const int shown = indexOfStage(m_session.location().aotStage);
  for (int i = 0; i < int(aotStageTitles().size()); ++i) {
    stageAction(i)->setEnabled(m_session.graph() != nullptr);
    stageAction(i)->setChecked(i == shown);
  }
}

}  // namespace kerf::ui::inline shell
