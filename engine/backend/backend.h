// Backend: how a graph that all passes have seen becomes something that runs, and what it leaves to look at.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "engine/ir/graph_module.h"
#include "engine/runtime/program.h"
#include "engine/symbolic/symbolic.h"
#include "engine/tensor/value.h"

namespace kerf::inline backend {

class SizeGuards;

struct BackendOptions {
  bool fuse = true;
  int optimizationLevel = 2;        ///< as -O of the code generator
  bool keepArtifacts = true;        ///< texts of kernels for display; off in candidate processes
  bool roundsEachOp = true;         ///< 16-bit values inside of kernels too, as eager; else only what is stored
  bool sharesMemory = true;         ///< of intermediate results that are not needed at the same time
  bool imagesChannelsLast = false;  ///< intermediate images of convolutions, whatever layout was recorded
  bool serialLoops = false;         ///< loops for scans and for writes at computed places, not calls
  bool storesCopies = true;         ///< kernels copy what they compute into inputs, unless inputs share memory in a run
  // Names of nodes of the captured graph; backends without kernels ignore them.
  std::set<std::string> unfused{};      ///< each in a kernel of its own
  std::set<std::string> interpreted{};  ///< by the interpreter's kernels
  /// Under which passes changed the graph; null: under none.
  std::shared_ptr<const SizeGuards> captured = nullptr;
  std::filesystem::path cache = {};  ///< folder of machine code from earlier compilations; empty: none
};

/// A kernel's code in one form: "loop" (loop IR), "llvm".
struct KernelText {
  std::string format, text;
};

/// One scheduled piece of a compiled graph, for display and provenance.
struct KernelInfo {
  std::string name;                        ///< "cpp_fused_add_mul_0", "extern_addmm_1"
  std::string kind;                        ///< "fused", "extern", "view", "interpreted"
  std::vector<std::string> nodes;          ///< FX nodes of the final graph that it computes
  std::vector<std::string> capturedNodes;  ///< captured nodes they came from
  std::vector<KernelText> texts;           ///< none for extern kernels or without keepArtifacts
  std::string reason;                      ///< why an extern kernel: "gemm", "convolution", "not lowered"
  double bytes = 0, flops = 0;             ///< that it moves and computes at the example's sizes

  /// The code in one form; empty if there is none.
  std::string_view text(std::string_view format) const;
};

struct StageTime {
  std::string stage;
  std::chrono::nanoseconds time{};
};

/// Bytes of a compiled graph's own values while a step runs, as planned.
struct StepMemory {
  std::string name;  ///< of its kernel
  std::int64_t bytes = 0;
};

/// What a compilation leaves beside the code.
struct Artifacts {
  std::vector<KernelInfo> kernels;
  std::vector<StageTime> stages;    ///< of lowering and compiling, in order
  std::int64_t plannedBytes = 0;    ///< intermediate buffers
  std::int64_t unplannedBytes = 0;  ///< what they would take without reuse
  std::vector<StepMemory> memory;   ///< in the order in which steps run, at the example's sizes
  // Of graphs with symbols, whose bytes above are those of the example:
  std::string plannedBytesText;     ///< bytes in use at the step where the example has most in use: "4*s0*s1 + 256"
  std::string unplannedBytesText;   ///< sum over the buffers
  std::vector<std::string> guards;  ///< what sizes must satisfy to be run by this code: "Ne(s0, 1)"
  std::size_t objects = 0, cachedObjects = 0;  ///< pieces of machine code, and how many came out of the cache
  std::string fixedSizesReason;                ///< why the code serves one size only; empty if it does not
};

/// A condition under which code was made, false for some inputs.
struct GuardViolation {
  std::string guard;       ///< "Ne(s0, 1)"
  std::string node;        ///< FX node that needed it, if known
  std::string where;       ///< "model.py:12" of that node
  std::string reason;      ///< "specialised: its value was needed"; mostly empty
  SymbolBindings symbols;  ///< of the inputs
  bool deferred = false;   ///< an assertion of the program: other code would refuse these inputs too

  /// "the guard Ne(s0, 1) does not hold for s0 = 1"
  std::string text() const;
};

/// A graph in a backend's machine code. It serves all sizes for which its guards hold. One thread at a time.
class Executable {
 public:
  virtual ~Executable() = default;
  /// Inputs as the placeholders of the graph; result as the Interpreter returns it (a tuple as a list).
  virtual Result<Value> run(const ValueList& inputs, std::stop_token stop) = 0;
  virtual const Artifacts& artifacts() const = 0;
  /// The first guard that these inputs violate, if they fit otherwise; run() would be ShapeMismatch with its text.
  virtual std::optional<GuardViolation> violated(const ValueList&) { return {}; }
  /// Every run from now on appends what its kernels took (names as in KernelInfo); null: none does. Backends without
  /// kernels append nothing.
  virtual void timeSteps(std::vector<StepTime>*) {}
  /// The mean of `times` runs on a device that holds everything already, after two runs by run(). NotFound where there
  /// is no device, or where steps need the host.
  virtual Result<std::chrono::nanoseconds> timeOnDevice(int) {
    return fail(ErrorCode::NotFound, "the graph runs on no device");
  }
};

/// A graph in a backend's own terms: kernels, buffers, order.
class LoweredModule {
 public:
  virtual ~LoweredModule() = default;
  /// Makes code; at most once.
  virtual Result<std::unique_ptr<Executable>> compile(std::stop_token stop) = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  virtual std::string_view description() const = 0;  ///< one sentence
  /// Environment naming what this machine lacks to run the code; starts nothing on a device, so that a fork may follow.
  virtual Result<void> canRun() const { return {}; }
  /// Whether its driver reserves addresses for more memory than the code takes, and takes seconds to start: limits on
  /// both say nothing of the graph.
  virtual bool isDevice() const { return false; }
  /// CompileFailed / UnsupportedOp name the node.
  virtual Result<std::unique_ptr<LoweredModule>> lower(std::shared_ptr<const GraphModule> module,
                                                       const BackendOptions& options, std::stop_token stop) const = 0;
};

}  // namespace kerf::inline backend
