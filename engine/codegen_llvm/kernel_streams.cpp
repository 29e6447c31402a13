// Results that no cache holds are written past the caches: a store into a line of memory that is not in a cache reads
// the line first, half as many bytes again. The innermost loop is cut where whole lines begin.
//
//   before: for i: y[i] = f(x[i])
//   after:  for i before the first whole line of y: y[i] = f(x[i])      for the others: stream y[i] = f(x[i])
#include <algorithm>

#include "engine/codegen_llvm/kernel_emitter.h"
#include "engine/codegen_llvm/streams.h"
#include "engine/codegen_llvm/target.h"

namespace kerf::inline codegen_llvm {

using namespace llvm;

namespace {

/// Shorter rows have too many ends, unless they are whole lines.
constexpr std::int64_t fewestBytes = 4096, fewestOfLines = 128;
/// A smaller element makes vectors that are no half of a line.
constexpr std::int64_t smallestItem = 2;

}  // namespace

/// Bytes of the places that a store writes; nothing where that is not known here.
std::optional<std::int64_t> KernelEmitter::bytesWritten(const LoopStore& store) const {
  std::int64_t bytes = itemSize(m_kernel.buffers[std::size_t(store.buffer)].dtype);
  for (std::size_t v = 0; v < m_kernel.variables.size(); ++v) {
    const SymInt size = m_kernel.variables[v].size;
    if (isZero(store.index.coefficient(v))) continue;
    if (size.isSymbolic() || __builtin_mul_overflow(bytes, size.bits(), &bytes)) return std::nullopt;
  }
  return bytes;
}

/// Large enough, in order along `variable`, and of a buffer that this kernel meets nowhere else.
bool KernelEmitter::isStreamed(const LoopStore& store, std::size_t variable) const {
  const std::int64_t item = itemSize(m_kernel.buffers[std::size_t(store.buffer)].dtype);
  const SymInt size = m_kernel.variables[variable].size;
  if (store.place >= 0 || (!m_inner.empty() && !store.inner)) return false;
  if (!store.index.coefficient(variable).isIdentical(1) || size.isSymbolic() || item < smallestItem) return false;
  const std::int64_t row = size.bits() * item;
  if (row < (row % lineBytes == 0 ? fewestOfLines : fewestBytes)) return false;
  const auto meets = [&](const auto& access) { return access.buffer == store.buffer; };
  const auto reads = [&](const Expr& e) { return isLoad(e.op) && meets(e); };
  if (std::ranges::count_if(m_kernel.stores, meets) != 1 || std::ranges::any_of(m_kernel.exprs, reads)) return false;
  const auto bytes = bytesWritten(store);
  return bytes && *bytes >= m_streamFrom;
}

/// Those that the loop over `variable` writes, if it is the innermost one of a nest that may stream.
std::vector<std::size_t> KernelEmitter::streamedStores(std::size_t variable) const {
  const auto isCarry = [](const Expr& e) { return e.op == ExprOp::Carry; };
  if (std::ranges::any_of(m_kernel.exprs, isCarry)) return {};
  const bool reduces = !m_inner.empty();
  const std::vector<std::size_t>& nest = reduces ? m_inner : m_outer;
  if (m_columns || m_kernel.writesAtPlaces() || nest.empty() || nest.back() != variable) return {};
  std::vector<std::size_t> chosen;
  for (std::size_t s = 0; s < m_kernel.stores.size(); ++s) {
    const LoopStore& store = m_kernel.stores[s];
    const bool here = !reduces || m_place.phase[std::size_t(store.value)] == m_phase;
    if (here && isStreamed(store, variable)) chosen.push_back(s);
  }
  return chosen;
}

/// Elements of a vector that fills a register with the smallest of these.
int KernelEmitter::streamWidth(const std::vector<std::size_t>& stores) const {
  std::int64_t item = lineBytes;
  for (const std::size_t s : stores)
    item = std::min(item, itemSize(m_kernel.buffers[std::size_t(m_kernel.stores[s].buffer)].dtype));
  return int(floatsOfRegister() * itemSize(DType::Float32) / item);
}

/// Where the store's element of the current iteration lies within a line, in bytes.
llvm::Value* KernelEmitter::placeInLine(std::size_t store) {
  const LoopStore& s = m_kernel.stores[store];
  llvm::Value* place = m_b.CreatePtrToInt(address(s.buffer, s.index), m_b.getInt64Ty());
  return m_b.CreateAnd(place, m_b.getInt64(lineBytes - 1));
}

/// Iterations from `side.begin` on before all of the stores begin whole lines; all of them where they never do at once.
llvm::Value* KernelEmitter::firstWholeLine(const std::vector<std::size_t>& stores, const TileSide& side) {
  m_index[side.variable] = side.begin;
  llvm::Value* first = nullptr;
  llvm::Value* together = m_b.getTrue();
  for (const std::size_t s : stores) {
    const std::int64_t item = itemSize(m_kernel.buffers[std::size_t(m_kernel.stores[s].buffer)].dtype);
    llvm::Value* left = m_b.CreateAnd(m_b.CreateNeg(placeInLine(s)), m_b.getInt64(lineBytes - 1));
    llvm::Value* iterations = m_b.CreateUDiv(left, m_b.getInt64(std::uint64_t(item)));
    together = first ? m_b.CreateAnd(together, m_b.CreateICmpEQ(first, iterations)) : together;
    first = first ? first : iterations;
  }
  llvm::Value* at = m_b.CreateNSWAdd(side.begin, first);
  llvm::Value* cut = m_b.CreateAnd(together, m_b.CreateICmpSLT(at, side.end));
  return m_b.CreateSelect(cut, at, side.end);
}

/// Of a tile whose rows are whole lines if the first one is: those that its loops may stream.
std::vector<std::size_t> KernelEmitter::streamedOfTile(const TileSide& rows, const TileSide& columns) const {
  std::vector<std::size_t> stores = streamedStores(columns.variable);
  const auto movesWithinLines = [&](std::size_t s) {
    const LoopStore& store = m_kernel.stores[s];
    const SymInt step = store.index.coefficient(rows.variable);
    const std::int64_t item = itemSize(m_kernel.buffers[std::size_t(store.buffer)].dtype);
    return step.isSymbolic() || step.bits() * item % lineBytes != 0;
  };
  if (std::ranges::any_of(stores, movesWithinLines)) return {};
  return stores;
}

/// The loops over a tile: streamed where its rows begin whole lines.
void KernelEmitter::emitTileLoops(const TileSide& rows, const TileSide& columns, const Body& loops) {
  const std::vector<std::size_t> stores = streamedOfTile(rows, columns);
  if (stores.empty()) return loops();
  m_index[rows.variable] = rows.begin;
  m_index[columns.variable] = columns.begin;
  llvm::Value* past = m_b.getInt64(0);
  for (const std::size_t s : stores) past = m_b.CreateOr(past, placeInLine(s));
  auto* whole = BasicBlock::Create(m_context, "lines", m_function);
  auto* shifted = BasicBlock::Create(m_context, "shifted", m_function);
  auto* done = BasicBlock::Create(m_context, "written", m_function);
  m_b.CreateCondBr(m_b.CreateICmpEQ(past, m_b.getInt64(0)), whole, shifted);
  m_b.SetInsertPoint(whole);
  startStreaming(stores);
  m_tileWidth = streamWidth(stores);
  loops();
  m_tileWidth = 0;
  m_streams.clear();
  m_b.CreateBr(done);
  shifted->moveAfter(m_b.GetInsertBlock());
  m_b.SetInsertPoint(shifted);
  loops();
  m_b.CreateBr(done);
  done->moveAfter(m_b.GetInsertBlock());
  m_b.SetInsertPoint(done);
}

/// The loop twice: up to the first whole line, and from there on, streamed.
void KernelEmitter::emitStreamedLoop(const std::vector<std::size_t>& stores, const TileSide& side, const Body& body) {
  const int width = std::max(std::exchange(m_widthNext, 0), streamWidth(stores));
  llvm::Value* cut = firstWholeLine(stores, side);
  const auto part = [&](llvm::Value* begin, llvm::Value* end) {
    m_widthNext = width;
    emitSteps(begin, end, 1, true, [&](llvm::Value* index) {
      m_index[side.variable] = index;
      body();
    });
  };
  part(side.begin, cut);
  startStreaming(stores);
  part(cut, side.end);
  m_streams.clear();
}

void KernelEmitter::startStreaming(const std::vector<std::size_t>& stores) {
  if (m_streamScope == nullptr) m_streamScope = makeStreamScope(m_context);
  m_streams.assign(m_kernel.stores.size(), false);
  for (const std::size_t s : stores) m_streams[s] = true;
}

void KernelEmitter::annotateStore(llvm::Instruction* access, const LoopStore& store) {
  annotate(access, store.buffer);
  if (m_streams.empty() || !m_streams[std::size_t(&store - m_kernel.stores.data())]) return;
  llvm::Metadata* own = m_scopes[std::size_t(store.buffer)]->getOperand(0).get();
  access->setMetadata(LLVMContext::MD_alias_scope, MDNode::get(m_context, {own, m_streamScope}));
}

/// Other threads must see what was streamed when the kernel is done.
void KernelEmitter::finishStreamsAtReturns() {
  if (m_streamScope == nullptr) return;
  auto finish = m_module.getOrInsertFunction("kerf_finish_streams", FunctionType::get(m_b.getVoidTy(), false));
  cast<Function>(finish.getCallee())->setDoesNotThrow();
  for (BasicBlock& block : *m_function) {
    auto* back = dyn_cast<ReturnInst>(block.getTerminator());
    if (back == nullptr) continue;
    m_b.SetInsertPoint(back);
    m_b.CreateCall(finish);
  }
}

}  // namespace kerf::inline codegen_llvm
