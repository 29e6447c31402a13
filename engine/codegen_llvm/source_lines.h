// SourceLines: from which line of a kernel's loop IR an instruction comes, carried through LLVM as debug locations.
//
//     6:  %2: f32 = add %0, %1   →   %sum = fadd float %a, %b   →   vaddps %ymm1, %ymm0, %ymm0
#pragma once

#include <llvm/IR/DIBuilder.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <string>
#include <vector>

#include "engine/loops/loop_ir.h"

namespace kerf::inline codegen_llvm {

/// Places of a kernel's parts in printLoopIr(), 1-based.
struct LoopLines {
  explicit LoopLines(const LoopKernel& kernel)
      : variables(2 + int(kernel.buffers.size())),
        exprs(variables + int(kernel.variables.size())),
        stores(exprs + int(kernel.exprs.size())) {}
  int variables = 0, exprs = 0, stores = 0;  ///< the first of each
};

/// Of one module. Only `.loc` directives come of it, no debug sections.
class SourceLines {
 public:
  explicit SourceLines(llvm::Module& module);
  void begin(llvm::Function& function);
  /// Of the function that was begun last.
  llvm::DebugLoc at(int line) const;
  /// To be called when all functions are there.
  void finish() { m_builder.finalize(); }

 private:
  llvm::DIBuilder m_builder;
  llvm::DIFile* m_file;
  llvm::DISubprogram* m_function = nullptr;
};

/// While it lives, instructions come from a line; those before and after it from another.
class LineScope {
 public:
  /// `lines` null: nothing is kept of lines.
  LineScope(llvm::IRBuilder<>& builder, const SourceLines* lines, int line);
  ~LineScope() { m_builder.SetCurrentDebugLocation(m_before); }
  LineScope(const LineScope&) = delete;
  LineScope& operator=(const LineScope&) = delete;

 private:
  llvm::IRBuilder<>& m_builder;
  llvm::DebugLoc m_before;
};

/// Code for people, with the line of the loop IR that each of its lines comes from, 1-based; 0: none.
struct LinedText {
  std::string text;
  std::vector<int> lines;
};

/// LLVM IR without what only carries the lines.
LinedText irText(const llvm::Function& function);
/// Instructions and labels of one function out of the assembly of its module.
LinedText assemblyOf(const std::string& moduleText, const std::string& function);

}  // namespace kerf::inline codegen_llvm
