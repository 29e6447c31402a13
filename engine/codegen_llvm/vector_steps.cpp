#include "engine/codegen_llvm/vector_steps.h"

#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/IR/VFABIDemangler.h>

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

/// One step: in plain arithmetic, on single values or vectors of any width, and on one or two registers of 16.
struct VectorStep {
  const char* name;
  std::size_t operands;
  unsigned resultBits;  ///< of an integer; 0: the operands' type
  bool (*isThere)();
  llvm::Value* (*plain)(IRBuilder<>& b, Values operands);
  llvm::Value* (*whole)(IRBuilder<>& b, Values operands, int lanes);
};

std::vector<int> placesFrom(int first, int count, int step = 1) {
  std::vector<int> places(static_cast<std::size_t>(count), first);
  for (int i = 0; i < count; ++i) places[std::size_t(i)] += i * step;
  return places;
}

/// One register after the other.
template <class Work>
llvm::Value* byRegister(IRBuilder<>& b, Values operands, int lanes, const Work& work) {
  if (lanes == registerLanes) return work(operands);
  std::vector<llvm::Value*> results;
  for (const int first : {0, registerLanes}) {
    std::vector<llvm::Value*> parts;
    for (llvm::Value* operand : operands)
      parts.push_back(b.CreateShuffleVector(operand, placesFrom(first, registerLanes)));
    results.push_back(work(parts));
  }
  return b.CreateShuffleVector(results[0], results[1], placesFrom(0, lanes));
}

llvm::Value* numberLike(llvm::Value* value, std::uint64_t number) { return ConstantInt::get(value->getType(), number); }

llvm::Value* plainRound(IRBuilder<>& b, Values operands) {
  llvm::Value* x = operands[0];
  llvm::Value* odd = b.CreateAnd(b.CreateLShr(x, 16), numberLike(x, 1));
  return b.CreateAdd(x, b.CreateAdd(odd, numberLike(x, 0x7fff)));
}

/// x + 1 · (x's upper half & 1) + 1 · 0x7fff.
llvm::Value* wholeRound(IRBuilder<>& b, Values operands, int lanes) {
  return byRegister(b, operands, lanes, [&](Values part) {
    llvm::Value* x = part[0];
    llvm::Value* halves = b.CreateOr(b.CreateAnd(x, numberLike(x, 0x10000)), numberLike(x, 0x7fff));
    return b.CreateIntrinsic(x->getType(), Intrinsic::x86_avx512_vpdpwssd_512, {x, halves, numberLike(x, 0x10001)});
  });
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

llvm::Value* wholeScale(IRBuilder<>& b, Values operands, int lanes) {
  return byRegister(b, operands, lanes, [&](Values part) {
    constexpr std::uint32_t currentRounding = 4;
    llvm::Value* n = b.CreateFSub(part[1], ConstantFP::get(part[1]->getType(), wholeShift));
    return b.CreateIntrinsic(
        part[0]->getType(), Intrinsic::x86_avx512_mask_scalef_ps_512,
        {part[0], n, ConstantAggregateZero::get(n->getType()), b.getInt16(0xffff), b.getInt32(currentRounding)});
  });
}

llvm::Value* plainPack(IRBuilder<>& b, Values operands) {
  return b.CreateTrunc(b.CreateLShr(operands[0], 16), operands[0]->getType()->getWithNewBitWidth(16));
}

llvm::Value* wholePack(IRBuilder<>& b, Values operands, int lanes) {
  llvm::Value* words = b.CreateBitCast(operands[0], FixedVectorType::get(b.getInt16Ty(), unsigned(2 * lanes)));
  return b.CreateShuffleVector(words, placesFrom(1, lanes, 2));
}

constexpr VectorStep roundStep{"kerf_round", 1, 0, hasWordProducts, plainRound, wholeRound};
constexpr VectorStep scaleStep{"kerf_scale", 2, 0, hasWideRegisters, plainScale, wholeScale};
constexpr VectorStep packStep{"kerf_pack", 1, 16, hasWordProducts, plainPack, wholePack};

/// Of `type`s, single ones or vectors.
Function* declared(llvm::Module& module, const VectorStep& step, const std::string& name, Type* type) {
  Type* result = step.resultBits == 0 ? type : type->getWithNewBitWidth(step.resultBits);
  auto* signature = FunctionType::get(result, std::vector<Type*>(step.operands, type), false);
  Function* function = pureFunction(module, name, signature);
  function->addFnAttr(Attribute::Speculatable);
  function->setLinkage(GlobalValue::InternalLinkage);
  markWidth(*function);
  return function;
}

std::string nameOf(const VectorStep& step, int lanes) { return fmt::format("{}_{}", step.name, lanes); }

void define(Function& function, const VectorStep& step, int lanes) {
  IRBuilder<> b(BasicBlock::Create(function.getContext(), "", &function));
  std::vector<llvm::Value*> operands;
  for (llvm::Argument& argument : function.args()) operands.push_back(&argument);
  b.CreateRet(lanes < registerLanes ? step.plain(b, operands) : step.whole(b, operands, lanes));
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

llvm::Value* packedHalves(IRBuilder<>& builder, llvm::Value* halves) {
  using namespace llvm::PatternMatch;
  llvm::Value *whole = nullptr, *condition = nullptr, *a = nullptr, *b = nullptr;
  if (match(halves, m_Trunc(m_LShr(m_Value(whole), m_SpecificInt(16)))) && whole->getType()->isIntegerTy(32))
    return called(builder, packStep, {whole});
  if (!match(halves, m_Select(m_Value(condition), m_Value(a), m_Value(b)))) return halves;
  llvm::Value *first = packedHalves(builder, a), *second = packedHalves(builder, b);
  return first == a && second == b ? halves : builder.CreateSelect(condition, first, second);
}

}  // namespace kerf::inline codegen_llvm
