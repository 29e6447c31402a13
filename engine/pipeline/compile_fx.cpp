#include "engine/pipeline/compile_fx.h"

#include <algorithm>
#include <mutex>
#include <span>

#include "engine/backend/input_symbols.h"
#include "engine/backend/registry/backends.h"
#include "engine/backend/size_guards.h"
#include "engine/ir/tensor_objects.h"
#include "engine/ops/core/foreign_call.h"
#include "engine/ops/core/op_registry.h"
#include "engine/passes/plant_faults.h"
#include "engine/patterns/fuse_attention.h"
#include "engine/pipeline/compiler_parts.h"
#include "engine/support/log.h"

namespace kerf::inline pipeline {

namespace {

bool isTraced(CompileGoal goal) { return goal == CompileGoal::Inference || goal == CompileGoal::Training; }
bool isTraining(CompileGoal goal) { return goal == CompileGoal::Training || goal == CompileGoal::Joint; }

/// A graph on its way from the joint passes to code: the whole one, or a part of a training step.
struct Section {
  std::string part;
  PassRun run;
};

/// The stages of one compilation, each with its record. compileVariant says in which order.
class Compilation {
 public:
  Compilation(const CompileOptions& options, std::vector<Pass> passes, std::stop_token stop)
      : m_options(options), m_manager(std::move(passes)), m_stages(options.onStage, std::move(stop)) {
    for (PassObserver* observer : options.observers) m_manager.addObserver(observer);
  }

  PassRun start(const GraphModule& module) const { return m_manager.start(module, m_stages.stop()); }

  Result<void> passes(PassRun& run, PassStage stage, const std::string& part = {}) {
    const Graph before = run.module().graph;
    const std::size_t known = run.records().size();
    KERF_CHECK(run.stage(stage));
    const auto done = std::span(run.records()).subspan(known);
    StageRecord record{.group = std::string(stageName(stage)), .name = std::string(stageName(stage)), .part = part};
    record.changed = std::ranges::any_of(done, &PassRecord::changed);
    return m_stages.finish(std::move(record), before, run.module().graph);
  }

  /// Ends a run; its records are kept.
  GraphModule finish(PassRun& run) {
    m_records.insert(m_records.end(), run.records().begin(), run.records().end());
    return run.finish();
  }

  Result<AotGraph> trace(const GraphModule& captured) {
    const AotStage last = m_options.goal == CompileGoal::Training ? AotStage::Joint : AotStage::Functional;
    return traceCaptured(captured, last, m_options.aot, m_stages);
  }

  /// A joint graph, with what AOTAutograd knows of it (null: nothing), as forward and backward graph.
  Result<TrainingStep> partition(GraphModule joint, const AotGraph* traced) {
    KERF_CHECK(propagateShapes(joint));  // passes may have left shapes unknown
    const PartitionOptions options = partitionOptions(traced);
    const auto partition = m_options.hooks.partition ? m_options.hooks.partition : PartitionHook(partitionJoint);
    const Graph whole = joint.graph;
    KERF_TRY(Partition parts, partition(std::move(joint), options, m_options.memoryBudget));
    KERF_TRY(TrainingStep step, trainingStep(whole, std::move(parts)));
    const std::string method = m_options.hooks.partition ? "partition_hook" : std::string(methodName(options.method));
    KERF_CHECK(m_stages.finish({.group = "partition", .name = method, .part = "forward", .changed = true}, whole,
                               step.forward.graph));
    KERF_CHECK(m_stages.finish({.group = "partition", .name = method, .part = "backward", .changed = true}, whole,
                               step.backward.graph));
    return step;
  }

  Result<std::unique_ptr<Executable>> generate(const std::shared_ptr<const GraphModule>& module,
                                               const std::shared_ptr<const SizeGuards>& captured,
                                               const std::string& part) {
    if (!module->graph.outputNode().valid()) return fail(ErrorCode::BadInput, "the graph has no output");
    KERF_TRY(const Backend* const backend, findBackend(m_options.backend));
    const BackendOptions options{.fuse = m_options.fuse,
                                 .optimizationLevel = m_options.optimizationLevel,
                                 .keepArtifacts = m_options.keepArtifacts,
                                 .roundsEachOp = m_options.roundsEachOp,
                                 .sharesMemory = m_options.sharesMemory,
                                 .unfused = m_options.unfused,
                                 .interpreted = m_options.interpreted,
                                 .captured = captured,
                                 .cache = m_options.cache};
    KERF_TRY(const auto lowered, backend->lower(module, options, m_stages.stop()));
    KERF_TRY(auto executable, lowered->compile(m_stages.stop()));
    const std::size_t nodes = module->graph.size();
    for (const StageTime& stage : executable->artifacts().stages)
      m_stages.add({.group = "backend",
                    .name = stage.stage,
                    .part = part,
                    .nodesBefore = nodes,
                    .nodesAfter = nodes,
                    .time = stage.time});
    m_stages.restart();
    return executable;
  }

  void describe(CompiledVariant& variant) {
    variant.passes = std::move(m_records);
    variant.stages = m_stages.records();
  }

 private:
  PartitionOptions partitionOptions(const AotGraph* traced) const {
    PartitionOptions options = m_options.partition;
    if (traced == nullptr) return options;
    options.joint.forwardOutputs = traced->mutatedOutputs + traced->userOutputs;
    options.joint.staticInputs.emplace();
    for (const AotInput& input : traced->metadata.inputs)
      if (input.kind == AotInput::Kind::Parameter || input.kind == AotInput::Kind::Buffer)
        options.joint.staticInputs->push_back(input.name);
    return options;
  }

  const CompileOptions& m_options;
  PassManager m_manager;
  StageRecorder m_stages;
  std::vector<PassRecord> m_records;
};

/// Whether every size of an input was recorded, beside its symbol.
bool hasExample(const Graph& graph) {
  return std::ranges::all_of(graph.placeholders(), [&](NodeId id) {
    const ValueMeta& meta = graph.node(id).meta().value;
    if (const SymMeta* number = meta.sym()) return number->expr.hint.has_value() || number->expr.text.empty();
    const TensorMeta* tensor = meta.tensor();
    return tensor == nullptr || std::ranges::all_of(tensor->sizes, [](const Dim& size) {
             return size.text.empty() || size.hint.has_value();
           });
  });
}

/// The one check of all calls before code is made, whatever the backend: by the shape rules, from the inputs on. What
/// a graph says of its own results may be wrong, and code that trusted it would reach outside of its buffers. Graphs
/// with symbols are checked at the sizes of their example; for others, guards are.
Result<GraphModule> checkedCalls(const GraphModule& module) {
  KERF_CHECK(checkSchemas(module));
  if (const InputSymbols symbols(module); symbols.any()) {
    const auto values = symbols.bind(symbols.example());
    if (values && hasExample(module.graph)) KERF_CHECK(checkNumbers(module, *values));
    return module;
  }
  GraphModule shaped = module;
  const auto done = propagateShapes(shaped);
  if (!done && done.error().code != ErrorCode::UnsupportedOp) return fail(done.error());
  return done ? std::move(shaped) : module;
}

Result<CompiledVariant> compileVariant(const GraphModule& given, const CompileOptions& options, std::stop_token stop) {
  KERF_CHECK(findBackend(options.backend));
  GraphModule captured = given;
  if (!isTraced(options.goal)) useReshapedTensors(captured);  // a trace follows them itself
  KERF_TRY(const GraphModule module, checkedCalls(captured));
  KERF_TRY(std::vector<Pass> passes, selectPasses(options.passes, compilerPasses()));
  passes = withFaults(withHooks(std::move(passes), options.hooks.passes), options.faults);
  std::ranges::copy(brokenParts(options), std::back_inserter(passes));
  Compilation work(options, std::move(passes), stop);
  CompiledVariant variant;
  PassRun run = work.start(module);
  KERF_CHECK(work.passes(run, PassStage::PreGrad));
  const auto guards = std::make_shared<const SizeGuards>(SizeGuards::ofShapes(module));
  if (isTraced(options.goal)) {
    KERF_TRY(AotGraph traced, work.trace(work.finish(run)));
    run = work.start(traced.module);
    traced.module = {};
    variant.traced = std::make_shared<const AotGraph>(std::move(traced));
  }
  KERF_CHECK(work.passes(run, PassStage::Joint));
  std::optional<TrainingStep> step;
  std::vector<Section> sections;
  if (isTraining(options.goal)) {
    variant.finalModule = std::make_shared<const GraphModule>(work.finish(run));
    KERF_TRY(step, work.partition(*variant.finalModule, variant.traced.get()));
    sections.push_back({"forward", work.start(step->forward)});
    sections.push_back({"backward", work.start(step->backward)});
  } else {
    sections.push_back({"", std::move(run)});
  }
  std::vector<std::unique_ptr<Executable>> code;
  for (Section& section : sections) {
    KERF_CHECK(work.passes(section.run, PassStage::PostGrad, section.part));
    KERF_CHECK(work.passes(section.run, PassStage::Lowering, section.part));
    const auto final = std::make_shared<const GraphModule>(work.finish(section.run));
    if (!step) variant.finalModule = final;
    KERF_TRY(auto executable, work.generate(final, guards, section.part));
    code.push_back(std::move(executable));
  }
  variant.executable =
      step ? trainingExecutable(std::move(*step), std::move(code[0]), std::move(code[1])) : std::move(code[0]);
  work.describe(variant);
  return variant;
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
  options.onStage = nullptr;
  return options;
}

}  // namespace

CompiledGraph::CompiledGraph(CompiledVariant first, GraphModule captured, CompileOptions options)
    : m_captured(std::move(captured)), m_options(withoutObservers(std::move(options))) {
  m_variants.push_back(std::move(first));
}

std::vector<StageTime> CompiledGraph::stageTimes() const {
  std::vector<StageTime> times;
  for (const StageRecord& record : newest().stages) times.push_back({record.title(), record.time});
  return times;
}

Result<Value> CompiledGraph::run(const ValueList& inputs, std::stop_token stop) {
  std::optional<GuardViolation> newestViolation;
  for (const CompiledVariant& variant : m_variants) {
    auto violation = variant.executable->violated(inputs);
    if (!violation) return variant.executable->run(inputs, std::move(stop));
    if (violation->deferred) {
      KERF_CHECK(checkNumbers(m_captured, violation->symbols));  // the words of the call, where it refuses these sizes
      return refused(*violation, "");
    }
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
  KERF_TRY(const std::vector<Pass> passes, selectPasses(options.passes, compilerPasses()));
  KERF_CHECK(findBackend(options.backend));
  loadPatternsFor(module);
  if (options.faults.empty()) return {};
  const PassManager manager(passes);
  PassRun run = manager.start(module);
  for (const PassStage stage : {PassStage::PreGrad, PassStage::Joint, PassStage::PostGrad})
    if (!run.stage(stage)) return {};  // compiling says what is wrong
  KERF_TRY(const FaultPlan elsewhere, checkPartFaults(options));
  return checkFaults(elsewhere, run.finish(), passes);
}

}  // namespace kerf::inline pipeline
