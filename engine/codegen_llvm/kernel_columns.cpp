// Reductions over rows, many columns side by side:
//
//   before: for c: for r (reduced): s += x[64*r + c]
//   after:  for c in tiles: for r (reduced): for c in tile: s[c] += x[64*r + c]
#include <algorithm>

#include "engine/codegen_llvm/kernel_emitter.h"
#include "engine/codegen_llvm/target.h"

namespace kerf::inline codegen_llvm {

using namespace llvm;

namespace {

/// Their accumulators stay in the first cache.
constexpr std::int64_t columnsAtOnce = 1024, fewestColumns = 8;
/// Rows that are added before an accumulator is written again; a power of two.
constexpr int rowsAtOnce = 4;
/// Columns of the rows after them that are asked for at once.
constexpr std::int64_t columnsAhead = 128;

}  // namespace

/// Loads and stores of elements that step through memory one by one with this variable.
int KernelEmitter::contiguousAccesses(std::size_t variable) const {
  const auto steps = [&](const Affine& index) {
    return variable < index.coefficients.size() && index.coefficients[variable].isIdentical(1);
  };
  int count = 0;
  for (std::size_t e = 0; e < m_kernel.exprs.size(); ++e) {
    const Expr& expr = m_kernel.exprs[e];
    count += m_needed[e] && m_place.level[e] == 2 && expr.op == ExprOp::Load && steps(expr.index);
  }
  for (const LoopStore& s : m_kernel.stores) count += s.inner && steps(s.index);
  return count;
}

/// A sum over rows walks down one column after the other, far apart in memory: better row by row, many columns at once.
/// The first outer loop is divided among threads, so it serves only where it is the only one.
std::optional<std::size_t> KernelEmitter::findColumns() const {
  if (m_inner.empty() || m_outer.empty()) return std::nullopt;
  for (std::size_t e = 0; e < m_kernel.exprs.size(); ++e)
    if (m_needed[e] && m_kernel.exprs[e].op == ExprOp::Carry && lastPhase() > 0) return std::nullopt;
  // What the columns share, such as a factor for each row, lies in the first cache anyway.
  const auto ownAlong = [&](std::size_t variable, std::size_t column) {
    const auto counts = [&](const Affine& index) {
      return index.coefficient(variable).isIdentical(1) && !isZero(index.coefficient(column));
    };
    int count = 0;
    for (std::size_t e = 0; e < m_kernel.exprs.size(); ++e) {
      const Expr& expr = m_kernel.exprs[e];
      count += m_needed[e] && m_place.level[e] == 2 && expr.op == ExprOp::Load && counts(expr.index);
    }
    for (const LoopStore& s : m_kernel.stores) count += s.inner && counts(s.index);
    return count;
  };
  int most = 0;
  std::optional<std::size_t> best;
  for (std::size_t i = m_outer.size() == 1 ? 0 : 1; i < m_outer.size(); ++i) {
    const SymInt size = m_kernel.variables[m_outer[i]].size;
    if (!size.isSymbolic() && size.bits() < fewestColumns) continue;
    int along = 0;
    for (const std::size_t v : m_inner) along = std::max(along, ownAlong(v, m_outer[i]));
    const int count = contiguousAccesses(m_outer[i]);
    if (count > std::max(most, along)) most = count, best = m_outer[i];
  }
  return best;
}

void KernelEmitter::emitColumns() {
  if (dividedLoops(m_kernel) == 2 && m_outer.size() == 2) return emitDividedColumns();
  std::vector<std::size_t> others = m_outer;
  std::erase(others, *m_columns);
  emitLoops(others, 0, true, [&] {
    Value* begin = others.empty() ? static_cast<Value*>(m_function->getArg(1)) : m_b.getInt64(0);
    Value* end = others.empty() ? m_function->getArg(2) : number(m_kernel.variables[*m_columns].size);
    emitSteps(begin, end, columnsAtOnce, true, [&](Value* start) {
      emitColumnTile(start, end, [&] { emitColumnPhases(start, end); }, [&] { emitStores(false, 0); });
    });
  });
  m_b.CreateRetVoid();
}

/// Both outer loops are divided among threads as one: of the first and the last row a piece may have some columns only.
void KernelEmitter::emitDividedColumns() {
  Value* width = number(m_kernel.variables[*m_columns].size);
  if (m_kernel.variables[*m_columns].size.isSymbolic())  // where there is none, nothing is divided by 0
    width = m_b.CreateBinaryIntrinsic(Intrinsic::smax, width, m_b.getInt64(1));
  Value* zero = m_b.getInt64(0);
  Value* begin = m_function->getArg(1);
  Value* end = m_function->getArg(2);
  Value* firstRow = m_b.CreateUDiv(begin, width);
  Value* lastRow = m_b.CreateUDiv(m_b.CreateNSWAdd(end, m_b.CreateNSWSub(width, m_b.getInt64(1))), width);
  emitSteps(firstRow, lastRow, 1, true, [&](Value* row) {
    m_index[m_outer.front()] = row;
    Value* start = m_b.CreateNSWMul(row, width);
    Value* from = m_b.CreateNSWSub(begin, start);
    Value* to = m_b.CreateNSWSub(end, start);
    from = m_b.CreateSelect(m_b.CreateICmpSGT(from, zero), from, zero);
    to = m_b.CreateSelect(m_b.CreateICmpSLT(to, width), to, width);
    emitSteps(from, to, columnsAtOnce, true, [&](Value* first) {
      emitColumnTile(first, to, [&] { emitColumnPhases(first, to); }, [&] { emitStores(false, 0); });
    });
  });
  m_b.CreateRetVoid();
}

/// The columns from `start` on, at most as many as are taken at once, before `end`.
void KernelEmitter::forTile(Value* start, Value* end, const Body& body) {
  forColumns(start, m_b.getInt64(0), smaller(m_b.CreateNSWSub(end, start), m_b.getInt64(columnsAtOnce)), body);
}

Value* KernelEmitter::smaller(Value* a, Value* b) { return m_b.CreateSelect(m_b.CreateICmpSLT(a, b), a, b); }

/// Those of a tile from `first` on, before `last`.
void KernelEmitter::forColumns(Value* start, Value* first, Value* last, const Body& body) {
  emitSteps(first, last, 1, false, [&](Value* column) {
    m_column = column;
    m_index[*m_columns] = m_b.CreateNSWAdd(start, column);
    std::ranges::fill(m_outerValues, nullptr);
    std::ranges::fill(m_innerValues, nullptr);
    body();
  });
}

/// `finish` is for each column.
void KernelEmitter::emitColumnTile(Value* start, Value* end, const Body& gather, const Body& finish) {
  m_phase = 0;
  for (std::size_t e = 0; e < m_carriedHere.size(); ++e)
    m_carriedHere[e] = m_needed[e] && m_kernel.exprs[e].op == ExprOp::Carry;
  m_hoisted.clear();
  const std::vector<std::size_t> hoisted = hoistedOfColumns(columnsAtOnce);
  forTile(start, end, [&] {
    for (std::size_t e = 0; e < m_kernel.exprs.size(); ++e)
      if (m_accumulators[e] && isReduction(m_kernel.exprs[e].op)) emitIdentity(e);
    beginCarried();
    keepHoists(hoisted, m_column);
  });
  takeHoists(hoisted);
  gather();
  forTile(start, end, finish);
  m_hoisted.clear();
  m_column = nullptr;
}

/// All rows for the reductions that need elements alone, then all again for what needs those: a variance's squares, and
/// elements less their column's mean.
void KernelEmitter::emitColumnPhases(Value* start, Value* end) {
  for (int phase = 0; phase <= lastPhase(); ++phase) {
    if (!loopHasWork(phase)) continue;
    if (phase > 0) keepColumnValues(phase, start, end);
    m_phase = phase;
    emitColumnRows(start, end);
  }
}

/// What elements of this phase take from their column and is no reduction itself, once for each column.
void KernelEmitter::keepColumnValues(int phase, Value* start, Value* end) {
  const auto isOfColumn = [&](std::size_t e) {
    return m_needed[e] && m_place.level[e] < 2 && m_place.phase[e] > 0 && m_place.phase[e] <= phase &&
           !isReduction(m_kernel.exprs[e].op);
  };
  std::vector<bool> taken(m_kernel.exprs.size(), false);
  for (std::size_t e = 0; e < taken.size(); ++e)
    if (m_needed[e] && m_place.level[e] == 2)
      for (std::size_t a = 0; a < exprOpInfo(m_kernel.exprs[e].op).arity; ++a)
        taken[std::size_t(m_kernel.exprs[e].args[a])] = true;
  for (const LoopStore& s : m_kernel.stores)
    if (s.inner) taken[std::size_t(s.value)] = true;
  constexpr std::int64_t mostBytes = 1 << 20;  // of the stack; what has no room is computed for every element
  std::vector<std::size_t> chosen;
  std::int64_t bytes = 0;
  for (std::size_t e = 0; e < taken.size(); ++e) {
    if (!taken[e] || !isOfColumn(e) || (!m_hoisted.empty() && m_hoisted[e])) continue;
    bytes += columnsAtOnce * itemSize(m_kernel.exprs[e].dtype);
    if (bytes <= mostBytes) chosen.push_back(e);
  }
  if (chosen.empty()) return;
  makeHoistRoom(chosen, columnsAtOnce);
  forTile(start, end, [&] { keepHoists(chosen, m_column); });
  takeHoists(chosen);
}

void KernelEmitter::emitColumnRows(Value* start, Value* end) {
  const std::vector<std::size_t> rest(m_inner.begin(), m_inner.end() - 1);
  emitLoops(rest, 0, false, [&] {
    const std::size_t v = m_inner.back();
    const bool isPiece = m_shared && v == m_shared->variable;
    Value* from = isPiece ? static_cast<Value*>(m_function->getArg(1)) : m_b.getInt64(0);
    Value* to = isPiece ? static_cast<Value*>(m_function->getArg(2)) : number(m_kernel.variables[v].size);
    Value* whole = m_b.CreateAnd(m_b.CreateNSWSub(to, from), m_b.getInt64(~std::uint64_t(rowsAtOnce - 1)));
    whole = m_b.CreateNSWAdd(from, whole);
    const auto forRows = [&](Value* first, Value* last, int rows) {
      emitSteps(first, last, rows, true, [&](Value* row) { emitRowsOfTile(start, end, v, row, rows); });
    };
    forRows(from, whole, rowsAtOnce);
    forRows(whole, to, 1);
  });
}

/// So many rows of a tile, some columns after the other: while those are added, the same ones of the next rows are on
/// their way. A row ends before any processor sees its lines coming.
void KernelEmitter::emitRowsOfTile(Value* start, Value* end, std::size_t variable, Value* row, int rows) {
  const int width = isWorthWideVectors(m_needed, *m_columns) ? floatsOfRegister() : 0;
  const auto sums = [&] { emitRows(variable, row, rows); };
  const std::vector<std::size_t> ahead = readsOfColumns(variable);
  if (rows == 1 || ahead.empty()) {
    m_widthNext = width;
    return forTile(start, end, sums);
  }
  Value* count = smaller(m_b.CreateNSWSub(end, start), m_b.getInt64(columnsAtOnce));
  emitSteps(m_b.getInt64(0), count, columnsAhead, false, [&](Value* first) {
    Value* last = smaller(m_b.CreateNSWAdd(first, m_b.getInt64(columnsAhead)), count);
    for (int k = 0; k < rows; ++k) {
      m_index[variable] = m_b.CreateNSWAdd(row, m_b.getInt64(std::uint64_t(rows + k)));
      prefetchColumns(ahead, start, first, last);
    }
    m_widthNext = width;
    forColumns(start, first, last, sums);
  });
}

/// Each piece takes some rows of all columns.
void KernelEmitter::emitSharedColumns() {
  Value* columns = number(m_kernel.variables[*m_columns].size);
  const auto forTiles = [&](const IndexBody& body) { emitSteps(m_b.getInt64(0), columns, columnsAtOnce, false, body); };
  emitShared(
      [&] {
        Value* piece = m_b.CreateSDiv(m_function->getArg(1), m_b.getInt64(std::uint64_t(m_shared->chunk)));
        forTiles([&](Value* start) {
          emitColumnTile(start, columns, [&] { emitColumnRows(start, columns); }, [&] { keepParts(piece); });
        });
      },
      [&] {
        forTiles([&](Value* start) {
          const auto gather = [&] {
            emitSteps(m_b.getInt64(0), m_function->getArg(2), 1, false,
                      [&](Value* piece) { forTile(start, columns, [&] { addParts(piece); }); });
          };
          emitColumnTile(start, columns, gather, [&] { emitStores(false, 0); });
        });
      });
}

/// One column's elements in so many rows from `row` on.
void KernelEmitter::emitRows(std::size_t variable, Value* row, int rows) {
  m_inside = true;
  std::vector<Value*> totals(m_kernel.exprs.size(), nullptr);
  for (int k = 0; k < rows; ++k) {
    m_index[variable] = m_b.CreateNSWAdd(row, m_b.getInt64(std::uint64_t(k)));
    std::ranges::fill(m_innerValues, nullptr);
    for (std::size_t e = 0; e < m_kernel.exprs.size(); ++e) {
      const Expr& expr = m_kernel.exprs[e];
      if (!m_accumulators[e] || !isReduction(expr.op) || m_place.phase[e] != m_phase + 1) continue;
      Value* element = value(expr.args[0]);
      if (!totals[e]) totals[e] = totalOf(e);
      totals[e] = accumulate(expr, totals[e], element);
    }
    emitStores(true, m_phase);
    takeCarried();
  }
  keepCarried();
  for (std::size_t e = 0; e < m_kernel.exprs.size(); ++e)
    if (totals[e]) m_b.CreateStore(m_scalar.toMemory(totals[e], m_kernel.exprs[e].dtype), accumulator(e));
  m_inside = false;
}

Type* KernelEmitter::accumulatorType(DType dtype) const {
  Type* type = m_scalar.memoryType(dtype);
  if (m_columns) return ArrayType::get(type, std::uint64_t(columnsAtOnce));
  return scansRows() ? ArrayType::get(type, scansAtOnce) : type;
}

/// Where the value of a reduction gathers.
Value* KernelEmitter::accumulator(std::size_t expr) {
  Value* first = m_accumulators[expr];
  if (!m_column) return first;
  return m_b.CreateInBoundsGEP(m_scalar.memoryType(m_kernel.exprs[expr].dtype), first, {m_column});
}

}  // namespace kerf::inline codegen_llvm
