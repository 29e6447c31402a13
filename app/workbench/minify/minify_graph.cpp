// A minification from the graph to the checked repro: search, store, resume, export, and a last check in a fresh
// process.
#include "app/workbench/captures/recorded_settings.h"
#include "app/workbench/minify/checkpoints.h"
#include "app/workbench/minify/failure_choice.h"
#include "app/workbench/minify/minified_repro.h"
#include "app/workbench/minify/minify_events.h"
#include "app/workbench/minify/oracle_choice.h"
#include "app/workbench/minify/reduction_log.h"
#include "app/workbench/minify/search_identity.h"
#include "app/workbench/minify/store_verdicts.h"
#include "engine/capture/audit/allowed_calls.h"
#include "engine/process/temporary_folder.h"
#include "minifier/reductions/reductions.h"

namespace kerf::workbench {

namespace {

using Clock = std::chrono::steady_clock;
using ReproPlace = MinifyRequest::ReproPlace;

/// One minification: everything that its steps share.
class Minification {
 public:
  Minification(Workbench& bench, GraphSource source, const MinifyRequest& request, const Job& job)
      : m_bench(bench), m_found(std::move(source)), m_request(request), m_job(job) {}

  Result<Minified> run() {
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
    KERF_TRY(m_match, failureMatch(m_request));
    KERF_TRY(m_store, storeToWorkIn());
    KERF_TRY(m_source, runnable(withRecordedEnvironment(std::move(m_found)), m_job));
    if (!m_request.checkpoints.empty()) m_checkpoints.emplace(m_request.checkpoints, m_source);
    KERF_TRY(m_graphId, storedGraphId(*m_store, m_source));
    KERF_TRY(m_oracle, makeOracle(m_request.oracle, m_source, {m_job, m_request.jobs, &m_bench.warmTorch()}));
    m_log.emplace(*m_store, m_mutex, m_source, m_graphId, SearchIdentity::of(*m_oracle, m_request, m_match).text());
    return {};
  }

  /// The bench's store; one in memory, with a warning, where that cannot be written: the repro does not depend on it.
  Result<Store*> storeToWorkIn() {
    auto opened = m_bench.store();
    if (!opened && opened.error().code != ErrorCode::Environment) return opened;
    if (opened && !(*opened)->readOnly()) return opened;
    m_bench.noteUnstored(
        m_job, opened ? Error{ErrorCode::Environment, "the store can only be read", (*opened)->path().string()}
                      : opened.error());
    KERF_TRY(auto substitute, Store::inMemory());
    m_substitute.emplace(std::move(substitute));
    return &*m_substitute;
  }

  /// What cannot be written to the store is said once; the search goes on.
  Result<void> tolerate(Result<void> written) {
    if (written || written.error().code != ErrorCode::Environment) return written;
    if (!m_lost) m_bench.noteUnstored(m_job, written.error());
    m_lost = true;
    return {};
  }

  Result<Candidate> startCandidate() {
    std::optional<Candidate> resumed;
    if (!m_request.fresh) {
      KERF_TRY(resumed, m_log->resume());
    }
    if (!resumed) {
      KERF_TRY(auto module, moduleToCompare(m_source));
      return Candidate{std::move(module), std::move(m_source.inputs)};
    }
    m_outcome.resumed = true;
    m_job.note(fmt::format("resuming {}: {} of {} nodes after {} tests", m_log->idText(), m_log->bestNodes(),
                           m_log->startNodes(), m_log->testsBefore()));
    return std::move(*resumed);
  }

  Result<MinifyOptions> searchOptions() {
    MinifyOptions options;
    options.parallelQueries = m_request.jobs;
    options.candidateTimeout = longestAnswer(m_request.oracle);
    options.flakeVotes = m_request.votes;
    options.maxTests = m_request.maxTests;
    options.maxTime = m_request.maxTime;
    options.flakyStarts = m_request.flaky;
    options.pinned = m_request.pins;
    options.match = m_match;
    options.activity = [this](const MinifyActivity& activity) { m_job.tell(workEvent(activity)); };
    options.wentBack = [this](const MinifyStep& step, const Candidate& candidate) {
      return m_lost ? Result<void>() : tolerate(m_log->goBack(step, candidate));
    };
    KERF_TRY(options.refused, m_log->undone());
    return options;
  }

  Result<MinifyResult> search(Candidate start) {
    StoreVerdicts verdicts(*m_store, m_mutex, m_request.fresh);
    KERF_TRY(MinifyOptions options, searchOptions());
    SearchWishes wishes(m_job);
    options.control = wishes.search();
    const MinifyObserver observer = [this](const MinifyProgress& progress, const Candidate* accepted) -> Result<void> {
      if (accepted != nullptr && !m_lost) KERF_CHECK(tolerate(m_log->accept(progress.step, *accepted)));
      if (accepted != nullptr && m_checkpoints) KERF_CHECK(m_checkpoints->accept(progress.step, *accepted));
      if (progress.slip != nullptr && !m_lost) KERF_CHECK(tolerate(m_log->keep(*progress.slip)));
      m_job.tell(minifyEvent(progress, *m_log));
      return {};
    };
    return minify(std::move(start), *m_oracle, verdicts, options, observer, m_job.stop);
  }

  Result<void> conclude(const MinifyResult& result) {
    noteOutcome(result);
    KERF_CHECK(concludeSlips(result));
    KERF_CHECK(
        tolerate(m_log->finish(result.ending == MinifyEnding::Finished ? "finished" : "cancelled", result.tests)));
    if (result.cancelled) return {};
    std::optional<TemporaryFolder> scratch;
    if (m_request.place == ReproPlace::Store) {
      KERF_TRY(scratch, TemporaryFolder::create());
    }
    const SearchedFailure searched{m_bench, m_source, m_request, m_job, *m_oracle, m_match, m_log->startNodes()};
    KERF_TRY(const auto repro, writeMinified(searched, result, scratch ? scratch->path() : folder()));
    KERF_CHECK(keepRepro(repro));
    if (!scratch) m_outcome.repro = repro.string();
    KERF_TRY(m_outcome.rechecked, checkMinified(searched, m_outcome, result.candidate.module, repro));
    if (m_request.confirm) {
      KERF_TRY(m_outcome.torchSays, confirmMinified(searched, repro));
    }
    if (scratch) return {};
    StoreVerdicts verdicts(*m_store, m_mutex);
    return writeIssueOf(searched, result, verdicts, m_outcome.torchSays, repro);
  }

  void noteOutcome(const MinifyResult& result) {
    if (!m_substitute) m_outcome.reductionId = m_log->idText();
    m_outcome.startNodes = m_log->startNodes();
    m_outcome.nodes = int(result.candidate.module.graph.size());
    m_outcome.tests = m_log->testsBefore() + result.tests;
    m_outcome.cacheHits = result.cacheHits;
    m_outcome.steps = std::ssize(result.steps);
    m_outcome.fingerprint = result.fingerprint;
    m_outcome.oneMinimal = result.oneMinimal;
    m_outcome.lostEdits = result.lostEdits;
    m_outcome.editSet = result.editSet;
    if (!result.steps.empty()) m_outcome.startedAs = result.steps.front().fingerprint;
    m_outcome.matchRule = m_match.rule(m_outcome.startedAs);
    m_outcome.cancelled = result.cancelled;
    m_outcome.unusedTests = result.unusedTests;
    m_outcome.failureRate = result.failureRate;
    m_outcome.passesAsked = result.passesAsked;
    if (result.ending == MinifyEnding::MaxTests) m_outcome.stoppedBy = "max_tests";
    if (result.ending == MinifyEnding::MaxTime) m_outcome.stoppedBy = "max_time";
  }

  /// What the search met by the way; a verdict from the cache is not told of while it goes on.
  Result<void> concludeSlips(const MinifyResult& result) {
    m_outcome.slips = result.slipTests;
    for (const Slip& slip : result.slips)
      if (!m_lost) KERF_CHECK(tolerate(m_log->keep(slip)));
    if (!m_log->id()) return {};
    KERF_TRY(m_outcome.findings, slipDocs(*m_store, *m_log->id()));
    return {};
  }

  std::filesystem::path folder() const {
    if (!m_request.output.empty()) return m_request.output;
    return m_outcome.reductionId.empty() ? std::string("kerf-repro") : "kerf-repro-" + m_outcome.reductionId;
  }

  /// In the store, as it reads from the file.
  Result<void> keepRepro(const std::filesystem::path& repro) {
    KERF_TRY(const auto written, importCapture(repro));
    KERF_TRY(const auto stored, storableGraph(written, 0));
    const auto path = m_request.place == ReproPlace::Store ? std::filesystem::path() : std::filesystem::absolute(repro);
    const ReproRow row{0, m_log->id(), m_graphId, path.string(), stored.row.hash, "", m_outcome.nodes};
    if (m_lost || m_substitute) return {};
    const auto id = m_store->addRepro(row, stored.row);
    KERF_CHECK(tolerate(id ? Result<void>() : fail(id.error())));
    if (id) m_outcome.reproId = fmt::format("p{}", *id);
    return {};
  }

  Workbench& m_bench;
  GraphSource m_found;  ///< moves on to m_source
  RunnableGraph m_source;
  const MinifyRequest& m_request;
  const Job& m_job;
  std::mutex m_mutex;
  std::optional<Store> m_substitute;  ///< where the bench's store cannot be written
  Store* m_store = nullptr;
  bool m_lost = false;  ///< the store could be written at first, and then no more
  std::int64_t m_graphId = 0;
  std::unique_ptr<Oracle> m_oracle;
  FailureMatch m_match;
  std::optional<ReductionLog> m_log;
  std::optional<Checkpoints> m_checkpoints;
  Minified m_outcome;
};

}  // namespace

Result<Minified> perform(Workbench& bench, const MinifyRequest& request, const Job& job) {
  KERF_TRY(auto source, resolveGraph(bench, request.graph, job));
  KERF_TRY(source.capture.allowedCalls, parseExtraCalls(request.oracle.allowedCalls));
  return Minification(bench, std::move(source), request, job).run();
}

}  // namespace kerf::workbench
