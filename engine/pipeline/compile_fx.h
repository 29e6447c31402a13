// compile_fx: the one straight function from a captured graph to a compiled one.
#pragma once

#include <memory>
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
};

/// A runnable graph: callable with the captured graph's inputs, any number of times, one thread at a time; and what
/// every stage left behind.
class CompiledGraph {
 public:
  CompiledGraph(std::shared_ptr<const GraphModule> finalModule, std::vector<PassRecord> passes,
                std::vector<StageTime> stages, std::unique_ptr<Executable> executable);

  /// Inputs as the placeholders of the captured graph; result as the Interpreter returns it (a tuple as a list).
  Result<Value> run(const ValueList& inputs, std::stop_token stop = {}) {
    return m_executable->run(inputs, std::move(stop));
  }
  const GraphModule& finalModule() const { return *m_finalModule; }
  const std::vector<PassRecord>& passRecords() const { return m_passes; }
  const std::vector<StageTime>& stageTimes() const { return m_stages; }
  const Artifacts& artifacts() const { return m_executable->artifacts(); }
  const std::vector<KernelInfo>& kernels() const { return artifacts().kernels; }

 private:
  std::shared_ptr<const GraphModule> m_finalModule;
  std::vector<PassRecord> m_passes;
  std::vector<StageTime> m_stages;  ///< those of the passes, then the backend's
  std::unique_ptr<Executable> m_executable;
};

/// Compiles `module` (placeholder metas must be set: shapes, dtypes, strides). CompileFailed / UnsupportedOp name the
/// node; BadUsage for a backend, pass or option that does not exist.
Result<std::unique_ptr<CompiledGraph>> compileFx(const GraphModule& module, const CompileOptions& options = {},
                                                 std::stop_token stop = {});

/// BadUsage when a fault of `options` would hit nothing in `module`, or a pass or option does not exist.
Result<void> checkOptions(const GraphModule& module, const CompileOptions& options);

}  // namespace kerf::inline pipeline
