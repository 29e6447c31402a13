// Session: open captures, one place and one selected node, and the work that is under way. Many views, one session.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>

#include <QObject>
#include <QTimer>

#include "app/workbench/protocol/kept_comparison.h"
#include "ui/session/documents.h"
#include "ui/session/history.h"
#include "ui/session/job_queue.h"
#include "ui/session/workers.h"

namespace kerf::ui::inline session {

/// "joint_graph, joint, in body_graph_0": where a note was left.
QString notedPlaceTitle(const NodeNoteDoc& note);

/// Something that the user did and may take back.
struct UndoStep {
  QString what;
  std::function<void()> takeBack;
  std::function<bool()> possible = {};  ///< null: always
};

/// Everything that is known of one graph beside the graph itself.
struct GraphState;

/// UI thread only. Nothing here blocks: requests go to worker processes, answers come back as signals.
class Session : public QObject {
  Q_OBJECT

 public:
  explicit Session(QObject* parent = nullptr);
  ~Session() override;

  // Captures
  /// Files, folders, or what the store holds ("c3", "m2", "p4").
  void open(const QStringList& paths) { open(paths, true); }
  /// `show`: the first of them is shown as soon as it has been read.
  void open(const QStringList& paths, bool show);
  /// Opens a place's capture if need be, and goes there; noted() says where there is no such place any more.
  void goTo(const NamedPlace& place);
  /// The place where the user is, by names; nothing where no graph is shown.
  std::optional<NamedPlace> namedPlace() const;
  void close(int capture);
  /// Reads the current capture's file again.
  void reload();
  std::vector<CaptureDocPtr> captures() const;
  CaptureDocPtr capture(int id) const;

  /// Reads a record's text; recordChanged() follows.
  void showRecord(int capture, int record);
  ShownRecordPtr record() const { return m_record; }

  /// Reads what a capture recorded of fusion, unless it is known; fusionChanged() follows.
  void findFusion(int capture);
  /// Null until findFusion() has it.
  FusionRowsPtr fusion(int capture) const;

  /// Reads how the compilations of a trace went, unless it is known; traceLogChanged() follows.
  void findTraceLog(int capture);
  /// Null until findTraceLog() has it, and for captures that are no trace.
  TraceLogPtr traceLog(int capture) const;
  /// Whether it has compile ids of which a log tells.
  bool isTrace(int capture) const;

  /// Whether it is a trace of several ranks, in one folder.
  bool hasRanks(int capture) const;
  /// Compares what the ranks of a trace recorded, unless it is known; ranksChanged() follows.
  void findRanks(int capture);
  /// Null until findRanks() has it, and for other captures.
  RankLanesPtr ranks(int capture) const;
  /// Goes to a place in a rank's graphs. False, and noted(), where the rank has no such graph; null: none of `compileId`.
  bool goToRank(int rank, const std::string& compileId, const workbench::RankPlaceDoc* place);

  /// Whether it is a Python program that was run and captured.
  bool isProgram(int capture) const;
  /// Reads what became of a captured program, unless it is known; programChanged() follows.
  void findProgram(int capture);
  /// Null until findProgram() has it, and for other captures.
  ProgramDocumentPtr program(int capture) const;
  /// Runs a Python program in the sandbox and opens what was compiled of it. The user has been asked before.
  void captureProgram(workbench::CaptureProgramRequest request);
  void cancelCaptureProgram();
  /// The captured program that is looked at; -1: none. One of which nothing became a graph has no place to go to.
  int shownProgram() const;
  /// Shows the page of a program or trace without graphs, until another place is gone to or it is closed.
  void showGraphless(int capture);
  /// Whether a capture has a page that needs no graph.
  bool hasPage(int capture) const { return isTrace(capture) || isProgram(capture); }
  /// The capture that is looked at, even if it has no graph; -1: none.
  int shownCapture() const { return m_graphless >= 0 ? m_graphless : m_location.capture; }

  // Place and selection
  const Location& location() const { return m_location; }
  void go(const Location& location);
  void selectNode(int node);
  void selectNode(const QString& name);
  void showStage(Location::Stage stage, int index);
  /// The shown graph at a stage of AOTAutograd ("joint"; empty: as it was captured). Where it has no such stage,
  /// failed() and locationChanged() follow, and what is shown stays.
  void showAotStage(const std::string& stage);
  /// Shows a nested graph of the shown one, by its path in it ("body_graph_0").
  void enterBody(const std::string& path);
  /// Back to the graph around the shown one, `levels` times; its call is selected.
  void leaveBody(int levels = 1);
  void back();
  void forward();
  bool canBack() const { return m_history.canBack(); }
  bool canForward() const { return m_history.canForward(); }

  // What is shown now; null where there is nothing (yet)
  GraphDocPtr graph() const { return m_graph; }
  int node() const { return m_node; }
  const NodeDoc* nodeDoc() const;
  GuardsDocPtr guards() const;
  CompileDocPtr compiled() const;
  /// With the planted fault and by the chosen backend, where those are not the usual; null until compilePlanted() has
  /// that.
  CompileDocPtr compiledAsRun() const;
  /// Compiles the shown graph as it is run, unless that is known; compiledChanged() follows.
  void compilePlanted();
  AccuracyDocPtr accuracy() const;
  /// Comparisons are written into this folder, as long as nothing is planted and the graph is run as usual.
  void keepComparisons(const QString& folder);
  /// Of these captures (by name) what was compared before is there when a graph is shown, unless file, graph or Kerf are
  /// others now; accuracyChanged() follows.
  void comeBack(const QStringList& captures);
  BisectDocPtr bisected() const;
  MinifyDocPtr minified() const;
  StoreListingPtr store() const { return m_listing; }

  // Stages of a compilation, and how graphs differ
  /// Of the compilation that the shown graph stems from; null until they are known.
  RecordedStagesPtr recordedStages() const;
  /// Place of the shown graph in them; -1: none.
  int recordedStage() const;
  /// Goes to another graph of the same compilation, as quickly as it can be shown; the selected node stays selected
  /// where it can be followed.
  void scrubTo(const Location& location);
  /// Between the shown graph and what it is compared with; null where there is nothing, or not yet.
  DifferenceDocPtr difference() const { return m_difference; }
  /// What each pass did to the shown graph; null until somebody went to one.
  const std::vector<workbench::PassDifference>* passDifferences() const;
  /// Compares what is shown with this graph, until stages are gone through again; without one, with the stage before.
  void compareWith(const std::optional<Location>& before);
  const std::optional<Location>& chosenBaseline() const { return m_against; }
  /// Runs the recorded stages of the shown compile id and compares what they give.
  void verifyStages();
  void cancelVerify();
  VerifyDocPtr verified() const;

  // Two runs
  /// Compares two captures compile by compile; runsChanged() follows.
  void compareRuns(int before, int after);
  /// What was compared last; null before the first time.
  RunsDocPtr runs() const { return m_runs; }
  /// Shows the later graph of a stage of them against the earlier one.
  void goToStagePair(const workbench::StageDifference& stage);

  // Two recordings of runs
  /// Finds which steps of two recordings belong together; with `b` empty, the two sides of one. `graph`: whose nodes
  /// the steps are named after; empty: what the recordings have. alignmentChanged() follows.
  void align(const QString& a, const QString& b, const QString& graph);
  void cancelAlign();
  /// What was aligned last; null before the first time.
  AlignmentDocPtr alignment() const { return m_alignment; }
  /// Opens the graph that has a step, at its node.
  void goToStep(const workbench::AlignedRow& row);

  // Recorded output code
  /// Of the shown graph, with its lines linked to the graph's nodes; null until findRecordedCode() has it.
  RecordedCodePtr recordedCode() const;
  /// Reads it, unless it is known; recordedCodeChanged() follows.
  void findRecordedCode();

  // Partitions
  /// Of the shown joint graph; null before partition() was asked for.
  PartitionsDocPtr partitions() const;
  void partition();

  // Placements
  /// Of the shown graph over a mesh of ranks; null before shard() was asked for, and for what passes made of it.
  ShardingDocPtr sharding() const;
  /// Shards it over `mesh` ("4", "2,2"), with inputs placed as `placements` say ("x=S0 w=R,S1"); shardingChanged()
  /// follows, and with an error where one of them makes no sense.
  void shard(const QString& mesh, const QString& placements);
  void cancelShard();

  // Values
  /// What was asked last, and its answer; null before the first time.
  ValueDocPtr value() const { return m_value; }
  /// Of a node of the shown graph, whatever graph the request names; valueChanged() follows. One question at a time.
  /// With the fault that is planted now.
  void findValue(workbench::NodeValueRequest request);
  /// The last answer is of the shown graph, as it is run now.
  bool valueIsCurrent() const;
  void cancelValue();

  // Taking back
  /// Notes, bookmarks, deletes, blocks and pins: takes the newest back. Going back is another thing.
  void undo();
  bool canUndo() const;
  /// "bookmark": what undo() takes back; empty: nothing.
  QString undoTitle() const;
  void addUndo(UndoStep step);

  // Work
  /// "s0=8" for each symbolic size that gets another value than its hint, for comparing, bisecting and minifying.
  void setSymbols(const QStringList& symbols);
  QStringList symbols() const;
  /// Every symbolic size of the shown graph with the value that it has, "s0=8".
  QStringList sizes() const;
  /// The same, of which only those that differ from their hints are kept.
  void chooseSizes(QStringList sizes);
  /// What stands in for data that the shown graph's capture does not have, for all that runs it.
  /// "relu=accuracy": the fault that is planted in the compiled side of whatever runs a graph of the shown capture, for
  /// trying; empty: none. No other capture has it.
  void setPlant(const QString& plant);
  QString plant() const;
  std::vector<std::string> plants() const;
  /// Whose code the compiled side of whatever runs a graph is, in all captures: "llvm", "interp", "cuda".
  void setBackend(const std::string& backend);
  const std::string& backend() const { return m_backend; }
  /// Asks which there are; backendsChanged() follows, unless they are known.
  void findBackends();
  /// Empty until findBackends() has them.
  const std::vector<workbench::BackendDoc>& backends() const { return m_backends; }
  void setInputs(const InputsChoice& inputs);
  InputsChoice inputs() const;
  /// Asks where the shown graph's inputs come from; `take` gets them later, unless that is not to be known.
  void findInputRows(const std::function<void(const std::vector<workbench::InputRow>&)>& take);
  /// As the graph is run now; `plant` is planted first.
  void compare(const QString& plant);
  void compare();
  void bisect(workbench::BisectRequest::By by, const QString& plant);
  void bisect(workbench::BisectRequest::By by);
  /// The shown graph, whatever graph the request names.
  void bisect(workbench::BisectRequest request);
  /// Stops comparing and bisecting the shown graph.
  void cancelCompare();
  /// The shown graph with its pins, into the store, whatever else the request says of those.
  void minify(workbench::MinifyRequest request);
  /// A pinned node stays as it is when the shown graph is minified.
  void pin(const QString& node, bool pinned);
  /// The same, as it was before: nothing to take back.
  void keepPinned(const QString& node);
  QStringList pins() const;
  void cancelMinify();
  /// Of the running minification; a wish that makes no sense is ignored.
  void pauseMinify(bool paused);
  void undoMinify(int step);
  void exportTo(const QString& directory);
  /// Writes the minified repro and its storages.
  void exportMinified(const QString& directory);
  /// As "zip" or "issue" (Markdown).
  void exportMinifiedAs(const QString& path, const QString& format);
  /// Reads what the store holds; storeChanged() follows.
  void listStore();
  /// Deletes what the store holds ("c3", "r5", "m2", "p4") with what depends on it; undoDelete() brings the newest back.
  void removeStored(const QStringList& items);
  void undoDelete();
  bool canUndoDelete() const { return !m_deletions.isEmpty(); }
  // Notes and bookmarks of people at nodes
  /// Of all graphs, the newest first; null until listNotes() has them.
  NodeNotesPtr notes() const { return m_notes; }
  /// Null: the shown graph's node has none.
  const NodeNoteDoc* noteAt(const std::string& node) const;
  /// Leaves one at a node of the shown graph; an empty text is a bookmark.
  void leaveNote(const QString& node, const QString& text);
  void forgetNote(const NodeNoteDoc& note);
  void listNotes();
  /// Opens its capture if need be, and goes to its graph and node.
  void goToNote(const NodeNoteDoc& note);

  /// Reads a capture's file again, for it has grown; place, selection and what is known of its graphs stay.
  void refresh(int capture);

  void setStorePath(const QString& path);
  QString storePath() const { return m_workers.store(); }
  JobQueue& jobs() { return m_jobs; }
  /// There is no graph because the next one is still being read.
  bool reading() const { return m_reading; }
  bool busy() const;

 signals:
  void capturesChanged();
  /// While captures are being read, several times a second.
  void loadingProgressed();
  void locationChanged();
  void graphChanged();
  /// What was shown has been left for a graph that may yet have to be read; graphChanged() follows, without a graph where
  /// reading takes longer than a blink or fails.
  void graphLeft();
  void recordChanged();
  void fusionChanged();
  void stagesChanged();
  void differenceChanged();
  void verifiedChanged();
  void nodeChanged();
  void guardsChanged();
  void compiledChanged();
  void accuracyChanged();
  void bisectChanged();
  void minifyChanged();
  void pinsChanged();
  void partitionsChanged();
  void shardingChanged();
  void valueChanged();
  void recordedCodeChanged();
  void runsChanged();
  void alignmentChanged();
  void ranksChanged();
  void inputsChanged();
  void plantChanged();
  /// Another one is chosen; which there are is known.
  void backendChanged();
  void backendsChanged();
  void traceLogChanged();
  void programChanged();
  /// A file without a graph that may be a Python program: running it in the sandbox would give graphs.
  void programMet(const QString& path);
  void symbolsChanged();
  void storeChanged();
  void notesChanged();
  /// There is more or less to bring back in the store; to undo at all.
  void deletionsChanged();
  void undoChanged();
  void busyChanged();
  void exported(const QString& path);
  void failed(const QString& title, const QString& detail);
  /// Something that the user should know and that stops nothing.
  void noted(const QString& text);

 private:
  using Key = GraphKey;
  Key key() const { return m_location.key(); }
  GraphState* state() const;
  GraphState* state(const Key& key) const;
  /// The graph for a request, with the chosen sizes.
  workbench::GraphAddress address(const Key& key) const;
  /// The same to look at: a captured graph with the sizes that it was captured with.
  workbench::GraphAddress shownAddress(const Key& key) const;
  RemotePtr browser(int capture);
  void openNamed(const std::string& name);
  void opened(int id, Result<std::vector<workbench::CaptureIndex>> result);
  void emptyPlace();
  void leaveGraphless();
  void compile();
  void findGuards();
  void enter(const Location& location);
  void notRead(const QString& title, const Error& error);
  void showNothing();
  void compileSoon();
  GraphState& stateFor(const Key& key);
  GraphDocPtr documentAt(const Location& location) const;
  std::string compileIdOf(const Key& key) const;
  QString titleOf(const Location& location) const;
  void findStages();
  void forgetStages(int capture);
  void findDifference();
  DifferenceDocPtr currentDifference();
  std::optional<Location> placeBefore(const Location& location) const;
  DifferenceDocPtr makeDifference(const Location& before, const Location& after);
  bool askGraph(const Location& location, bool quiet);
  void askPassDifferences(const Key& key, bool quiet);
  void askDifference(const Location& before, const Location& after, bool quiet);
  void prefetch();
  std::vector<Location> neighbours() const;
  workbench::GraphAddress addressAt(const Location& location) const;
  void load(const Location& location);
  void loaded(const Location& location, const Result<GraphDocPtr>& result);
  std::optional<workbench::GraphRequest> requestFor(const Location& location) const;
  void requestGraph(const Location& location);
  void requestBody(const Location& location);
  void reachWanted();
  void setPin(const Key& key, const QString& node, bool pinned);
  void sendNote(const workbench::NoteRequest& request);
  void refreshed(int capture, Result<std::vector<workbench::CaptureIndex>> result);
  void showGraph(const Location& location, GraphDocPtr graph);
  void compared(const Key& key, const QString& plant, const std::string& backend,
                const Result<workbench::Comparison>& result);
  void bisected(const Key& key, const BisectDoc& asked, const Result<workbench::Bisection>& result);
  void minifyProgressed(const Key& key);
  void readCandidate(const Key& key);
  void forgetSteps(const Key& key, int step);
  void findNeighbour(const Key& key);
  void minifyFinished(const Key& key, const Result<workbench::Minified>& result);
  void forgetValue();
  std::vector<std::string> runSetting() const;
  std::pair<QString, workbench::KeptComparison> keptPlace(const Key& where) const;
  void keepComparison(const Key& where);
  void findKeptComparison();
  void exportAs(const workbench::ExportRequest& request, RemotePtr worker);
  void removed(const Result<workbench::Removed>& result);
  void restored(const Result<workbench::Restored>& result);

  Workers m_workers;
  JobQueue m_jobs;
  RemotePtr m_compiler;  ///< compiles for view, whatever capture it is; null before the first time
  std::map<int, CaptureDocPtr> m_captures;
  std::map<int, RemotePtr> m_browsers;    ///< captures of one folder share one
  std::map<int, FusionRowsPtr> m_fusion;  ///< by capture
  std::map<int, RankLanesPtr> m_ranks;
  RemotePtr m_differ;  ///< compares graphs and reads ahead, so that the others never wait; null before the first time
  RemotePtr m_valuer;  ///< computes values of nodes and keeps the last ones; null before the first time
  ValueDocPtr m_value;
  std::string m_backend{workbench::BackendsRequest::usual};
  std::vector<workbench::BackendDoc> m_backends;
  QString m_keepFolder;              ///< of comparisons; empty: none are kept
  std::set<std::string> m_comeBack;  ///< names of captures
  RunsDocPtr m_runs;
  AlignmentDocPtr m_alignment;
  std::map<int, TraceLogPtr> m_logs;                               ///< by capture
  int m_graphless = -1;                                            ///< capture without graphs that is shown
  std::map<int, ProgramDocumentPtr> m_programs;                    ///< by capture
  std::map<std::string, QString> m_plants;                         ///< by the capture's name
  std::map<std::pair<int, int>, RecordedCodePtr> m_code;           ///< by capture and graph
  std::map<std::pair<int, int>, RecordedStagesPtr> m_recorded;     ///< by capture and graph
  std::map<std::pair<int, std::string>, VerifyDocPtr> m_verified;  ///< by capture and compile id
  using PlaceKey = decltype(Location().place());
  std::map<std::pair<PlaceKey, PlaceKey>, std::shared_ptr<DifferenceDoc>> m_differences;
  std::optional<Location> m_against;  ///< what the user chose to compare with
  DifferenceDocPtr m_difference;
  QTimer m_compileSoon;
  bool m_scrubbing = false;    ///< the step under way is one from stage to stage
  bool m_scrubbed = false;     ///< stages have been gone through: their neighbours are worth reading ahead
  std::set<PlaceKey> m_tried;  ///< what was read ahead, so that a failure is not tried again and again
  std::map<Key, std::unique_ptr<GraphState>> m_states;
  QTimer m_loading;
  QTimer m_left;            ///< runs from leaving a graph until panels are emptied of it
  bool m_reading = false;   ///< what was shown has been left, and the next graph is not there
  bool m_showNext = false;  ///< the next capture that opens is shown at once
  int m_nextId = 1;
  Location m_location;
  History<Location> m_history;
  GraphDocPtr m_graph;
  ShownRecordPtr m_record;
  StoreListingPtr m_listing;
  NodeNotesPtr m_notes;
  std::optional<NamedPlace> m_wanted;  ///< gone to once its capture has been read
  QStringList m_deletions;             ///< one item of each deletion that can be undone, the newest last
  std::vector<UndoStep> m_undo;        ///< the newest last
  int m_node = -1;
};

}  // namespace kerf::ui::inline session
