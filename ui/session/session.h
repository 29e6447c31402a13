// Session: open captures, one place and one selected node, and the work that is under way. Many views, one session.
#pragma once

#include <map>
#include <memory>

#include <QObject>
#include <QTemporaryDir>
#include <QTimer>

#include "ui/session/documents.h"
#include "ui/session/history.h"
#include "ui/session/job_queue.h"
#include "ui/session/runs.h"

namespace kerf::inline capture {
struct Capture;
}
namespace kerf::inline passes {
struct PassRecord;
}

namespace kerf::ui::inline session {

struct OpenedCapture;
/// Everything that is known of one captured graph beside the graph itself.
struct GraphState;

/// UI thread only. Nothing here blocks: work goes to JobQueue or to a child process, results come back as signals.
class Session : public QObject {
  Q_OBJECT

 public:
  explicit Session(QObject* parent = nullptr);
  ~Session() override;

  // Captures
  void open(const QStringList& paths);
  void close(int capture);
  /// Reads the current capture's file again.
  void reload();
  std::vector<CaptureDocPtr> captures() const;
  CaptureDocPtr capture(int id) const;

  /// Reads a record's text; recordChanged() follows.
  void showRecord(int capture, int record);
  RecordDocPtr record() const { return m_record; }

  // Place and selection
  const Location& location() const { return m_location; }
  void go(const Location& location);
  void selectNode(int node);
  void selectNode(const QString& name);
  void showStage(Location::Stage stage, int index);
  void back();
  void forward();
  bool canBack() const { return m_history.canBack(); }
  bool canForward() const { return m_history.canForward(); }

  // What is shown now; null where there is nothing (yet)
  GraphDocPtr graph() const { return m_graph; }
  int node() const { return m_node; }
  const NodeDoc* nodeDoc() const;
  CompileDocPtr compiled() const;
  AccuracyDocPtr accuracy() const;
  MinifyDocPtr minified() const;

  // Work
  /// "s0=8" for each symbolic size that gets another value than its hint, for comparing and minifying.
  void setSymbols(const QStringList& symbols);
  QStringList symbols() const;
  void compare(const QString& plant);
  void cancelCompare();
  void minify(const QString& plant);
  void cancelMinify();
  void exportTo(const QString& directory);
  /// Copies the minified repro and its storages.
  void exportMinified(const QString& directory);
  void setStorePath(const QString& path) { m_store = path; }
  JobQueue& jobs() { return m_jobs; }
  bool busy() const;

 signals:
  void capturesChanged();
  /// While captures are being read, several times a second.
  void loadingProgressed();
  void locationChanged();
  void graphChanged();
  void recordChanged();
  void nodeChanged();
  void compiledChanged();
  void accuracyChanged();
  void minifyChanged();
  void busyChanged();
  void exported(const QString& path);
  void failed(const QString& title, const QString& detail);
  /// Something that the user should know and that stops nothing.
  void noted(const QString& text);

 private:
  using Key = std::pair<int, int>;  ///< capture, graph
  Key key() const { return {m_location.capture, m_location.graph}; }
  GraphState* state() const;
  GraphState* state(Key key) const;
  void openPath(const QString& path);
  void opened(int id, std::vector<OpenedCapture> result);
  void compile();
  void load(const Location& location);
  void requestGraph(const Location& location);
  void showGraph(const Location& location, GraphDocPtr graph);
  void compared(Key key, const QString& plant, const QByteArray& output, const QString& problem, bool cancelled);
  void minifyProgressed(Key key);
  void minifyFinished(Key key);
  QString graphArgument(Key key) const;

  JobQueue m_jobs;
  std::map<int, CaptureDocPtr> m_captures;
  std::map<int, std::shared_ptr<const Capture>> m_sources;
  std::map<Key, std::unique_ptr<GraphState>> m_states;
  QTimer m_loading;
  bool m_showNext = false;  ///< the next capture that opens is shown at once
  int m_nextId = 1;
  Location m_location;
  History<Location> m_history;
  GraphDocPtr m_graph;
  RecordDocPtr m_record;
  int m_node = -1;
  QString m_store;
  QTemporaryDir m_scratch;  ///< minified repros, one folder per run
  int m_runs = 0;
};

}  // namespace kerf::ui::inline session
