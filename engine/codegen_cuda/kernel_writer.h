// KernelWriter: the lines of one CUDA kernel.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/codegen_cuda/kernel_shape.h"

namespace kerf::inline codegen_cuda {

/// In the body, `v7` is expression 7, `i1` loop variable 1, `b0` buffer 0, `n0` parameter 0.
class KernelWriter {
 public:
  /// `origins`: per expression, the FX node that it is of; may be shorter.
  KernelWriter(const LoopKernel& kernel, std::string name, const std::vector<std::string>& origins,
               KernelTarget target);
  /// `guarded`: as KernelGuard::Indices.
  std::string write(const std::vector<std::string>& nodes, bool guarded = false);
  const KernelShape& shape() const { return m_shape; }
  /// The first operation without a text, if there was one.
  const std::string& missing() const { return m_missing; }

 private:
  void findNeeded();
  std::vector<bool> usedInLoop(int phase) const;
  bool loopHasWork(int phase) const;
  bool reduces(std::size_t expr, int phase) const;

  int residentBlocks() const;
  std::string parameterList() const;
  std::string argumentList() const;
  std::string alignment() const;
  void writeBody();
  void writeElements();
  void writeUnrolled();
  void writeRows();
  void writeClusterRows();
  void writeColumns();
  void writeColumnStores();
  void writeSharedRows();
  void writeTileSpace();
  void writeTiles();
  void writeTileLoad(std::size_t expr);
  void writePhases();
  void writeOuterValues(int phase);
  void writeInverse(std::size_t quotient);
  void writeLoop(int phase);
  void writeLoopHead(bool counted);
  void writeIdentities(int phase);
  void writeLoopElements(int phase, const std::vector<bool>& used);
  void writeGathered(std::size_t reduction);
  void writeTotals(int phase);
  void writeParts(int phase);
  void writeOuterStores();
  void planKept();
  void planKeptLoads(std::int64_t each);
  void planKeptValues(std::int64_t each);
  std::int64_t mostKept() const;
  std::int64_t registersOf(std::size_t expr, std::int64_t each) const;
  std::int64_t keptAtOnce(std::int64_t each) const;
  std::vector<int> loopsThatUse() const;
  std::string keptPlace(std::size_t expr) const;
  void writeKept();
  void writeKeptLoads();
  void planTiled();
  void planInverses();
  void planNarrowSums();
  bool sumsNarrow(std::size_t expr) const;
  bool sumsRowsNarrow(int phase) const;
  void writeBatches(int phase, const std::vector<bool>& used);
  std::string narrowElement(std::size_t sum);
  void writeHalves();
  void writeIndices(const std::vector<std::size_t>& variables, std::string rest);
  using StoreFilter = std::function<bool(const LoopStore&)>;
  void openPacks(const StoreFilter& isOf);
  void closePacks(const StoreFilter& isOf);
  void storePacks(const StoreFilter& isOf);
  void storeElements(const StoreFilter& isOf);
  bool mayBeIdle() const;
  std::string_view ifActive() const;
  bool isPacked(const Affine& index) const;
  bool readsPack(std::size_t expr) const;
  bool readsAhead(std::size_t expr, const std::vector<bool>& used) const;
  std::string packName(char kind, std::size_t number, bool inRounds) const;
  bool packsInside() const;
  bool isShifted() const { return m_shape.shift.has_value(); }
  void writeShift();
  void inEdges(const std::function<void()>& write);
  std::string totalName(std::size_t expr) const;
  void writeCombined(std::size_t expr);
  bool storesWhatItLoads() const;

  std::string value(int expr);
  std::string compute(std::size_t expr);
  std::string loaded(std::size_t expr);
  std::string fromMemory(const std::string& text, DType dtype) const;
  std::string toMemory(const std::string& text, DType dtype) const;
  std::string number(SymInt size) const;
  std::string affine(const Affine& index) const;
  std::string count(const std::vector<std::size_t>& variables) const;
  std::string combineFunction(const Expr& e) const;
  void origin(std::size_t expr);
  void line(const std::string& text);
  void open(const std::string& text);
  void close();

  const LoopKernel& m_kernel;
  const std::string m_name;
  const std::vector<std::string>& m_origins;
  const ExprPlacement m_place;
  std::vector<bool> m_needed;
  KernelShape m_shape;
  int m_lastPhase = 0;
  std::vector<std::string> m_index;                  ///< text of every loop variable
  std::vector<std::string> m_outerValues, m_values;  ///< text of what is known: outside and inside the reduced loop
  std::vector<bool> m_packed, m_cached;              ///< loads that lie in packs now; that are kept over all phases
  std::vector<bool> m_tiled;                         ///< loads that go through shared memory
  std::vector<std::int64_t> m_tileAt;                ///< where in it each has its tile, bytes
  std::int64_t m_tileBytes = 0;
  std::vector<int> m_keptFrom;  ///< phase whose loop computes what later ones read; -1 for most
  /// How a quotient is computed: by a division, as a product with the divisor's inverse, or as that and corrected.
  enum class Quotient : char { Divided, Product, Corrected };
  std::vector<Quotient> m_quotients;
  std::vector<std::string> m_inverses;  ///< of each quotient, once it is known: the name of the inverse
  /// How a sum in float64 adds the elements of a pack in float32 first: as they are, or as squares of how far they lie
  /// from a value of the row.
  enum class NarrowSum : char { None, Elements, Squares };
  std::vector<NarrowSum> m_narrowSums;
  std::vector<bool> m_hasHalves;  ///< distances whose value of the row is known as two float32
  int m_phase = 0;
  bool m_inside = false;
  bool m_inBatch = false;  ///< of rows of the same columns
  bool m_atEdge = false;   ///< of a shifted row, an element before its first pack or behind its last one
  bool m_staging = false;  ///< tiles are being filled: nothing is read of them
  std::string m_origin, m_missing, m_out;
  int m_depth = 0;
};

}  // namespace kerf::inline codegen_cuda
