#include "tests/differential/fuzzgraph/campaign.h"

#include <atomic>
#include <cstdio>
#include <set>
#include <thread>

#include "engine/process/isolation.h"
#include "tests/differential/fuzzgraph/op_nature.h"

namespace kerf::fuzzgraph {
namespace {

constexpr IsolationLimits limits{.timeout = std::chrono::milliseconds(60'000), .memoryBytes = 4LL << 30};

std::vector<const CheckedWay*> waysOf(const CampaignOptions& options, std::uint64_t seed) {
  if (options.ways >= 0) return waysFor(seed, options.ways);
  std::vector<const CheckedWay*> ways;
  for (const CheckedWay& way : allWays()) ways.push_back(&way);
  return ways;
}

Result<GraphOutcome> generateAndCheck(const CampaignOptions& options, std::uint64_t seed, const SendEvent& send) {
  const auto tell = [&](const std::string& phase) { send(phase); };
  KERF_TRY(const GeneratedGraph graph,
           generateGraph({seed, options.calls, options.only},
                         [&](std::string_view overload) { tell("generating " + std::string(overload)); }));
  GraphOutcome outcome;
  for (const auto& [overload, count] : graph.calls) outcome.calls.push_back(overload);
  outcome.shapeFaults = graph.shapeFaults;
  outcome.nodes = std::int64_t(graph.candidate.module.graph.size());
  outcome.symbolic = graph.symbolic;
  outcome.checks = checkGraph(graph.candidate, waysOf(options, seed), tell);
  return outcome;
}

}  // namespace

bool Campaign::isOver() const {
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - m_began;
  return m_options.minutes > 0 && elapsed.count() > m_options.minutes * 60;
}

void Campaign::add(Find find) {
  if (m_options.verbose)
    std::fprintf(stderr, "seed %llu: %s: %s: %s\n", static_cast<unsigned long long>(find.seed), find.what.check.c_str(),
                 find.what.kind.c_str(), find.what.what.c_str());
  m_report.finds.push_back(std::move(find));
}

void Campaign::add(std::uint64_t seed, const GraphOutcome& outcome) {
  m_report.nodes += outcome.nodes;
  m_report.symbolic += outcome.symbolic;
  m_report.runs += outcome.checks.runs;
  m_report.otherSizes += outcome.checks.otherSizes;
  m_report.withFp64 += outcome.checks.haveFp64;
  for (const std::string& overload : outcome.calls) ++m_report.calls[overload];
  if (!outcome.checks.referenceError.empty()) {
    ++m_report.notRun;
    add({seed, {"reference", "reference error", outcome.checks.referenceError}});
  }
  for (const std::string& fault : outcome.shapeFaults) add({seed, {"generation", "shape rule", fault}});
  for (const Disagreement& item : outcome.checks.disagreements) add({seed, item});
}

Result<void> Campaign::runOne(std::uint64_t seed) {
  std::string phase;
  const std::function body = [&](const SendEvent& send) { return generateAndCheck(m_options, seed, send); };
  KERF_TRY(auto answer, callIsolated<GraphOutcome>(body, limits, {}, [&](std::string_view event) { phase = event; }));
  const std::scoped_lock lock(m_mutex);
  ++m_report.graphs;
  if (answer.outcome.exit == IsolatedExit::TimedOut) {
    add(Find{seed, {phase, "hang", "no answer in time"}});
  } else if (answer.outcome.exit != IsolatedExit::Finished) {
    add(Find{seed, {phase, "crash", answer.outcome.signalName()}});
  } else if (!*answer.answer) {
    ++m_report.notGenerated;
    add(Find{seed, {phase, "generation error", answer.answer->error().text()}});
  } else {
    add(seed, **answer.answer);
  }
  return {};
}

Result<CampaignReport> Campaign::run(std::stop_token stop) {
  (void)allWays();
  (void)generatedOps();
  std::atomic<std::int64_t> next = 0;
  std::optional<Error> problem;
  const auto work = [&] {
    for (std::int64_t i = next++; i < m_options.count && !isOver() && !stop.stop_requested(); i = next++) {
      const auto done = runOne(m_options.seed + std::uint64_t(i));
      if (done) continue;
      const std::scoped_lock lock(m_mutex);
      problem = done.error();
      next = m_options.count;
    }
  };
  {
    std::vector<std::jthread> workers;
    for (int i = 1; i < m_options.jobs; ++i) workers.emplace_back(work);
    work();
  }
  if (problem) return fail(*problem);
  m_report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - m_began).count();
  std::ranges::sort(m_report.finds, {}, &Find::seed);
  return m_report;
}

std::string reportText(const CampaignReport& report, bool namesMissing) {
  std::set<std::string> reached;
  std::string missing;
  std::int64_t taking = 0;
  for (const OpInfo* op : generatedOps()) {
    ++taking;
    const std::string name = op->schema.qualifiedName();
    if (report.calls.contains(name))
      reached.insert(name);
    else if (namesMissing)
      missing += "  " + name + "\n";
  }
  std::string text = fmt::format(
      "{} graphs of {:.1f} nodes ({} symbolic) in {:.1f} s; {} compiled runs, {} more at other sizes; fp64 for {}\n",
      report.graphs, report.graphs > 0 ? double(report.nodes) / double(report.graphs) : 0, report.symbolic,
      report.seconds, report.runs, report.otherSizes, report.withFp64);
  text +=
      fmt::format("{} of {} overloads called ({} rows of the table take no part); {} not generated, {} not run\n",
                  reached.size(), taking, std::int64_t(allOps().size()) - taking, report.notGenerated, report.notRun);
  text += fmt::format("{} differences\n", report.finds.size());
  if (namesMissing) text += "not called:\n" + missing;
  return text;
}

}  // namespace kerf::fuzzgraph
