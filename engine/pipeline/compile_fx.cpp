#include "engine/pipeline/compile_fx.h"

#include "engine/backend/stage_clock.h"
#include "engine/passes/plant_faults.h"

namespace kerf::inline pipeline {

CompiledGraph::CompiledGraph(std::shared_ptr<const GraphModule> finalModule, std::vector<PassRecord> passes,
                             std::vector<StageTime> stages, std::unique_ptr<Executable> executable)
    : m_finalModule(std::move(finalModule)),
      m_passes(std::move(passes)),
      m_stages(std::move(stages)),
      m_executable(std::move(executable)) {
  const std::vector<StageTime>& own = artifacts().stages;
  m_stages.insert(m_stages.end(), own.begin(), own.end());
}

Result<std::unique_ptr<CompiledGraph>> compileFx(const GraphModule& module, const CompileOptions& options,
                                                 std::stop_token stop) {
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

  KERF_TRY(const auto lowered,
           backend->lower(final, {options.fuse, options.optimizationLevel, options.keepArtifacts}, stop));
  KERF_TRY(auto executable, lowered->compile(stop));
  return std::make_unique<CompiledGraph>(final, std::move(records), std::move(clock.times()), std::move(executable));
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
