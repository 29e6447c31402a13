// Steps of arithmetic that the processor has an instruction for which LLVM does not find: calls in loops of single
// elements, which become those instructions once the loops take 16 elements at once, and plain arithmetic elsewhere.
//
//   x + 0x7fff + (x >> 16 & 1)    →    vpternlogd, vpdpwssd
//   x · 2^(n / 2) · 2^(n - n / 2)  →    vscalefps
//   a float32's upper half         →    vpermt2w of two registers
#pragma once

#include <llvm/IR/IRBuilder.h>

namespace kerf::inline codegen_llvm {

/// i32: the bits of a float32 and what rounds their upper half to nearest even, where that half is taken.
llvm::Value* roundedUp(llvm::IRBuilder<>& builder, llvm::Value* bits);
/// float32: sum · 2^n of a sum between 1/2 and 2, for n from -150 to 128, as the last bits of `shifted` hold it; where
/// the result is below the normal numbers it is rounded once.
llvm::Value* scaledByPower(llvm::IRBuilder<>& builder, llvm::Value* sum, llvm::Value* shifted);
/// What is stored of i16s that are upper halves of i32s, or chosen among such: the same, but packed where they lie.
llvm::Value* packedHalves(llvm::IRBuilder<>& builder, llvm::Value* halves);
/// Added to a small number, its last bits are the nearest whole one.
constexpr double wholeShift = 12582912.0;

}  // namespace kerf::inline codegen_llvm
