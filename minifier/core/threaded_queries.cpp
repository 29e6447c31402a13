// ThreadedQueries: workers, deadlines, votes, and dropping what was stopped.
#include "minifier/core/threaded_queries.h"

#include <algorithm>
#include <stop_token>
#include <system_error>

#include "engine/support/out_of_memory.h"

namespace kerf::inline minifier::inline core {

namespace {

using Clock = std::chrono::steady_clock;

/// How often the time is looked at.
constexpr std::chrono::milliseconds tick{100};

/// Waits until `done`, or until `limit` of running time is over; false: it is. It allocates nothing: where memory ends, what
/// is thrown in a watcher's thread would end the program. (std::condition_variable_any takes its mutex from the heap.)
bool waitFor(const std::stop_token& done, std::chrono::milliseconds limit) noexcept {
  std::mutex mutex;
  std::condition_variable wake;
  const std::stop_callback wakes(done, [&] {
    const std::lock_guard held(mutex);
    wake.notify_all();
  });
  std::unique_lock lock(mutex);
  RunningTime time;
  while (!done.stop_requested()) {
    const auto left = limit - time.elapsed();
    if (left.count() <= 0) return false;
    wake.wait_for(lock, std::min<std::chrono::nanoseconds>(tick, left));
  }
  return true;
}

/// One query that cannot outlast its deadline: CannotTest if the oracle overruns it, Cancelled if the caller stops.
class BoundedQuery {
 public:
  BoundedQuery(Oracle& oracle, std::chrono::milliseconds timeout, std::stop_token stop)
      : m_oracle(oracle), m_timeout(timeout), m_stop(std::move(stop)) {}

  Result<Verdict> judge(const Candidate& candidate) {
    std::stop_source source;
    const std::stop_callback forward(m_stop, [&] { source.request_stop(); });
    bool overran = false;
    Result<Verdict> verdict = Verdict{};
    const auto start = Clock::now();
    {
      const std::jthread watchdog([&](std::stop_token done) {
        // Leaves room for an oracle whose own limit is the same.
        overran = !waitFor(done, m_timeout * 2 + std::chrono::seconds(2));
        if (overran) source.request_stop();
      });
      verdict = m_oracle.judge(candidate, source.get_token());
    }
    if (overran && !m_stop.stop_requested())
      verdict = Verdict{.kind = VerdictKind::CannotTest, .detail = "the oracle did not answer in time"};
    if (verdict) verdict->time = Clock::now() - start;
    return verdict;
  }

 private:
  Oracle& m_oracle;
  std::chrono::milliseconds m_timeout;
  std::stop_token m_stop;
};

}  // namespace

ThreadedQueries::ThreadedQueries(Oracle& oracle, std::size_t width, IsWanted wanted, std::chrono::milliseconds timeout)
    : m_oracle(oracle), m_width(std::max<std::size_t>(width, 1)), m_wanted(std::move(wanted)), m_timeout(timeout) {
  m_heartbeat = std::jthread([this](std::stop_token stop) { beat(stop); });
}

ThreadedQueries::~ThreadedQueries() {
  {
    const std::lock_guard lock(m_mutex);
    m_isEnding = true;
    m_waiting.clear();
    for (auto& [id, source] : m_known) source.request_stop();
    m_known.clear();
  }
  m_changed.notify_all();
  for (std::thread& thread : m_threads) thread.join();
}

void ThreadedQueries::beat(const std::stop_token& stop) const {
  while (!waitFor(stop, tick)) (void)now();
}

std::chrono::nanoseconds ThreadedQueries::now() const {
  const std::lock_guard lock(m_timing);
  return m_time.elapsed();
}

void ThreadedQueries::start(std::size_t id, std::shared_ptr<const Candidate> candidate, const VoteRule& rule) {
  {
    const std::lock_guard lock(m_mutex);
    m_answers.reserve(m_answers.size() + m_known.size() + 1);
    m_waiting.push_back({id, std::move(candidate), rule});
    try {
      m_known.emplace(id, std::stop_source());
    } catch (...) {  // no memory: a query that nobody can stop must not wait
      m_waiting.pop_back();
      throw;
    }
    if (m_threads.size() < std::min(m_width, m_known.size())) addThread();
  }
  m_changed.notify_all();
}

void ThreadedQueries::addThread() {
  const int worker = int(m_threads.size());
  try {
    m_threads.emplace_back([this, worker] { work(worker); });
  } catch (const std::system_error&) {  // the system gives no more: those that there are do everything
    if (m_threads.empty()) throw;
  }
}

void ThreadedQueries::stop(std::size_t id) {
  const std::lock_guard lock(m_mutex);
  std::erase_if(m_waiting, [&](const Query& query) { return query.id == id; });
  std::erase_if(m_answers, [&](const QueryAnswer& answer) { return answer.id == id; });
  const auto known = m_known.find(id);
  if (known == m_known.end()) return;
  known->second.request_stop();
  m_known.erase(known);
}

std::optional<QueryAnswer> ThreadedQueries::next(std::chrono::nanoseconds most) {
  std::unique_lock lock(m_mutex);
  if (!m_changed.wait_for(lock, most, [&] { return !m_answers.empty(); })) return std::nullopt;
  QueryAnswer answer = std::move(m_answers.front());
  m_answers.erase(m_answers.begin());
  return answer;
}

std::optional<ThreadedQueries::Query> ThreadedQueries::take() {
  std::unique_lock lock(m_mutex);
  m_changed.wait(lock, [&] { return m_isEnding || !m_waiting.empty(); });
  if (m_isEnding) return std::nullopt;
  Query query = std::move(m_waiting.front());
  m_waiting.pop_front();
  return query;
}

void ThreadedQueries::work(int worker) {
  while (const auto query = take()) {
    std::stop_token stop;
    {
      const std::lock_guard lock(m_mutex);
      const auto known = m_known.find(query->id);
      if (known == m_known.end()) continue;
      stop = known->second.get_token();
    }
    Result<Verdict> verdict = withinMemory([&] { return judge(*query, stop); });
    {
      const std::lock_guard lock(m_mutex);
      if (m_known.erase(query->id) == 0) continue;
      m_answers.push_back({query->id, worker, std::move(verdict)});
    }
    m_changed.notify_all();
  }
}

Result<Verdict> ThreadedQueries::judge(const Query& query, const std::stop_token& stop) const {
  BoundedQuery bounded(m_oracle, m_timeout, stop);
  SequentialVote vote(query.rule, m_wanted);
  for (;;) {
    KERF_TRY(Verdict verdict, bounded.judge(*query.candidate));
    if (auto settled = vote.add(std::move(verdict))) return std::move(*settled);
  }
}

}  // namespace kerf::inline minifier::inline core
