// Element-wise loops that read along one variable and write along another, tile by tile: what lies across is first read
// along its own lines of memory into a tile on the stack.
//
//   before: for i0: for i1: y[64*i0 + i1] = x[i0 + 512*i1]
//   after:  for tiles of i0: for tiles of i1:
//             for i1 in tile: for i0 in tile: t[i0, i1] = x[i0 + 512*i1]
//             for i0 in tile: for i1 in tile: y[64*i0 + i1] = t[i0, i1]
//
// Whole tiles are staged by blocks of 8 x 8 elements, which are transposed in registers.
#include <algorithm>

#include "engine/codegen_llvm/kernel_emitter.h"

namespace kerf::inline codegen_llvm {

using namespace llvm;

namespace {

constexpr std::int64_t tileRows = 64, tileColumns = 64;
/// Between the rows of a tile: no power of two, so that neighbours do not fall onto the same places of the cache.
constexpr std::int64_t tileStep = tileColumns + 8;
/// Side of a block.
constexpr int blockSide = 8;
/// Steps between elements from which on neighbours are in other lines of memory, and the shortest loops worth a tile.
constexpr std::int64_t farApart = 16, fewest = 8;

/// Lines of a block as its columns, by halves: of 4 x 4 blocks, of 2 x 2 blocks, of elements.
std::vector<Value*> transposed(IRBuilder<>& b, std::vector<Value*> lines) {
  for (int half = blockSide / 2; half > 0; half /= 2) {
    std::vector<int> low, high;
    for (int i = 0; i < blockSide; ++i) {
      const bool other = (i & half) != 0;
      low.push_back(other ? blockSide + i - half : i);
      high.push_back(other ? blockSide + i : i + half);
    }
    for (int i = 0; i < blockSide; ++i) {
      if ((i & half) != 0) continue;
      Value *&first = lines[std::size_t(i)], *&second = lines[std::size_t(i + half)];
      Value* mixed = b.CreateShuffleVector(first, second, low);
      second = b.CreateShuffleVector(first, second, high);
      first = mixed;
    }
  }
  return lines;
}

bool isFar(SymInt step) { return step.isSymbolic() || std::abs(step.bits()) >= farApart; }

}  // namespace

/// Loads that are contiguous along `rows` and jump along the innermost loop.
std::vector<std::size_t> KernelEmitter::transposedLoads(std::size_t rows) const {
  std::vector<std::size_t> loads;
  for (std::size_t e = 0; e < m_kernel.exprs.size(); ++e) {
    const Expr& expr = m_kernel.exprs[e];
    const bool isPlain = expr.op == ExprOp::Load || expr.op == ExprOp::LoadWhere;
    if (m_needed[e] && isPlain && isFar(expr.index.coefficient(m_outer.back())) &&
        expr.index.coefficient(rows).isIdentical(1))
      loads.push_back(e);
  }
  return loads;
}

/// The loop along which some load is contiguous while it jumps along the innermost one.
std::optional<std::size_t> KernelEmitter::findTransposed() const {
  if (!m_inner.empty() || m_outer.size() < 2) return std::nullopt;
  const auto isLong = [&](std::size_t v) {
    const SymInt size = m_kernel.variables[v].size;
    return size.isSymbolic() || size.bits() >= fewest;
  };
  for (const std::size_t v : m_outer)
    if (v != m_outer.back() && isLong(v) && isLong(m_outer.back()) && !transposedLoads(v).empty()) return v;
  return std::nullopt;
}

void KernelEmitter::emitTiles(std::size_t rows) {
  const std::size_t columns = m_outer.back();
  std::vector<std::size_t> others = m_outer;
  std::erase(others, rows);
  std::erase(others, columns);
  const bool dividesRows = rows == m_outer.front();
  emitLoops(others, 0, !dividesRows, [&] {
    Value* begin = dividesRows ? static_cast<Value*>(m_function->getArg(1)) : m_b.getInt64(0);
    Value* end = dividesRows ? m_function->getArg(2) : number(m_kernel.variables[rows].size);
    emitSteps(begin, end, tileRows, true, [&](Value* row) {
      Value* lastColumn = number(m_kernel.variables[columns].size);
      emitSteps(m_b.getInt64(0), lastColumn, tileColumns, true,
                [&](Value* column) { emitTile({rows, row, end}, {columns, column, lastColumn}); });
    });
  });
  m_b.CreateRetVoid();
}

void KernelEmitter::emitTile(const TileSide& rows, const TileSide& columns) {
  m_tile = {rows, columns};
  std::vector<Value*> staged(m_kernel.exprs.size(), nullptr);
  for (const std::size_t e : transposedLoads(rows.variable)) {
    const Expr& expr = m_kernel.exprs[e];
    Type* type = m_scalar.memoryType(expr.dtype);
    IRBuilder<> entry(&m_function->getEntryBlock(), m_function->getEntryBlock().begin());
    staged[e] = alignedRoom(entry, ArrayType::get(type, std::uint64_t(tileStep * tileRows)));
    if (mayStageByBlock(e))
      stageByBlock(e, staged[e]);
    else
      stageByElement(e, staged[e]);
  }
  m_staged = std::move(staged);
  emitTileLoops(rows, columns, [&] {
    emitPart(rows.variable, rows.begin, rows.end, tileRows, [&] {
      m_widthNext = m_tileWidth;
      emitPart(columns.variable, columns.begin, columns.end, tileColumns, [&] { emitOuterBody(); });
    });
  });
  m_staged.clear();
}

void KernelEmitter::stageByElement(std::size_t expr, Value* tile) {
  const auto [rows, columns] = m_tile;
  const DType dtype = m_kernel.exprs[expr].dtype;
  emitPart(columns.variable, columns.begin, columns.end, tileColumns, [&] {
    emitPart(rows.variable, rows.begin, rows.end, tileRows, [&] {
      std::ranges::fill(m_innerValues, nullptr);
      Value* element = compute(int(expr));
      m_b.CreateStore(m_scalar.toMemory(element, dtype), tilePlace(tile, dtype, !mayStageByBlock(expr)));
    });
  });
}

/// Into the second cache: what the next tile reads, whose lines no processor sees coming.
void KernelEmitter::prefetch(Value* address) {
  constexpr unsigned read = 0, secondCache = 2, data = 1;
  m_b.CreateIntrinsic(Intrinsic::prefetch, {m_b.getPtrTy()},
                      {address, m_b.getInt32(read), m_b.getInt32(secondCache), m_b.getInt32(data)});
}

bool KernelEmitter::mayStageByBlock(std::size_t expr) const { return m_kernel.exprs[expr].op == ExprOp::Load; }

Value* KernelEmitter::isWhole(const TileSide& side, std::int64_t count) {
  return m_b.CreateICmpSLE(m_b.CreateNSWAdd(side.begin, m_b.getInt64(std::uint64_t(count))), side.end);
}

/// A tile at the edge is staged element by element.
void KernelEmitter::stageByBlock(std::size_t expr, Value* tile) {
  const auto [rows, columns] = m_tile;
  auto* whole = BasicBlock::Create(m_context, "whole", m_function);
  auto* edge = BasicBlock::Create(m_context, "edge", m_function);
  auto* done = BasicBlock::Create(m_context, "staged", m_function);
  m_b.CreateCondBr(m_b.CreateAnd(isWhole(rows, tileRows), isWhole(columns, tileColumns)), whole, edge);
  m_b.SetInsertPoint(whole);
  const Expr& e = m_kernel.exprs[expr];
  auto* type = FixedVectorType::get(m_scalar.memoryType(e.dtype), blockSide);
  const auto end = [&](const TileSide& side, std::int64_t count) {
    return m_b.CreateNSWAdd(side.begin, m_b.getInt64(std::uint64_t(count)));
  };
  emitSteps(columns.begin, end(columns, tileColumns), blockSide, false, [&](Value* column) {
    emitSteps(rows.begin, end(rows, tileRows), blockSide, false, [&](Value* row) {
      std::vector<Value*> lines;
      m_index[rows.variable] = row;
      for (int k = 0; k < blockSide; ++k) {
        m_index[columns.variable] = m_b.CreateNSWAdd(column, m_b.getInt64(std::uint64_t(k)));
        auto* line = m_b.CreateAlignedLoad(type, address(e.buffer, e.index), Align(itemSize(e.dtype)));
        annotate(line, e.buffer);
        lines.push_back(line);
        m_index[columns.variable] = m_b.CreateNSWAdd(m_index[columns.variable], m_b.getInt64(tileColumns));
        prefetch(address(e.buffer, e.index));
      }
      lines = transposed(m_b, lines);
      m_index[columns.variable] = column;
      for (int k = 0; k < blockSide; ++k) {
        m_index[rows.variable] = m_b.CreateNSWAdd(row, m_b.getInt64(std::uint64_t(k)));
        m_b.CreateAlignedStore(lines[std::size_t(k)], tilePlace(tile, e.dtype, false), Align(itemSize(e.dtype)));
      }
    });
  });
  m_b.CreateBr(done);
  edge->moveAfter(m_b.GetInsertBlock());
  m_b.SetInsertPoint(edge);
  stageByElement(expr, tile);
  m_b.CreateBr(done);
  done->moveAfter(m_b.GetInsertBlock());
  m_b.SetInsertPoint(done);
}

/// Where the tile on the stack holds the element of these iterations: row by row, or column by column where it is
/// staged element by element, along the rows.
Value* KernelEmitter::tilePlace(Value* tile, DType dtype, bool byColumn) {
  Value* row = m_b.CreateNSWSub(m_index[m_tile.rows.variable], m_tile.rows.begin);
  Value* column = m_b.CreateNSWSub(m_index[m_tile.columns.variable], m_tile.columns.begin);
  Value* place = byColumn ? m_b.CreateNSWAdd(m_b.CreateNSWMul(column, m_b.getInt64(tileRows + 1)), row)
                          : m_b.CreateNSWAdd(m_b.CreateNSWMul(row, m_b.getInt64(tileStep)), column);
  return m_b.CreateInBoundsGEP(m_scalar.memoryType(dtype), tile, {place});
}

Value* KernelEmitter::loadStaged(std::size_t expr) {
  const DType dtype = m_kernel.exprs[expr].dtype;
  Value* place = tilePlace(m_staged[expr], dtype, !mayStageByBlock(expr));
  return m_scalar.fromMemory(m_b.CreateLoad(m_scalar.memoryType(dtype), place), dtype);
}

/// At most `count` iterations of a loop, from `begin` on.
void KernelEmitter::emitPart(std::size_t variable, Value* begin, Value* end, std::int64_t count, const Body& body) {
  Value* full = m_b.CreateNSWAdd(begin, m_b.getInt64(std::uint64_t(count)));
  Value* stop = m_b.CreateSelect(m_b.CreateICmpSLT(full, end), full, end);
  const LineScope line(m_b, m_lines, m_lineOf.variables + int(variable));
  emitSteps(begin, stop, 1, false, [&](Value* index) {
    m_index[variable] = index;
    body();
  });
}

}  // namespace kerf::inline codegen_llvm
