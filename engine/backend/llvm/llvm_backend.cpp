#include "engine/backend/llvm/llvm_backend.h"

#include "engine/backend/llvm/kernel_info.h"
#include "engine/backend/llvm/link_program.h"
#include "engine/backend/stage_clock.h"
#include "engine/ops/core/op_registry.h"
#include "engine/runtime/program_runner.h"

namespace kerf::inline backend {

namespace {

std::vector<const LoopKernel*> generatedKernels(const LoweredGraph& graph) {
  std::vector<const LoopKernel*> kernels;
  for (const LoweredStep& step : graph.steps)
    if (!step.isExtern) kernels.push_back(&step.kernel);
  return kernels;
}

class LlvmExecutable : public Executable {
 public:
  LlvmExecutable(std::shared_ptr<const Program> program, Artifacts artifacts)
      : m_runner(std::move(program), referenceOps()), m_artifacts(std::move(artifacts)) {}
  Result<Value> run(const ValueList& inputs, std::stop_token stop) override {
    return m_runner.run(inputs, std::move(stop));
  }
  const Artifacts& artifacts() const override { return m_artifacts; }

 private:
  ProgramRunner m_runner;
  Artifacts m_artifacts;
};

class LlvmModule : public LoweredModule {
 public:
  LlvmModule(std::shared_ptr<const GraphModule> module, LoweredGraph graph, std::vector<StageTime> stages,
             const BackendOptions& options)
      : m_module(std::move(module)), m_graph(std::move(graph)), m_stages(std::move(stages)), m_options(options) {}

  Result<std::unique_ptr<Executable>> compile(std::stop_token stop) override {
    StageClock clock(std::move(stop));
    clock.times() = std::move(m_stages);
    const CodegenOptions codegen{m_options.optimizationLevel, m_options.keepArtifacts};
    KERF_TRY(const CompiledKernels kernels, compileKernels(generatedKernels(m_graph), codegen));
    KERF_CHECK(clock.finish("codegen", kernels.linkTime));
    Artifacts artifacts{.plannedBytes = m_graph.plannedBytes, .unplannedBytes = m_graph.unplannedBytes};
    artifacts.kernels = describeKernels(m_graph, kernels, m_options.keepArtifacts);
    KERF_TRY(auto program, linkProgram(m_graph, kernels, m_module));
    KERF_CHECK(clock.finish("link"));
    clock.times().back().time += kernels.linkTime;
    artifacts.stages = std::move(clock.times());
    return std::make_unique<LlvmExecutable>(std::move(program), std::move(artifacts));
  }

 private:
  std::shared_ptr<const GraphModule> m_module;
  LoweredGraph m_graph;
  std::vector<StageTime> m_stages;
  BackendOptions m_options;
};

class LlvmBackend : public Backend {
 public:
  std::string_view name() const override { return "llvm"; }
  std::string_view description() const override { return "Compiles fused kernels with LLVM."; }
  Result<std::unique_ptr<LoweredModule>> lower(std::shared_ptr<const GraphModule> module, const BackendOptions& options,
                                               std::stop_token stop) const override {
    StageClock clock(std::move(stop));
    KERF_TRY(ValueTable table, classifyValues(*module));
    auto values = std::make_shared<const ValueTable>(std::move(table));
    KERF_CHECK(clock.finish("lower"));
    KERF_TRY(LoweredGraph graph, scheduleGraph(std::move(values), options.fuse));
    KERF_CHECK(clock.finish("schedule"));
    return std::make_unique<LlvmModule>(std::move(module), std::move(graph), std::move(clock.times()), options);
  }
};

}  // namespace

const Backend& llvmBackend() {
  static const LlvmBackend backend;
  return backend;
}

}  // namespace kerf::inline backend
