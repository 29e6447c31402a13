// A search that is stopped by Ctrl-Z, or SIGSTOP, and goes on later.
#include <csignal>
#include <thread>

#include <gtest/gtest.h>
#include <sys/wait.h>
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
  GatedOracle(int gate, std::chrono::milliseconds timeout, std::function<void()> atTheGate)
      : m_gate(gate), m_timeout(timeout), m_atTheGate(std::move(atTheGate)) {}
  Result<Verdict> judge(const Candidate& candidate, std::stop_token stop) override {
    const bool isGated = ++m_asked == 2;
    if (isGated) m_atTheGate();
    const std::function<Result<bool>(const SendEvent&)> body = [&](const SendEvent&) -> Result<bool> {
      char byte = 0;
      if (isGated && ::read(m_gate, &byte, 1) != 1) return fail(ErrorCode::Internal, "the gate is broken");
      return calls(candidate.module.graph, reluTarget);
    };
    KERF_TRY(const auto ended, callIsolated<bool>(body, {.timeout = m_timeout, .limitResources = false}, stop));
    if (ended.outcome.exit == IsolatedExit::TimedOut) ++late;
    if (!ended.answer || !*ended.answer) return Verdict{.kind = VerdictKind::CannotTest};
    return **ended.answer ? fails("accuracy:magnitude") : passes();
  }
  std::string identity() const override { return "gated"; }
  int late = 0;

 private:
  int m_gate, m_asked = 0;
  std::chrono::milliseconds m_timeout;
  std::function<void()> m_atTheGate;
};

struct Pipe {
  Pipe() { EXPECT_EQ(::pipe(ends), 0); }
  ~Pipe() { ::close(ends[0]), ::close(ends[1]); }
  void write(const std::string& text) const {
    EXPECT_EQ(::write(ends[1], text.data(), text.size()), ssize_t(text.size()));
  }
  std::string read() const {
    char text[256];
    const auto count = ::read(ends[0], text, sizeof text);
    return {text, std::size_t(std::max<ssize_t>(count, 0))};
  }
  int ends[2];
};

/// What a search says that was stopped for longer than a candidate may take, than the search may take, and than anybody
/// waits for an oracle; all of that `times` as long as an idle machine needs.
std::string saidAfterAStop(int times) {
  const Pipe gate, said;
  const pid_t search = ::fork();
  if (search == 0) {
    GatedOracle oracle(gate.ends[0], times * 2s, [&] { said.write("at the gate"); });
    MemoryVerdictCache cache;
    MinifyOptions options;
    options.parallelQueries = 1;
    options.candidateTimeout = times * 100ms;
    options.maxTime = times * 4s;
    const auto result = minify(mlp(5, 2), oracle, cache, options, {}, {});
    said.write(result
                   ? fmt::format("{} nodes, {} late, ending {}, {}", result->candidate.module.graph.size(), oracle.late,
                                 int(result->ending), result->time < options.maxTime ? "in time" : "late")
                   : result.error().text());
    ::_exit(0);
  }
  EXPECT_GT(search, 0);
  std::string result = said.read();
  if (result == "at the gate") {  // and not out of time on its way there
    EXPECT_EQ(::kill(search, SIGSTOP), 0);
    std::this_thread::sleep_for(times * 5s);
    gate.write("g");
    EXPECT_EQ(::kill(search, SIGCONT), 0);
    result = said.read();
  }
  ::waitpid(search, nullptr, 0);
  return result;
}

TEST(StoppedMinify, TimeInWhichItIsStoppedIsNobodys) {
  const std::string expected = "3 nodes, 0 late, ending 0, in time";
  std::string said;
  for (int times = 1; times <= 16 && said != expected; times *= 2) said = saidAfterAStop(times);
  EXPECT_EQ(said, expected);
}

}  // namespace
}  // namespace kerf
