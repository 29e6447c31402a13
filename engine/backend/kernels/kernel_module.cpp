#include "engine/backend/kernels/kernel_module.h"

#include "engine/backend/kernels/host_kernels.h"
#include "engine/backend/kernels/kernel_info.h"
#include "engine/backend/kernels/link_program.h"
#include "engine/backend/kernels/nested_graphs.h"
#include "engine/backend/kernels/program_memory.h"
#include "engine/backend/kernels/shared_inputs.h"
#include "engine/backend/kernels/symbolic_program.h"
#include "engine/backend/stage_clock.h"
#include "engine/lower/write_out.h"
#include "engine/ops/core/op_registry.h"
#include "engine/runtime/program_runner.h"

namespace kerf::inline backend {

namespace {

/// The symbols of a graph that was compiled for one size of its inputs, and what they are there.
struct FixedSymbols {
  InputSymbols symbols;
  SymbolBindings values;
};

/// "codegen", with how much of it was not needed.
std::string codegenStage(const CompiledKernels& kernels) {
  if (kernels.cachedObjects == 0) return "codegen";
  return fmt::format("codegen ({} of {} objects cached)", kernels.cachedObjects, kernels.objects);
}

/// For the sizes of the example.
class FixedExecutable : public Executable {
 public:
  FixedExecutable(std::shared_ptr<const Program> program, std::shared_ptr<StepDevice> device, Artifacts artifacts,
                  std::optional<FixedSymbols> fixed)
      : m_runner(std::move(program), referenceOps(), std::move(device)),
        m_artifacts(std::move(artifacts)),
        m_fixed(std::move(fixed)) {}
  Result<Value> run(const ValueList& inputs, std::stop_token stop) override {
    return m_runner.run(inputs, std::move(stop));
  }
  const Artifacts& artifacts() const override { return m_artifacts; }
  void timeSteps(std::vector<StepTime>* times) override { m_runner.timeSteps(times); }
  Result<std::chrono::nanoseconds> timeOnDevice(int times) override { return m_runner.timeRuns(times); }
  std::optional<GuardViolation> violated(const ValueList& inputs) override {
    if (!m_fixed) return {};
    const auto values = m_fixed->symbols.bind(m_fixed->symbols.numbers(inputs));
    if (!values) return {};
    for (const auto& [name, value] : *values) {
      const auto known = m_fixed->values.find(name);
      if (known == m_fixed->values.end() || known->second == value) continue;
      return GuardViolation{
          fmt::format("Eq({}, {})", name, known->second), {}, {}, m_artifacts.fixedSizesReason, *values};
    }
    return {};
  }

 private:
  ProgramRunner m_runner;
  Artifacts m_artifacts;
  std::optional<FixedSymbols> m_fixed;
};

/// For every size that the guards allow.
class SymbolicExecutable : public Executable {
 public:
  SymbolicExecutable(SymbolicProgram program, std::shared_ptr<StepDevice> device, Artifacts artifacts)
      : m_program(std::move(program)),
        m_artifacts(std::move(artifacts)),
        m_runner(nullptr, referenceOps(), std::move(device)) {}
  Result<Value> run(const ValueList& inputs, std::stop_token stop) override {
    KERF_TRY(auto program, m_program.bind(inputs));
    if (m_runner.program() != program) m_runner.setProgram(std::move(program));
    return m_runner.run(inputs, std::move(stop));
  }
  const Artifacts& artifacts() const override { return m_artifacts; }
  void timeSteps(std::vector<StepTime>* times) override { m_runner.timeSteps(times); }
  Result<std::chrono::nanoseconds> timeOnDevice(int times) override { return m_runner.timeRuns(times); }
  std::optional<GuardViolation> violated(const ValueList& inputs) override {
    const auto violation = m_program.violated(inputs);
    return violation && *violation ? std::optional(**violation) : std::nullopt;
  }

 private:
  SymbolicProgram m_program;
  const Artifacts m_artifacts;
  ProgramRunner m_runner;
};

/// The texts of another generator behind the loop IR of the generated kernels.
void putTexts(const std::map<std::string, std::vector<KernelText>>& texts, std::vector<KernelInfo>& kernels) {
  for (KernelInfo& kernel : kernels)
    if (const auto found = texts.find(kernel.name); found != texts.end())
      kernel.texts.insert(kernel.texts.end(), found->second.begin(), found->second.end());
}

/// Runs `body` in the scope of `env`, if there is one; what symbols cannot do becomes the Error.
template <class Body>
auto inScope(ShapeEnv* env, Body&& body) -> decltype(body()) {
  if (env == nullptr) return body();
  try {
    const ShapeEnv::Scope scope(*env);
    auto result = body();
    env->setAsker({});
    return result;
  } catch (SymbolicFailure& failure) {
    env->setAsker({});
    return fail(std::move(failure.error.while_("lowering symbolic sizes")));
  }
}

class KernelModule : public LoweredModule {
 public:
  /// `env` holds the symbols of `graph`; null where there are none.
  KernelModule(std::shared_ptr<const GraphModule> original, std::shared_ptr<const GraphModule> module,
               std::shared_ptr<ShapeEnv> env, LoweredGraph graph, std::vector<StageTime> stages,
               const BackendOptions& options, MakeCode makeCode)
      : m_original(std::move(original)),
        m_module(std::move(module)),
        m_env(std::move(env)),
        m_graph(std::move(graph)),
        m_stages(std::move(stages)),
        m_options(options),
        m_makeCode(std::move(makeCode)) {}

  /// Sizes that the code is for although they were symbols, and why.
  void setFixedSizes(FixedSymbols fixed, std::string reason) {
    m_fixed = std::move(fixed);
    m_fixedSizesReason = std::move(reason);
  }

  Result<std::unique_ptr<Executable>> compile(std::stop_token stop) override {
    return inScope(m_env.get(), [&] { return compileInScope(std::move(stop)); });
  }

 private:
  Result<std::unique_ptr<Executable>> compileInScope(std::stop_token stop) {
    StageClock clock(std::move(stop));
    clock.times() = std::move(m_stages);
    KERF_TRY(const KernelCodes codes, m_makeCode(m_graph, m_module, m_options));
    const CompiledKernels& kernels = codes.kernels;
    KERF_CHECK(clock.finish(codegenStage(kernels), kernels.linkTime));
    Artifacts artifacts{.plannedBytes = m_graph.plannedBytes, .unplannedBytes = m_graph.unplannedBytes};
    artifacts.kernels = describeKernels(m_graph, kernels, m_original->graph, m_options.keepArtifacts);
    putTexts(codes.texts, artifacts.kernels);
    artifacts.objects = kernels.objects;
    artifacts.cachedObjects = kernels.cachedObjects;
    artifacts.fixedSizesReason = m_fixedSizesReason;
    if (m_env) {
      artifacts.plannedBytesText = m_graph.plannedText;
      artifacts.unplannedBytesText = m_graph.unplannedText;
      for (const SizeGuards& guards : sizeGuards()) guards.addTexts(artifacts.guards);
    }
    KERF_TRY(LinkedProgram linked, linkProgram(m_graph, kernels, m_module, m_original->graph));
    artifacts.memory = plannedMemory(linked.layout.program);
    if (codes.device && !m_env) KERF_CHECK(codes.device->plan(linked.layout.program));
    KERF_CHECK(clock.finish("link"));
    clock.times().back().time += kernels.linkTime;
    if (NestedGraphs::areCalledBy(*m_module)) {
      KERF_TRY(linked.layout.program.nested, compileNested(artifacts, clock.stop()));
      KERF_CHECK(clock.finish("nested"));
    }
    artifacts.stages = std::move(clock.times());
    GivenMemory memory = GivenMemory::of(linked.layout.program);
    return forAnyInputs(executable(std::move(linked), codes.device, std::move(artifacts)), std::move(memory),
                        otherExecutable());
  }

  /// Compiles once more, with calls that copy into inputs.
  MakeExecutable otherExecutable() const {
    BackendOptions options = m_options;
    options.storesCopies = false;
    return [module = m_original, options = std::move(options),
            makeCode = m_makeCode](std::stop_token stop) -> Result<std::unique_ptr<Executable>> {
      KERF_TRY(const auto lowered, lowerToKernels(module, options, makeCode, stop));
      return lowered->compile(std::move(stop));
    };
  }

  Result<std::shared_ptr<NestedGraphs>> compileNested(Artifacts& artifacts, const std::stop_token& stop) const {
    BackendOptions inner = m_options;
    inner.captured = nullptr;  // guards of this graph, over its own symbols
    inner.unfused.clear();     // names of this graph
    inner.interpreted.clear();
    const auto compile = [options = std::move(inner)](
                             std::shared_ptr<const GraphModule> graph,
                             const std::stop_token& token) -> Result<std::unique_ptr<Executable>> {
      KERF_TRY(const auto lowered, lowerToHostKernels(std::move(graph), options, token));
      return lowered->compile(token);
    };
    auto nested = std::make_shared<NestedGraphs>(m_module, compile);
    KERF_CHECK(nested->compileAll(stop));
    std::ranges::move(nested->kernels(), std::back_inserter(artifacts.kernels));
    artifacts.plannedBytes += nested->plannedBytes();
    artifacts.unplannedBytes += nested->unplannedBytes();
    return nested;
  }

  std::vector<SizeGuards> sizeGuards() const {
    std::vector<SizeGuards> guards{SizeGuards(m_env)};
    if (m_options.captured) guards.push_back(*m_options.captured);
    return guards;
  }

  std::unique_ptr<Executable> executable(LinkedProgram linked, std::shared_ptr<StepDevice> device,
                                         Artifacts artifacts) const {
    if (m_env)
      return std::make_unique<SymbolicExecutable>(
          SymbolicProgram(std::move(linked.layout), std::move(linked.sizes), sizeGuards()), std::move(device),
          std::move(artifacts));
    auto program = std::make_shared<const Program>(std::move(linked.layout.program));
    return std::make_unique<FixedExecutable>(std::move(program), std::move(device), std::move(artifacts), m_fixed);
  }

  std::shared_ptr<const GraphModule> m_original;  ///< before calls were written out
  std::shared_ptr<const GraphModule> m_module;
  std::shared_ptr<ShapeEnv> m_env;
  LoweredGraph m_graph;
  std::vector<StageTime> m_stages;
  BackendOptions m_options;
  MakeCode m_makeCode;
  std::optional<FixedSymbols> m_fixed;
  std::string m_fixedSizesReason;
};

/// Lowering, in the scope of a ShapeEnv or outside of any.
Result<std::unique_ptr<KernelModule>> lowerModule(std::shared_ptr<const GraphModule> original,
                                                  std::shared_ptr<ShapeEnv> env, const BackendOptions& options,
                                                  const MakeCode& makeCode, StageClock clock) {
  KERF_TRY(auto module, writeOut(original));
  KERF_TRY(ValueTable table, classifyValues(*module, {options.unfused, options.interpreted, options.serialLoops}));
  auto values = std::make_shared<const ValueTable>(std::move(table));
  KERF_CHECK(clock.finish("lower"));
  const auto layout = options.imagesChannelsLast ? ImageLayout::ChannelsLast : ImageLayout::AsRecorded;
  const auto copies = options.storesCopies ? InputCopies::InKernels : InputCopies::Calls;
  KERF_TRY(LoweredGraph graph, scheduleGraph(std::move(values), options.fuse, options.roundsEachOp, layout, copies));
  if (!options.sharesMemory) keepApart(graph);
  KERF_CHECK(clock.finish("schedule"));
  return std::make_unique<KernelModule>(std::move(original), std::move(module), std::move(env), std::move(graph),
                                        std::move(clock.times()), options, makeCode);
}

/// Guards are checked with what sizes tell; floats they do not.
Result<void> checkable(const ShapeEnv& env) {
  for (const ShapeGuard& guard : env.guards())
    for (const std::string& name : guard.expression.symbols())
      if (name.starts_with('z'))
        return fail(Error(ErrorCode::UnsupportedOp, fmt::format("the guard {} is on a float", guard.expression.text()),
                          {}, 0, guard.node));
  return {};
}

/// Shapes are derived once more, so that every guard on which they rest is known.
Result<std::unique_ptr<KernelModule>> lowerSymbolic(const GraphModule& module, const BackendOptions& options,
                                                    const MakeCode& makeCode, std::stop_token stop) {
  StageClock clock(std::move(stop));
  auto env = std::make_shared<ShapeEnv>();
  auto copy = std::make_shared<GraphModule>(module);
  KERF_CHECK(propagateShapes(*copy, *env));
  KERF_TRY(auto lowered,
           inScope(env.get(), [&] { return lowerModule(std::move(copy), env, options, makeCode, std::move(clock)); }));
  KERF_CHECK(checkable(*env));
  return lowered;
}

/// For the example's sizes alone: each symbol has to be what it was there.
Result<std::unique_ptr<KernelModule>> lowerFixed(const GraphModule& module, const std::string& reason,
                                                 const BackendOptions& options, const MakeCode& makeCode,
                                                 std::stop_token stop) {
  StageClock clock(std::move(stop));
  const InputSymbols symbols(module);
  KERF_TRY(const SymbolBindings values, symbols.bind(symbols.example()));
  KERF_TRY(GraphModule fixed, withoutSymbols(module));
  KERF_TRY(fixed, withNumbers(fixed, values));
  KERF_CHECK(propagateShapes(fixed));  // what the calls are refused for at these sizes
  KERF_TRY(auto lowered, lowerModule(std::make_shared<const GraphModule>(std::move(fixed)), nullptr, options, makeCode,
                                     std::move(clock)));
  lowered->setFixedSizes({symbols, values}, reason);
  return lowered;
}

}  // namespace

Result<std::unique_ptr<LoweredModule>> lowerToKernels(std::shared_ptr<const GraphModule> module,
                                                      const BackendOptions& options, MakeCode makeCode,
                                                      std::stop_token stop) {
  if (!InputSymbols(*module).any())
    return lowerModule(std::move(module), nullptr, options, makeCode, StageClock(std::move(stop)));
  auto symbolic = lowerSymbolic(*module, options, makeCode, stop);
  if (symbolic || symbolic.error().code == ErrorCode::Cancelled) return symbolic;
  const std::string reason = symbolic.error().text();
  auto fixed = lowerFixed(*module, reason, options, makeCode, std::move(stop));
  if (!fixed) return fail(std::move(symbolic).error());
  logAt(LogCategory::Compile, LogLevel::Warning, "compiled for the recorded sizes only: {}", reason);
  return fixed;
}

}  // namespace kerf::inline backend
