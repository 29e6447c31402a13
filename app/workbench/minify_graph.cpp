// A minification from the graph to the checked repro: search, store, resume, export, and a last check in a fresh
// process.
#include "app/workbench/engine_options.h"
#include "app/workbench/oracle_choice.h"
#include "app/workbench/protocol/remote_workbench.h"
#include "app/workbench/recorded_settings.h"
#include "app/workbench/reduction_log.h"
#include "app/workbench/store_id.h"
#include "app/workbench/store_verdicts.h"
#include "engine/capture/repro/allowed_calls.h"
#include "engine/process/temporary_folder.h"
#include "minifier/reductions/reductions.h"
#include "minifier/report/minify_report.h"

namespace kerf::workbench {

namespace {

using Clock = std::chrono::steady_clock;
using ReproPlace = MinifyRequest::ReproPlace;

/// Fingerprint that a fresh kerf finds in the written repro under the same oracle.
Result<std::string> recheck(Workbench& bench, const OracleSettings& oracle, const std::filesystem::path& repro,
                            const Job& job) {
  RemoteWorkbench fresh(bench.options().program, bench.options().store);
  KERF_TRY(const auto judged, fresh.perform(JudgeRequest{{repro.string()}, oracle}, {{}, job.stop}));
  return judged.fingerprint;
}

/// Other inputs are another search; the usual ones are not mentioned, so that older reductions are found again.
std::string inputsIdentity(const GraphAddress& graph) {
  const bool usual = graph.inputs == GraphAddress::usualInputs && graph.seed == GraphAddress::usualSeed;
  return usual ? std::string() : fmt::format(" inputs={} seed={}", graph.inputs, graph.seed);
}

/// One minification: everything that its steps share.
class Minification {
 public:
  Minification(Workbench& bench, GraphSource source, const MinifyRequest& request, const Job& job)
      : m_bench(bench), m_source(std::move(source)), m_request(request), m_job(job) {}

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
    KERF_TRY(m_store, storeToWorkIn());
    KERF_TRY(m_inputs, prepareToRun(m_source, m_job));
    KERF_TRY(m_graphId, storedGraphId(*m_store, m_source));
    KERF_TRY(m_oracle, makeOracle(m_request.oracle, m_source));
    m_log.emplace(*m_store, m_mutex, m_source, m_graphId,
                  fmt::format("{} votes={}{}", m_oracle->identity(), m_request.votes, inputsIdentity(m_request.graph)));
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
    KERF_TRY(auto resumed, m_log->resume());
    if (!resumed) {
      KERF_TRY(auto module, moduleToCompare(m_source));
      return Candidate{std::move(module), std::move(m_inputs)};
    }
    m_outcome.resumed = true;
    m_job.note(fmt::format("resuming {}: {} of {} nodes after {} tests", m_log->idText(), m_log->bestNodes(),
                           m_log->startNodes(), m_log->testsBefore()));
    return std::move(*resumed);
  }

  MinifyEvent eventOf(const MinifyProgress& progress) const {
    const auto& step = progress.step;
    return {m_log->idText(),
            step.reduction,
            step.fingerprint,
            step.accepted,
            std::int64_t(step.size.nodes),
            step.size.inputBytes,
            std::int64_t(step.size.outputs),
            std::max(m_log->startNodes(), 0),
            std::int64_t(progress.best.nodes),
            step.test + m_log->testsBefore(),
            step.elapsed,
            progress.secondsLeft};
  }

  Result<MinifyResult> search(Candidate start) {
    StoreVerdicts verdicts(*m_store, m_mutex);
    MinifyOptions options;
    options.parallelQueries = m_request.jobs;
    options.candidateTimeout = m_request.oracle.timeout;
    options.flakeVotes = m_request.votes;
    const MinifyObserver observer = [this](const MinifyProgress& progress, const Candidate* accepted) -> Result<void> {
      if (accepted != nullptr && !m_lost) KERF_CHECK(tolerate(m_log->accept(progress.step, *accepted)));
      m_job.tell(eventOf(progress));
      return {};
    };
    return minify(std::move(start), *m_oracle, verdicts, options, observer, m_job.stop);
  }

  Result<void> conclude(const MinifyResult& result) {
    if (!m_substitute) m_outcome.reductionId = m_log->idText();
    m_outcome.startNodes = m_log->startNodes();
    m_outcome.nodes = int(result.candidate.module.graph.size());
    m_outcome.tests = m_log->testsBefore() + result.tests;
    m_outcome.cacheHits = result.cacheHits;
    m_outcome.steps = std::ssize(result.steps);
    m_outcome.fingerprint = result.fingerprint;
    m_outcome.oneMinimal = result.oneMinimal;
    m_outcome.editSet = result.editSet;
    m_outcome.cancelled = result.cancelled;
    KERF_CHECK(tolerate(m_log->finish(result.cancelled ? "cancelled" : "finished", result.tests)));
    if (result.cancelled) return {};
    std::optional<TemporaryFolder> scratch;
    if (m_request.place == ReproPlace::Store) {
      KERF_TRY(scratch, TemporaryFolder::create());
    }
    KERF_TRY(const auto repro, writeRepro(result, scratch ? scratch->path() : folder()));
    if (!scratch) m_outcome.repro = repro.string();
    return checkRepro(repro);
  }

  std::filesystem::path folder() const {
    if (!m_request.output.empty()) return m_request.output;
    return m_outcome.reductionId.empty() ? std::string("kerf-repro") : "kerf-repro-" + m_outcome.reductionId;
  }

  Result<std::filesystem::path> writeRepro(const MinifyResult& result, const std::filesystem::path& folder) {
    KERF_TRY(const auto faults, parsePlants(m_request.oracle.plants));
    const MinifyReportContext how{m_source.text, faults.text(), m_oracle->identity(), m_log->startNodes()};
    KERF_TRY(const auto capture, minifiedCapture(result, m_source.capture, m_source.index, how));
    ExportOptions options;
    // PyTorch knows nothing of a fault that Kerf planted: its accuracy check would judge another bug, or none.
    if (!faults.empty()) options.accuracy = "False";
    KERF_TRY(auto repro, exportRepro(capture, 0, folder, options));
    KERF_TRY(const auto written, importCapture(repro));
    KERF_TRY(const auto stored, storableGraph(written, 0));
    const auto path = m_request.place == ReproPlace::Store ? std::filesystem::path() : std::filesystem::absolute(repro);
    const ReproRow row{0, m_log->id(), m_graphId, path.string(), stored.row.hash, "", m_outcome.nodes};
    if (m_lost || m_substitute) return repro;
    const auto id = m_store->addRepro(row, stored.row);
    KERF_CHECK(tolerate(id ? Result<void>() : fail(id.error())));
    if (id) m_outcome.reproId = fmt::format("p{}", *id);
    return repro;
  }

  Result<void> checkRepro(const std::filesystem::path& repro) {
    auto found = recheck(m_bench, m_request.oracle, repro, m_job);
    if (!found && found.error().code == ErrorCode::Cancelled) {
      m_job.note(fmt::format("{} is written; stopped before a fresh process had checked it", repro.string()));
      return {};
    }
    if (!found) return fail(found.error().while_(fmt::format("checking {} in a fresh process", repro.string())));
    m_outcome.rechecked = std::move(*found);
    const bool same = m_outcome.rechecked == m_outcome.fingerprint;
    if (same || m_outcome.rechecked == fingerprintOfRepro(m_outcome.fingerprint)) return {};
    return fail(ErrorCode::Different,
                "the repro {} was written, but a fresh process finds \"{}\" where the search found \"{}\"",
                repro.string(), m_outcome.rechecked, m_outcome.fingerprint);
  }

  Workbench& m_bench;
  GraphSource m_source;
  const MinifyRequest& m_request;
  const Job& m_job;
  std::mutex m_mutex;
  std::optional<Store> m_substitute;  ///< where the bench's store cannot be written
  Store* m_store = nullptr;
  bool m_lost = false;  ///< the store could be written at first, and then no more
  std::int64_t m_graphId = 0;
  ValueList m_inputs;
  std::unique_ptr<Oracle> m_oracle;
  std::optional<ReductionLog> m_log;
  Minified m_outcome;
};

}  // namespace

Result<Minified> perform(Workbench& bench, const MinifyRequest& request, const Job& job) {
  KERF_TRY(auto source, resolveGraph(bench, request.graph, job));
  KERF_TRY(source.capture.allowedCalls, parseExtraCalls(request.oracle.allowedCalls));
  return Minification(bench, std::move(source), request, job).run();
}

Result<JudgeAnswer> perform(Workbench& bench, const JudgeRequest& request, const Job& job) {
  KERF_TRY(auto source, resolveGraph(bench, request.graph, job));
  KERF_TRY(source.capture.allowedCalls, parseExtraCalls(request.oracle.allowedCalls));
  KERF_TRY(auto inputs, prepareToRun(source, job));
  KERF_TRY(const auto oracle, makeOracle(request.oracle, source));
  KERF_TRY(auto module, moduleToCompare(source));
  KERF_TRY(const auto verdict, oracle->judge({std::move(module), std::move(inputs)}, job.stop));
  return JudgeAnswer{JudgeAnswer::Verdict(verdict.kind), verdict.fingerprint, verdict.detail, verdict.time};
}

Result<std::vector<StepDoc>> perform(Workbench& bench, const StepsRequest& request, const Job&) {
  const auto id = parseStoreId(request.reduction);
  if (!id || id->kind != 'm') return fail(ErrorCode::BadUsage, "{} is no reduction, as m2 is", request.reduction);
  KERF_TRY(auto* store, bench.store());
  KERF_CHECK(store->reduction(id->number));
  KERF_TRY(const auto rows, store->steps(id->number));
  std::vector<StepDoc> steps;
  for (const auto& row : rows) {
    steps.push_back({fmt::format("m{}@step:{}", id->number, row.index), row.index, row.test, row.nodes, row.outputs,
                     row.inputBytes, row.reduction, row.fingerprint});
  }
  return steps;
}

}  // namespace kerf::workbench
