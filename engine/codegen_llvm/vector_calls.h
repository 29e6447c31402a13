// Calls of vector functions for however many elements a loop takes at once.
//
//   _ZGVeN16v_tanhf    →    kerf_tanhf: one value in all 16 lanes
//                           kerf_tanhf_8: eight values, the first one in the other lanes, too
//                           kerf_tanhf_32: two calls
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <string>
#include <vector>

namespace kerf::inline codegen_llvm {

struct VectorForm;

/// A function of the module that reads and writes no memory, declared where it is not known yet.
llvm::Function* pureFunction(llvm::Module& module, const std::string& name, llvm::Type* type, std::size_t operands);
llvm::Function* pureFunction(llvm::Module& module, const std::string& name, llvm::FunctionType* type);
/// A call with single values, which loops of any width may make a vector at a time; always by the one form, so that
/// neither its width nor what a loop leaves over changes any bit.
llvm::CallInst* callOfForm(llvm::IRBuilder<>& builder, const VectorForm& form,
                           const std::vector<llvm::Value*>& operands);
/// Makes it one of the widths that wait for loops to call them.
void markWidth(llvm::Function& function);
/// Whether a function is one of the widths that wait for loops to call them.
bool isWidthOfForm(const llvm::Function& function);
/// After vectorisation: widths become part of their callers; those that nobody took are dropped.
void settleWidths(llvm::Module& module);

}  // namespace kerf::inline codegen_llvm
