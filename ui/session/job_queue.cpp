#include "ui/session/job_queue.h"

#include <algorithm>

namespace kerf::ui::inline session {

namespace {
constexpr int mostThreads = 64;  ///< they wait for other processes, so there may be more than cores
}

JobQueue::JobQueue(QObject* parent) : QObject(parent) { m_pool.setMaxThreadCount(mostThreads); }

JobQueue::~JobQueue() {
  stopAll();
  m_pool.waitForDone();
}

void JobQueue::stopAll() {
  for (auto& ticket : m_tickets) ticket.stop.request_stop();
  m_tickets.clear();
  m_pool.clear();
}

void JobQueue::start(const QString& key, std::function<void(std::stop_token)> work, std::function<void()> done,
                     Weight weight) {
  cancel(key);
  auto& ticket = m_tickets[key];
  ticket = {++m_next, std::stop_source(), {}};
  ticket.since.start();
  if (weight == Weight::Shown) m_shown.insert(ticket.number);
  m_pool.start([this, key, number = ticket.number, stop = ticket.stop.get_token(), work = std::move(work),
                done = std::move(done)] {
    const bool ran = !stop.stop_requested();
    if (ran) work(stop);
    QMetaObject::invokeMethod(
        this, [this, key, number, ran, done] { finish(key, number, ran ? done : std::function<void()>()); },
        Qt::QueuedConnection);
  });
  emit busyChanged();
}

void JobQueue::finish(const QString& key, quint64 number, const std::function<void()>& done) {
  const auto ticket = m_tickets.constFind(key);
  const bool current = ticket != m_tickets.constEnd() && ticket->number == number;
  if (current) m_tickets.remove(key);
  if (current && done) done();
  m_shown.remove(number);
  emit busyChanged();
}

bool JobQueue::join(const QString& key, Weight weight) {
  const auto ticket = m_tickets.constFind(key);
  if (ticket == m_tickets.constEnd()) return false;
  if (weight == Weight::Quiet || m_shown.contains(ticket->number)) return true;
  m_shown.insert(ticket->number);
  emit busyChanged();
  return true;
}

std::vector<JobQueue::Work> JobQueue::works() const {
  std::vector<std::pair<quint64, Work>> numbered;
  for (auto ticket = m_tickets.constBegin(); ticket != m_tickets.constEnd(); ++ticket)
    if (m_shown.contains(ticket->number))
      numbered.push_back(
          {ticket->number, {ticket.key(), double(ticket->since.elapsed()) / 1000, ticket->stop.stop_requested()}});
  std::ranges::sort(numbered, {}, &std::pair<quint64, Work>::first);
  std::vector<Work> works;
  for (auto& [number, work] : numbered) works.push_back(std::move(work));
  return works;
}

void JobQueue::cancel(const QString& key) {
  const auto ticket = m_tickets.find(key);
  if (ticket == m_tickets.end()) return;
  ticket->stop.request_stop();
  m_tickets.erase(ticket);
}

void JobQueue::stop(const QString& key) {
  if (const auto ticket = m_tickets.find(key); ticket != m_tickets.end()) ticket->stop.request_stop();
}

}  // namespace kerf::ui::inline session
