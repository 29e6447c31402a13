// compile_fx: the one straight function from a captured graph to a compiled one.
//
//     pre_grad → aten → functional → (joint) → decompositions → joint passes → partition → for each part:
//     post_grad → lowering → lower → schedule → codegen
#pragma once

#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/passes/fault_plan.h"
#include "engine/passes/manager/pass_manager.h"
#include "engine/pipeline/aot_front.h"
#include "engine/pipeline/compiler_passes.h"
#include "engine/pipeline/training_step.h"

namespace kerf::inline pipeline {

/// What the module is that compileFx gets, and what becomes of it.
enum class CompileGoal : std::uint8_t {
  Graph,      ///< a graph of any level that is run as it is: no AOTAutograd, no partition
  Inference,  ///< a forward graph, which AOTAutograd makes flat and functional
  Training,   ///< a forward graph, which AOTAutograd makes a joint graph; that is partitioned, both parts are compiled
  Joint,      ///< a joint graph: partitioned, both parts are compiled
};

struct CompileHooks {
  PassHooks passes{};
  PartitionHook partition{};  ///< in the place of partitionJoint
};

struct CompileOptions {
  std::string backend = "llvm";
  PassConfig passes;
  FaultPlan faults;
  std::vector<PassObserver*> observers;  ///< not owned
  bool fuse = true;
  int optimizationLevel = 2;  ///< LLVM -O level of the generated kernels
  bool sharesMemory = true;   ///< of intermediate results that are not needed at the same time (not of backend interp)
  bool keepArtifacts = true;  ///< loop IR and LLVM IR texts for display; off in candidate processes
  /// 16-bit values are rounded after every op, as eager does and Inductor with emulate_precision_casts; else fused
  /// kernels keep float32 in registers and round what they store, Inductor's default.
  bool roundsEachOp = true;
  std::set<std::string> unfused{};      ///< captured nodes that get kernels of their own
  std::set<std::string> interpreted{};  ///< captured nodes that no kernel is made for
  std::filesystem::path cache{};        ///< folder of machine code from earlier compilations; empty: none
  CompileGoal goal = CompileGoal::Graph;
  AotSettings aot{};             ///< of Inference and Training
  PartitionOptions partition{};  ///< of Joint; of Training too, which knows outputs and static inputs by itself
  double memoryBudget = 1;       ///< of the partition
  CompileHooks hooks{};
  StageListener onStage{};  ///< told of every stage when it is over, also where a later one fails
};

/// One compilation: code, and what every stage left behind.
struct CompiledVariant {
  std::shared_ptr<const GraphModule> finalModule;  ///< that was lowered; of a training step the joint graph
  std::shared_ptr<const AotGraph> traced;          ///< of Inference and Training, without its module; else null
  std::vector<PassRecord> passes;
  std::vector<StageRecord> stages;
  std::unique_ptr<Executable> executable;
};

/// A runnable graph: callable with the captured graph's inputs, any number of times, one thread at a time; and what
/// every stage left behind. Code serves all sizes that its guards allow; for others the graph is compiled again. What
/// AOTAutograd traced takes the inputs of traced() (tracedInputs), a training step tangents behind them, and returns
/// what the joint graph does.
class CompiledGraph {
 public:
  CompiledGraph(CompiledVariant first, GraphModule captured, CompileOptions options);

  /// Inputs as the placeholders of the captured graph; result as the Interpreter returns it (a tuple as a list).
  /// ShapeMismatch naming the guard when the inputs violate those of `maximumVariants` compilations.
  Result<Value> run(const ValueList& inputs, std::stop_token stop = {});
  /// Every run of the newest code from now on appends what its kernels took; null: none does.
  void timeSteps(std::vector<StepTime>* times) { newest().executable->timeSteps(times); }
  /// Executable::timeOnDevice of the code that ran last.
  Result<std::chrono::nanoseconds> timeOnDevice(int times) { return newest().executable->timeOnDevice(times); }
  /// How often the graph was compiled: once, and once for every time that no code fitted the inputs' sizes.
  int compilations() const { return m_compilations; }
  /// The guards that made it compile again, in order.
  const std::vector<GuardViolation>& recompilations() const { return m_violations; }

  // Of the newest compilation:
  const GraphModule& finalModule() const { return *newest().finalModule; }
  const std::vector<PassRecord>& passRecords() const { return newest().passes; }
  const std::vector<StageRecord>& stageRecords() const { return newest().stages; }
  /// Their titles and times.
  std::vector<StageTime> stageTimes() const;
  /// What AOTAutograd knows of inputs and outputs; null for CompileGoal::Graph and Joint.
  const AotGraph* traced() const { return newest().traced.get(); }
  const Artifacts& artifacts() const { return newest().executable->artifacts(); }
  const std::vector<KernelInfo>& kernels() const { return artifacts().kernels; }

  static constexpr std::size_t maximumVariants = 8;

 private:
  const CompiledVariant& newest() const { return m_variants.front(); }
  Result<void> compileFor(const GuardViolation& violation, std::stop_token stop);

  std::vector<CompiledVariant> m_variants;  ///< newest first
  const GraphModule m_captured;
  const CompileOptions m_options;  ///< without observers: they saw the first compilation
  int m_compilations = 1;
  std::vector<GuardViolation> m_violations;
};

/// Compiles `module` (placeholder metas must be set: shapes, dtypes, strides). CompileFailed / UnsupportedOp name the
/// node; BadUsage for a backend, pass or option that does not exist.
Result<std::unique_ptr<CompiledGraph>> compileFx(const GraphModule& module, const CompileOptions& options = {},
                                                 std::stop_token stop = {});

/// BadUsage when a fault of `options` would hit nothing in `module`, or a pass or option does not exist. Processes that
/// are forked to compile the module afterwards find what passes load once.
Result<void> checkOptions(const GraphModule& module, const CompileOptions& options);

}  // namespace kerf::inline pipeline
