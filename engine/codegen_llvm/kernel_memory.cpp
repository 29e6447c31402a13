// Loads and stores of a kernel: places of elements, and which buffers an access may meet.
#include "engine/codegen_llvm/kernel_emitter.h"
#include "engine/codegen_llvm/vector_steps.h"

namespace kerf::inline codegen_llvm {

llvm::Value* KernelEmitter::load(int buffer, llvm::Value* address, DType dtype) {
  auto* loaded = m_b.CreateLoad(m_scalar.memoryType(dtype), address);
  annotate(loaded, buffer);
  return m_scalar.fromMemory(loaded, dtype);
}

llvm::Value* KernelEmitter::loadAt(const Expr& e) {
  return load(e.buffer, address(e.buffer, e.index, e.args[0]), e.dtype);
}

/// A branch, which a vector loop makes a load of the lanes whose condition holds.
llvm::Value* KernelEmitter::loadWhere(const Expr& e) {
  llvm::Value* condition = value(e.args[0]);
  if (auto* truth = llvm::dyn_cast<llvm::ConstantInt>(condition))
    return truth->isZero() ? llvm::Constant::getNullValue(m_scalar.registerType(e.dtype))
                           : load(e.buffer, address(e.buffer, e.index), e.dtype);
  auto* yes = llvm::BasicBlock::Create(m_context, "where", m_function);
  auto* done = llvm::BasicBlock::Create(m_context, "read", m_function);
  llvm::BasicBlock* before = m_b.GetInsertBlock();
  m_b.CreateCondBr(condition, yes, done);
  m_b.SetInsertPoint(yes);
  llvm::Value* loaded = load(e.buffer, address(e.buffer, e.index), e.dtype);
  m_b.CreateBr(done);
  llvm::BasicBlock* end = m_b.GetInsertBlock();
  m_b.SetInsertPoint(done);
  llvm::PHINode* result = m_b.CreatePHI(loaded->getType(), 2);
  result->addIncoming(loaded, end);
  result->addIncoming(llvm::Constant::getNullValue(loaded->getType()), before);
  return result;
}

void KernelEmitter::store(const LoopStore& s) {
  const DType dtype = m_kernel.buffers[std::size_t(s.buffer)].dtype;
  const LineScope line(m_b, m_lines, m_lineOf.stores + int(&s - m_kernel.stores.data()));
  llvm::Value* stored = m_scalar.toMemory(value(s.value), dtype);
  if (dtype == DType::BFloat16) stored = packedHalves(m_b, stored);
  if (leavesNan(m_kernel.exprs[std::size_t(s.value)])) stored = m_scalar.withQuietNan(stored);
  annotateStore(m_b.CreateStore(stored, address(s.buffer, s.index, s.place)), s);
}

void KernelEmitter::annotate(llvm::Instruction* access, int buffer) {
  access->setMetadata(llvm::LLVMContext::MD_alias_scope, m_scopes[std::size_t(buffer)]);
  access->setMetadata(llvm::LLVMContext::MD_noalias, m_otherScopes[std::size_t(buffer)]);
}

/// `place`: an expression that is added to the index; -1: none.
llvm::Value* KernelEmitter::address(int buffer, const Affine& index, int place) {
  llvm::Type* type = m_scalar.memoryType(m_kernel.buffers[std::size_t(buffer)].dtype);
  llvm::Value* at = affine(index);
  if (place >= 0) at = m_b.CreateNSWAdd(at, value(place));
  return m_b.CreateInBoundsGEP(type, m_pointers[std::size_t(buffer)], {at});
}

llvm::Value* KernelEmitter::affine(const Affine& index) {
  llvm::Value* sum = nullptr;
  for (std::size_t v = 0; v < index.coefficients.size(); ++v) {
    const SymInt factor = index.coefficients[v];
    if (isZero(factor)) continue;
    llvm::Value* term = factor.isIdentical(1) ? m_index[v] : m_b.CreateNSWMul(m_index[v], number(factor));
    sum = sum ? m_b.CreateNSWAdd(sum, term) : term;
  }
  if (!sum) return number(index.constant);
  return isZero(index.constant) ? sum : m_b.CreateNSWAdd(sum, number(index.constant));
}

/// Row-major position within the reduced loops.
llvm::Value* KernelEmitter::innerPosition() {
  if (!m_spilledIfSmall.empty()) {
    llvm::Value* position = m_b.getInt64(0);
    for (const std::size_t v : m_inner)
      position = m_b.CreateNSWAdd(m_b.CreateNSWMul(position, number(m_kernel.variables[v].size)), m_index[v]);
    return position;
  }
  Affine position;
  std::int64_t stride = 1;
  for (auto v = m_inner.rbegin(); v != m_inner.rend(); ++v) {
    position = position + Affine::variable(*v) * stride;
    stride *= m_kernel.variables[*v].size.bits();
  }
  return affine(position);
}

}  // namespace kerf::inline codegen_llvm
