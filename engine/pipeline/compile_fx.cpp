#include "engine/pipeline/compile_fx.h"

#include <mutex>

#include "engine/backend/input_symbols.h"
#include "engine/backend/size_guards.h"
#include "engine/backend/stage_clock.h"
#include "engine/passes/plant_faults.h"

namespace kerf::inline pipeline {

namespace {

Result<CompiledVariant> compileVariant(const GraphModule& module, const CompileOptions& options, std::stop_token stop) {
  KERF_TRY(const Backend* const backend, findBackend(options.backend));
  KERF_TRY(std::vector<Pass> passes, selectPasses(options.passes));
  PassManager manager(withFaults(std::move(passes), options.faults));
  for (PassObserver* observer : options.observers) manager.addObserver(observer);

  StageClock clock(stop);
  PassRun run = manager.start(module, stop);
  for (const PassStage stage : passStages) {
    KERF_CHECK(run.stage(stage));
    KERF_CHECK(clock.finish(stageName(stage)));
  }
  std::vector<PassRecord> records = run.records();
  const auto final = std::make_shared<const GraphModule>(run.finish());
  if (!final->graph.outputNode().valid()) return fail(ErrorCode::BadInput, "the graph has no output");

  KERF_TRY(const auto lowered, backend->lower(final,
                                              {options.fuse, options.optimizationLevel, options.keepArtifacts,
                                               options.roundsEachOp, options.unfused, options.interpreted,
                                               std::make_shared<const SizeGuards>(SizeGuards::ofShapes(module)), options.cache},
                                              stop));
  KERF_TRY(auto executable, lowered->compile(stop));
  std::vector<StageTime> stages = std::move(clock.times());
  const std::vector<StageTime>& own = executable->artifacts().stages;
  stages.insert(stages.end(), own.begin(), own.end());
  return CompiledVariant{final, std::move(records), std::move(stages), std::move(executable)};
}

std::unexpected<Error> refused(const GuardViolation& violation, std::string_view because) {
  return fail(Error(ErrorCode::ShapeMismatch, fmt::format("{}{}", violation.text(), because), {}, 0, violation.node));
}

bool lacksStrides(const Node& placeholder) {
  const TensorMeta* tensor = placeholder.meta().value.tensor();
  return tensor && tensor->sizes.size() > 1 && tensor->strides.empty();
}

/// Graph text may leave strides out. Said once in a process, however many graphs it compiles.
void sayWhatIsAssumed(const Graph& graph) {
  static std::once_flag said;
  for (const NodeId id : graph.placeholders())
    if (lacksStrides(graph.node(id)))
      return std::call_once(said, [&] {
        logAt(LogCategory::Compile, LogLevel::Info, "input {} has no recorded strides: such inputs count as contiguous",
              graph.node(id).name());
      });
}

CompileOptions withoutObservers(CompileOptions options) {
  options.observers.clear();
  return options;
}

}  // namespace

CompiledGraph::CompiledGraph(CompiledVariant first, GraphModule captured, CompileOptions options)
    : m_captured(std::move(captured)), m_options(withoutObservers(std::move(options))) {
  m_variants.push_back(std::move(first));
}

Result<Value> CompiledGraph::run(const ValueList& inputs, std::stop_token stop) {
  std::optional<GuardViolation> newestViolation;
  for (const CompiledVariant& variant : m_variants) {
    auto violation = variant.executable->violated(inputs);
    if (!violation) return variant.executable->run(inputs, std::move(stop));
    if (violation->deferred) return refused(*violation, "");
    if (!newestViolation) newestViolation = std::move(violation);
  }
  KERF_CHECK(compileFor(*newestViolation, stop));
  return m_variants.front().executable->run(inputs, std::move(stop));
}

Result<void> CompiledGraph::compileFor(const GuardViolation& violation, std::stop_token stop) {
  if (m_variants.size() >= maximumVariants)
    return refused(violation, fmt::format("; the graph was compiled {} times already, which is the most that is kept",
                                          m_compilations));
  logAt(LogCategory::Compile, LogLevel::Info, "compiling again: {}", violation.text());
  KERF_TRY(const GraphModule module, withExample(m_captured, violation.symbols));
  KERF_TRY(CompiledVariant variant, compileVariant(module, m_options, std::move(stop)));
  m_variants.insert(m_variants.begin(), std::move(variant));
  m_violations.push_back(violation);
  ++m_compilations;
  return {};
}

Result<std::unique_ptr<CompiledGraph>> compileFx(const GraphModule& module, const CompileOptions& options,
                                                 std::stop_token stop) {
  sayWhatIsAssumed(module.graph);
  KERF_TRY(CompiledVariant first, compileVariant(module, options, std::move(stop)));
  const bool mayCompileAgain = InputSymbols(module).any();
  return std::make_unique<CompiledGraph>(std::move(first), mayCompileAgain ? module : GraphModule(), options);
}

Result<void> checkOptions(const GraphModule& module, const CompileOptions& options) {
  KERF_TRY(const std::vector<Pass> passes, selectPasses(options.passes));
  KERF_CHECK(findBackend(options.backend));
  if (options.faults.empty()) return {};
  const PassManager manager(passes);
  PassRun run = manager.start(module);
  for (const PassStage stage : {PassStage::PreGrad, PassStage::Joint, PassStage::PostGrad})
    if (!run.stage(stage)) return {};  // compiling says what is wrong
  return checkFaults(options.faults, run.finish(), passes);
}

}  // namespace kerf::inline pipeline
