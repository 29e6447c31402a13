// KernelCompiler: loop kernels to machine code through LLVM ORC. Equal kernels are compiled once.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/loops/loop_ir.h"
#include "engine/runtime/program.h"
#include "engine/support/result.h"

namespace kerf::inline codegen_llvm {

struct CodegenOptions {
  int optimizationLevel = 2;
  bool keepText = true;              ///< LLVM IR after optimisation and assembly, for display
  std::filesystem::path cache = {};  ///< folder of object code from earlier compilations; empty: none
};

/// Machine code of one kernel; several kernels of one structure share it.
struct CompiledKernel {
  KernelCode code;
  std::string text, assembly;
  /// By line of these: the line of printLoopIr() that it comes from, 1-based; 0: none.
  std::vector<int> textLines, assemblyLines;
};

/// Keeps the code's memory alive.
class MachineCode {
 public:
  virtual ~MachineCode() = default;
};

struct CompiledKernels {
  std::vector<CompiledKernel> kernels;  ///< one per kernel asked for
  std::size_t distinct = 0;
  std::size_t objects = 0, cachedObjects = 0;  ///< LLVM modules, and how many of them came out of the cache
  std::shared_ptr<MachineCode> code;
  std::chrono::nanoseconds linkTime{};
};

/// CompileFailed with LLVM's message when code generation refuses a kernel.
Result<CompiledKernels> compileKernels(std::span<const LoopKernel* const> kernels, const CodegenOptions& options);

}  // namespace kerf::inline codegen_llvm
