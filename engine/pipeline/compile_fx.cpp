#include "engine/pipeline/compile_fx.h"

#include "engine/lower/lowered_graph.h"
#include "engine/ops/core/op_registry.h"
#include "engine/pipeline/compiled_graph.h"
#include "engine/pipeline/kernel_info.h"
#include "engine/pipeline/link_program.h"
#include "engine/pipeline/planted_ops.h"
#include "engine/pipeline/planted_pass.h"
#include "engine/support/log.h"

namespace kerf::inline pipeline {
namespace {

/// Times the stages of one compilation and stops between them when asked to.
class Stages {
 public:
  Stages(std::vector<StageTime>& times, const std::stop_token& stop) : m_times(times), m_stop(stop) {}

  Result<void> finish(const char* stage, std::chrono::nanoseconds elsewhere = {}) {
    const auto now = std::chrono::steady_clock::now();
    m_times.push_back({stage, now - m_start - elsewhere});
    m_start = now;
    logAt(LogCategory::Compile, LogLevel::Debug, "{}: {:.3f} ms", stage, double(m_times.back().time.count()) / 1e6);
    if (m_stop.stop_requested()) return fail(ErrorCode::Cancelled, "stopped after {}", stage);
    return {};
  }

 private:
  std::vector<StageTime>& m_times;
  const std::stop_token& m_stop;
  std::chrono::steady_clock::time_point m_start = std::chrono::steady_clock::now();
};

Result<GraphModule> runPasses(const GraphModule& module, const CompileOptions& options, PlantedPass& plantedPass,
                              std::vector<PassRecord>& records) {
  PassManager passes(defaultPasses());
  passes.addObserver(&plantedPass);
  for (PassObserver* observer : options.observers) passes.addObserver(observer);
  return passes.run(module, &records);
}

/// Faults of passes strike at the first node that computes something.
void addPassStrikes(const PlantedPass& plantedPass, const Graph& graph, PlantedOps& planted) {
  for (const FaultKind kind : plantedPass.strikes()) {
    const RunFault strike = kind == FaultKind::Crash  ? RunFault::Crash
                            : kind == FaultKind::Hang ? RunFault::Hang
                                                      : RunFault::Error;
    planted.strikes.push_back({graph.outputNode(), strike});
  }
}

std::vector<const LoopKernel*> generatedKernels(const LoweredGraph& graph) {
  std::vector<const LoopKernel*> kernels;
  for (const LoweredStep& step : graph.steps)
    if (!step.isExtern) kernels.push_back(&step.kernel);
  return kernels;
}

}  // namespace

Result<std::unique_ptr<CompiledGraph>> compileFx(const GraphModule& module, const CompileOptions& options,
                                                 std::stop_token stop) {
  if (options.backend != "llvm") return fail(ErrorCode::BadUsage, "there is no backend '{}'", options.backend);
  CompilationRecord record;
  Stages stages(record.stages, stop);

  PlantedPass plantedPass(options.faults);
  KERF_TRY(GraphModule final, runPasses(module, options, plantedPass, record.passes));
  record.finalModule = std::make_shared<const GraphModule>(std::move(final));
  const Graph& graph = record.finalModule->graph;
  if (!graph.outputNode().valid()) return fail(ErrorCode::BadInput, "the graph has no output");
  KERF_TRY(PlantedOps planted, plantFaults(options.faults, graph));
  addPassStrikes(plantedPass, graph, planted);
  KERF_CHECK(stages.finish("passes"));

  KERF_TRY(ValueTable table, classifyValues(*record.finalModule, planted.results));
  auto values = std::make_shared<const ValueTable>(std::move(table));
  KERF_CHECK(stages.finish("lower"));

  KERF_TRY(const LoweredGraph lowered, scheduleGraph(values, options.fuse));
  record.plannedBytes = lowered.plannedBytes;
  record.unplannedBytes = lowered.unplannedBytes;
  KERF_CHECK(stages.finish("schedule"));

  const CodegenOptions codegen{options.optimizationLevel, options.keepArtifacts};
  KERF_TRY(const CompiledKernels kernels, compileKernels(generatedKernels(lowered), codegen));
  KERF_CHECK(stages.finish("codegen", kernels.linkTime));

  record.kernels = describeKernels(lowered, kernels, options.keepArtifacts);
  KERF_TRY(auto program, linkProgram(lowered, kernels, record.finalModule, planted));
  KERF_CHECK(stages.finish("link"));
  record.stages.back().time += kernels.linkTime;
  return std::make_unique<LlvmCompiledGraph>(std::move(record), std::move(program), referenceOps());
}

}  // namespace kerf::inline pipeline
