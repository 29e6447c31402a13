#include "engine/codegen_llvm/streams.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/MDBuilder.h>

#include <algorithm>
#include <fstream>
#include <limits>

#include "engine/codegen_llvm/target.h"
#include "engine/support/environment.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace kerf::inline codegen_llvm {
namespace {

constexpr const char* scopeName = "streamed";
constexpr std::uint64_t lineBytes = 64;

/// Bytes of the largest cache that Linux tells of, "32768K"; 0: none.
std::int64_t lastCacheBytes() {
  std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index3/size");
  std::int64_t kibibytes = 0;
  char unit = 0;
  return file >> kibibytes >> unit && unit == 'K' ? kibibytes << 10 : 0;
}

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
  // A larger cache serves the other processes and cores of its socket, too; on a Xeon whose cache is said to hold more
  // than 134 MB, results of 44 MB and more are written in two thirds of the time past it.
  constexpr std::int64_t most = std::int64_t(32) << 20, never = std::numeric_limits<std::int64_t>::max();
  static const std::int64_t known = lastCacheBytes();
  if (floatsOfRegister() == 0) return never;
  return environmentNumber("KERF_STREAM_FROM", 0, never).value_or(known > 0 ? std::min(known, most) : most);
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
        if (bytes < lineBytes / 2 || (bytes & (bytes - 1)) != 0) continue;
        store->setAlignment(llvm::Align(std::min(bytes, lineBytes)));
        store->setMetadata(llvm::LLVMContext::MD_nontemporal, mark);
      }
}

}  // namespace kerf::inline codegen_llvm
