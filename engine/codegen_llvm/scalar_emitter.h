// ScalarEmitter: LLVM instructions for one scalar operation of loop IR, by torch's rules for NaN, bool and casts.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <span>

#include "engine/loops/loop_ir.h"

namespace kerf::inline codegen_llvm {

/// Values in registers: i1 for bool, i16 for bfloat16, half (or i16 without hardware conversion) for float16.
class ScalarEmitter {
 public:
  ScalarEmitter(llvm::Module& module, llvm::IRBuilder<>& builder, bool hardwareHalf)
      : m_module(module), m_b(builder), m_hardwareHalf(hardwareHalf) {}

  llvm::Type* registerType(DType dtype) const;
  /// As it lies in memory: i8 for bool.
  llvm::Type* memoryType(DType dtype) const;
  llvm::Value* fromMemory(llvm::Value* value, DType dtype);
  llvm::Value* toMemory(llvm::Value* value, DType dtype);

  llvm::Value* constant(const Expr& e) const;
  llvm::Value* convert(llvm::Value* value, DType from, DType to);
  llvm::Value* unary(ExprOp op, llvm::Value* a, DType dtype);
  llvm::Value* binary(ExprOp op, llvm::Value* a, llvm::Value* b, DType dtype);
  /// An i32 word of Philox-4x32-10 of an i64 key; the low half of `counter`, an i64, counts.
  llvm::Value* philox(llvm::Value* key, llvm::Value* counter, std::size_t word);
  llvm::Value* fma(llvm::Value* a, llvm::Value* b, llvm::Value* c);
  /// A float32 whose NaNs have no bits that bfloat16 cannot hold; they stay as they are.
  llvm::Value* roundToBFloat16(llvm::Value* value);
  /// The same bits of a bfloat16, but the quiet NaN for every NaN.
  llvm::Value* withQuietNan(llvm::Value* bits);
  /// Whether it is an elementary function that becomes arithmetic.
  static bool isWrittenOut(ExprOp op, DType dtype);
  /// Whether an operation that gives this is a call of the C library.
  static bool isLibraryCall(ExprOp op, DType dtype);

 private:
  /// exp(r) - 1, and a number whose last bits are n, of an exponential 2^n · exp(r).
  struct Power {
    llvm::Value* growth;
    llvm::Value* shifted;
  };
  Power power(llvm::Value* x);
  llvm::Value* scaled(llvm::Value* bits, const Power& power);
  llvm::Value* exponential(llvm::Value* x, bool wide);
  llvm::Value* polynomial(std::span<const double> terms, llvm::Value* x);
  llvm::Value* errorFunction(llvm::Value* x);
  llvm::Value* hyperbolicTangent(llvm::Value* x);
  llvm::Value* library(ExprOp op, std::initializer_list<llvm::Value*> args);
  llvm::Value* libraryCall(const std::string& name, const std::vector<llvm::Value*>& args);
  llvm::Value* compare(ExprOp op, llvm::Value* a, llvm::Value* b, DType dtype);
  llvm::Value* integerBinary(ExprOp op, llvm::Value* a, llvm::Value* b, DType dtype);
  llvm::Value* extremum(ExprOp op, llvm::Value* a, llvm::Value* b, DType dtype);
  llvm::Value* toFloat32(llvm::Value* value, DType from);
  llvm::Value* fromFloat32(llvm::Value* value, DType to);
  llvm::Value* floatToInteger(llvm::Value* value, DType to);
  llvm::Value* truncated(llvm::Value* value, llvm::Type* to);
  llvm::Value* helper(const char* name, llvm::Type* result, llvm::Value* argument);

  llvm::Module& m_module;
  llvm::IRBuilder<>& m_b;
  bool m_hardwareHalf;
};

/// Room on the stack from the start of a line of memory on: a vector across two of them takes twice as long.
llvm::AllocaInst* alignedRoom(llvm::IRBuilder<>& builder, llvm::Type* type);

}  // namespace kerf::inline codegen_llvm
