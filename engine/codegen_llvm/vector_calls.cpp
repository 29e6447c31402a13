#include "engine/codegen_llvm/vector_calls.h"

#include <llvm/IR/VFABIDemangler.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <algorithm>
#include <numeric>

#include "engine/codegen_llvm/vector_functions.h"

namespace kerf::inline codegen_llvm {

using namespace llvm;

namespace {

constexpr const char* widthMark = "kerf-width";
/// Elements at once of the loops that LLVM makes, beside the form's own.
constexpr int widths[] = {2, 4, 8, 16, 32};

FixedVectorType* vectorOf(Type* type, int lanes) { return FixedVectorType::get(type, unsigned(lanes)); }

std::string widthName(const VectorForm& form, int lanes) { return fmt::format("{}_{}", form.oneLane(), lanes); }

Function* formOf(Module& module, const VectorForm& form, Type* type) {
  return pureFunction(module, form.symbol, vectorOf(type, form.lanes), std::size_t(form.operands));
}

/// `count` lanes from `first` on, and the first of them again where the form has more.
llvm::Value* lanesOf(IRBuilder<>& b, llvm::Value* vector, int first, int count, int lanes) {
  std::vector<int> places(std::size_t(lanes), first);
  std::iota(places.begin(), places.begin() + count, first);
  return b.CreateShuffleVector(vector, places);
}

llvm::Value* joined(IRBuilder<>& b, llvm::Value* low, llvm::Value* high) {
  const auto lanes = [](llvm::Value* vector) { return cast<FixedVectorType>(vector->getType())->getNumElements(); };
  std::vector<int> places(lanes(low) + lanes(high));
  std::iota(places.begin(), places.end(), 0);
  return b.CreateShuffleVector(low, high, places);
}

/// The function of so many elements: a call whose lanes are not all needed, or several calls.
void defineWidth(Module& module, const VectorForm& form, Type* type, int lanes) {
  Function* function = pureFunction(module, widthName(form, lanes), vectorOf(type, lanes), std::size_t(form.operands));
  function->setLinkage(GlobalValue::InternalLinkage);
  markWidth(*function);
  IRBuilder<> b(BasicBlock::Create(module.getContext(), "", function));
  std::vector<llvm::Value*> parts;
  const int each = std::min(lanes, form.lanes);
  for (int first = 0; first < lanes; first += each) {
    std::vector<llvm::Value*> operands;
    for (llvm::Argument& argument : function->args())
      operands.push_back(lanesOf(b, &argument, first, each, form.lanes));
    llvm::Value* result = b.CreateCall(formOf(module, form, type), operands);
    parts.push_back(each < form.lanes ? lanesOf(b, result, 0, each, each) : result);
  }
  for (; parts.size() > 1; parts.resize(parts.size() / 2))  // powers of two
    for (std::size_t i = 0; i < parts.size() / 2; ++i) parts[i] = joined(b, parts[2 * i], parts[2 * i + 1]);
  b.CreateRet(parts.front());
}

/// One value in all lanes. Never inlined, so that loops around its calls become loops of vectors.
Function* oneLaneFunction(Module& module, const VectorForm& form, Type* type) {
  Function* function = pureFunction(module, form.oneLane(), type, std::size_t(form.operands));
  if (!function->empty()) return function;
  function->setLinkage(GlobalValue::InternalLinkage);
  function->addFnAttr(Attribute::NoInline);
  IRBuilder<> b(BasicBlock::Create(module.getContext(), "", function));
  std::vector<llvm::Value*> lanes;
  for (llvm::Argument& argument : function->args())
    lanes.push_back(b.CreateVectorSplat(unsigned(form.lanes), &argument));
  b.CreateRet(b.CreateExtractElement(b.CreateCall(formOf(module, form, type), lanes), std::uint64_t{0}));
  for (const int width : widths)
    if (width != form.lanes) defineWidth(module, form, type, width);
  return function;
}

}  // namespace

Function* pureFunction(Module& module, const std::string& name, Type* type, std::size_t operands) {
  return pureFunction(module, name, FunctionType::get(type, std::vector<Type*>(operands, type), false));
}

Function* pureFunction(Module& module, const std::string& name, FunctionType* type) {
  auto* function = cast<Function>(module.getOrInsertFunction(name, type).getCallee());
  function->setMemoryEffects(MemoryEffects::none());
  function->setDoesNotThrow();
  function->setWillReturn();
  return function;
}

CallInst* callOfForm(IRBuilder<>& builder, const VectorForm& form, const std::vector<llvm::Value*>& operands) {
  Module& module = *builder.GetInsertBlock()->getModule();
  CallInst* call = builder.CreateCall(oneLaneFunction(module, form, operands.front()->getType()), operands);
  std::vector<std::string> variants{form.mapping(form.lanes, form.symbol)};
  for (const int width : widths)
    if (width != form.lanes) variants.push_back(form.mapping(width, widthName(form, width)));
  VFABI::setVectorVariantNames(call, SmallVector<std::string, 8>(variants.begin(), variants.end()));
  return call;
}

void markWidth(Function& function) { function.addFnAttr(widthMark); }

bool isWidthOfForm(const Function& function) { return function.hasFnAttribute(widthMark); }

void settleWidths(Module& module) {
  std::vector<Function*> all;
  for (Function& function : module)
    if (isWidthOfForm(function)) all.push_back(&function);
  for (Function* function : all) {
    std::vector<CallBase*> calls;
    for (User* user : function->users()) calls.push_back(cast<CallBase>(user));
    for (CallBase* call : calls) {
      InlineFunctionInfo info;
      InlineFunction(*call, info);
    }
    function->eraseFromParent();
  }
}

}  // namespace kerf::inline codegen_llvm
