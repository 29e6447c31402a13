#include "engine/codegen_llvm/kernel_emitter.h"

#include <llvm/IR/MDBuilder.h>

#include <algorithm>
#include <limits>

namespace kerf::inline codegen_llvm {

using namespace llvm;

namespace {

/// Elements of a reduced loop nest that may be kept on the stack between two loops.
constexpr std::int64_t spillLimit = 8192;
constexpr int spillCost = 4;

}  // namespace

KernelEmitter::KernelEmitter(Module& module, const LoopKernel& kernel, bool hardwareHalf, std::int64_t streamFrom,
                             SourceLines* lines)
    : m_module(module),
      m_context(module.getContext()),
      m_kernel(kernel),
      m_place(placeExpressions(kernel)),
      m_b(m_context),
      m_scalar(module, m_b, hardwareHalf),
      m_lines(lines),
      m_lineOf(kernel),
      m_streamFrom(streamFrom),
      m_shared(sharedReduction(kernel)) {
  for (std::size_t v = 0; v < kernel.variables.size(); ++v)
    (kernel.variables[v].reduced ? m_inner : m_outer).push_back(v);
  m_index.assign(kernel.variables.size(), nullptr);
  m_carriedHere.assign(kernel.exprs.size(), false);
  for (auto* list : {&m_outerValues, &m_innerValues, &m_carried}) list->assign(kernel.exprs.size(), nullptr);
  for (auto* list : {&m_accumulators, &m_spills, &m_sawNan}) list->assign(kernel.exprs.size(), nullptr);
}

Function* KernelEmitter::emit(const std::string& name) {
  findNeeded();
  findShortNans();
  m_columns = m_shared ? m_shared->column : findColumns();
  emitEntry(name);
  if (m_spilledIfSmall.empty())
    emitBody();
  else
    emitBothBodies();
  finishStreamsAtReturns();
  return m_function;
}

void KernelEmitter::emitBody() {
  if (m_kernel.writesAtPlaces()) return emitWrites(0), void(m_b.CreateRetVoid());
  if (m_shared) return m_columns ? emitSharedColumns() : emitSharedValues();
  if (m_columns) return emitColumns();
  if (scansRows()) return emitScans();
  if (const auto rows = findTransposed()) return emitTiles(*rows);
  emitHoists();
  emitLoops(m_outer, 0, true, [&] { emitOuterBody(); });
  m_b.CreateRetVoid();
}

/// One that keeps elements on the stack, for sizes with which they fit, and one that computes them again.
void KernelEmitter::emitBothBodies() {
  auto* small = BasicBlock::Create(m_context, "small", m_function);
  auto* large = BasicBlock::Create(m_context, "large", m_function);
  Value* elements = innerElements();
  m_b.CreateCondBr(m_b.CreateICmpULE(elements, m_b.getInt64(spillLimit)), small, large);
  m_b.SetInsertPoint(small);
  for (const std::size_t e : m_spilledIfSmall)
    m_spills[e] = m_b.CreateAlloca(m_scalar.memoryType(m_kernel.exprs[e].dtype), elements);
  emitBody();
  large->moveAfter(&m_function->back());
  m_b.SetInsertPoint(large);
  std::ranges::fill(m_spills, nullptr);
  emitBody();
}

Value* KernelEmitter::innerElements() {
  Value* elements = m_b.getInt64(1);
  for (const std::size_t v : m_inner) elements = m_b.CreateNSWMul(elements, number(m_kernel.variables[v].size));
  return elements;
}

void KernelEmitter::findNeeded() {
  m_needed.assign(m_kernel.exprs.size(), false);
  for (const LoopStore& store : m_kernel.stores) m_needed[std::size_t(store.value)] = true;
  for (const LoopStore& store : m_kernel.stores)
    if (store.place >= 0) m_needed[std::size_t(store.place)] = true;
  closeOverOperands(m_needed, false);
}

/// Adds what the used expressions are computed from; of elements only where `elementsOnly`. What is carried needs an
/// expression that may come later, so there it takes another round.
void KernelEmitter::closeOverOperands(std::vector<bool>& used, bool elementsOnly) const {
  for (bool again = true; again;) {
    again = false;
    for (std::size_t e = used.size(); e-- > 0;) {
      const Expr& expr = m_kernel.exprs[e];
      if (!used[e] || (elementsOnly && m_place.level[e] < 2)) continue;
      for (std::size_t a = 0; a < exprOpInfo(expr.op).arity; ++a) used[std::size_t(expr.args[a])] = true;
      if (expr.op != ExprOp::Carry || used[std::size_t(expr.integer)]) continue;
      used[std::size_t(expr.integer)] = true;
      again = true;
    }
  }
}

/// Elements that the reduced loop of one phase computes.
std::vector<bool> KernelEmitter::usedInLoop(int phase) const {
  std::vector<bool> used(m_kernel.exprs.size(), false);
  for (std::size_t e = 0; e < used.size(); ++e)
    if (m_needed[e] && isReduction(m_kernel.exprs[e].op) && m_place.phase[e] == phase + 1)
      used[std::size_t(m_kernel.exprs[e].args[0])] = true;
  for (const LoopStore& s : m_kernel.stores)
    if (s.inner && m_place.phase[std::size_t(s.value)] == phase) used[std::size_t(s.value)] = true;
  closeOverOperands(used, true);
  return used;
}

/// Expensive elements that a later loop needs again are kept: softmax's exp is computed once.
void KernelEmitter::planSpills() {
  std::int64_t elements = 1;
  for (const std::size_t v : m_inner) {
    const SymInt size = m_kernel.variables[v].size;
    if (size.isSymbolic()) {
      m_spilledIfSmall = spilled();
      return;
    }
    elements *= size.bits();
  }
  if (m_inner.empty() || elements > spillLimit || elements == 0) return;
  for (const std::size_t e : spilled()) {
    Type* type = ArrayType::get(m_scalar.memoryType(m_kernel.exprs[e].dtype), std::uint64_t(elements));
    m_spills[e] = alignedRoom(m_b, type);
  }
}

std::vector<std::size_t> KernelEmitter::spilled() const {
  std::vector<std::size_t> result;
  std::vector<std::vector<bool>> used;
  for (int phase = 0; phase <= lastPhase(); ++phase) used.push_back(usedInLoop(phase));
  for (std::size_t e = 0; e < m_kernel.exprs.size(); ++e) {
    const auto own = std::size_t(m_place.phase[e]);
    if (m_place.level[e] != 2 || exprOpInfo(m_kernel.exprs[e].op).cost < spillCost || !used[own][e]) continue;
    const bool usedLater = std::any_of(used.begin() + std::ptrdiff_t(own) + 1, used.end(),
                                       [&](const std::vector<bool>& loop) { return loop[e]; });
    if (usedLater) result.push_back(e);
  }
  return result;
}

void KernelEmitter::emitEntry(const std::string& name) {
  Type* integer = m_b.getInt64Ty();
  std::vector<Type*> arguments{m_b.getPtrTy(), integer, integer};
  if (!m_kernel.parameters.empty()) arguments.push_back(m_b.getPtrTy());
  auto* type = FunctionType::get(m_b.getVoidTy(), arguments, false);
  m_function = Function::Create(type, Function::ExternalLinkage, name, m_module);
  m_function->setDoesNotThrow();
  if (m_lines != nullptr) {
    m_lines->begin(*m_function);
    m_b.SetCurrentDebugLocation(m_lines->at(1));
  }
  m_b.SetInsertPoint(BasicBlock::Create(m_context, "entry", m_function));
  MDBuilder metadata(m_context);
  MDNode* domain = metadata.createAnonymousAliasScopeDomain();
  for (std::size_t b = 0; b < m_kernel.buffers.size(); ++b) {
    Value* slot = m_b.CreateConstInBoundsGEP1_64(m_b.getPtrTy(), m_function->getArg(0), b);
    auto* pointer = m_b.CreateLoad(m_b.getPtrTy(), slot);
    pointer->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(m_context, {}));
    m_pointers.push_back(pointer);
    m_scopes.push_back(metadata.createAnonymousAliasScope(domain));
  }
  loadBounds();
  for (std::size_t b = 0; b < m_scopes.size(); ++b) {
    std::vector<Metadata*> others;
    for (std::size_t o = 0; o < m_scopes.size(); ++o)
      if (o != b) others.push_back(m_scopes[o]);
    m_otherScopes.push_back(MDNode::get(m_context, others));
  }
  for (MDNode*& scope : m_scopes) scope = MDNode::get(m_context, {scope});
  for (std::size_t e = 0; e < m_kernel.exprs.size(); ++e)
    if (m_needed[e] && (isReduction(m_kernel.exprs[e].op) || m_kernel.exprs[e].op == ExprOp::Carry))
      m_accumulators[e] = alignedRoom(m_b, accumulatorType(m_kernel.exprs[e].dtype));
  for (std::size_t e = 0; e < m_kernel.exprs.size(); ++e)
    if (m_accumulators[e] && tracksNan(e)) m_sawNan[e] = m_b.CreateAlloca(m_b.getInt1Ty());
  if (!m_columns) planSpills();  // of columns nothing is kept but what is one for each
}

void KernelEmitter::loadBounds() {
  for (std::size_t k = 0; k < m_kernel.parameters.size(); ++k) {
    Value* slot = m_b.CreateConstInBoundsGEP1_64(m_b.getInt64Ty(), m_function->getArg(3), k);
    auto* bound = m_b.CreateLoad(m_b.getInt64Ty(), slot);
    bound->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(m_context, {}));
    m_bounds.push_back(bound);
  }
}

/// A constant or the value of a parameter.
Value* KernelEmitter::number(SymInt size) {
  if (!size.isSymbolic()) return m_b.getInt64(std::uint64_t(size.bits()));
  const auto& parameters = m_kernel.parameters;
  const auto found = std::ranges::find_if(parameters, [&](SymInt known) { return known.isIdentical(size); });
  return m_bounds[std::size_t(found - parameters.begin())];
}

void KernelEmitter::emitOuterBody() {
  std::ranges::fill(m_outerValues, nullptr);
  if (m_inner.empty()) {
    std::ranges::fill(m_innerValues, nullptr);
    m_inside = true;
    storeAll([](const LoopStore&) { return true; });
    m_inside = false;
    return;
  }
  for (int phase = 0; phase <= lastPhase(); ++phase) {
    emitOuterValues(phase);
    if (loopHasWork(phase)) emitInnerLoop(phase);
  }
  emitStores(false, 0);
}

int KernelEmitter::lastPhase() const { return m_place.phase.empty() ? 0 : *std::ranges::max_element(m_place.phase); }

/// Values of the outer loops that are known before the reduced loop of this phase, where they dominate all of it.
void KernelEmitter::emitOuterValues(int phase) {
  for (std::size_t e = 0; e < m_kernel.exprs.size(); ++e)
    if (m_needed[e] && m_place.level[e] < 2 && m_place.phase[e] <= phase && !m_outerValues[e])
      m_outerValues[e] = compute(int(e));
}

bool KernelEmitter::loopHasWork(int phase) const {
  for (std::size_t e = 0; e < m_kernel.exprs.size(); ++e)
    if (m_accumulators[e] && isReduction(m_kernel.exprs[e].op) && m_place.phase[e] == phase + 1) return true;
  return std::ranges::any_of(
      m_kernel.stores, [&](const LoopStore& s) { return s.inner && m_place.phase[std::size_t(s.value)] == phase; });
}

void KernelEmitter::emitInnerLoop(int phase) {
  for (std::size_t e = 0; e < m_kernel.exprs.size(); ++e)
    if (m_accumulators[e] && isReduction(m_kernel.exprs[e].op) && m_place.phase[e] == phase + 1) emitIdentity(e);
  m_phase = phase;
  const std::vector<bool> used = usedInLoop(phase);
  for (std::size_t e = 0; e < used.size(); ++e) m_carriedHere[e] = used[e] && m_kernel.exprs[e].op == ExprOp::Carry;
  beginCarried();
  emitLoops(m_inner, 0, false, [&] { emitInnerBody(phase); });
}

void KernelEmitter::emitInnerBody(int phase) {
  m_inside = true;
  std::ranges::fill(m_innerValues, nullptr);
  for (std::size_t e = 0; e < m_kernel.exprs.size(); ++e) {
    if (!m_accumulators[e] || !isReduction(m_kernel.exprs[e].op) || m_place.phase[e] != phase + 1) continue;
    emitAccumulation(e, value(m_kernel.exprs[e].args[0]));
  }
  emitStores(true, phase);
  takeCarried();
  keepCarried();
  m_inside = false;
}

void KernelEmitter::emitStores(bool inner, int phase) {
  storeAll(
      [&](const LoopStore& s) { return s.inner == inner && (!inner || m_place.phase[std::size_t(s.value)] == phase); });
}

/// The stores of one iteration that `isOf` names: of a kernel that stores what it loads, after all of their values.
void KernelEmitter::storeAll(const std::function<bool(const LoopStore&)>& isOf) {
  const auto isStored = [&](const Expr& e) {
    return isLoad(e.op) && std::ranges::find(m_kernel.stores, e.buffer, &LoopStore::buffer) != m_kernel.stores.end();
  };
  if (std::ranges::any_of(m_kernel.exprs, isStored))
    for (const LoopStore& s : m_kernel.stores)
      if (isOf(s)) (void)value(s.value);
  for (const LoopStore& s : m_kernel.stores)
    if (isOf(s)) store(s);
}

Value* KernelEmitter::value(int expr) {
  const auto e = std::size_t(expr);
  if (m_outerValues[e]) return m_outerValues[e];
  auto& known = m_innerValues[e];
  if (known) return known;
  const bool spilled = m_spills[e] != nullptr;
  const DType dtype = m_kernel.exprs[e].dtype;
  Type* type = m_scalar.memoryType(dtype);
  if (spilled && m_place.phase[e] < m_phase) {
    Value* slot = m_b.CreateInBoundsGEP(type, m_spills[e], {innerPosition()});
    return known = m_scalar.fromMemory(m_b.CreateLoad(type, slot), dtype);
  }
  if (Value* hoisted = loadHoisted(e)) return known = hoisted;
  Value* result = compute(expr);
  if (spilled) {
    Value* slot = m_b.CreateInBoundsGEP(type, m_spills[e], {innerPosition()});
    m_b.CreateStore(m_scalar.toMemory(result, dtype), slot);
  }
  return m_innerValues[e] = result;
}

Value* KernelEmitter::compute(int expr) {
  const Expr& e = m_kernel.exprs[std::size_t(expr)];
  const LineScope line(m_b, m_lines, m_lineOf.exprs + expr);
  if (e.op == ExprOp::Constant) return m_scalar.constant(e);
  if (e.op == ExprOp::Index) return affine(e.index);
  if (Value* truth = decided(e)) return truth;
  if (e.op == ExprOp::Carry)
    return m_carried[std::size_t(expr)] ? m_carried[std::size_t(expr)] : totalOf(std::size_t(expr));
  if (!m_staged.empty() && m_staged[std::size_t(expr)]) return loadStaged(std::size_t(expr));
  if (e.op == ExprOp::Load) return load(e.buffer, address(e.buffer, e.index), e.dtype);
  if (e.op == ExprOp::LoadAt) return loadAt(e);
  if (e.op == ExprOp::LoadWhere) return loadWhere(e);
  if (isReduction(e.op)) return totalOf(std::size_t(expr));
  Value* a = value(e.args[0]);
  const DType from = m_kernel.exprs[std::size_t(e.args[0])].dtype;
  if (leavesNan(e)) return m_scalar.roundToBFloat16(m_scalar.convert(a, from, DType::Float32));
  if (e.op == ExprOp::Convert) return m_scalar.convert(a, from, e.dtype);
  if (e.op == ExprOp::Philox) return m_scalar.philox(a, value(e.args[1]), std::size_t(e.integer));
  switch (exprOpInfo(e.op).arity) {
    case 1:
      return m_scalar.unary(e.op, a, from);
    case 2:
      return m_scalar.binary(e.op, a, value(e.args[1]), from);
    default:
      break;
  }
  if (auto* truth = dyn_cast<ConstantInt>(a); truth && e.op == ExprOp::Select)
    return value(e.args[truth->isZero() ? 2 : 1]);
  Value* b = value(e.args[1]);
  Value* c = value(e.args[2]);
  return e.op == ExprOp::Select ? m_b.CreateSelect(a, b, c) : m_scalar.fma(a, b, c);
}

}  // namespace kerf::inline codegen_llvm
