// MainWindow: graph in the middle, docks around it, and the commands that tie them together.
#pragma once

#include <QMainWindow>
#include <QSet>
#include <QTimer>
#include <QVariantMap>

#include "ui/graph_view/graph_pane.h"
#include "ui/session/file_follower.h"
#include "ui/session/log_feed.h"
#include "ui/session/session.h"
#include "ui/shell/actions.h"
#include "ui/shell/preferences.h"
#include "ui/shell/work_places.h"

class QLabel;
class QMenu;
class QStackedWidget;
class QTemporaryDir;

namespace kerf::ui::inline panels {
class AccuracyPanel;
class AlignView;
class CapturesPanel;
class ChangesPanel;
class DifferencePanel;
class FiguresTable;
class FusionPanel;
class InspectorPanel;
class KernelsPanel;
class OutputCodePanel;
class OverviewPanel;
class MinifyPanel;
class NodesPanel;
class NotesPanel;
class PartitionPanel;
class ShardingPanel;
class PassesPanel;
class PathPanel;
class ProgramPanel;
class ProgramSource;
class RecordPanel;
class RanksPanel;
class RunsPanel;
class SearchPanel;
class SourcePanel;
class StageStrip;
class TabbedPage;
class StorePanel;
class TimelinePanel;
class ValuesPanel;
}  // namespace kerf::ui::inline panels

namespace kerf::ui::inline shell {

class Banner;
class JobsButton;
class SearchBox;
class StoryBar;
enum class StoryStep;
class Welcome;

struct WindowOptions {
  bool remember = true;   ///< settings are read and written
  QString theme;          ///< "light", "dark", "system"; empty: as remembered
  QString settings = {};  ///< file of the settings; empty: the user's own
};

class MainWindow : public QMainWindow {
  Q_OBJECT

 public:
  explicit MainWindow(const WindowOptions& options = {});
  ~MainWindow() override;

  Session& session() { return m_session; }
  GraphPane& pane() { return *m_pane; }
  Actions& actions() { return *m_actions; }
  void open(const QStringList& paths);
  /// What the last window had open when it was closed, with place, selection and zoom.
  void resume();
  /// Opens paths beside what the last window had open.
  void openBeside(const QStringList& paths);
  /// One more window of this program, with the same store.
  MainWindow* openWindow();
  /// Opens what the clipboard holds: files, or the text of a graph.
  void paste();
  QStringList recentPaths() const { return m_preferences.recent(); }
  /// Nothing is loading, laid out, compiled or run in a child process.
  bool idle() const;
  void setTheme(const QString& mode);
  /// Brings a panel to the front: "nodes", "source", "difference", "accuracy", "minify", "partition", "kernels",
  /// "fusion", "timeline", "record", "runs", "path", "program", "store", "log", "find", "notes"; "captures", "passes", "changes", "inspector";
  /// "overview".
  void raisePanel(const QString& name);
  /// Of all that raisePanel() knows.
  QStringList panelNames() const;
  WorkPlaces& places() { return *m_places; }
  /// Nothing but the graph, and back.
  void setGraphAlone(bool alone);
  /// Leaves out what differs from run to run (times), for screenshots.
  void setDeterministic();
  /// Gives the docks the places and sizes that they start with, by the size of the window.
  void arrange();

  StageStrip& stageStrip() { return *m_strip; }
  ChangesPanel& changesPanel() { return *m_changes; }
  PartitionPanel& partitionPanel() { return *m_partition; }
  ShardingPanel& shardingPanel() { return *m_sharding; }
  DifferencePanel& differencePanel() { return *m_difference; }
  CapturesPanel& capturesPanel() { return *m_captures; }
  PassesPanel& passesPanel() { return *m_passes; }
  PathPanel& pathPanel() { return *m_path; }
  InspectorPanel& inspectorPanel() { return *m_inspector; }
  AccuracyPanel& accuracyPanel() { return *m_accuracy; }
  ValuesPanel& valuesPanel() { return *m_values; }
  MinifyPanel& minifyPanel() { return *m_minify; }
  KernelsPanel& kernelsPanel() { return *m_kernels; }
  OverviewPanel& overviewPanel() { return *m_overview; }
  ProgramPanel& programPanel() { return *m_program; }
  ProgramSource& programSource() { return *m_programSource; }
  StoryBar& storyBar() { return *m_story; }
  OutputCodePanel& outputCodePanel() { return *m_code; }
  FusionPanel& fusionPanel() { return *m_fusion; }
  TimelinePanel& timelinePanel() { return *m_timeline; }
  RecordPanel& recordPanel() { return *m_record; }
  RanksPanel& ranksPanel() { return *m_ranks; }
  RunsPanel& runsPanel() { return *m_runs; }
  AlignView& alignView() { return *m_align; }
  FiguresTable& figuresTable() { return *m_figures; }
  TabbedPage& valueTabs() { return *m_valueTabs; }
  NodesPanel& nodesPanel() { return *m_nodes; }
  SourcePanel& sourcePanel() { return *m_source; }
  StorePanel& storePanel() { return *m_store; }
  SearchPanel& searchPanel() { return *m_hits; }
  NotesPanel& notesPanel() { return *m_notes; }
  FileFollower& follower() { return m_follower; }
  const LogFeed& logFeed() const { return m_log; }
  SearchBox& searchBox() { return *m_search; }
  Banner& banner() { return *m_banner; }

 protected:
  void closeEvent(QCloseEvent* event) override;
  bool event(QEvent* event) override;
  void childEvent(QChildEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dragLeaveEvent(QDragLeaveEvent* event) override;
  void dropEvent(QDropEvent* event) override;

 private:
  void buildCentre();
  void buildDocks();
  void buildPanels();
  void connectPanels();
  void placeDocks();
  void showCentre();
  void showFirst();
  void goToGraph(int graph);
  void chooseProgram();
  void askCapture(const QString& path);
  void connectProgram();
  void goToProgramNode(int graph, const QString& node);
  void showNodesOfLine(int line);
  void showInProgram();
  void goToOdd();
  void goToBad(int step);
  void goToFirst(AccuracyDoc::Oddity oddity);
  bool hasComparison();
  void showPlace(int node);
  void choosePlant();
  void takeStep(StoryStep step);
  void showIssue();
  void showIssueText(const QString& path);
  QString screenName() const;
  QDockWidget* addPanel(const QString& name, const QString& title, QWidget* panel, Qt::DockWidgetArea area);
  void buildActions();
  std::vector<ActionSpec> fileActions();
  std::vector<ActionSpec> editActions();
  std::vector<ActionSpec> viewActions();
  std::vector<ActionSpec> stageActions();
  std::vector<ActionSpec> goActions();
  std::vector<ActionSpec> runActions();
  std::vector<ActionSpec> bisectActions();
  std::vector<ActionSpec> placeActions();
  std::vector<ActionSpec> numberActions();
  void buildMenus();
  void buildToolBar();
  void buildStatusBar();
  void connectSession();
  void restoreWindow();

  std::vector<ActionSpec> noteActions();
  void rememberOpened();
  void rememberSession();
  QString pasteFolder();
  void saveReport();
  void chooseFiles();
  void chooseFolder();
  void fillRecent();
  void exportRepro();
  void exportMinified(const QString& format);
  /// Empty if the user thought better of it.
  QString chooseExportFolder();
  void exportImage();
  void showContextMenu(int node, const QPoint& position);
  void showAbout();
  void showShortcuts();
  void showHelp(const QString& page);
  QSet<int> markNodes(const QStringList& names);
  void findNodes(const QStringList& names);
  void chooseBaseline();
  void showGone(const QString& name);
  void showSpan(int span);
  void showBusy();
  void showZoom();
  void updateEnabled();
  void showTitle();
  void followStage();
  void showStart();
  void styleTabBars();
  void saveStages();
  void checkStage();
  QAction* stageAction(int index) const;
  void step(int offset);
  void bisect(workbench::BisectRequest::By by);
  void bisectTorch(workbench::BisectRequest::By by);
  void rememberOracle();
  void recallOracle();
  void toggleTheme();

  WindowOptions m_options;
  Preferences m_preferences;
  LogFeed m_log;
  Session m_session;
  FileFollower m_follower;
  Actions* m_actions;
  QStackedWidget* m_stack = nullptr;
  Welcome* m_welcome = nullptr;
  GraphPane* m_pane = nullptr;
  Banner* m_banner = nullptr;
  StageStrip* m_strip = nullptr;
  QWidget* m_graphPage = nullptr;  ///< the strip and the pane
  OverviewPanel* m_overview = nullptr;
  ProgramPanel* m_program = nullptr;         ///< a captured program as a whole
  ProgramSource* m_programSource = nullptr;  ///< its text, below the graph
  WorkPlaces* m_places = nullptr;
  StoryBar* m_story = nullptr;
  ChangesPanel* m_changes = nullptr;
  DifferencePanel* m_difference = nullptr;
  PartitionPanel* m_partition = nullptr;
  ShardingPanel* m_sharding = nullptr;
  SearchBox* m_search = nullptr;
  CapturesPanel* m_captures = nullptr;
  PassesPanel* m_passes = nullptr;
  PathPanel* m_path = nullptr;
  InspectorPanel* m_inspector = nullptr;
  AccuracyPanel* m_accuracy = nullptr;
  ValuesPanel* m_values = nullptr;
  MinifyPanel* m_minify = nullptr;
  KernelsPanel* m_kernels = nullptr;
  OutputCodePanel* m_code = nullptr;
  FusionPanel* m_fusion = nullptr;
  TimelinePanel* m_timeline = nullptr;
  RecordPanel* m_record = nullptr;
  RanksPanel* m_ranks = nullptr;
  RunsPanel* m_runs = nullptr;
  AlignView* m_align = nullptr;
  TabbedPage* m_twoRuns = nullptr;
  FiguresTable* m_figures = nullptr;
  TabbedPage* m_valueTabs = nullptr;
  NodesPanel* m_nodes = nullptr;
  SourcePanel* m_source = nullptr;
  StorePanel* m_store = nullptr;
  SearchPanel* m_hits = nullptr;
  NotesPanel* m_notes = nullptr;
  std::unique_ptr<QTemporaryDir> m_pasted;  ///< files of pasted texts
  int m_pastes = 0;
  QSet<QString> m_offered;  ///< opened files that were put into Recent already
  QMenu* m_recentMenu = nullptr;
  QByteArray m_alone;                ///< how the docks were before the graph was alone; empty: it is not
  Location m_lastPlace;              ///< before it changed
  QSet<int> m_overviews;             ///< captures that were looked over
  QByteArray m_docks;                ///< how they were before the start page took their place; empty: they are there
  QVariantMap m_stages;              ///< by file and graph: the stage of AOTAutograd in which it was left
  QSet<std::pair<int, int>> m_seen;  ///< captures and their graphs that were shown
  JobsButton* m_busy = nullptr;
  QTimer m_saveSoon;  ///< runs from a change of what is open or shown until that is remembered
  QLabel* m_zoom = nullptr;
};

}  // namespace kerf::ui::inline shell
