#include "engine/lower/loop_split.h"

#include <algorithm>
#include <limits>

namespace kerf::inline lower {
namespace {

/// Loops from the innermost one on, piece by piece.
class Cutter {
 public:
  explicit Cutter(SymSizes sizes) : m_sizes(std::move(sizes)), m_at(m_sizes.size()) { next(); }

  bool isDone() const { return m_at == 0; }
  std::size_t variable() const { return m_at - 1; }
  std::int64_t rest() const { return m_rest; }
  std::int64_t step() const { return m_step; }

  void take(std::int64_t size) {
    m_rest /= size;
    m_step *= size;
    if (m_rest > 1) return;
    --m_at;
    next();
  }

 private:
  void next() {
    m_step = 1;
    m_rest = isDone() ? 1 : m_sizes[variable()].bits();
  }

  const SymSizes m_sizes;
  std::size_t m_at;
  std::int64_t m_rest = 1, m_step = 1;
};

/// Iterations of a loop of both nests, and what one of them adds to the index of either.
struct LoopPiece {
  std::int64_t size;
  std::size_t kernel, value;
  std::int64_t kernelStep, valueStep;
};

std::optional<std::vector<LoopPiece>> piecesOf(Cutter kernel, Cutter value) {
  std::vector<LoopPiece> pieces;
  while (!kernel.isDone() && !value.isDone()) {
    const std::int64_t size = std::min(kernel.rest(), value.rest());
    if (size < 2 || std::max(kernel.rest(), value.rest()) % size != 0) return std::nullopt;
    pieces.push_back({size, kernel.variable(), value.variable(), kernel.step(), value.step()});
    kernel.take(size);
    value.take(size);
  }
  if (!kernel.isDone() || !value.isDone()) return std::nullopt;
  std::ranges::reverse(pieces);
  return pieces;
}

/// Elements inside of the innermost of the value's loops that are cut; all that there can be where none is.
std::int64_t rowOf(const std::vector<LoopPiece>& pieces) {
  std::int64_t inside = 1, beforeLoop = 1;
  for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece) {
    if (piece->valueStep != 1) return beforeLoop;
    beforeLoop = inside;
    inside *= piece->size;
  }
  return std::numeric_limits<std::int64_t>::max();
}

}  // namespace

std::optional<CommonLoops> commonLoops(const std::vector<LoopVariable>& kernel, const SymSizes& value) {
  SymSizes sizes;
  for (const LoopVariable& variable : kernel) sizes.push_back(variable.size);
  const auto isSymbolic = [](const SymInt& size) { return size.isSymbolic(); };
  if (std::ranges::any_of(sizes, isSymbolic) || std::ranges::any_of(value, isSymbolic)) return std::nullopt;
  const auto pieces = piecesOf(Cutter(sizes), Cutter(value));
  if (!pieces) return std::nullopt;
  CommonLoops common{{}, IndexMap(kernel.size()), IndexMap(value.size()), rowOf(*pieces)};
  for (std::size_t p = 0; p < pieces->size(); ++p) {
    const LoopPiece& piece = (*pieces)[p];
    const Affine own = Affine::variable(p);
    common.ofKernel[piece.kernel] = common.ofKernel[piece.kernel] + own * piece.kernelStep;
    common.ofValue[piece.value] = common.ofValue[piece.value] + own * piece.valueStep;
    common.variables.push_back(kernel[piece.kernel]);
    common.variables.back().size = piece.size;
  }
  return common;
}

}  // namespace kerf::inline lower
