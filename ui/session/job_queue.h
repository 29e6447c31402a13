// JobQueue: work that must not run on the UI thread. A job with the same key replaces the one before it.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <vector>

#include <QElapsedTimer>
#include <QHash>
#include <QObject>
#include <QSet>
#include <QThreadPool>

namespace kerf::ui::inline session {

/// Use from the UI thread only. Jobs run on a pool, where most of them wait for a worker process; `done` runs on the UI
/// thread unless the job was replaced or dropped.
class JobQueue : public QObject {
  Q_OBJECT

 public:
  /// A quiet job is done ahead of any wish: nobody waits for it, and the queue is not busy with it.
  enum class Weight { Shown, Quiet };

  explicit JobQueue(QObject* parent = nullptr);
  ~JobQueue() override;

  template <class T>
  void submit(const QString& key, std::function<T(std::stop_token)> work, std::function<void(T)> done,
              Weight weight = Weight::Shown) {
    auto result = std::make_shared<std::optional<T>>();
    start(
        key, [work = std::move(work), result](std::stop_token stop) { result->emplace(work(stop)); },
        [done = std::move(done), result] { done(std::move(**result)); }, weight);
  }
  /// Asks the job to stop and forgets its result.
  void cancel(const QString& key);
  /// Asks the job to stop; it still reports.
  void stop(const QString& key);
  /// Jobs that somebody waits for, the oldest first.
  struct Work {
    QString key;
    double seconds = 0;     ///< since it began
    bool stopping = false;  ///< it has been asked to stop
  };
  std::vector<Work> works() const;
  bool busy() const { return !m_shown.isEmpty(); }
  bool busy(const QString& key) const { return m_tickets.contains(key); }
  /// Whether the job is under way, so that it need not be submitted; one that began quietly is shown from now on where
  /// somebody waits for it.
  bool join(const QString& key, Weight weight);

  /// Asks all jobs to stop and forgets them.
  void stopAll();

 signals:
  void busyChanged();

 private:
  struct Ticket {
    quint64 number = 0;
    std::stop_source stop;
    QElapsedTimer since;
  };
  void start(const QString& key, std::function<void(std::stop_token)> work, std::function<void()> done, Weight weight);
  void finish(const QString& key, quint64 number, const std::function<void()>& done);

  QThreadPool m_pool;
  QHash<QString, Ticket> m_tickets;
  quint64 m_next = 0;
  QSet<quint64> m_shown;  ///< jobs that are waited for, until they have ended
};

}  // namespace kerf::ui::inline session
