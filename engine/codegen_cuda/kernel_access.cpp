// How a kernel's loads and stores walk memory, how many blocks it has, and what its device has.
#include <algorithm>
#include <charconv>
#include <utility>

#include "engine/codegen_cuda/kernel_shape.h"

namespace kerf::inline codegen_cuda {

namespace {

/// The number that a text begins with, which it loses.
int takeNumber(std::string_view& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(std::size_t(end - text.data()));
  return error == std::errc() ? number : 0;
}

}  // namespace

/// Blocks of a cluster send each other words by st.async, which PTX has since CUDA 12.1.
KernelTarget KernelTarget::of(std::string_view architecture, std::string_view compiler) {
  constexpr int firstWithClusters = 90;
  constexpr std::pair firstThatSends{12, 1};
  int number = 0;
  if (architecture.starts_with("sm_")) architecture.remove_prefix(3), number = takeNumber(architecture);
  const int major = takeNumber(compiler);
  if (compiler.starts_with('.')) compiler.remove_prefix(1);
  const bool sends = std::pair{major, takeNumber(compiler)} >= firstThatSends;
  return {number >= firstWithClusters && sends ? 8 : 1};
}

bool isContiguous(const Affine& index, std::size_t variable, int vector) {
  const auto isMultiple = [&](SymInt number) {
    return vector == 1 || (!number.isSymbolic() && number.bits() % vector == 0);
  };
  if (!index.coefficient(variable).isIdentical(1) || !isMultiple(index.constant)) return false;
  for (std::size_t v = 0; v < index.coefficients.size(); ++v)
    if (v != variable && !isMultiple(index.coefficients[v])) return false;
  return true;
}

bool isShiftedAlike(const Affine& a, const Affine& b, std::size_t variable, int vector) {
  const auto isAlike = [&](SymInt x, SymInt y) {
    return !x.isSymbolic() && !y.isSymbolic() && x.bits() >= 0 && y.bits() >= 0 &&
           x.bits() % vector == y.bits() % vector;
  };
  if (!a.coefficient(variable).isIdentical(1) || !b.coefficient(variable).isIdentical(1) ||
      !isAlike(a.constant, b.constant))
    return false;
  for (std::size_t v = 0; v < std::max(a.coefficients.size(), b.coefficients.size()); ++v)
    if (v != variable && !isAlike(a.coefficient(v), b.coefficient(v))) return false;
  return true;
}

bool isReadAcross(const Affine& index, std::size_t column, std::size_t across) {
  return !isZero(index.coefficient(column)) && !index.coefficient(column).isIdentical(1) &&
         index.coefficient(across).isIdentical(1);
}

bool storesTo(const LoopKernel& kernel, int buffer) {
  return std::ranges::any_of(kernel.stores, [&](const LoopStore& s) { return s.buffer == buffer; });
}

/// Whether the expression is the same along the variable.
static bool isInvariant(const LoopKernel& kernel, int expr, std::size_t variable) {
  std::vector<bool> varies(std::size_t(expr) + 1);
  for (std::size_t e = 0; e < varies.size(); ++e) {
    const Expr& node = kernel.exprs[e];
    varies[e] = !isZero(node.index.coefficient(variable)) || isReduction(node.op);
    for (std::size_t a = 0; a < exprOpInfo(node.op).arity; ++a)
      varies[e] = varies[e] || varies[std::size_t(node.args[a])];
  }
  return !varies.back();
}

static bool isMultipleOf(const LoopKernel& kernel, int expr, int number) {
  const Expr& e = kernel.exprs[std::size_t(expr)];
  if (e.op == ExprOp::Constant) return isIntegral(e.dtype) && e.integer % number == 0;
  if (e.dtype != DType::Int64) return false;
  const bool first = (e.op == ExprOp::Add || e.op == ExprOp::Mul) && isMultipleOf(kernel, e.args[0], number);
  if (e.op == ExprOp::Mul) return first || isMultipleOf(kernel, e.args[1], number);
  return e.op == ExprOp::Add && first && isMultipleOf(kernel, e.args[1], number);
}

bool readsPackAt(const LoopKernel& kernel, std::size_t expr, std::size_t variable, int vector) {
  const Expr& e = kernel.exprs[expr];
  return e.op == ExprOp::LoadAt && vector > 1 && isContiguous(e.index, variable, vector) &&
         !storesTo(kernel, e.buffer) && isMultipleOf(kernel, e.args[0], vector) &&
         isInvariant(kernel, e.args[0], variable);
}

bool mayGoThroughTile(const LoopKernel& kernel, std::size_t expr, std::size_t column, std::size_t across) {
  const Expr& e = kernel.exprs[expr];
  const bool isPlain = e.op == ExprOp::Load || e.op == ExprOp::LoadWhere;
  return isPlain && !storesTo(kernel, e.buffer) && isReadAcross(e.index, column, across);
}

std::vector<int> loopsOverRow(const LoopKernel& kernel, const ExprPlacement& place, const std::vector<bool>& needed) {
  std::vector<int> loops(kernel.exprs.size(), 0);
  const int last = place.phase.empty() ? 0 : *std::ranges::max_element(place.phase);
  for (int phase = 0; phase <= last; ++phase) {
    std::vector<bool> used(loops.size(), false);
    for (std::size_t e = 0; e < used.size(); ++e)
      if (needed[e] && isReduction(kernel.exprs[e].op) && place.phase[e] == phase + 1)
        used[std::size_t(kernel.exprs[e].args[0])] = true;
    for (const LoopStore& s : kernel.stores)
      if (s.inner && place.phase[std::size_t(s.value)] == phase) used[std::size_t(s.value)] = true;
    for (std::size_t e = used.size(); e-- > 0;) {
      loops[e] += used[e];
      if (!used[e] || place.level[e] < 2) continue;
      for (std::size_t a = 0; a < exprOpInfo(kernel.exprs[e].op).arity; ++a)
        used[std::size_t(kernel.exprs[e].args[a])] = true;
    }
  }
  return loops;
}

std::vector<int> costsInRow(const LoopKernel& kernel, const ExprPlacement& place) {
  constexpr int most = 1 << 20;
  std::vector<int> costs(kernel.exprs.size(), 0);
  for (std::size_t e = 0; e < costs.size(); ++e) {
    const Expr& expr = kernel.exprs[e];
    if (place.level[e] < 2 || isLoad(expr.op)) continue;
    costs[e] = exprOpInfo(expr.op).cost;
    for (std::size_t a = 0; a < exprOpInfo(expr.op).arity; ++a)
      costs[e] = std::min(most, costs[e] + costs[std::size_t(expr.args[a])]);
  }
  return costs;
}

std::optional<std::int64_t> countOf(const LoopKernel& kernel, const std::vector<std::size_t>& variables) {
  std::int64_t count = 1;
  for (const std::size_t v : variables) {
    const SymInt size = kernel.variables[v].size;
    if (size.isSymbolic()) return std::nullopt;
    count *= size.bits();
  }
  return count;
}

std::int64_t KernelShape::blocks(const Sizes& bounds, std::int64_t most) const {
  std::int64_t count = splits;
  for (const LaunchSize& size : outerSizes) count *= size.value(bounds);
  const auto pieces = [&](const LaunchSize& size, std::int64_t each) { return (size.value(bounds) + each - 1) / each; };
  if (layout == KernelLayout::Columns) count *= pieces(columnSize, std::int64_t(columns) * vector);
  if (layout == KernelLayout::Tiles) count *= pieces(columnSize, tileSide) * pieces(acrossSize, tileSide);
  std::int64_t perBlock = 1;
  if (layout == KernelLayout::Elements) perBlock = std::int64_t(threads) * vector * unroll;
  if (cluster > 1) return std::min(most / cluster, count) * cluster;
  if (layout == KernelLayout::Rows) perBlock = threads / team;
  return std::min(most, (count + perBlock - 1) / perBlock);
}

}  // namespace kerf::inline codegen_cuda
