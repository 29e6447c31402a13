// Program: what a compiled graph executes: slots that hold values, and steps that fill them.
#pragma once

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/ir/graph_module.h"
#include "engine/ir/op_caller.h"
#include "engine/symbolic/symbolic.h"

namespace kerf::inline runtime {

/// A generated kernel: buffer addresses, the range of its first loop to run, and the values of its parameters, if it
/// has any.
class KernelCode {
 public:
  KernelCode() = default;
  KernelCode(void* address, bool takesBounds) : m_address(address), m_takesBounds(takesBounds) {}
  void run(void* const* buffers, std::int64_t begin, std::int64_t end, const std::int64_t* bounds) const {
    if (m_takesBounds)
      reinterpret_cast<Bounded*>(m_address)(buffers, begin, end, bounds);
    else
      reinterpret_cast<Fixed*>(m_address)(buffers, begin, end);
  }

 private:
  using Fixed = void(void* const* buffers, std::int64_t begin, std::int64_t end);
  using Bounded = void(void* const* buffers, std::int64_t begin, std::int64_t end, const std::int64_t* bounds);
  void* m_address = nullptr;
  bool m_takesBounds = false;
};

/// The graphs nested in a program's graph, as code. One thread at a time.
class NestedCode {
 public:
  virtual ~NestedCode() = default;
  /// What the symbols of the graph around them are from now on.
  virtual void setSymbols(const SymbolBindings& symbols) = 0;
  /// What the nested graph at `path` gives, as Interpreter::run gives it. Errors name its nodes "path/node".
  virtual Result<Value> run(std::string_view path, const ValueList& args, std::stop_token stop) = 0;
};

enum class SlotKind : std::uint8_t {
  Input,     ///< the input of that position
  Constant,  ///< an attribute of the module, or a number that follows from the sizes of the inputs
  Arena,     ///< a place in the arena
  Fresh,     ///< storage of its own in every run
  Result,    ///< what an extern step gives: any value
};

struct Slot {
  SlotKind kind = SlotKind::Result;
  std::string name;  ///< FX node
  bool isTensor = true;
  DType dtype = DType::Float32;
  Sizes sizes, strides;
  std::int64_t arenaOffset = 0;  ///< bytes
  int input = -1;
  bool used = true;      ///< Arena: some step writes it
  bool mutated = false;  ///< Input: some step may write into it
  bool stored = false;   ///< Input: a generated kernel does, which is right where it shares no memory with another
  Value constant;
  Device device;  ///< Arena, Fresh: random ops draw from the generator of their input's device
};

/// How a node's value is found: a whole slot, or a strided look at its tensor (offset in elements).
struct SlotView {
  int slot = -1;
  bool whole = true;
  Sizes sizes, strides;
  std::int64_t offset = 0;
};

enum class StepKind : std::uint8_t {
  Kernel,  ///< generated code
  Mm,
  Addmm,
  Bmm,
  Convolution,  ///< library kernels that write into a planned slot
  Call,         ///< any op through the OpCaller
  HigherOrder,  ///< an op that calls nested graphs: the OpCaller does, as compiled code
  Subgraph,     ///< call_module of a nested graph: compiled code
  Interpret,    ///< a node that is no plain op (a tensor method, an opaque module): through the Interpreter
};

/// What one step of a run took.
struct StepTime {
  std::string name;  ///< "cpp_fused_add_mul_0"
  std::chrono::nanoseconds time{};
  std::int64_t liveBytes = 0;  ///< of all tensors of the process after it
  std::int64_t peakBytes = 0;  ///< the most while it ran
  bool onHost = false;         ///< a program of a device: the step ran on the host
};

struct Step {
  StepKind kind = StepKind::Kernel;
  std::string name;            ///< of the kernel: "cpp_fused_add_mul_0", "extern_addmm_1"
  NodeId node;                 ///< extern steps
  std::string nodeName;        ///< for errors
  int slot = -1;               ///< result of extern steps
  double alpha = 1, beta = 1;  ///< Addmm
  /// Convolution: the next step, a generated kernel, takes its result block by block: each iteration so many elements,
  /// one after the other. 0: it does not.
  std::int64_t followerElements = 0;
  bool followerTakesAll = false;  ///< nobody else reads the result
  std::vector<int> releases;      ///< slots that nobody needs after this step
  struct Piece {
    std::int64_t begin = 0, end = 0;  ///< bytes
  };
  std::vector<Piece> arenaDrops;  ///< of a large arena, that no later step needs: the system may have them back
  std::shared_ptr<const GraphModule> single;  ///< Interpret: a graph of this node alone
  // generated kernels
  KernelCode code;
  struct Pointer {
    int slot = -1;
    std::int64_t byteOffset = 0;
  };
  std::vector<Pointer> pointers;
  Sizes bounds;  ///< of the kernel's parameters
  /// Every element of a tensor of indices, checked before the kernel reads memory by it.
  struct IndexCheck {
    NodeId node;
    std::string opName;
    std::int64_t size = 0, dim = 0;
    bool mayBeNegative = false;
  };
  std::vector<IndexCheck> indexChecks;
  /// A reduction of everything or to few columns: its pieces, each `chunk` of `size` iterations, gather `values` of 8
  /// bytes each; the kernel gets their place as a last pointer, and is called once more, with `begin` -1 and the pieces
  /// as `end`.
  struct Shared {
    std::int64_t pieces = 0, chunk = 0, size = 0, values = 0;
  };
  Shared shared;
  std::int64_t outerSize = 1;       ///< iterations of the loop that is divided
  std::int64_t workPerOuter = 1;    ///< elements times cost of one iteration
  std::int64_t fewestPerPiece = 1;  ///< iterations that one thread takes at least
};

/// For inputs of certain sizes: all numbers are known.
struct Program {
  std::shared_ptr<const GraphModule> module;
  std::vector<Slot> slots;
  std::vector<SlotView> views;  ///< by NodeId::index
  std::vector<Step> steps;
  std::int64_t arenaBytes = 0;
  std::shared_ptr<void> code;          ///< keeps the kernels' machine code
  std::shared_ptr<NestedCode> nested;  ///< null where no step calls a graph
};

}  // namespace kerf::inline runtime
