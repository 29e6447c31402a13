// A search that is stopped by Ctrl-Z, or SIGSTOP, and goes on later.
#include <csignal>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

#include "engine/process/isolation.h"
#include "engine/support/running_time.h"
#include "minifier/core/verdict_cache.h"
#include "minifier/reductions/reductions.h"
#include "tests/support/minifier_graphs.h"

namespace kerf {
namespace {

using namespace kerf::testing;
using namespace std::chrono_literals;

TEST(RunningTime, GapsDoNotCount) {
  RunningTime time;
  auto now = RunningTime::Clock::now();
  const auto begun = time.look(now);
  EXPECT_EQ(time.look(now += 300ms) - begun, 300ms);
  EXPECT_EQ(time.look(now += 1h) - begun, 300ms);
  EXPECT_EQ(time.look(now += 20ms) - begun, 320ms);
}

/// Judges in a child, whose second verdict waits until `gate` can be read.
class GatedOracle : public Oracle {
 public:
  GatedOracle(int gate, std::function<void()> atTheGate) : m_gate(gate), m_atTheGate(std::move(atTheGate)) {}
  Result<Verdict> judge(const Candidate& candidate, std::stop_token stop) override {
    const bool isGated = ++m_asked == 2;
    if (isGated) m_atTheGate();
    const std::function<Result<bool>(const SendEvent&)> body = [&](const SendEvent&) -> Result<bool> {
      char byte = 0;
      if (isGated && ::read(m_gate, &byte, 1) != 1) return fail(ErrorCode::Internal, "the gate is broken");
      return calls(candidate.module.graph, reluTarget);
    };
    KERF_TRY(const auto ended, callIsolated<bool>(body, {.timeout = 2s, .limitResources = false}, stop));
    if (ended.outcome.exit == IsolatedExit::TimedOut) ++late;
    if (!ended.answer || !*ended.answer) return Verdict{.kind = VerdictKind::CannotTest};
    return **ended.answer ? fails("accuracy:magnitude") : passes();
  }
  std::string identity() const override { return "gated"; }
  int late = 0;

 private:
  int m_gate, m_asked = 0;
  std::function<void()> m_atTheGate;
};

// Longer than a candidate may take, than the search may take, and than anybody waits for an oracle.
TEST(StoppedMinify, TimeInWhichItIsStoppedIsNobodys) {
  int gate[2];
  ASSERT_EQ(::pipe(gate), 0);
  const std::function<Result<std::string>(const SendEvent&)> search = [&](const SendEvent& send) -> Result<std::string> {
    GatedOracle oracle(gate[0], [&] { send(encode(std::int64_t(::getpid()))); });
    MemoryVerdictCache cache;
    MinifyOptions options;
    options.parallelQueries = 1;
    options.candidateTimeout = 100ms;
    options.maxTime = 4s;
    KERF_TRY(const auto result, minify(mlp(5, 2), oracle, cache, options, {}, {}));
    return fmt::format("{} nodes, {} late, ended {}, {}", result.candidate.module.graph.size(), oracle.late,
                       int(result.ending), result.time < 4s ? "in time" : "late");
  };
  const OnEvent stopIt = [&](std::string_view event) {
    const auto pid = decode<std::int64_t>(event, "a process");
    ASSERT_TRUE(pid);
    ASSERT_EQ(::kill(pid_t(*pid), SIGSTOP), 0);
    std::this_thread::sleep_for(5s);
    ASSERT_EQ(::write(gate[1], "g", 1), 1);
    ASSERT_EQ(::kill(pid_t(*pid), SIGCONT), 0);
  };
  const auto ended = callIsolated<std::string>(search, {.timeout = 60s, .limitResources = false}, {}, stopIt);
  ASSERT_TRUE(ended && ended->answer && *ended->answer);
  EXPECT_EQ(**ended->answer, "3 nodes, 0 late, ended 0, in time");
  ::close(gate[0]);
  ::close(gate[1]);
}

}  // namespace
}  // namespace kerf
