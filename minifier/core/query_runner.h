// QueryRunner: asks the oracle about several candidates side by side, without waiting for the slowest.
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "minifier/core/sequential_vote.h"

namespace kerf::inline minifier::inline core {

struct QueryAnswer {
  std::size_t id = 0;
  int worker = 0;
  Result<Verdict> verdict;
};

/// Workers that take queries in the order in which they were started. For one caller's thread.
class QueryRunner {
 public:
  virtual ~QueryRunner() = default;
  virtual std::size_t width() const = 0;
  virtual void start(std::size_t id, std::shared_ptr<const Candidate> candidate, const VoteRule& rule) = 0;
  /// Nobody wants the answer any more: it never comes.
  virtual void stop(std::size_t id) = 0;
  /// The next answer, in the order in which they come; none if there is none after `most`.
  virtual std::optional<QueryAnswer> next(std::chrono::nanoseconds most) = 0;
  /// Since the runner was made: what --max-time and elapsed times count.
  virtual std::chrono::nanoseconds now() const = 0;
};

}  // namespace kerf::inline minifier::inline core
