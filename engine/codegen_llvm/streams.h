// Streamed results: stores past the caches, of what no cache would hold until somebody reads it.
#pragma once

#include <llvm/IR/Module.h>

#include <cstdint>

namespace kerf::inline codegen_llvm {

constexpr std::int64_t lineBytes = 64;  ///< of a cache

/// Bytes of results from which on they are streamed (streamedFrom). The largest number where LLVM knows of no vectors
/// to stream.
std::int64_t streamThreshold();

/// What was streamed before is seen by other threads after it.
void finishStreams();

/// A scope of aliases that marks stores whose vectors begin at whole vectors of memory.
llvm::MDNode* makeStreamScope(llvm::LLVMContext& context);
/// Makes the vectors among the stores with such a scope stream. After vectorisation, which would leave loops alone
/// whose elements do: a single element is no whole vector.
void streamMarkedStores(llvm::Module& module);

}  // namespace kerf::inline codegen_llvm
