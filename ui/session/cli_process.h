// CliProcess: the `kerf` program as a child, because graphs are never executed inside the window's own process.
#pragma once

#include <QObject>
#include <QProcess>
#include <QStringList>

namespace kerf::ui::inline session {

/// One run. Lines of standard output arrive as they come; cancelling sends SIGINT, and SIGKILL when that is ignored.
class CliProcess : public QObject {
  Q_OBJECT

 public:
  explicit CliProcess(QObject* parent = nullptr);
  ~CliProcess() override;
  /// $KERF_CLI, else `kerf` beside this program, else the one on PATH.
  static QString program();
  void start(const QStringList& arguments);
  void cancel();
  bool running() const { return m_process.state() != QProcess::NotRunning; }
  bool cancelled() const { return m_cancelled; }

 signals:
  void line(const QByteArray& text);
  /// `problem` is empty unless the child could not start, crashed, or ended with exit code 2 or 3.
  void finished(int exitCode, const QString& problem);

 private:
  void readLines();
  void readErrors();
  QString problemOf(int exitCode, QProcess::ExitStatus status) const;

  QProcess m_process;
  QByteArray m_errors;
  bool m_cancelled = false;
};

}  // namespace kerf::ui::inline session
