#include "ui/session/log_feed.h"

#include <QDir>

#include "engine/support/log_sinks.h"

namespace kerf::ui::inline session {
namespace {

constexpr std::size_t mostMessages = 5000;

QString shown(std::string_view value) { return QString::fromUtf8(value.data(), qsizetype(value.size())); }

std::filesystem::path stateFolder() {
  const QString set = qEnvironmentVariable("XDG_STATE_HOME");
  return (set.isEmpty() ? QDir::homePath() + "/.local/state" : set).toStdString();
}

}  // namespace

QStringList logLevels() {
  QStringList names;
  for (auto level = int(LogLevel::Trace); level < int(LogLevel::Off); ++level)
    names << shown(logLevelName(LogLevel(level)));
  return names;
}

QStringList logCategories() {
  QStringList names;
  for (std::size_t i = 0; i < logCategoryCount; ++i) names << shown(logCategoryName(LogCategory(i)));
  return names;
}

void logUi(const char* level, const QString& message) {
  writeLog(LogCategory::Ui, LogLevel(int(logLevels().indexOf(level))), message.toStdString());
}

QString startLog() {
  const auto levels = LogLevels::fromEnvironment(LogLevels(LogLevel::Info));
  if (!levels) return shown(levels.error().text());
  setLogLevels(*levels);
  logToStderr(LogLevel::Warning);
  if (const auto opened = logToFile(stateFolder() / "kerf" / "studio.log"); !opened)
    writeLog(LogCategory::Ui, LogLevel::Warning, opened.error().text());
  return {};
}

LogFeed::LogFeed(QObject* parent)
    : QObject(parent), m_listener(std::make_unique<LogListener>([this](const LogMessage& one) { take(one); })) {}

LogFeed::~LogFeed() = default;

void LogFeed::take(const LogMessage& message) {
  const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(message.time.time_since_epoch());
  LogDoc doc{QDateTime::fromMSecsSinceEpoch(since.count()), int(message.level),
             shown(logCategoryName(message.category)), shown(message.text)};
  const std::lock_guard lock(m_mutex);
  m_arrived.push_back(std::move(doc));
  if (m_arrived.size() == 1) QMetaObject::invokeMethod(this, &LogFeed::drain, Qt::QueuedConnection);
}

void LogFeed::drain() {
  std::vector<LogDoc> arrived;
  {
    const std::lock_guard lock(m_mutex);
    arrived.swap(m_arrived);
  }
  for (auto& doc : arrived) m_messages.push_back(std::move(doc));
  while (m_messages.size() > mostMessages) m_messages.pop_front();
  emit changed();
}

void LogFeed::clear() {
  m_messages.clear();
  emit changed();
}

void LogFeed::setLowest(int level) { setLogLevels(LogLevels(LogLevel(level))); }

}  // namespace kerf::ui::inline session
