#include "app/cli/minify_graph.h"

#include "app/cli/child_process.h"
#include "app/cli/compare_graph.h"
#include "app/cli/reduction_log.h"
#include "app/cli/store_verdicts.h"
#include "minifier/reductions/reductions.h"
#include "minifier/report/minify_report.h"

namespace kerf::cli {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// Command line of a fresh kerf that judges `repro` once under the same oracle.
std::vector<std::string> judgeCommand(const OracleSettings& settings, const std::filesystem::path& repro) {
  std::vector<std::string> command{"/proc/self/exe", "minify",   repro.string(), "--judge",
                                   "--json",         "--oracle", settings.oracle};
  for (const auto& plant : settings.plants) command.insert(command.end(), {"--plant", plant});
  for (const auto& word : passWords(settings.passes)) command.push_back(word);
  if (settings.oracle == "engine") command.insert(command.end(), {"--tol", fmt::format("{}", settings.tolerance)});
  if (settings.oracle == "command") command.insert(command.end(), {"--check", settings.check});
  if (settings.oracle == "torch") command.insert(command.end(), {"--python", settings.python});
  const auto seconds = std::chrono::duration<double>(settings.timeout).count();
  command.insert(command.end(), {"--timeout", fmt::format("{}", seconds)});
  return command;
}

Result<std::string> recheck(const OracleSettings& settings, const std::filesystem::path& repro, std::stop_token stop) {
  // stock PyTorch needs a minute before it begins, and longer where its caches are cold
  const std::chrono::milliseconds limit = settings.oracle == "torch" ? settings.timeout + 5min : settings.timeout + 60s;
  KERF_TRY(const auto judged, runProgram(judgeCommand(settings, repro), {}, limit, stop));
  const auto answer = Json::parse(judged.output, nullptr, false);
  if (!answer.is_object() || !answer.contains("fingerprint")) {
    return fail(ErrorCode::Environment, "the repro {} could not be checked in a fresh process: {}", repro.string(),
                judged.errors.substr(0, 500));
  }
  return answer["fingerprint"].get<std::string>();
}

/// One minification: everything that its steps share.
class Minification {
 public:
  Minification(Context& context, GraphSource& source, const MinifySettings& settings, const MinifyEvents& events)
      : m_context(context), m_source(source), m_settings(settings), m_events(events), m_stop(context.stop()) {}

  Result<MinifyOutcome> run() {
    const auto start = Clock::now();
    KERF_CHECK(prepare());
    KERF_TRY(auto candidate, startCandidate());
    auto result = search(std::move(candidate));
    if (!result) {
      (void)m_log->finish("interrupted", 0);  // the search's own error is the one to report
      return fail(std::move(result.error()));
    }
    KERF_CHECK(conclude(*result));
    m_outcome.time = Clock::now() - start;
    return std::move(m_outcome);
  }

 private:
  Result<void> prepare() {
    KERF_TRY(m_store, m_context.store());
    KERF_TRY(m_inputs, prepareToRun(m_source));
    KERF_TRY(m_graphId, storedGraphId(*m_store, m_source));
    KERF_TRY(m_oracle, makeOracle(m_settings.oracle, m_source));
    m_log.emplace(*m_store, m_mutex, m_source, m_graphId,
                  fmt::format("{} votes={}", m_oracle->identity(), m_settings.votes));
    return {};
  }

  Result<Candidate> startCandidate() {
    KERF_TRY(auto resumed, m_log->resume());
    if (!resumed) return Candidate{m_source.graph().module, std::move(m_inputs)};
    m_outcome.resumed = true;
    m_events.note(fmt::format("resuming {}: {} of {} nodes after {} tests", m_log->idText(), m_log->bestNodes(),
                              m_log->startNodes(), m_log->testsBefore()));
    return std::move(*resumed);
  }

  Result<MinifyResult> search(Candidate start) {
    StoreVerdicts verdicts(*m_store, m_mutex);
    MinifyOptions options;
    options.parallelQueries = m_settings.jobs;
    options.candidateTimeout = m_settings.oracle.timeout;
    options.flakeVotes = m_settings.votes;
    const MinifyObserver observer = [this](const MinifyProgress& progress, const Candidate* accepted) -> Result<void> {
      if (accepted != nullptr) KERF_CHECK(m_log->accept(progress.step, *accepted));
      auto told = progress;
      told.start.nodes = std::size_t(std::max(m_log->startNodes(), 0));
      told.step.test += m_log->testsBefore();
      m_events.progress(told, m_log->idText());
      return {};
    };
    return minify(std::move(start), *m_oracle, verdicts, options, observer, m_stop);
  }

  Result<void> conclude(const MinifyResult& result) {
    m_outcome.reductionId = m_log->idText();
    m_outcome.startNodes = m_log->startNodes();
    m_outcome.nodes = int(result.candidate.module.graph.size());
    m_outcome.tests = m_log->testsBefore() + result.tests;
    m_outcome.cacheHits = result.cacheHits;
    m_outcome.steps = result.steps.size();
    m_outcome.fingerprint = result.fingerprint;
    m_outcome.oneMinimal = result.oneMinimal;
    m_outcome.cancelled = result.cancelled;
    KERF_CHECK(m_log->finish(result.cancelled ? "cancelled" : "finished", result.tests));
    if (result.cancelled) return {};
    KERF_CHECK(writeRepro(result));
    return m_settings.recheck ? checkRepro() : Result<void>();
  }

  Result<void> writeRepro(const MinifyResult& result) {
    KERF_TRY(const auto faults, parsePlants(m_settings.oracle.plants));
    const MinifyReportContext how{m_source.text, faults.text(), m_oracle->identity()};
    KERF_TRY(const auto capture, minifiedCapture(result, m_source.capture, m_source.index, how));
    const auto folder =
        m_settings.output.empty() ? std::filesystem::path("kerf-repro-" + m_outcome.reductionId) : m_settings.output;
    ExportOptions options;
    // PyTorch knows nothing of a fault that Kerf planted: its accuracy check would judge another bug, or none.
    if (!faults.empty()) options.accuracy = "False";
    KERF_TRY(m_outcome.repro, exportRepro(capture, 0, folder, options));
    KERF_TRY(const auto written, importCapture(m_outcome.repro));
    KERF_TRY(const auto stored, storableGraph(written, 0));
    const ReproRow row{
        0,  m_log->id(),    m_graphId, std::filesystem::absolute(m_outcome.repro).string(), stored.row.hash,
        "", m_outcome.nodes};
    KERF_TRY(const auto id, m_store->addRepro(row, stored.row));
    m_outcome.reproId = fmt::format("p{}", id);
    return {};
  }

  Result<void> checkRepro() {
    auto found = recheck(m_settings.oracle, m_outcome.repro, m_stop);
    if (!found && found.error().code == ErrorCode::Cancelled) {
      m_events.note(
          fmt::format("{} is written; stopped before a fresh process had checked it", m_outcome.repro.string()));
      return {};
    }
    KERF_TRY(m_outcome.rechecked, std::move(found));
    if (m_outcome.rechecked == m_outcome.fingerprint) return {};
    return fail(ErrorCode::Different,
                "the repro {} was written, but a fresh process finds \"{}\" where the search found \"{}\"",
                m_outcome.repro.string(), m_outcome.rechecked, m_outcome.fingerprint);
  }

  Context& m_context;
  GraphSource& m_source;
  const MinifySettings& m_settings;
  const MinifyEvents& m_events;
  std::stop_token m_stop;
  std::mutex m_mutex;
  Store* m_store = nullptr;
  std::int64_t m_graphId = 0;
  ValueList m_inputs;
  std::unique_ptr<Oracle> m_oracle;
  std::optional<ReductionLog> m_log;
  MinifyOutcome m_outcome;
};

}  // namespace

Result<MinifyOutcome> minifyGraph(Context& context, GraphSource& source, const MinifySettings& settings,
                                  const MinifyEvents& events) {
  return Minification(context, source, settings, events).run();
}

Result<Verdict> judgeGraph(Context& context, GraphSource& source, const OracleSettings& settings) {
  KERF_TRY(auto inputs, prepareToRun(source));
  KERF_TRY(const auto oracle, makeOracle(settings, source));
  return oracle->judge({source.graph().module, std::move(inputs)}, context.stop());
}

}  // namespace kerf::cli
