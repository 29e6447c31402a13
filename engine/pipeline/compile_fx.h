// compile_fx: the one straight function from a captured graph to a compiled one.
#pragma once

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/ir/graph_module.h"
#include "engine/passes/fault_plan.h"
#include "engine/passes/pass_manager.h"
#include "engine/tensor/value.h"

namespace kerf::inline pipeline {

struct CompileOptions {
  std::string backend = "llvm";  ///< "llvm" (later "cuda")
  FaultPlan faults;
  std::vector<PassObserver*> observers;  ///< not owned
  bool fuse = true;
  int optimizationLevel = 2;  ///< LLVM -O level of the generated kernels
  bool keepArtifacts = true;  ///< loop IR and LLVM IR texts for display; off in candidate processes
};

/// One scheduled piece of the compiled graph, for display and provenance.
struct KernelInfo {
  std::string name;                        ///< "cpp_fused_add_mul_0", "extern_addmm_1"
  std::string kind;                        ///< "fused", "extern", "view"
  std::vector<std::string> nodes;          ///< FX nodes of the final graph that it computes
  std::vector<std::string> capturedNodes;  ///< captured nodes they came from
  std::string loopIr;                      ///< loop IR text, empty for extern
  std::string code;                        ///< LLVM IR text, empty for extern or without keepArtifacts
  std::string reason;                      ///< why an extern kernel: "gemm", "convolution", "not lowered"
};

struct StageTime {
  std::string stage;
  std::chrono::nanoseconds time{};
};

/// A runnable graph: callable with the captured graph's inputs, any number of times, one thread at a time.
class CompiledGraph {
 public:
  virtual ~CompiledGraph() = default;
  /// Inputs as the placeholders of the captured graph; result as the Interpreter returns it (a tuple as a list).
  virtual Result<Value> run(const ValueList& inputs, std::stop_token stop = {}) = 0;
  virtual const GraphModule& finalModule() const = 0;
  virtual const std::vector<KernelInfo>& kernels() const = 0;
  virtual const std::vector<PassRecord>& passRecords() const = 0;
  virtual const std::vector<StageTime>& stageTimes() const = 0;
  /// Bytes of intermediate buffers with and without reuse.
  virtual std::int64_t plannedBytes() const = 0;
  virtual std::int64_t unplannedBytes() const = 0;
};

/// Compiles `module` (placeholder metas must be set: shapes, dtypes, strides). CompileFailed / UnsupportedOp name the
/// node.
Result<std::unique_ptr<CompiledGraph>> compileFx(const GraphModule& module, const CompileOptions& options = {},
                                                 std::stop_token stop = {});

}  // namespace kerf::inline pipeline
