#include "engine/codegen_llvm/vector_steps.h"

#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/VFABIDemangler.h>

#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "engine/codegen_llvm/target.h"
#include "engine/codegen_llvm/vector_calls.h"

namespace kerf::inline codegen_llvm {

using namespace llvm;

namespace {

constexpr int registerLanes = 16;  ///< of 32 bits each
/// Elements at once of the loops that LLVM makes.
constexpr int stepWidths[] = {2, 4, 8, 16, 32};

using Values = std::span<llvm::Value* const>;

/// One step: in plain arithmetic, on single values or vectors of any width, and on a register of 16.
struct VectorStep {
  const char* name;
  std::size_t operands;
  bool (*isThere)();
  llvm::Value* (*plain)(IRBuilder<>& b, Values operands);
  llvm::Value* (*whole)(IRBuilder<>& b, Values operands);
};

llvm::Value* numberLike(llvm::Value* value, std::uint64_t number) {
  return ConstantInt::get(value->getType(), number);
}

llvm::Value* plainRound(IRBuilder<>& b, Values operands) {
  llvm::Value* x = operands[0];
  llvm::Value* odd = b.CreateAnd(b.CreateLShr(x, 16), numberLike(x, 1));
  return b.CreateAdd(x, b.CreateAdd(odd, numberLike(x, 0x7fff)));
}

/// x + 1 · (x's upper half & 1) + 1 · 0x7fff.
llvm::Value* wholeRound(IRBuilder<>& b, Values operands) {
  llvm::Value* x = operands[0];
  llvm::Value* halves = b.CreateOr(b.CreateAnd(x, numberLike(x, 0x10000)), numberLike(x, 0x7fff));
  return b.CreateIntrinsic(x->getType(), Intrinsic::x86_avx512_vpdpwssd_512, {x, halves, numberLike(x, 0x10001)});
}

Type* floatsLike(IRBuilder<>& b, Type* integers) { return integers->getWithNewType(b.getFloatTy()); }

/// 2^n for |n| < 127: the exponent's bits.
llvm::Value* plainPowerOf2(IRBuilder<>& b, llvm::Value* n) {
  llvm::Value* bits = b.CreateShl(b.CreateAdd(n, numberLike(n, 127)), 23);
  return b.CreateBitCast(bits, floatsLike(b, n->getType()));
}

/// In two halves, of which each is a number that float32 holds.
llvm::Value* plainScale(IRBuilder<>& b, Values operands) {
  llvm::Value* shifted = operands[1];
  Type* integers = shifted->getType()->getWithNewType(b.getInt32Ty());
  llvm::Value* zero = b.CreateBitCast(ConstantFP::get(shifted->getType(), wholeShift), integers);
  llvm::Value* n = b.CreateSub(b.CreateBitCast(shifted, integers), zero);
  llvm::Value* half = b.CreateAShr(n, 1);
  return b.CreateFMul(b.CreateFMul(operands[0], plainPowerOf2(b, half)), plainPowerOf2(b, b.CreateSub(n, half)));
}

llvm::Value* wholeScale(IRBuilder<>& b, Values operands) {
  constexpr std::uint32_t currentRounding = 4;
  llvm::Value* n = b.CreateFSub(operands[1], ConstantFP::get(operands[1]->getType(), wholeShift));
  return b.CreateIntrinsic(operands[0]->getType(), Intrinsic::x86_avx512_mask_scalef_ps_512,
                           {operands[0], n, ConstantAggregateZero::get(n->getType()), b.getInt16(0xffff),
                            b.getInt32(currentRounding)});
}

constexpr VectorStep roundStep{"kerf_round", 1, hasWordProducts, plainRound, wholeRound};
constexpr VectorStep scaleStep{"kerf_scale", 2, hasWideRegisters, plainScale, wholeScale};

Function* declared(llvm::Module& module, const VectorStep& step, const std::string& name, Type* type) {
  Function* function = pureFunction(module, name, type, step.operands);
  function->setLinkage(GlobalValue::InternalLinkage);
  markWidth(*function);
  return function;
}

std::string nameOf(const VectorStep& step, int lanes) { return fmt::format("{}_{}", step.name, lanes); }

/// Registers of 16 one after another, or plain arithmetic on fewer elements.
llvm::Value* onVector(IRBuilder<>& b, const VectorStep& step, Values operands, int lanes) {
  if (lanes < registerLanes) return step.plain(b, operands);
  if (lanes == registerLanes) return step.whole(b, operands);
  const auto half = [&](int first) {
    std::vector<int> places(std::size_t(lanes) / 2);
    std::iota(places.begin(), places.end(), first);
    std::vector<llvm::Value*> parts;
    for (llvm::Value* operand : operands) parts.push_back(b.CreateShuffleVector(operand, places));
    return onVector(b, step, parts, lanes / 2);
  };
  std::vector<int> all(std::size_t(lanes), 0);
  std::iota(all.begin(), all.end(), 0);
  llvm::Value* low = half(0);
  return b.CreateShuffleVector(low, half(lanes / 2), all);
}

void define(Function& function, const VectorStep& step, int lanes) {
  IRBuilder<> b(BasicBlock::Create(function.getContext(), "", &function));
  std::vector<llvm::Value*> operands;
  for (llvm::Argument& argument : function.args()) operands.push_back(&argument);
  b.CreateRet(lanes == 1 ? step.plain(b, operands) : onVector(b, step, operands, lanes));
}

/// A call whose vector forms a loop may take; they become part of it after that (settleWidths).
llvm::Value* called(IRBuilder<>& builder, const VectorStep& step, std::vector<llvm::Value*> operands) {
  if (!step.isThere() || isa<Constant>(operands[0])) return step.plain(builder, operands);
  llvm::Module& module = *builder.GetInsertBlock()->getModule();
  Type* type = operands[0]->getType();
  const bool isNew = module.getFunction(step.name) == nullptr;
  Function* single = declared(module, step, step.name, type);
  CallInst* call = builder.CreateCall(single, operands);
  std::vector<std::string> variants;
  if (isNew) define(*single, step, 1);
  for (const int lanes : stepWidths) {
    const std::string name = nameOf(step, lanes);
    if (isNew) define(*declared(module, step, name, FixedVectorType::get(type, unsigned(lanes))), step, lanes);
    variants.push_back(fmt::format("_ZGV_LLVM_N{}{}_{}({})", lanes, std::string(step.operands, 'v'), step.name, name));
  }
  VFABI::setVectorVariantNames(call, SmallVector<std::string, 8>(variants.begin(), variants.end()));
  return call;
}

}  // namespace

llvm::Value* roundedUp(IRBuilder<>& builder, llvm::Value* bits) { return called(builder, roundStep, {bits}); }

llvm::Value* scaledByPower(IRBuilder<>& builder, llvm::Value* sum, llvm::Value* shifted) {
  return called(builder, scaleStep, {sum, shifted});
}

}  // namespace kerf::inline codegen_llvm
