#include "engine/codegen_cuda/kernel_shape.h"

#include <algorithm>
#include <bit>

namespace kerf::inline codegen_cuda {
namespace {

constexpr std::int64_t widestLoad = 16;  ///< bytes that one thread reads at once
constexpr std::int64_t narrowLimit = std::int64_t{1} << 30;
/// Outer iterations from which on a thread each keeps a large card busy.
constexpr std::int64_t manyThreads = 1 << 17;
constexpr std::int64_t manyBlocks = 264;
/// Rows from which on a warp each does, also where it has eight packs of one: its threads need not wait for other warps.
constexpr std::int64_t manyRows = 8 * manyBlocks;
/// Blocks that the largest cards hold at once, eight to a processor; half of that where threads hold several totals, so that
/// all of them run at once and none is left to the end.
constexpr std::int64_t mostResident = 1056;
/// Steps of a thread below which sharing a row costs more than it gains.
constexpr std::int64_t fewestSteps = 4;
/// Elements of a row from which on packs pay for what its first and last elements cost; the most bytes that such a pack
/// has where all elements are of 16 bits: those of one word were the fastest.
constexpr std::int64_t longOddRow = 4096, shiftedHalves = 4;
/// Loops below that leave most of a tile empty; bytes that a thread reads at once into a tile.
constexpr std::int64_t smallestSide = 32, widestAcross = 8;
/// Of what is read at places that are read first, packs of a thread that are under way at once. A block's elements read the same
/// lines of memory again where they are neighbours: many of them, and few blocks, so that the cache of a processor holds those.
constexpr int rowPacksAhead = 4, gatherPacksAhead = 2, gatherThreads = 1024, mostCopies = 1024;

LaunchSize launchSize(const LoopKernel& kernel, SymInt size) {
  if (!size.isSymbolic()) return {-1, size.bits()};
  const auto found = std::ranges::find_if(kernel.parameters, [&](SymInt known) { return known.isIdentical(size); });
  return {int(found - kernel.parameters.begin()), 0};
}

class ShapeChooser {
 public:
  ShapeChooser(const LoopKernel& kernel, const ExprPlacement& place, const std::vector<bool>& needed,
               KernelTarget target)
      : m_kernel(kernel), m_place(place), m_needed(needed), m_target(target) {}

  KernelShape run() {
    for (std::size_t v = 0; v < m_kernel.variables.size(); ++v)
      (m_kernel.variables[v].reduced ? m_shape.inner : m_shape.outer).push_back(v);
    m_shape.wideIndex = !fitsNarrow();
    if (m_shape.inner.empty())
      chooseElements(), chooseUnroll();
    else
      chooseReduction();
    for (const std::size_t v : m_shape.outer)
      m_shape.outerSizes.push_back(launchSize(m_kernel, m_kernel.variables[v].size));
    if (m_shape.columnVariable)
      m_shape.columnSize = launchSize(m_kernel, m_kernel.variables[*m_shape.columnVariable].size);
    if (m_shape.acrossVariable)
      m_shape.acrossSize = launchSize(m_kernel, m_kernel.variables[*m_shape.acrossVariable].size);
    return std::move(m_shape);
  }

 private:
  template <class Visit>
  void forAccesses(Visit&& visit) const {
    for (std::size_t e = 0; e < m_kernel.exprs.size(); ++e) {
      const Expr& expr = m_kernel.exprs[e];
      const bool inside = m_shape.inner.empty() || m_place.level[e] == 2;
      if (m_needed[e] && inside && expr.op == ExprOp::Load) visit(expr.buffer, expr.index);
    }
    for (const LoopStore& s : m_kernel.stores)
      if (s.inner || m_shape.inner.empty()) visit(s.buffer, s.index);
  }

  bool fitsNarrow() const {
    bool fits = m_kernel.parameters.empty();
    std::int64_t count = 1;
    for (const LoopVariable& v : m_kernel.variables)
      fits = fits && !__builtin_mul_overflow(count, std::max<std::int64_t>(1, v.size.bits()), &count) &&
             count < narrowLimit;
    const auto check = [&](const Affine& index) {
      std::int64_t most = fits ? std::abs(index.constant.bits()) : 0;
      for (std::size_t v = 0; fits && v < index.coefficients.size(); ++v) {
        const std::int64_t step = std::abs(index.coefficients[v].bits());
        fits = step < narrowLimit;
        most += fits ? step * m_kernel.variables[v].size.bits() : 0;
      }
      fits = fits && most < narrowLimit;
    };
    for (const Expr& e : m_kernel.exprs) check(e.index);
    for (const LoopStore& s : m_kernel.stores) check(s.index);
    return fits;
  }

  /// The widest loads and stores along the last of these variables.
  void chooseVector(const std::vector<std::size_t>& variables) {
    if (variables.empty() || m_kernel.variables[variables.back()].size.isSymbolic()) return;
    const std::size_t x = variables.back();
    const std::int64_t size = m_kernel.variables[x].size.bits();
    std::int64_t widest = 0;
    forAccesses([&](int b, const Affine& i) {
      const DType dtype = m_kernel.buffers[std::size_t(b)].dtype;
      const bool isPlace =
          gathers() && dtype == DType::Int64 && !storesTo(m_kernel, b);  // would make narrow packs of all others
      if (isContiguous(i, x, 1) && !isPlace) widest = std::max<std::int64_t>(widest, itemSize(dtype));
    });
    widest = widest == 0 ? 4 : std::max<std::int64_t>(widest, 2);
    for (int vector = int(widestLoad / widest); vector > 1; vector /= 2) {
      if (size == 0 || size % vector != 0) continue;
      int count = 0;
      forAccesses([&](int, const Affine& index) { count += isContiguous(index, x, vector); });
      if (count == 0) continue;
      m_shape.vector = vector;
      m_shape.vectorVariable = x;
      return;
    }
  }

  /// Packs of rows that begin anywhere: most accesses that are in order but at no pack's place are shifted alike.
  void chooseShifted() {
    const std::size_t x = m_shape.inner.back();
    if (m_shape.vectorVariable || m_shape.inner.size() != 1 || isSimple() || gathers()) return;
    std::vector<Affine> walked;
    std::int64_t widest = 2;
    forAccesses([&](int b, const Affine& index) {
      if (!index.coefficient(x).isIdentical(1)) return;
      walked.push_back(index);
      widest = std::max<std::int64_t>(widest, itemSize(m_kernel.buffers[std::size_t(b)].dtype));
    });
    const int vector = int((widest == 2 ? shiftedHalves : widestLoad) / widest);
    std::erase_if(walked, [&](const Affine& index) { return isContiguous(index, x, vector); });
    if (walked.empty() || vector == 1) return;
    const auto countAlike = [&](const Affine& one) {
      return std::ranges::count_if(walked, [&](const Affine& other) { return isShiftedAlike(one, other, x, vector); });
    };
    const auto best = std::ranges::max_element(walked, {}, countAlike);
    if (2 * countAlike(*best) <= std::ssize(walked)) return;
    m_shape.vector = vector, m_shape.vectorVariable = x, m_shape.shift = *best;
  }

  /// Whether elements are read at computed places.
  bool gathers() const {
    for (std::size_t e = 0; e < m_kernel.exprs.size(); ++e)
      if (m_needed[e] && m_kernel.exprs[e].op == ExprOp::LoadAt) return true;
    return false;
  }

  /// What is read at computed places waits for the place first: several of a thread at once.
  void chooseUnroll() {
    if (m_shape.layout != KernelLayout::Elements || !gathers()) return;
    const auto x = m_shape.vectorVariable;
    bool readsRows = false;
    for (std::size_t e = 0; x && e < m_kernel.exprs.size(); ++e)
      readsRows = readsRows || (m_needed[e] && readsPackAt(m_kernel, e, *x, m_shape.vector));
    const auto count = countOf(m_kernel, m_shape.outer);
    const auto fills = [&](int threads) {
      return !count || *count >= manyBlocks * m_shape.unroll * m_shape.vector * threads;
    };
    m_shape.unroll = readsRows ? rowPacksAhead : gatherPacksAhead;
    if (!readsRows && fills(gatherThreads)) m_shape.threads = gatherThreads;
    while (m_shape.unroll > 1 && !fills(m_shape.threads)) m_shape.unroll /= 2;
    const auto copies =
        std::int64_t(m_kernel.exprs.size()) * m_shape.vector;  // of an expression in the text that is compiled
    while (m_shape.unroll > 1 && copies * m_shape.unroll > mostCopies) m_shape.unroll /= 2;
  }

  bool isLong(std::size_t variable) const {
    const SymInt size = m_kernel.variables[variable].size;
    return !size.isSymbolic() && size.bits() >= smallestSide;
  }

  /// Tiles, where some loads walk memory along another loop than the last one, which the stores follow.
  void chooseElements() {
    chooseVector(m_shape.outer);
    if (m_shape.outer.size() < 2 || !isLong(m_shape.outer.back())) return;
    const std::size_t column = m_shape.outer.back();
    int most = 0;
    for (const std::size_t v : m_shape.outer) {
      if (v == column || !isLong(v)) continue;
      int count = 0;
      for (std::size_t e = 0; e < m_kernel.exprs.size(); ++e)
        count += m_needed[e] && mayGoThroughTile(m_kernel, e, column, v);
      if (count > most) most = count, m_shape.acrossVariable = v;
    }
    if (most == 0) return;
    m_shape.layout = KernelLayout::Tiles;
    m_shape.columnVariable = column;
    chooseAcrossVector(column, *m_shape.acrossVariable);
    std::erase(m_shape.outer, column);
    std::erase(m_shape.outer, *m_shape.acrossVariable);
  }

  void chooseAcrossVector(std::size_t column, std::size_t across) {
    if (m_shape.vector == 1) return;
    std::int64_t widest = 1;
    forAccesses([&](int b, const Affine& i) {
      if (isReadAcross(i, column, across))
        widest = std::max<std::int64_t>(widest, itemSize(m_kernel.buffers[std::size_t(b)].dtype));
    });
    const std::int64_t size = m_kernel.variables[across].size.bits();
    for (int vector = int(widestAcross / widest); vector > 1; vector /= 2) {
      bool fits = size % vector == 0;
      forAccesses([&](int, const Affine& i) {
        fits = fits && (!isReadAcross(i, column, across) || isContiguous(i, across, vector));
      });
      if (!fits) continue;
      m_shape.acrossVector = vector;
      return;
    }
  }

  int contiguousAlong(std::size_t variable) const {
    int count = 0;
    forAccesses([&](int, const Affine& index) { count += isContiguous(index, variable, 1); });
    return count;
  }

  bool isSimple() const {
    for (std::size_t e = 0; e < m_kernel.exprs.size(); ++e)
      if (m_needed[e] && m_place.phase[e] > 1) return false;
    return std::ranges::none_of(m_kernel.stores,
                                [&](const LoopStore& s) { return s.inner && m_place.phase[std::size_t(s.value)] > 0; });
  }

  /// The outer variable along which memory is walked in order, if the reduced ones do not.
  std::optional<std::size_t> columnVariable() const {
    int most = 0;
    for (const std::size_t v : m_shape.inner) most = std::max(most, contiguousAlong(v));
    std::optional<std::size_t> best;
    for (const std::size_t v : m_shape.outer)
      if (const int count = contiguousAlong(v); count > most) most = count, best = v;
    return best;
  }

  void chooseReduction() {
    m_shape.layout = KernelLayout::Rows;
    const auto column = columnVariable();
    const auto outer = countOf(m_kernel, m_shape.outer), inner = countOf(m_kernel, m_shape.inner);
    const bool isLast = column && *column == m_shape.outer.back();
    const bool isShort = inner && *inner <= (outer && *outer >= manyThreads ? 64 : 4);
    if (isLast && (isShort || !isSimple())) return;  // a thread each
    if (column && isSimple()) return chooseColumns(*column, outer, inner);
    chooseVector(m_shape.inner);
    if (inner && *inner >= longOddRow) chooseShifted();
    chooseTeam(outer, inner);
  }

  void chooseColumns(std::size_t column, std::optional<std::int64_t> outer, std::optional<std::int64_t> inner) {
    m_shape.layout = KernelLayout::Columns;
    m_shape.columnVariable = column;
    chooseVector({column});
    m_shape.columns = m_shape.vector > 1 ? 8 : 32;
    m_shape.rows = m_shape.threads / m_shape.columns;
    std::erase(m_shape.outer, column);
    if (outer && inner) share(*outer, *outer / (std::int64_t(m_shape.columns) * m_shape.vector), *inner / m_shape.rows);
  }

  /// Several blocks for each of `pieces`, of which one would take `steps` steps.
  void share(std::int64_t results, std::int64_t pieces, std::int64_t steps) {
    if (pieces >= 2 * manyBlocks || results == 0) return;
    for (std::size_t e = 0; e < m_kernel.exprs.size(); ++e)
      m_shape.reductions += m_needed[e] && isReduction(m_kernel.exprs[e].op);
    const bool isLean = m_shape.reductions == 1 && m_shape.layout == KernelLayout::Rows;  // in registers
    const std::int64_t wanted = (isLean ? mostResident : mostResident / 2) / std::max<std::int64_t>(1, pieces);
    m_shape.splits = int(std::clamp<std::int64_t>(steps / fewestSteps, 1, wanted));
    m_shape.results = results;
  }

  void chooseTeam(std::optional<std::int64_t> outer, std::optional<std::int64_t> inner) {
    const std::int64_t steps = inner ? std::max<std::int64_t>(1, *inner / m_shape.vector) : 4096;
    const std::int64_t mostOfWarp = outer && *outer >= manyRows ? 256 : 128;
    std::int64_t team = steps <= 32           ? std::int64_t(std::bit_ceil(std::uint64_t(steps)))
                        : steps <= mostOfWarp ? 32
                                              : 128;
    if (steps > 1024) team = 256;
    if (steps > 1024 && outer && inner && isSimple()) {
      share(*outer, *outer, steps / team);
      if (m_shape.splits > 1) {
        m_shape.team = m_shape.threads = int(team);
        return;
      }
    }
    if (steps > 4096) team = outer && *outer < manyBlocks ? 1024 : 512;
    m_shape.team = int(team);
    m_shape.threads = int(std::max<std::int64_t>(team, 256));
    if (team > 32) m_shape.threads = int(team);
    if (steps <= 1024 || !inner || isSimple()) return;
    chooseCluster(m_shape, m_kernel, m_place, m_needed, m_target, *inner);
  }

  const LoopKernel& m_kernel;
  const ExprPlacement& m_place;
  const std::vector<bool>& m_needed;
  const KernelTarget m_target;
  KernelShape m_shape;
};

}  // namespace

KernelShape chooseShape(const LoopKernel& kernel, const ExprPlacement& place, const std::vector<bool>& needed,
                        KernelTarget target) {
  return ShapeChooser(kernel, place, needed, target).run();
}

}  // namespace kerf::inline codegen_cuda
