// ThreadedQueries: the QueryRunner of a real search, a thread for each query under way.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/support/running_time.h"
#include "minifier/core/query_runner.h"

namespace kerf::inline minifier::inline core {

class ThreadedQueries : public QueryRunner {
 public:
  /// `timeout` of one query; the oracle's own limit should strike first. `wanted` is called from any thread.
  ThreadedQueries(Oracle& oracle, std::size_t width, IsWanted wanted, std::chrono::milliseconds timeout);
  /// Stops all queries and waits for their threads.
  ~ThreadedQueries() override;
  std::size_t width() const override { return m_width; }
  void start(std::size_t id, std::shared_ptr<const Candidate> candidate, const VoteRule& rule) override;
  void stop(std::size_t id) override;
  std::optional<QueryAnswer> next(std::chrono::nanoseconds most) override;
  /// Without the time in which this process was stopped.
  std::chrono::nanoseconds now() const override;

 private:
  struct Query {
    std::size_t id;
    std::shared_ptr<const Candidate> candidate;
    VoteRule rule;
  };
  void addThread();
  void work(int worker);
  std::optional<Query> take();
  Result<Verdict> judge(const Query& query, const std::stop_token& stop) const;
  void beat(const std::stop_token& stop) const;

  Oracle& m_oracle;
  std::size_t m_width;
  IsWanted m_wanted;
  std::chrono::milliseconds m_timeout;
  mutable std::mutex m_timing;
  mutable RunningTime m_time;
  std::mutex m_mutex;
  std::condition_variable m_changed;  ///< queries, answers or the end
  std::deque<Query> m_waiting;
  std::map<std::size_t, std::stop_source> m_known;  ///< started, not stopped, not answered
  std::vector<QueryAnswer> m_answers;               ///< room for all: a thread that adds one allocates nothing
  bool m_isEnding = false;
  std::vector<std::thread> m_threads;
  std::jthread m_heartbeat;  ///< looks at the time while the search does something else
};

}  // namespace kerf::inline minifier::inline core
