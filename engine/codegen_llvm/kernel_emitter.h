// KernelEmitter: writes one loop kernel as an LLVM function `void name(ptr buffers, i64 begin, i64 end)`; one with
// parameters takes a fourth argument, `ptr bounds`, where their values lie.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <functional>
#include <optional>

#include "engine/codegen_llvm/scalar_emitter.h"
#include "engine/codegen_llvm/source_lines.h"
#include "engine/loops/loop_ir.h"

namespace kerf::inline codegen_llvm {

/// `begin` and `end` bound the first loop that is not reduced (0 and 1 where there is none), or one piece of a shared
/// reduction; -1 and their number: what follows the pieces.
class KernelEmitter {
 public:
  /// `lines`: where to keep which line of the loop IR each instruction comes from; null: nowhere.
  /// `streamFrom`: bytes from which on a result is written past the caches.
  KernelEmitter(llvm::Module& module, const LoopKernel& kernel, bool hardwareHalf, std::int64_t streamFrom,
                SourceLines* lines = nullptr);
  llvm::Function* emit(const std::string& name);

 private:
  using Body = std::function<void()>;
  void findNeeded();
  std::vector<bool> usedInLoop(int phase) const;
  void closeOverOperands(std::vector<bool>& used, bool elementsOnly) const;
  void planSpills();
  std::vector<std::size_t> spilled() const;
  void emitBody();
  void emitBothBodies();
  llvm::Value* innerElements();
  void emitEntry(const std::string& name);
  void loadBounds();
  void emitLoops(const std::vector<std::size_t>& variables, std::size_t at, bool bounded, const Body& body);
  void emitDividedPair(const std::vector<std::size_t>& variables, const Body& body);
  void emitWrites(std::size_t at);
  void emitLoop(std::size_t variable, llvm::Value* begin, llvm::Value* end, bool mayBeEmpty, const Body& body);
  std::vector<std::int64_t> cutsOf(std::size_t variable) const;
  void emitRanges(std::size_t variable, llvm::Value* begin, llvm::Value* end, const Body& body);
  llvm::Value* decided(const Expr& e);
  using IndexBody = std::function<void(llvm::Value* index)>;
  void emitSteps(llvm::Value* begin, llvm::Value* end, std::int64_t step, bool mayBeEmpty, const IndexBody& body);
  bool isWorthWideVectors(int phase) const;
  bool isWorthWideVectors(const std::vector<bool>& used, std::size_t variable) const;
  bool isWideWork(const Expr& e) const;
  bool hasShortNan(const Expr& e) const;
  void findShortNans();
  bool leavesNan(const Expr& e) const;
  void hintWidth(llvm::Instruction* branch, int width);
  std::optional<std::size_t> findColumns() const;
  int contiguousAccesses(std::size_t variable) const;
  /// One of the two loops of a tile: from `begin` on, before `end`.
  struct TileSide {
    std::size_t variable = 0;
    llvm::Value* begin = nullptr;
    llvm::Value* end = nullptr;
  };
  std::vector<std::size_t> transposedLoads(std::size_t rows) const;
  std::optional<std::size_t> findTransposed() const;
  void emitTile(const TileSide& rows, const TileSide& columns);
  void stageByElement(std::size_t expr, llvm::Value* tile);
  void stageByBlock(std::size_t expr, llvm::Value* tile);
  void prefetch(llvm::Value* address);
  bool isFixedIn(std::size_t variable, int expr) const;
  std::int64_t indexedRow(std::size_t variable, std::size_t expr) const;
  void prefetchNextRows(std::size_t variable);
  bool mayStageByBlock(std::size_t expr) const;
  llvm::Value* isWhole(const TileSide& side, std::int64_t count);
  llvm::Value* tilePlace(llvm::Value* tile, DType dtype, bool byColumn);
  llvm::Value* loadStaged(std::size_t expr);
  void emitTiles(std::size_t rows);
  std::optional<std::int64_t> bytesWritten(const LoopStore& store) const;
  bool isStreamed(const LoopStore& store, std::size_t variable) const;
  std::vector<std::size_t> streamedStores(std::size_t variable) const;
  int streamWidth(const std::vector<std::size_t>& stores) const;
  llvm::Value* placeInLine(std::size_t store);
  llvm::Value* firstWholeLine(const std::vector<std::size_t>& stores, const TileSide& side);
  void emitStreamedLoop(const std::vector<std::size_t>& stores, const TileSide& side, const Body& body);
  std::vector<std::size_t> streamedOfTile(const TileSide& rows, const TileSide& columns) const;
  void emitTileLoops(const TileSide& rows, const TileSide& columns, const Body& loops);
  void startStreaming(const std::vector<std::size_t>& stores);
  void annotateStore(llvm::Instruction* access, const LoopStore& store);
  void finishStreamsAtReturns();
  void emitPart(std::size_t variable, llvm::Value* begin, llvm::Value* end, std::int64_t count, const Body& body);
  void emitShared(const Body& gather, const Body& finish);
  void emitSharedValues();
  llvm::Value* part(std::size_t expr, llvm::Value* piece);
  void emitColumns();
  void emitDividedColumns();
  void emitColumnTile(llvm::Value* start, llvm::Value* end, const Body& gather, const Body& finish);
  void forTile(llvm::Value* start, llvm::Value* end, const Body& body);
  void emitColumnPhases(llvm::Value* start, llvm::Value* end);
  void keepColumnValues(int phase, llvm::Value* start, llvm::Value* end);
  llvm::Value* smaller(llvm::Value* a, llvm::Value* b);
  void forColumns(llvm::Value* start, llvm::Value* first, llvm::Value* last, const Body& body);
  void emitRowsOfTile(llvm::Value* start, llvm::Value* end, std::size_t variable, llvm::Value* row, int rows);
  std::vector<std::size_t> readsOfColumns(std::size_t row) const;
  void prefetchColumns(const std::vector<std::size_t>& loads, llvm::Value* start, llvm::Value* first,
                       llvm::Value* last);
  void emitColumnRows(llvm::Value* start, llvm::Value* end);
  void emitSharedColumns();
  void keepParts(llvm::Value* piece);
  void addParts(llvm::Value* piece);
  void emitRows(std::size_t variable, llvm::Value* row, int rows);
  std::vector<std::size_t> hoistedExprs() const;
  std::vector<std::size_t> hoistedOfColumns(std::int64_t columns);
  void makeHoistRoom(const std::vector<std::size_t>& chosen, std::int64_t count);
  void takeHoists(const std::vector<std::size_t>& chosen);
  void keepHoists(const std::vector<std::size_t>& chosen, llvm::Value* place);
  void emitHoists();
  llvm::Value* loadHoisted(std::size_t expr);
  void emitOuterBody();
  void emitOuterValues(int phase);
  bool loopHasWork(int phase) const;
  int lastPhase() const;
  void emitInnerLoop(int phase);
  void emitInnerBody(int phase);
  void emitStores(bool inner, int phase);
  void storeAll(const std::function<bool(const LoopStore&)>& isOf);
  static constexpr int scansAtOnce = 4;  ///< rows whose carried values lie in registers; a power of two
  bool scansRows() const;
  void emitScans();
  void emitScannedRows(std::size_t rows, llvm::Value* first, int count);
  void beginCarried();
  void takeCarried();
  void keepCarried();
  llvm::Value* value(int expr);
  llvm::Value* compute(int expr);
  llvm::Value* load(int buffer, llvm::Value* address, DType dtype);
  llvm::Value* loadAt(const Expr& e);
  llvm::Value* loadWhere(const Expr& e);
  void store(const LoopStore& store);
  llvm::Value* address(int buffer, const Affine& index, int place = -1);
  llvm::Value* number(SymInt size);
  llvm::Value* affine(const Affine& index);
  llvm::Value* innerPosition();
  llvm::Value* accumulate(const Expr& e, llvm::Value* total, llvm::Value* element);
  void emitAccumulation(std::size_t expr, llvm::Value* element);
  bool tracksNan(std::size_t expr) const;
  void emitIdentity(std::size_t expr);
  llvm::Value* totalOf(std::size_t expr);
  llvm::Type* accumulatorType(DType dtype) const;
  llvm::Value* accumulator(std::size_t expr);
  llvm::Value* identity(const Expr& e);
  void annotate(llvm::Instruction* access, int buffer);

  llvm::Module& m_module;
  llvm::LLVMContext& m_context;
  const LoopKernel& m_kernel;
  const ExprPlacement m_place;
  llvm::IRBuilder<> m_b;
  ScalarEmitter m_scalar;
  SourceLines* const m_lines;
  const LoopLines m_lineOf;
  llvm::Function* m_function = nullptr;
  std::vector<llvm::Value*> m_pointers;
  std::vector<llvm::Value*> m_bounds;  ///< values of the parameters
  std::vector<llvm::MDNode*> m_scopes, m_otherScopes;
  std::vector<std::size_t> m_outer, m_inner;  ///< loop variables
  std::vector<llvm::Value*> m_index;          ///< current value of every loop variable
  std::vector<bool> m_needed;
  std::vector<bool> m_shortNan;  ///< by expression: whether no NaN has bits that bfloat16 cannot hold
  std::vector<llvm::Value*> m_outerValues, m_innerValues;
  std::vector<llvm::AllocaInst*> m_accumulators, m_spills;
  std::vector<llvm::AllocaInst*> m_hoistRoom;  ///< by expression: where its values by the innermost loop's lie
  std::vector<llvm::AllocaInst*> m_hoisted;    ///< the same once they are there; empty: nothing is kept
  std::vector<llvm::Value*> m_carried;         ///< by Carry: its value where that is not in its accumulator yet
  std::vector<bool> m_carriedHere;             ///< by Carry: whether the loop that is emitted uses it
  std::vector<llvm::AllocaInst*> m_sawNan;  ///< by reduction: whether an element was NaN, where that is kept beside it
  struct {
    TileSide rows, columns;
  } m_tile;                            ///< that is computed
  std::vector<llvm::Value*> m_staged;  ///< by expression: the tile on the stack that holds it, if one does
  const std::int64_t m_streamFrom;
  std::vector<bool> m_streams;            ///< by store: whether the loop that is written streams it; empty: none
  int m_tileWidth = 0;                    ///< elements at once of a tile's rows; 0: as LLVM chooses
  llvm::MDNode* m_streamScope = nullptr;  ///< marks the stores that stream
  const std::optional<SharedReduction> m_shared;
  llvm::Value* m_parts = nullptr;        ///< where the pieces of a shared reduction gather
  std::optional<std::size_t> m_columns;  ///< an outer variable of which many values are reduced side by side
  llvm::Value* m_column = nullptr;       ///< which of their accumulators; null: there is one
  struct Range {
    std::size_t variable = 0;
    std::int64_t from = 0, to = 0;
  };
  std::optional<Range> m_range;  ///< the part of a loop that is written, in which comparisons have one truth each
  int m_phase = 0;
  int m_widthNext = 0;    ///< elements that the next loop that is written should take at once; 0: as LLVM chooses
  bool m_inside = false;  ///< emitting a reduced loop's body
  std::vector<std::size_t> m_spilledIfSmall;  ///< elements that are kept where the reduced loops turn out short
};

}  // namespace kerf::inline codegen_llvm
