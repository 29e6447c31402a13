// VirtualQueries: a QueryRunner whose workers take virtual time, so that a schedule can be measured without waiting.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <map>

#include "minifier/core/query_runner.h"

namespace kerf::testing {

/// Seconds that a query about a candidate takes.
using QueryCost = std::function<double(const Candidate&)>;

/// A discrete event simulation: what a search does between two queries takes no time. The same for the same queries.
class VirtualQueries : public QueryRunner {
 public:
  VirtualQueries(Oracle& oracle, std::size_t width, QueryCost cost)
      : m_oracle(oracle), m_width(width), m_cost(std::move(cost)) {}

  std::size_t width() const override { return m_width; }
  void start(std::size_t id, std::shared_ptr<const Candidate> candidate, const VoteRule&) override {
    ++begun;
    m_waiting.emplace_back(id, std::move(candidate));
    fill();
  }
  void stop(std::size_t id) override {
    std::erase_if(m_waiting, [&](const auto& query) { return query.first == id; });
    std::erase_if(m_underWay, [&](const auto& query) { return query.second.first == id; });
    fill();
  }
  std::optional<QueryAnswer> next(std::chrono::nanoseconds most) override {
    const double end = m_now + std::chrono::duration<double>(most).count();
    if (m_underWay.empty() || m_underWay.begin()->first > end) {
      m_now = end;
      return std::nullopt;
    }
    auto [done, query] = *m_underWay.begin();
    m_underWay.erase(m_underWay.begin());
    m_now = std::max(m_now, done);
    fill();
    return QueryAnswer{query.first, 0, m_oracle.judge(*query.second, {})};
  }
  std::chrono::nanoseconds now() const override {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(m_now));
  }
  double seconds() const { return m_now; }
  int begun = 0;  ///< queries, stopped ones too

 private:
  using Query = std::pair<std::size_t, std::shared_ptr<const Candidate>>;
  void fill() {
    while (m_underWay.size() < m_width && !m_waiting.empty()) {
      const double cost = m_cost(*m_waiting.front().second);
      m_underWay.emplace(m_now + cost, std::move(m_waiting.front()));
      m_waiting.pop_front();
    }
  }
  Oracle& m_oracle;
  std::size_t m_width;
  QueryCost m_cost;
  double m_now = 0;
  std::deque<Query> m_waiting;
  std::multimap<double, Query> m_underWay;  ///< by when they end
};

/// A query of a warm PyTorch: what it takes grows with the graph.
inline double warmTorchCost(const Candidate& candidate) { return 0.7 + 0.002 * double(candidate.module.graph.size()); }

}  // namespace kerf::testing
