// Session: open captures, one place and one selected node, and the work that is under way. Many views, one session.
#pragma once

#include <map>
#include <memory>

#include <QObject>
#include <QTimer>

#include "ui/session/documents.h"
#include "ui/session/history.h"
#include "ui/session/job_queue.h"
#include "ui/session/workers.h"

namespace kerf::ui::inline session {

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
  void open(const QStringList& paths);
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

  // Place and selection
  const Location& location() const { return m_location; }
  void go(const Location& location);
  void selectNode(int node);
  void selectNode(const QString& name);
  void showStage(Location::Stage stage, int index);
  /// The shown graph at a stage of AOTAutograd ("joint"; empty: as it was captured). Where it has no such stage,
  /// failed() and locationChanged() follow, and what is shown stays.
  void showAotStage(const std::string& stage);
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
  AccuracyDocPtr accuracy() const;
  BisectDocPtr bisected() const;
  MinifyDocPtr minified() const;
  StoreListingPtr store() const { return m_listing; }

  // Work
  /// "s0=8" for each symbolic size that gets another value than its hint, for comparing, bisecting and minifying.
  void setSymbols(const QStringList& symbols);
  QStringList symbols() const;
  void compare(const QString& plant);
  void bisect(workbench::BisectRequest::By by, const QString& plant);
  /// Stops comparing and bisecting the shown graph.
  void cancelCompare();
  void minify(const QString& plant);
  void cancelMinify();
  /// Of the running minification; a wish that makes no sense is ignored.
  void pauseMinify(bool paused);
  void undoMinify(int step);
  void exportTo(const QString& directory);
  /// Writes the minified repro and its storages.
  void exportMinified(const QString& directory);
  /// Reads what the store holds; storeChanged() follows.
  void listStore();
  /// Deletes what the store holds ("c3", "r5", "m2", "p4") with what depends on it; undoDelete() brings the newest back.
  void removeStored(const QStringList& items);
  void undoDelete();
  bool canUndoDelete() const { return !m_deletions.isEmpty(); }
  void setStorePath(const QString& path);
  JobQueue& jobs() { return m_jobs; }
  bool busy() const;

 signals:
  void capturesChanged();
  /// While captures are being read, several times a second.
  void loadingProgressed();
  void locationChanged();
  void graphChanged();
  void recordChanged();
  void fusionChanged();
  void nodeChanged();
  void guardsChanged();
  void compiledChanged();
  void accuracyChanged();
  void bisectChanged();
  void minifyChanged();
  void storeChanged();
  /// There is more or less to undo.
  void deletionsChanged();
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
  void compile();
  void findGuards();
  void enter(const Location& location);
  void load(const Location& location);
  void loaded(const Location& location, const Result<GraphDocPtr>& result);
  std::optional<workbench::GraphRequest> requestFor(const Location& location) const;
  void requestGraph(const Location& location);
  void showGraph(const Location& location, GraphDocPtr graph);
  void compared(const Key& key, const QString& plant, const Result<workbench::Comparison>& result);
  void bisected(const Key& key, const BisectDoc& asked, const Result<workbench::Bisection>& result);
  void minifyProgressed(const Key& key);
  void minifyFinished(const Key& key, const Result<workbench::Minified>& result);
  void exportAs(const workbench::ExportRequest& request, RemotePtr worker);
  void removed(const Result<workbench::Removed>& result);
  void restored(const Result<workbench::Restored>& result);

  Workers m_workers;
  JobQueue m_jobs;
  RemotePtr m_compiler;  ///< compiles for view, whatever capture it is; null before the first time
  std::map<int, CaptureDocPtr> m_captures;
  std::map<int, RemotePtr> m_browsers;  ///< captures of one folder share one
  std::map<int, FusionRowsPtr> m_fusion;    ///< by capture
  std::map<Key, std::unique_ptr<GraphState>> m_states;
  QTimer m_loading;
  bool m_showNext = false;  ///< the next capture that opens is shown at once
  int m_nextId = 1;
  Location m_location;
  History<Location> m_history;
  GraphDocPtr m_graph;
  ShownRecordPtr m_record;
  StoreListingPtr m_listing;
  QStringList m_deletions;  ///< one item of each deletion that can be undone, the newest last
  int m_node = -1;
};

}  // namespace kerf::ui::inline session
