// Verifying: the stages of a capture run on the same inputs, in a child for each compile id, and what they give is
// compared; or two graphs that the user names.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <fmt/ranges.h>

#include "app/workbench/captures/annotation_rows.h"
#include "app/workbench/captures/capture_source.h"
#include "app/workbench/captures/given_inputs.h"
#include "app/workbench/captures/graph_source.h"
#include "app/workbench/captures/symbols.h"
#include "app/workbench/engine_options.h"
#include "engine/pipeline/compiler_passes.h"
#include "engine/process/codec.h"
#include "engine/process/in_child.h"
#include "engine/tensor/storage.h"
#include "engine/tensor/storage_limit.h"
#include "engine/verification/own_passes.h"
#include "engine/verification/stage_inputs.h"
#include "engine/verification/verify.h"

namespace kerf::workbench {

namespace {

StageValueRow rowOf(const SlotVerdict& verdict) {
  return {verdict.slot,        verdict.reason,     verdict.same,  verdict.relativeError, verdict.maxAbsError,
          verdict.errorBefore, verdict.errorAfter, verdict.ratio, verdict.finite};
}

GradientDoc docOf(const GradientCheck& check) {
  return {check.done,
          check.agrees(),
          check.why,
          check.recorded,
          check.differences,
          check.relativeError,
          std::int64_t(check.inputs),
          check.suspects};
}

StagePairDoc docOf(const PairVerdict& pair) {
  StagePairDoc doc{.before = pair.before,
                   .after = pair.after,
                   .verdict = std::string(verdictName(pair.kind)),
                   .why = pair.why,
                   .missing = pair.missing,
                   .nodes = std::int64_t(pair.nodes),
                   .mapped = std::int64_t(pair.mapped),
                   .map = pair.map,
                   .time = pair.time};
  for (const auto& value : pair.values) doc.values.push_back(rowOf(value));
  const auto& changed = pair.changed;
  doc.changed = {pair.changedIn, changed.node, changed.call, changed.before, changed.callBefore, changed.others};
  doc.haveGradients = pair.gradients.has_value();
  if (pair.gradients) doc.gradients = docOf(*pair.gradients);
  return doc;
}

OwnPassesDoc docOf(const OwnPasses& passes) {
  OwnPassesDoc doc{passes.before,
                   passes.recorded,
                   passes.own,
                   std::int64_t(passes.nodesBefore),
                   std::int64_t(passes.nodesRecorded),
                   std::int64_t(passes.nodesOwn),
                   {}};
  for (const OwnOpCount& count : passes.ops) doc.ops.push_back({count.op, count.recorded, count.own});
  return doc;
}

CompileVerification docOf(const CompileVerdict& verdict) {
  CompileVerification doc{verdict.compile, {}, verdict.odd, verdict.notes, {}, {}};
  for (const auto& pair : verdict.pairs) doc.pairs.push_back(docOf(pair));
  return doc;
}

/// What a child tells of its progress.
struct StageProgress {
  std::string what;
  double done = 0;

  KERF_FIELDS(what, done)
};

/// Fraction of all compile ids, and what runs now.
class VerifyProgress {
 public:
  VerifyProgress(const Job& job, std::size_t plans) : m_job(job), m_plans(plans) {}
  void next() { ++m_plan; }
  void show(const StageProgress& progress) {
    m_what = progress.what;
    if (progress.done >= 0) m_done = progress.done;
    m_job.progress("verifying " + m_what, (double(m_plan) + m_done) / double(m_plans));
  }
  const std::string& what() const { return m_what; }

 private:
  const Job& m_job;
  std::size_t m_plans = 1, m_plan = 0;
  double m_done = 0;
  std::string m_what = "the first stage";
};

Result<CompileVerification> verifyInChild(const Capture& capture, const StagePlan& plan, const SlotValues& inputs,
                                          const VerifyRequest& request, const Job& job, VerifyProgress& progress) {
  const std::function body = [&](const SendEvent& send) -> Result<CompileVerification> {
    limitLiveStorage(storageLimit() / 2);
    VerifyOptions options{.tolerance = request.tolerance,
                          .recorded = request.recorded,
                          .exact = request.exact,
                          .gradients = request.gradients,
                          .stage = request.stage};
    options.onProgress = [&](const std::string& what, double done) { send(encode(StageProgress{what, done})); };
    KERF_TRY(const auto verdict, verifyStages(capture, plan, inputs, options));
    return docOf(verdict);
  };
  const OnEvent onEvent = [&](std::string_view bytes) {
    if (const auto event = decode<StageProgress>(bytes, "a stage's progress")) progress.show(*event);
  };
  KERF_TRY(auto ended, callIsolated<CompileVerification>(body, patientLimits(request.timeout), job.stop, onEvent));
  if (ended.answer) return std::move(*ended.answer);
  return fail(errorOfEnd(ended.outcome, "verifying " + progress.what(), ErrorCode::RuntimeFailed));
}

Result<CompileVerification> verifyPlan(Capture capture, const StagePlan& plan, const VerifyRequest& request,
                                       const SymbolBindings& symbols, const Job& job, VerifyProgress& progress) {
  KERF_TRY(const auto choice, parseInputChoice(request.capture.inputs));
  const LoadStage load = [&](CapturedGraph graph, const SymbolBindings& own) -> Result<ValueList> {
    GraphSource source;  // assigned by field: GCC 12 takes what braces leave out for uninitialised
    source.text = request.capture.text;
    source.symbols = own;
    source.fill = choice.fill;
    source.seed = request.capture.seed;
    source.inputFile = choice.file;
    source.capture.graphs.push_back(std::move(graph));
    KERF_TRY(RunnableGraph ready, runnable(std::move(source), job));
    return std::move(ready.inputs);
  };
  std::vector<AnnotationRow> annotations;
  for (const Stage& stage : plan.stages)
    std::ranges::move(annotationRows(capture.graphs[stage.graph].module, stage.name), std::back_inserter(annotations));
  KERF_TRY(const auto inputs, makeStageInputs(capture, plan, symbols, load));
  if (job.stop.stop_requested()) return fail(ErrorCode::Cancelled, "stopped while preparing inputs");
  KERF_TRY(auto doc, verifyInChild(capture, plan, inputs.values, request, job, progress));
  doc.notes.insert(doc.notes.end(), inputs.notes.begin(), inputs.notes.end());
  doc.annotations = std::move(annotations);
  doc.symbols.assign(inputs.symbols.begin(), inputs.symbols.end());
  return doc;
}

bool hasStage(const StagePlan& plan, const std::string& name) {
  return std::ranges::find(plan.stages, name, &Stage::name) != plan.stages.end() ||
         std::ranges::find(plan.unread, name, &UnreadStage::name) != plan.unread.end();
}

/// A name of a stage may lack the compile id that makes it unique in its log.
Result<void> chooseStage(std::vector<StagePlan>& plans, std::string& name) {
  if (name.empty()) return {};
  std::vector<std::string> names;
  const auto rename = [&](auto& stages) {
    for (auto& stage : stages) {
      names.push_back(stage.name);
      if (stage.name.starts_with(name + "[")) stage.name = name;
    }
  };
  for (auto& plan : plans) {
    rename(plan.stages);
    rename(plan.unread);
  }
  std::erase_if(plans, [&](const StagePlan& plan) { return !hasStage(plan, name); });
  if (!plans.empty()) return {};
  return fail(ErrorCode::BadUsage, "there is no stage {}; there are: {}", name, fmt::join(names, ", "));
}

/// A capture with the plans of its compilations.
struct PlannedCapture {
  CaptureSourcePtr source;  ///< keeps what its graphs look at
  Capture capture;
  std::vector<StagePlan> plans;
  std::map<std::string, std::vector<OwnPassesDoc>> ownPasses;  ///< by the plan's compile id
};

/// Kerf's passes in the place of the recorded stages.
Result<void> planOwnPasses(PlannedCapture& planned, const VerifyRequest& request) {
  KERF_TRY(const PassConfig config, passConfig(request.passes));
  KERF_TRY(const std::vector<Pass> passes, selectPasses(config, compilerPasses()));
  for (StagePlan& plan : planned.plans) {
    KERF_TRY(const auto made, addOwnPasses(planned.capture, plan, passes));
    for (const OwnPasses& one : made) planned.ownPasses[plan.compile].push_back(docOf(one));
  }
  return {};
}

/// Of a folder all captures in it that have the chosen compile id.
Result<std::vector<PlannedCapture>> planCaptures(Workbench& bench, const VerifyRequest& request, const Job& job) {
  std::vector<PlannedCapture> planned;
  std::optional<Error> lost;
  KERF_TRY(const auto sources, openAll(bench, request.capture.text, job));
  for (const auto& source : sources) {
    PlannedCapture one{source, source->capture, {}, {}};
    auto plans = planStages(one.capture, request.compile);
    if (!plans && plans.error().code != ErrorCode::NotFound) return fail(plans.error());
    if (!plans) {
      lost = plans.error();
      continue;
    }
    one.plans = std::move(*plans);
    for (auto& plan : one.plans)
      if (sources.size() > 1)
        plan.compile = fmt::format("{} {}", source->capture.path.filename().string(), plan.compile);
    if (request.ownPasses) KERF_CHECK(planOwnPasses(one, request));
    planned.push_back(std::move(one));
  }
  if (planned.empty() && lost) return fail(*lost);
  return planned;
}

Result<void> checkPlans(const std::vector<StagePlan>& plans, const VerifyRequest& request) {
  const auto saysSomething = [&](const StagePlan& plan) {
    return !plan.pairs.empty() || (!plan.unread.empty() && !request.ownPasses);
  };
  if (std::ranges::any_of(plans, saysSomething)) return {};
  if (request.ownPasses)
    return fail(ErrorCode::BadUsage, "{} holds no graphs from before and after PyTorch's passes", request.capture.text);
  return fail(ErrorCode::BadUsage, Hint{Advice::CompareGraphs}, "{} does not hold two stages of one computation",
              request.capture.text);
}

/// A symbol may belong to one compilation of many.
Result<void> checkSymbols(const std::vector<PlannedCapture>& planned, const SymbolBindings& symbols) {
  std::set<std::string> known;
  for (const auto& one : planned)
    for (const auto& plan : one.plans)
      for (const Stage& stage : plan.stages)
        for (const auto& symbol : one.capture.graphs[stage.graph].symbols()) known.insert(symbol.text);
  for (const auto& [name, value] : symbols)
    if (!known.contains(name))
      return fail(ErrorCode::BadUsage, "no graph has a symbol {}; there are: {}", name, fmt::join(known, ", "));
  return {};
}

Result<Verification> verifyCapture(Workbench& bench, VerifyRequest request, const Job& job) {
  KERF_TRY(const auto symbols, parseSymbols(request.capture.symbols));
  KERF_TRY(auto planned, planCaptures(bench, request, job));
  KERF_CHECK(checkSymbols(planned, symbols));
  std::vector<StagePlan> all;
  for (const auto& one : planned) all.insert(all.end(), one.plans.begin(), one.plans.end());
  KERF_CHECK(checkPlans(all, request));
  KERF_CHECK(chooseStage(all, request.stage));
  Verification verification;
  VerifyProgress progress(job, all.size());
  for (auto& one : planned)
    for (auto& plan : one.plans) {
      const auto chosen = std::ranges::find(all, plan.compile, &StagePlan::compile);
      if (chosen == all.end()) continue;
      CompileVerification& compile = verification.compiles.emplace_back();
      KERF_TRY(compile, verifyPlan(one.capture, *chosen, request, symbols, job, progress));
      compile.ownPasses = one.ownPasses[plan.compile];
      progress.next();
    }
  return verification;
}

Result<Verification> verifyAgainst(Workbench& bench, const VerifyRequest& request, const Job& job) {
  if (!request.compile.empty() || !request.stage.empty() || request.ownPasses)
    return fail(ErrorCode::BadUsage,
                "two graphs are compared as a whole, without a compile id, a stage or Kerf's own passes");
  KERF_TRY(const auto symbols, parseSymbols(request.capture.symbols));
  GraphAddress first = request.capture;
  first.symbols.clear();  // either graph may have them
  KERF_TRY(auto before, resolveGraph(bench, first, job));
  KERF_TRY(auto after, resolveGraph(bench, request.against, job));
  Capture both;
  both.graphs = {before.graph(), after.graph()};
  KERF_TRY(auto plan, planAgainst(before.graph(), after.graph()));
  plan.compile.clear();
  plan.stages[0].name = request.capture.text;
  plan.stages[1].name = request.against.text;
  VerifyProgress progress(job, 1);
  Verification verification;
  KERF_TRY(verification.compiles.emplace_back(), verifyPlan(std::move(both), plan, request, symbols, job, progress));
  return verification;
}

}  // namespace

Result<Verification> perform(Workbench& bench, const VerifyRequest& request, const Job& job) {
  const auto start = std::chrono::steady_clock::now();
  if (!request.ownPasses && !request.passes.usual())
    return fail(ErrorCode::BadUsage, "passes and their options can only be chosen when Kerf's own passes are verified");
  KERF_TRY(auto verification,
           request.against.text.empty() ? verifyCapture(bench, request, job) : verifyAgainst(bench, request, job));
  verification.time = std::chrono::steady_clock::now() - start;
  return verification;
}

}  // namespace kerf::workbench
