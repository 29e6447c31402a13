#include "engine/codegen_llvm/scalar_emitter.h"

#include <llvm/IR/Intrinsics.h>

#include <algorithm>
#include <limits>

#include "engine/codegen_llvm/target.h"
#include "engine/codegen_llvm/vector_calls.h"
#include "engine/codegen_llvm/vector_functions.h"
#include "engine/codegen_llvm/vector_steps.h"

namespace kerf::inline codegen_llvm {
namespace {

using namespace llvm;

bool isUnsigned(DType dtype) { return dtype >= DType::UInt64 && dtype <= DType::UInt8; }
bool isHalfType(DType dtype) { return dtype == DType::Float16 || dtype == DType::BFloat16; }

constexpr std::uint16_t quietNan = 0x7fc0;  ///< of bfloat16

struct FloatFunction {
  ExprOp op;
  Intrinsic::ID intrinsic;  ///< not_intrinsic: a call of the C library, which loops may make a vector at a time
  const char* name;         ///< float64's; float32's has an f behind it
};

constexpr FloatFunction functions[] = {
    {ExprOp::Abs, Intrinsic::fabs, ""},
    {ExprOp::Exp, Intrinsic::not_intrinsic, "exp"},
    {ExprOp::Exp2, Intrinsic::not_intrinsic, "exp2"},
    {ExprOp::Log, Intrinsic::not_intrinsic, "log"},
    {ExprOp::Log2, Intrinsic::not_intrinsic, "log2"},
    {ExprOp::Log10, Intrinsic::not_intrinsic, "log10"},
    {ExprOp::Sqrt, Intrinsic::sqrt, ""},
    {ExprOp::Sin, Intrinsic::not_intrinsic, "sin"},
    {ExprOp::Cos, Intrinsic::not_intrinsic, "cos"},
    {ExprOp::Floor, Intrinsic::floor, ""},
    {ExprOp::Ceil, Intrinsic::ceil, ""},
    {ExprOp::Trunc, Intrinsic::trunc, ""},
    {ExprOp::RoundEven, Intrinsic::rint, ""},
    {ExprOp::CopySign, Intrinsic::copysign, ""},
    {ExprOp::Pow, Intrinsic::not_intrinsic, "pow"},
    {ExprOp::Expm1, Intrinsic::not_intrinsic, "expm1"},
    {ExprOp::Log1p, Intrinsic::not_intrinsic, "log1p"},
    {ExprOp::Tan, Intrinsic::not_intrinsic, "tan"},
    {ExprOp::Asin, Intrinsic::not_intrinsic, "asin"},
    {ExprOp::Acos, Intrinsic::not_intrinsic, "acos"},
    {ExprOp::Atan, Intrinsic::not_intrinsic, "atan"},
    {ExprOp::Sinh, Intrinsic::not_intrinsic, "sinh"},
    {ExprOp::Cosh, Intrinsic::not_intrinsic, "cosh"},
    {ExprOp::Tanh, Intrinsic::not_intrinsic, "tanh"},
    {ExprOp::Asinh, Intrinsic::not_intrinsic, "asinh"},
    {ExprOp::Acosh, Intrinsic::not_intrinsic, "acosh"},
    {ExprOp::Atanh, Intrinsic::not_intrinsic, "atanh"},
    {ExprOp::Erf, Intrinsic::not_intrinsic, "erf"},
    {ExprOp::Erfc, Intrinsic::not_intrinsic, "erfc"},
    {ExprOp::Fmod, Intrinsic::not_intrinsic, "fmod"},
    {ExprOp::Atan2, Intrinsic::not_intrinsic, "atan2"},
    {ExprOp::Hypot, Intrinsic::not_intrinsic, "hypot"},
};

struct Comparison {
  ExprOp op;
  CmpInst::Predicate floating, isSigned, isUnsigned;
};
constexpr Comparison comparisons[] = {
    {ExprOp::Eq, CmpInst::FCMP_OEQ, CmpInst::ICMP_EQ, CmpInst::ICMP_EQ},
    {ExprOp::Ne, CmpInst::FCMP_UNE, CmpInst::ICMP_NE, CmpInst::ICMP_NE},
    {ExprOp::Lt, CmpInst::FCMP_OLT, CmpInst::ICMP_SLT, CmpInst::ICMP_ULT},
    {ExprOp::Le, CmpInst::FCMP_OLE, CmpInst::ICMP_SLE, CmpInst::ICMP_ULE},
    {ExprOp::Gt, CmpInst::FCMP_OGT, CmpInst::ICMP_SGT, CmpInst::ICMP_UGT},
    {ExprOp::Ge, CmpInst::FCMP_OGE, CmpInst::ICMP_SGE, CmpInst::ICMP_UGE},
};

}  // namespace

Type* ScalarEmitter::registerType(DType dtype) const {
  if (dtype == DType::Bool) return m_b.getInt1Ty();
  return memoryType(dtype);
}

Type* ScalarEmitter::memoryType(DType dtype) const {
  switch (dtype) {
    case DType::Float64:
      return m_b.getDoubleTy();
    case DType::Float32:
      return m_b.getFloatTy();
    case DType::Float16:
      return m_hardwareHalf ? m_b.getHalfTy() : static_cast<Type*>(m_b.getInt16Ty());
    default:
      return m_b.getIntNTy(unsigned(itemSize(dtype)) * 8);
  }
}

Value* ScalarEmitter::fromMemory(Value* value, DType dtype) {
  return dtype == DType::Bool ? m_b.CreateICmpNE(value, m_b.getInt8(0)) : value;
}

Value* ScalarEmitter::toMemory(Value* value, DType dtype) {
  return dtype == DType::Bool ? m_b.CreateZExt(value, m_b.getInt8Ty()) : value;
}

Value* ScalarEmitter::constant(const Expr& e) const {
  Type* type = registerType(e.dtype);
  if (type->isFloatingPointTy())
    return ConstantFP::get(type, e.dtype == DType::Float32 ? double(float(e.real)) : e.real);
  return ConstantInt::get(type, std::uint64_t(e.integer), true);
}

Value* ScalarEmitter::helper(const char* name, Type* result, Value* argument) {
  auto callee = m_module.getOrInsertFunction(name, FunctionType::get(result, {argument->getType()}, false));
  auto* function = cast<Function>(callee.getCallee());
  function->setMemoryEffects(MemoryEffects::none());
  function->setDoesNotThrow();
  function->setWillReturn();
  return m_b.CreateCall(callee, {argument});
}

Value* ScalarEmitter::toFloat32(Value* value, DType from) {
  if (from == DType::BFloat16)
    return m_b.CreateBitCast(m_b.CreateShl(m_b.CreateZExt(value, m_b.getInt32Ty()), 16), m_b.getFloatTy());
  if (m_hardwareHalf) return m_b.CreateFPExt(value, m_b.getFloatTy());
  return helper("kerf_half_to_float", m_b.getFloatTy(), value);
}

/// Rounds to nearest even; every NaN becomes the quiet one.
Value* ScalarEmitter::fromFloat32(Value* value, DType to) {
  if (to == DType::Float16 && m_hardwareHalf) return m_b.CreateFPTrunc(value, m_b.getHalfTy());
  if (to == DType::Float16) return helper("kerf_float_to_half", m_b.getInt16Ty(), value);
  Value* isNan = m_b.CreateFCmpUNO(value, value);
  return m_b.CreateSelect(isNan, m_b.getInt16(quietNan), roundToBFloat16(value));
}

Value* ScalarEmitter::roundToBFloat16(Value* value) {
  Value* bits = roundedUp(m_b, m_b.CreateBitCast(value, m_b.getInt32Ty()));
  return m_b.CreateTrunc(m_b.CreateLShr(bits, 16), m_b.getInt16Ty());
}

Value* ScalarEmitter::withQuietNan(Value* bits) {
  Value* isNan = m_b.CreateICmpUGT(m_b.CreateAnd(bits, m_b.getInt16(0x7fff)), m_b.getInt16(0x7f80));
  return m_b.CreateSelect(isNan, m_b.getInt16(quietNan), bits);
}

/// x86's truncation: out of range and NaN give the lowest value.
Value* ScalarEmitter::truncated(Value* value, Type* to) {
  const unsigned bits = to->getIntegerBitWidth();
  Type* type = value->getType();
  Value* low = ConstantFP::get(type, -std::ldexp(1.0, int(bits) - 1));
  Value* high = ConstantFP::get(type, std::ldexp(1.0, int(bits) - 1));
  Value* inside = m_b.CreateAnd(m_b.CreateFCmpOGE(value, low), m_b.CreateFCmpOLT(value, high));
  Value* safe = m_b.CreateSelect(inside, value, ConstantFP::get(type, 0.0));
  Value* lowest = ConstantInt::get(to, APInt::getSignedMinValue(bits));
  return m_b.CreateSelect(inside, m_b.CreateFPToSI(safe, to), lowest);
}

Value* ScalarEmitter::floatToInteger(Value* value, DType to) {
  const bool narrow = to == DType::Int32 || to == DType::Int16 || to == DType::Int8;
  if (to == DType::UInt64) {
    Value* half = ConstantFP::get(value->getType(), 0x1p63);
    Value* upper = m_b.CreateFCmpOGE(value, half);
    Value* shifted = m_b.CreateSelect(upper, m_b.CreateFSub(value, half), value);
    Value* whole = truncated(shifted, m_b.getInt64Ty());
    return m_b.CreateSelect(upper, m_b.CreateXor(whole, m_b.getInt64(1ull << 63)), whole);
  }
  Value* whole = truncated(value, narrow ? m_b.getInt32Ty() : m_b.getInt64Ty());
  return m_b.CreateTrunc(whole, memoryType(to));
}

Value* ScalarEmitter::convert(Value* value, DType from, DType to) {
  if (from == to) return value;
  if (isHalfType(from)) return convert(toFloat32(value, from), DType::Float32, to);
  if (isHalfType(to)) return fromFloat32(convert(value, from, DType::Float32), to);
  Type* type = registerType(to);
  if (to == DType::Bool) {
    if (isFloating(from)) return m_b.CreateFCmpUNE(value, ConstantFP::get(value->getType(), 0.0));
    return m_b.CreateICmpNE(value, ConstantInt::get(value->getType(), 0));
  }
  if (isFloating(from)) return isFloating(to) ? m_b.CreateFPCast(value, type) : floatToInteger(value, to);
  const bool zeroExtends = from == DType::Bool || isUnsigned(from);
  if (isFloating(to)) return zeroExtends ? m_b.CreateUIToFP(value, type) : m_b.CreateSIToFP(value, type);
  return m_b.CreateIntCast(value, type, !zeroExtends);
}

bool ScalarEmitter::isWrittenOut(ExprOp op, DType dtype) {
  const bool isOne = op == ExprOp::Exp || op == ExprOp::Erf || op == ExprOp::Tanh;
  return isOne && dtype == DType::Float32 && hasFusedProducts();
}

bool ScalarEmitter::isLibraryCall(ExprOp op, DType dtype) {
  if (isWrittenOut(op, dtype)) return false;
  return std::ranges::any_of(functions, [&](const FloatFunction& function) {
    return function.op == op && function.intrinsic == Intrinsic::not_intrinsic;
  });
}

Value* ScalarEmitter::library(ExprOp op, std::initializer_list<Value*> args) {
  Type* type = (*args.begin())->getType();
  for (const FloatFunction& function : functions) {
    if (function.op != op) continue;
    if (function.intrinsic != Intrinsic::not_intrinsic)
      return m_b.CreateIntrinsic(function.intrinsic, {type}, std::vector<Value*>(args));
    return libraryCall(std::string(function.name) + (type->isFloatTy() ? "f" : ""), args);
  }
  return PoisonValue::get(type);
}

Value* ScalarEmitter::libraryCall(const std::string& name, const std::vector<Value*>& args) {
  if (const VectorForm* const form = vectorForm(name)) return callOfForm(m_b, *form, args);
  return m_b.CreateCall(pureFunction(m_module, name, args.front()->getType(), args.size()), args);
}

Value* ScalarEmitter::unary(ExprOp op, Value* a, DType dtype) {
  if (op == ExprOp::Not) return m_b.CreateNot(a);
  if (op == ExprOp::IsNan) return m_b.CreateFCmpUNO(a, a);
  if (op == ExprOp::Neg) return isFloating(dtype) ? m_b.CreateFNeg(a) : m_b.CreateNeg(a);
  if (op == ExprOp::Abs && !isFloating(dtype)) {
    if (isUnsigned(dtype)) return a;
    return m_b.CreateSelect(m_b.CreateICmpSLT(a, ConstantInt::get(a->getType(), 0)), m_b.CreateNeg(a), a);
  }
  if (a->getType()->isFloatTy() && hasFusedProducts()) {
    if (op == ExprOp::Exp) return exponential(a, true);
    if (op == ExprOp::Erf) return errorFunction(a);
    if (op == ExprOp::Tanh) return hyperbolicTangent(a);
  }
  return library(op, {a});
}

Value* ScalarEmitter::compare(ExprOp op, Value* a, Value* b, DType dtype) {
  for (const Comparison& row : comparisons) {
    if (row.op != op) continue;
    if (isFloating(dtype)) return m_b.CreateFCmp(row.floating, a, b);
    return m_b.CreateICmp(isUnsigned(dtype) || dtype == DType::Bool ? row.isUnsigned : row.isSigned, a, b);
  }
  return nullptr;
}

/// NaN if either is NaN.
Value* ScalarEmitter::extremum(ExprOp op, Value* a, Value* b, DType dtype) {
  Value* first = compare(op == ExprOp::Maximum ? ExprOp::Gt : ExprOp::Lt, a, b, dtype);
  if (isFloating(dtype)) first = m_b.CreateOr(first, m_b.CreateFCmpUNO(a, a));
  return m_b.CreateSelect(first, a, b);
}

Value* ScalarEmitter::integerBinary(ExprOp op, Value* a, Value* b, DType dtype) {
  const bool boolean = dtype == DType::Bool;
  switch (op) {
    case ExprOp::Add:
      return boolean ? m_b.CreateOr(a, b) : m_b.CreateAdd(a, b);
    case ExprOp::Sub:
      return m_b.CreateSub(a, b);
    case ExprOp::Mul:
      return boolean ? m_b.CreateAnd(a, b) : m_b.CreateMul(a, b);
    case ExprOp::And:
      return m_b.CreateAnd(a, b);
    case ExprOp::Or:
      return m_b.CreateOr(a, b);
    case ExprOp::Xor:
      return m_b.CreateXor(a, b);
    default:
      return PoisonValue::get(a->getType());
  }
}

Value* ScalarEmitter::binary(ExprOp op, Value* a, Value* b, DType dtype) {
  if (Value* result = compare(op, a, b, dtype)) return result;
  if (op == ExprOp::Maximum || op == ExprOp::Minimum) return extremum(op, a, b, dtype);
  if (!isFloating(dtype)) return integerBinary(op, a, b, dtype);
  switch (op) {
    case ExprOp::Add:
      return m_b.CreateFAdd(a, b);
    case ExprOp::Sub:
      return m_b.CreateFSub(a, b);
    case ExprOp::Mul:
      return m_b.CreateFMul(a, b);
    case ExprOp::Div:
      return m_b.CreateFDiv(a, b);
    default:
      return library(op, {a, b});
  }
}

AllocaInst* alignedRoom(IRBuilder<>& builder, Type* type) {
  AllocaInst* room = builder.CreateAlloca(type);
  if (type->isArrayTy()) room->setAlignment(Align(64));
  return room;
}

/// Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011).
Value* ScalarEmitter::philox(Value* key, Value* counter, std::size_t word) {
  // Words are the low halves of 64 bits: vectors multiply those as they lie, and what is above them never comes down.
  const auto high = [&](Value* wide) { return m_b.CreateLShr(wide, 32); };
  const auto product = [&](Value* number, std::uint64_t factor) {
    return m_b.CreateMul(m_b.CreateAnd(number, m_b.getInt64(0xFFFFFFFFu)), m_b.getInt64(factor));
  };
  Value* zero = m_b.getInt64(0);
  std::array<Value*, 4> words{counter, zero, zero, zero};
  Value *first = key, *second = high(key);
  for (int round = 0; round < 10; ++round) {
    Value* a = product(words[0], 0xD2511F53u);
    Value* b = product(words[2], 0xCD9E8D57u);
    words = {m_b.CreateXor(m_b.CreateXor(high(b), words[1]), first), b,
             m_b.CreateXor(m_b.CreateXor(high(a), words[3]), second), a};
    first = m_b.CreateAdd(first, m_b.getInt64(0x9E3779B9u));
    second = m_b.CreateAdd(second, m_b.getInt64(0xBB67AE85u));
  }
  return m_b.CreateTrunc(words[word], m_b.getInt32Ty());
}

Value* ScalarEmitter::fma(Value* a, Value* b, Value* c) {
  return m_b.CreateIntrinsic(Intrinsic::fma, {a->getType()}, {a, b, c});
}

}  // namespace kerf::inline codegen_llvm
