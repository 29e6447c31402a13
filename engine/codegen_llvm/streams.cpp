#include "engine/codegen_llvm/streams.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/MDBuilder.h>

#include <algorithm>
#include <limits>

#include "engine/codegen_llvm/target.h"
#include "engine/support/streamed_from.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace kerf::inline codegen_llvm {
namespace {

constexpr const char* scopeName = "streamed";

bool isMarked(const llvm::StoreInst& store) {
  const auto* scopes = store.getMetadata(llvm::LLVMContext::MD_alias_scope);
  if (scopes == nullptr) return false;
  return std::ranges::any_of(scopes->operands(), [](const llvm::MDOperand& operand) {
    const auto* scope = llvm::dyn_cast<llvm::MDNode>(operand.get());
    if (scope == nullptr || scope->getNumOperands() < 3) return false;
    const auto* name = llvm::dyn_cast<llvm::MDString>(scope->getOperand(2).get());
    return name != nullptr && name->getString() == scopeName;
  });
}

}  // namespace

std::int64_t streamThreshold() {
  return floatsOfRegister() == 0 ? std::numeric_limits<std::int64_t>::max() : streamedFrom();
}

void finishStreams() {
#ifdef __x86_64__
  _mm_sfence();
#endif
}

llvm::MDNode* makeStreamScope(llvm::LLVMContext& context) {
  llvm::MDBuilder metadata(context);
  return metadata.createAnonymousAliasScope(metadata.createAnonymousAliasScopeDomain(), scopeName);
}

void streamMarkedStores(llvm::Module& module) {
  llvm::LLVMContext& context = module.getContext();
  auto* one = llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), 1));
  auto* mark = llvm::MDNode::get(context, {one});
  for (llvm::Function& function : module)
    for (llvm::BasicBlock& block : function)
      for (llvm::Instruction& instruction : block) {
        auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
        if (store == nullptr || !store->getValueOperand()->getType()->isVectorTy() || !isMarked(*store)) continue;
        const std::uint64_t bytes = module.getDataLayout().getTypeStoreSize(store->getValueOperand()->getType());
        if (bytes < std::uint64_t(lineBytes) / 2 || (bytes & (bytes - 1)) != 0) continue;
        store->setAlignment(llvm::Align(std::min(bytes, std::uint64_t(lineBytes))));
        store->setMetadata(llvm::LLVMContext::MD_nontemporal, mark);
      }
}

}  // namespace kerf::inline codegen_llvm
