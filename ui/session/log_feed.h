// LogFeed: the log as the window sees it: the last messages, and a signal when there are more.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include <QDateTime>
#include <QObject>
#include <QStringList>

namespace kerf::inline support {
class LogListener;
struct LogMessage;
}  // namespace kerf::inline support

namespace kerf::ui::inline session {

struct LogDoc {
  QDateTime time;
  int level = 0;  ///< index into logLevels()
  QString category, text;
};

/// "trace", "debug", "info", "warning", "error"; "import", "passes", …
QStringList logLevels();
QStringList logCategories();

/// One message of the window about its own work.
void logUi(const char* level, const QString& text);

/// Logs to $XDG_STATE_HOME/kerf/studio.log (else ~/.local/state/kerf), warnings to standard error too; at info, or as
/// $KERF_LOG says. What is wrong with $KERF_LOG, or nothing.
QString startLog();

class LogFeed : public QObject {
  Q_OBJECT

 public:
  explicit LogFeed(QObject* parent = nullptr);
  ~LogFeed() override;

  /// Oldest first; the last few thousand.
  const std::deque<LogDoc>& messages() const { return m_messages; }
  void clear();
  /// What is logged from now on, everywhere in this process.
  void setLowest(int level);

 signals:
  void changed();

 private:
  void take(const LogMessage& message);
  void drain();

  std::mutex m_mutex;
  std::vector<LogDoc> m_arrived;  ///< under the lock: from any thread, until the window's thread looks
  std::deque<LogDoc> m_messages;
  std::unique_ptr<LogListener> m_listener;
};

}  // namespace kerf::ui::inline session
