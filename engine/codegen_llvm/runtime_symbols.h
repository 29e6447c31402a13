// runtimeSymbols: everything outside of itself that generated code may call.
#pragma once

#include <span>

namespace kerf::inline codegen_llvm {

struct RuntimeSymbol {
  const char* name;
  void* address;
};

/// The functions that are called by name, and those that LLVM makes of them or of plain instructions: sincosf of sinf
/// and cosf, memset of a loop, __truncsfhf2 of a conversion.
std::span<const RuntimeSymbol> runtimeSymbols();

}  // namespace kerf::inline codegen_llvm
