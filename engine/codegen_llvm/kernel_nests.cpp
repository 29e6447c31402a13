// The loops of a kernel around its body: divided among threads, as pairs, in the order of writes.
#include "engine/codegen_llvm/kernel_emitter.h"

#include <utility>

#include "engine/codegen_llvm/target.h"

namespace kerf::inline codegen_llvm {

void KernelEmitter::emitLoops(const std::vector<std::size_t>& variables, std::size_t at, bool bounded,
                              const Body& body) {
  if (at == variables.size()) return body();
  if (bounded && dividedLoops(m_kernel) == 2) return emitDividedPair(variables, body);
  const std::size_t v = variables[at];
  const auto next = [&] { emitLoops(variables, at + 1, false, body); };
  const bool isPiece = m_shared && v == m_shared->variable;
  if (bounded || isPiece) return emitLoop(v, m_function->getArg(1), m_function->getArg(2), true, next);
  const SymInt size = m_kernel.variables[v].size;
  if (size.isSymbolic() || size.bits() > 0) emitLoop(v, m_b.getInt64(0), number(size), size.isSymbolic(), next);
}

/// The loops of a kernel that writes at places, in order; one that is not serial is divided among threads.
void KernelEmitter::emitWrites(std::size_t at) {
  if (at == m_kernel.variables.size()) return emitOuterBody();
  const auto next = [&] { emitWrites(at + 1); };
  if (dividedLoops(m_kernel) > 0 && at == firstDividedLoop(m_kernel))
    return emitLoop(at, m_function->getArg(1), m_function->getArg(2), true, next);
  const SymInt size = m_kernel.variables[at].size;
  if (size.isSymbolic() || size.bits() > 0) emitLoop(at, m_b.getInt64(0), number(size), size.isSymbolic(), next);
}

/// The first two loops as one, whose iterations are divided among threads.
void KernelEmitter::emitDividedPair(const std::vector<std::size_t>& variables, const Body& body) {
  emitSteps(m_function->getArg(1), m_function->getArg(2), 1, true, [&](llvm::Value* both) {
    llvm::Value* size = number(m_kernel.variables[variables[1]].size);
    m_index[variables[0]] = m_b.CreateUDiv(both, size);
    m_index[variables[1]] = m_b.CreateURem(both, size);
    emitLoops(variables, 2, false, body);
  });
}

void KernelEmitter::emitLoop(std::size_t variable, llvm::Value* begin, llvm::Value* end, bool mayBeEmpty,
                             const Body& body) {
  if (!m_range && !cutsOf(variable).empty()) return emitRanges(variable, begin, end, body);
  const LineScope line(m_b, m_lines, m_lineOf.variables + int(variable));
  prefetchNextRows(variable);
  const bool wide = m_phase >= 0 && !m_inner.empty() && variable == m_inner.back() && isWorthWideVectors(m_phase);
  m_widthNext = wide ? floatsOfRegister() : 0;
  if (const auto streamed = streamedStores(variable); !streamed.empty())
    return emitStreamedLoop(streamed, {variable, begin, end}, body);
  emitSteps(begin, end, 1, mayBeEmpty, [&](llvm::Value* index) {
    m_index[variable] = index;
    body();
  });
}

void KernelEmitter::emitSteps(llvm::Value* begin, llvm::Value* end, std::int64_t step, bool mayBeEmpty,
                              const IndexBody& body) {
  auto* loop = llvm::BasicBlock::Create(m_context, "loop", m_function);
  auto* done = llvm::BasicBlock::Create(m_context, "done", m_function);
  llvm::BasicBlock* before = m_b.GetInsertBlock();
  const int width = std::exchange(m_widthNext, 0);
  if (mayBeEmpty)
    m_b.CreateCondBr(m_b.CreateICmpSLT(begin, end), loop, done);
  else
    m_b.CreateBr(loop);
  m_b.SetInsertPoint(loop);
  llvm::PHINode* index = m_b.CreatePHI(m_b.getInt64Ty(), 2);
  index->addIncoming(begin, before);
  body(index);
  llvm::Value* following = m_b.CreateNSWAdd(index, m_b.getInt64(std::uint64_t(step)));
  index->addIncoming(following, m_b.GetInsertBlock());
  auto* back = m_b.CreateCondBr(m_b.CreateICmpSLT(following, end), loop, done);
  if (width > 0) hintWidth(back, width);
  done->moveAfter(m_b.GetInsertBlock());
  m_b.SetInsertPoint(done);
}

}  // namespace kerf::inline codegen_llvm
