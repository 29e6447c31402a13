// judgeBatch(): one thread per candidate that waits for its process, votes, deadlines, and stopping those behind.
#include "minifier/core/query_batch.h"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

namespace kerf::inline minifier::inline core {

namespace {

using Clock = std::chrono::steady_clock;

/// One query that cannot outlast its deadline: CannotTest if the oracle overruns it, Cancelled if the caller stops.
class BoundedQuery {
 public:
  BoundedQuery(Oracle& oracle, const QueryOptions& options, std::stop_token stop)
      : m_oracle(oracle), m_options(options), m_stop(std::move(stop)) {}

  Result<Verdict> judge(const Candidate& candidate) {
    std::stop_source source;
    const std::stop_callback forward(m_stop, [&] { source.request_stop(); });
    bool overran = false;
    Result<Verdict> verdict = Verdict{};
    const auto start = Clock::now();
    {
      const std::jthread watchdog([&](std::stop_token done) { overran = waitFor(done, source); });
      verdict = m_oracle.judge(candidate, source.get_token());
    }
    if (overran && !m_stop.stop_requested())
      verdict = Verdict{.kind = VerdictKind::CannotTest, .detail = "the oracle did not answer in time"};
    if (verdict) verdict->time = Clock::now() - start;
    return verdict;
  }

 private:
  /// Whether the time ran out before `done`. Leaves room for an oracle whose own limit is the same.
  bool waitFor(const std::stop_token& done, std::stop_source& source) const {
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock lock(mutex);
    wake.wait_for(lock, done, m_options.timeout * 2 + std::chrono::seconds(2), [] { return false; });
    if (done.stop_requested()) return false;
    source.request_stop();
    return true;
  }

  Oracle& m_oracle;
  const QueryOptions& m_options;
  std::stop_token m_stop;
};

bool sameVerdict(const Verdict& a, const Verdict& b) { return a.kind == b.kind && a.fingerprint == b.fingerprint; }

/// Asks until one answer has the majority of `votes`; without one the candidate cannot be tested.
Result<Verdict> vote(BoundedQuery& query, const Candidate& candidate, int votes) {
  std::vector<std::pair<Verdict, int>> counts;
  std::chrono::nanoseconds time{};
  for (int asked = 0; asked < std::max(votes, 1); ++asked) {
    KERF_TRY(Verdict verdict, query.judge(candidate));
    time += verdict.time;
    auto same = std::ranges::find_if(counts, [&](const auto& entry) { return sameVerdict(entry.first, verdict); });
    if (same == counts.end()) same = counts.insert(counts.end(), {verdict, 0});
    if (++same->second * 2 > votes) {
      same->first.time = time;
      return same->first;
    }
  }
  return Verdict{.kind = VerdictKind::CannotTest, .detail = "no majority: the verdicts differ", .time = time};
}

class Batch {
 public:
  Batch(std::size_t size, const IsWanted& wanted) : m_wanted(wanted), m_stops(size), m_results(size) {}

  void run(std::size_t i, Oracle& oracle, const Candidate& candidate, const QueryOptions& options) {
    BoundedQuery query(oracle, options, m_stops[i].get_token());
    Result<Verdict> verdict = vote(query, candidate, options.votes);
    const std::lock_guard lock(m_mutex);
    const bool won = verdict && m_wanted(*verdict);
    m_results[i] = std::move(verdict);
    for (std::size_t behind = i + 1; won && behind < m_stops.size(); ++behind) m_stops[behind].request_stop();
  }

  void stopAll() {
    for (std::stop_source& source : m_stops) source.request_stop();
  }

  Result<std::vector<std::optional<Verdict>>> collect(const std::stop_token& stop) {
    if (stop.stop_requested()) return fail(ErrorCode::Cancelled, "the search was stopped");
    std::vector<std::optional<Verdict>> verdicts;
    bool won = false;
    for (std::optional<Result<Verdict>>& result : m_results) {
      if (won) {
        verdicts.emplace_back();
        continue;
      }
      if (!*result) return std::unexpected(result->error());
      won = m_wanted(**result);
      verdicts.emplace_back(std::move(**result));
    }
    return verdicts;
  }

 private:
  const IsWanted& m_wanted;
  std::vector<std::stop_source> m_stops;
  std::mutex m_mutex;
  std::vector<std::optional<Result<Verdict>>> m_results;
};

}  // namespace

Result<std::vector<std::optional<Verdict>>> judgeBatch(Oracle& oracle, const std::vector<const Candidate*>& candidates,
                                                       const IsWanted& wanted, const QueryOptions& options,
                                                       std::stop_token stop) {
  Batch batch(candidates.size(), wanted);
  {
    const std::stop_callback onStop(stop, [&] { batch.stopAll(); });
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < candidates.size(); ++i)
      threads.emplace_back([&, i] { batch.run(i, oracle, *candidates[i], options); });
    if (!candidates.empty()) batch.run(0, oracle, *candidates[0], options);
  }
  return batch.collect(stop);
}

}  // namespace kerf::inline minifier::inline core
