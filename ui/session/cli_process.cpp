#include "ui/session/cli_process.h"

#include <csignal>

#include <QCoreApplication>
#include <QFileInfo>
#include <QStandardPaths>
#include <QTimer>

namespace kerf::ui::inline session {
namespace {
constexpr int killAfterMs = 5000;
constexpr qsizetype errorBytes = 64 << 10;
}  // namespace

CliProcess::CliProcess(QObject* parent) : QObject(parent) {
  connect(&m_process, &QProcess::readyReadStandardOutput, this, &CliProcess::readLines);
  connect(&m_process, &QProcess::readyReadStandardError, this, &CliProcess::readErrors);
  connect(&m_process, &QProcess::finished, this, [this](int code, QProcess::ExitStatus status) {
    readLines();
    readErrors();
    const auto rest = m_process.readAllStandardOutput();
    if (!rest.trimmed().isEmpty()) emit line(rest);
    emit finished(code, problemOf(code, status));
  });
  connect(&m_process, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
    if (error == QProcess::FailedToStart) emit finished(3, tr("%1 could not be started").arg(program()));
  });
}

CliProcess::~CliProcess() {
  m_process.disconnect(this);
  if (!running()) return;
  ::kill(pid_t(m_process.processId()), SIGINT);
  if (!m_process.waitForFinished(1000)) m_process.kill();
  m_process.waitForFinished(1000);
}

QString CliProcess::program() {
  const auto named = qEnvironmentVariable("KERF_CLI");
  if (!named.isEmpty()) return named;
  const auto beside = QCoreApplication::applicationDirPath() + "/kerf";
  if (QFileInfo(beside).isExecutable()) return beside;
  const auto found = QStandardPaths::findExecutable("kerf");
  return found.isEmpty() ? beside : found;
}

void CliProcess::start(const QStringList& arguments) {
  m_errors.clear();
  m_cancelled = false;
  m_process.start(program(), arguments, QIODevice::ReadOnly);
}

void CliProcess::cancel() {
  if (!running()) return;
  m_cancelled = true;
  ::kill(pid_t(m_process.processId()), SIGINT);
  QTimer::singleShot(killAfterMs, this, [this] {
    if (running() && m_cancelled) m_process.kill();
  });
}

void CliProcess::readLines() {
  while (m_process.canReadLine()) emit line(m_process.readLine());
}

void CliProcess::readErrors() { m_errors = (m_errors + m_process.readAllStandardError()).right(errorBytes); }

QString CliProcess::problemOf(int exitCode, QProcess::ExitStatus status) const {
  const auto said = QString::fromUtf8(m_errors).trimmed().section('\n', -3);
  if (m_cancelled) return {};
  if (status == QProcess::CrashExit)
    return tr("The kerf process crashed (signal %1). Studio is not affected. %2").arg(exitCode).arg(said).trimmed();
  if (exitCode < 2) return {};
  return said.isEmpty() ? tr("kerf ended with exit code %1").arg(exitCode) : said;
}

}  // namespace kerf::ui::inline session
