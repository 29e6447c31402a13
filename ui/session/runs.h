// CompareRun and MinifyRun: one child process each, turned into snapshots as its JSON arrives.
#pragma once

#include <QElapsedTimer>
#include <QJsonObject>
#include <QObject>
#include <QTimer>

#include "ui/session/cli_process.h"
#include "ui/session/documents.h"

namespace kerf::ui::inline session {

/// Reads the object that `kerf compare --nodes --json` prints. Unknown fields are left alone, missing ones stay zero.
AccuracyDoc readAccuracy(const QByteArray& json);

/// `kerf compare GRAPH --nodes --json [--plant …]`.
class CompareRun : public QObject {
  Q_OBJECT

 public:
  CompareRun(const QString& graph, const QString& plant, const QStringList& symbols, const QString& store);
  void start() { m_process.start(m_arguments); }
  void cancel() { m_process.cancel(); }
  const QString& plant() const { return m_plant; }

 signals:
  /// `problem` as CliProcess says it; `output` is what was printed.
  void finished(const QByteArray& output, const QString& problem, bool cancelled);

 private:
  CliProcess m_process;
  QStringList m_arguments;
  QString m_plant;
  QByteArray m_output;
};

/// `kerf minify GRAPH --progress json -o DIR --store PATH [--plant …]`.
class MinifyRun : public QObject {
  Q_OBJECT

 public:
  /// The repro is written below `output`. `symbols`: "s0=8" for each symbolic size whose value the user chose.
  MinifyRun(const QString& graph, const QString& plant, const QStringList& symbols, const QString& store,
            const QString& output);
  void start();
  void cancel() { m_process.cancel(); }
  /// A copy of the state now; cheap, for it is made at most every 50 ms.
  MinifyDocPtr snapshot() const { return std::make_shared<const MinifyDoc>(m_state); }
  qint64 reduction() const { return m_reduction; }
  bool running() const { return m_state.state == MinifyDoc::State::Running; }

 signals:
  void progressed();
  void finished();

 private:
  void readLine(const QByteArray& text);
  void readEvent(const QJsonObject& event);
  void finish(int exitCode, const QString& problem);

  CliProcess m_process;
  QStringList m_arguments;
  MinifyDoc m_state;
  qint64 m_reduction = 0;
  QElapsedTimer m_clock;
  QTimer m_throttle;
};

}  // namespace kerf::ui::inline session
