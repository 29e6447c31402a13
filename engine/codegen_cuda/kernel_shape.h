// KernelShape: how the loops of one kernel are spread over blocks and threads.
//
//   for i0 < 4096: for i1 < 768:            Elements: a thread for 4 elements beside each other (float4)
//   for i0 < 4096: for i1 < 768 (reduced):  Rows: a team of threads for each i0
//   for i1 < 768: for i0 < 4096 (reduced):  Columns: 8 threads for 4 values of i1 each, 32 threads across
//   for i0 < 768: for i1 < 768: load x[i0 + 768*i1]:  Tiles: 64 x 64 elements through shared memory
//
// Where there are too few rows or columns to keep the device busy, several blocks share each; the last one that is done
// combines what they found, in their order.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "engine/loops/loop_ir.h"

namespace kerf::inline codegen_cuda {

enum class KernelLayout : std::uint8_t { Elements, Rows, Columns, Tiles };

/// Side of the square that a block of layout Tiles takes at once.
constexpr int tileSide = 64;

/// What the device that a kernel is for has.
struct KernelTarget {
  int mostCluster = 1;  ///< blocks that can meet and read each other's shared memory
  /// Of "sm_90", as far as NVRTC of this version can write code for it.
  static KernelTarget of(std::string_view architecture, std::string_view compiler = "13.0");
};

/// A number, or the kernel's parameter of that place.
struct LaunchSize {
  int parameter = -1;
  std::int64_t number = 1;
  std::int64_t value(const Sizes& bounds) const { return parameter < 0 ? number : bounds[std::size_t(parameter)]; }
};

struct KernelShape {
  KernelLayout layout = KernelLayout::Elements;
  int threads = 256;  ///< of a block
  int team = 1;       ///< Rows: threads that share one outer iteration; above 32, the whole block, or the cluster
  int cluster = 1;    ///< Rows: blocks that have a row together, because the registers of one do not hold it
  int columns = 1, rows = 1;  ///< Columns: threads of a block along and across
  int vector = 1;             ///< elements that a thread takes at once, along `vectorVariable`
  int unroll = 1;             ///< Elements: packs of a thread that are under way at once
  int splits = 1;             ///< Rows, Columns: blocks that share one row or the same columns
  std::optional<std::size_t> vectorVariable, columnVariable;
  std::optional<std::size_t>
      acrossVariable;    ///< Tiles: what some loads walk in order, while columnVariable is the stores'
  int acrossVector = 1;  ///< elements that such a load takes at once
  std::vector<std::size_t>
      outer;  ///< loop variables that are spread over blocks, without columnVariable and acrossVariable
  std::vector<std::size_t> inner;  ///< reduced ones
  /// Rows that begin anywhere: what most accesses to a row are shifted by, as this index is. Packs begin where memory's
  /// do; single threads take the few elements before the first and behind the last one.
  std::optional<Affine> shift;
  bool wideIndex = false;              ///< positions may need 64 bits
  std::vector<LaunchSize> outerSizes;  ///< of `outer`
  LaunchSize columnSize, acrossSize;
  std::int64_t results = 0;  ///< with splits: values that each reduction gives
  int reductions = 0;        ///< with splits

  /// Blocks to launch, at most `most`; 0 where there is nothing to do.
  std::int64_t blocks(const Sizes& bounds, std::int64_t most) const;
  /// Memory that blocks share: a counter for each result, 0 before and after, then 8 bytes for each part of each.
  std::int64_t countersBytes() const { return splits > 1 ? (results * 4 + 15) / 16 * 16 : 0; }
  std::int64_t partsBytes() const { return splits > 1 ? results * splits * reductions * 8 : 0; }
};

/// `needed`: the expressions that some store uses.
KernelShape chooseShape(const LoopKernel& kernel, const ExprPlacement& place, const std::vector<bool>& needed,
                        KernelTarget target);

/// Whether `vector` elements along `variable`, from a multiple of `vector` on, lie beside each other at a place that is
/// a multiple of it too.
bool isContiguous(const Affine& index, std::size_t variable, int vector);
/// Blocks that share a row of `inner` elements which is read several times, where the registers of one do not hold it.
void chooseCluster(KernelShape& shape, const LoopKernel& kernel, const ExprPlacement& place,
                   const std::vector<bool>& needed, KernelTarget target, std::int64_t inner);
/// Whether two accesses that walk `variable` in order always lie equally far from a multiple of `vector`.
bool isShiftedAlike(const Affine& a, const Affine& b, std::size_t variable, int vector);
/// Whether neighbours along `across` lie beside each other, while those along `column` lie apart.
bool isReadAcross(const Affine& index, std::size_t column, std::size_t across);
bool storesTo(const LoopKernel& kernel, int buffer);
/// Whether a load at a computed place reads `vector` elements along `variable` that lie beside each other, at a place that is a
/// multiple of it: rows of a table.
bool readsPackAt(const LoopKernel& kernel, std::size_t expr, std::size_t variable, int vector);
/// Whether what this expression reads may lie in a tile: a load across, of a buffer that the kernel does not write.
bool mayGoThroughTile(const LoopKernel& kernel, std::size_t expr, std::size_t column, std::size_t across);
/// In how many of the loops over a row each expression takes part, where nothing is kept from one to the next.
std::vector<int> loopsOverRow(const LoopKernel& kernel, const ExprPlacement& place, const std::vector<bool>& needed);
/// In additions, what an element of a row costs that is computed of what was loaded; and what is worth being kept.
std::vector<int> costsInRow(const LoopKernel& kernel, const ExprPlacement& place);
constexpr int expensiveCost = 8;
/// Product of the sizes of these variables; none if one is an expression.
std::optional<std::int64_t> countOf(const LoopKernel& kernel, const std::vector<std::size_t>& variables);

}  // namespace kerf::inline codegen_cuda
