// The LLVM target of this machine: one-time initialisation, target machine, optimisation and object emission.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Target/TargetMachine.h>

#include <functional>
#include <memory>
#include <string>

namespace kerf::inline codegen_llvm {

/// Registers the native target and the fatal error handler, once per process.
void initializeLlvm();
/// For the host's processor; null where LLVM does not know it.
std::unique_ptr<llvm::TargetMachine> makeTargetMachine(int optimizationLevel);
/// Processor and its features, as code for it depends on them.
const std::string& targetText();
/// Whether the processor multiplies and adds with one rounding.
bool hasFusedProducts();
/// Whether it has registers of 16 float32s, and whether it multiplies words in them and adds the products.
bool hasWideRegisters();
bool hasWordProducts();
/// How many float32s a vector register holds; 0 where that is not known.
int floatsOfRegister();
/// Whether the processor converts float16 itself.
bool hasHardwareHalf();
/// The passes that loop kernels profit from, not all of -O2: promotion to registers, cleanup, vectorisation.
void optimize(llvm::Module& module, llvm::TargetMachine& machine, int optimizationLevel);
/// Assembly of a copy, for people; empty where the target has none.
std::string emitAssembly(const llvm::Module& module, llvm::TargetMachine& machine);
std::unique_ptr<llvm::MemoryBuffer> emitObject(llvm::Module& module, llvm::TargetMachine& machine);
/// Errors that LLVM reports while compiling in `context` are appended to `text` instead of ending the process.
void keepDiagnostics(llvm::LLVMContext& context, std::string& text);
/// Runs body; the message of a fatal LLVM error, which abandons body, or an empty string.
std::string guardFatalErrors(const std::function<void()>& body);

}  // namespace kerf::inline codegen_llvm
