// compile_fx: the one straight function from a captured graph to a compiled one.
#pragma once

#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/passes/fault_plan.h"
#include "engine/passes/pass_manager.h"

namespace kerf::inline pipeline {

struct CompileOptions {
  std::string backend = "llvm";
  PassConfig passes;
  FaultPlan faults;
  std::vector<PassObserver*> observers;  ///< not owned
  bool fuse = true;
  int optimizationLevel = 2;  ///< LLVM -O level of the generated kernels
  bool keepArtifacts = true;  ///< loop IR and LLVM IR texts for display; off in candidate processes
  /// 16-bit values are rounded after every op, as eager does and Inductor with emulate_precision_casts; else fused
  /// kernels keep float32 in registers and round what they store, Inductor's default.
  bool roundsEachOp = true;
  std::set<std::string> unfused{};      ///< captured nodes that get kernels of their own
  std::set<std::string> interpreted{};  ///< captured nodes that no kernel is made for
  std::filesystem::path cache{};        ///< folder of machine code from earlier compilations; empty: none
};

/// One compilation: code, and what every stage left behind.
struct CompiledVariant {
  std::shared_ptr<const GraphModule> finalModule;
  std::vector<PassRecord> passes;
  std::vector<StageTime> stages;  ///< those of the passes, then the backend's
  std::unique_ptr<Executable> executable;
};

/// A runnable graph: callable with the captured graph's inputs, any number of times, one thread at a time; and what
/// every stage left behind. Code serves all sizes that its guards allow; for others the graph is compiled again.
class CompiledGraph {
 public:
  CompiledGraph(CompiledVariant first, GraphModule captured, CompileOptions options);

  /// Inputs as the placeholders of the captured graph; result as the Interpreter returns it (a tuple as a list).
  /// ShapeMismatch naming the guard when the inputs violate those of `maximumVariants` compilations.
  Result<Value> run(const ValueList& inputs, std::stop_token stop = {});
  /// How often the graph was compiled: once, and once for every time that no code fitted the inputs' sizes.
  int compilations() const { return m_compilations; }
  /// The guards that made it compile again, in order.
  const std::vector<GuardViolation>& recompilations() const { return m_violations; }

  // Of the newest compilation:
  const GraphModule& finalModule() const { return *newest().finalModule; }
  const std::vector<PassRecord>& passRecords() const { return newest().passes; }
  const std::vector<StageTime>& stageTimes() const { return newest().stages; }
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

/// BadUsage when a fault of `options` would hit nothing in `module`, or a pass or option does not exist.
Result<void> checkOptions(const GraphModule& module, const CompileOptions& options);

}  // namespace kerf::inline pipeline
