// Decompositions of small matrix products.
#include "engine/ops/core/formula.h"
#include "engine/ops/core/op_math.h"
#include "engine/ops/core/op_registration.h"

namespace kerf::inline ops {
namespace {

/// alpha or beta: of whole numbers only what is whole of it.
Value factorOf(const BoundArguments& args, std::size_t factor) {
  const DType dtype = args.tensor(0).dtype();
  if (isFloating(dtype) || isComplex(dtype)) return args.values[factor];
  return std::int64_t(args.number(factor));
}
Formula timesUnlessOne(const Formula& x, const BoundArguments& args, std::size_t factor) {
  return args.number(factor) == 1 ? x : x * factorOf(args, factor);
}

/// addr(self, vec1, vec2, *, beta, alpha)
Result<Value> addr(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Formula outer({"aten.outer.default"_op, {p[1], p[2]}});
  if (args.tensor(0).dtype() == DType::Bool && args.tensor(1).dtype() == DType::Bool) {
    const Formula product = args.number(4) != 0 ? outer : zerosLike(outer);
    return p.done(args.number(3) == 0 ? product : Formula("aten.logical_or.default"_op, {p[0], product}));
  }
  if (args.number(3) == 0) return p.done(outer * p[4]);
  return p.done(p[0] * p[3] + outer * p[4]);
}
/// addmv(self, mat, vec, *, beta, alpha)
Result<Value> addmv(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Formula beta = factorOf(args, 3);
  const Formula product = p(Formula("aten.mv.default"_op, {p[1], p[2]}) * factorOf(args, 4));
  if (args.number(3) == 0) return p.done(product);
  if (guardOrFalse(args.tensor(1).symSize(0) == 0)) return p.done(p[0] * beta);
  return p.done(product + p[0] * beta);
}
/// baddbmm(self, batch1, batch2, *, beta, alpha)
Result<Value> baddbmm(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Formula product = p(timesUnlessOne({"aten.bmm.default"_op, {p[1], p[2]}}, args, 4));
  if (args.number(3) == 0) return p.done(product);
  return p.done(timesUnlessOne(p[0], args, 3) + product);
}
Result<Value> mv(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  return p.done(sum(p[0] * p[1], {1}));
}
Result<Value> dot(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  return p.done(sum(p[0] * p[1]));
}
Result<Value> vdot(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  if (!isComplex(args.tensor(0).dtype())) return p.done({"aten.dot.default"_op, {p[0], p[1]}});
  return p.done(sum(Formula("aten.conj_physical.default"_op, {p[0]}) * p[1]));
}
/// _euclidean_dist(x1, x2): by one product of the points with their squared lengths beside them.
Result<Value> euclideanDist(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const auto squares = [&](std::size_t i) { return p(sum(pow(p[i], 2), {-1}, true)); };
  const auto ones = [&](const Formula& like) {
    return p({"aten.ones_like.default"_op, {like}, {{"memory_format", MemoryFormat::Contiguous}}});
  };
  const Formula first = squares(0), firstOnes = ones(first);
  const Formula second = squares(1), secondOnes = ones(second);
  const Formula left = p(cat({p(p[0] * -2), first, firstOnes}, -1));
  const Formula right = p(cat({p[1], secondOnes, second}, -1));
  const Formula product({"aten.matmul.default"_op, {left, Formula("aten.mT.default"_op, {right})}});
  return p.done(sqrt(Formula("aten.clamp_min.default"_op, {product, 0})));
}

// What Inductor does not leave to a library on a CPU

bool isOne(const Tensor& tensor, std::int64_t dim) {
  return guardOrFalse(tensor.symSize(dim < 0 ? dim + tensor.dim() : dim) == 1);
}
bool isAtMost16(const Tensor& tensor, std::int64_t dim) { return guardOrFalse(tensor.symSize(dim) <= 16); }

/// One row by one column: a sum of products.
Formula rowByColumn(Formulas& p, std::size_t row, std::size_t column) {
  const Formula products = p(squeeze(p[row], 0) * squeeze(p[column], -1));
  return unsqueeze(sum(products, {0}, true), 0);
}
bool addsRowByColumn(const BoundArguments& args) { return isOne(args.tensor(1), 0) && isOne(args.tensor(2), -1); }
bool addsSmallRow(const BoundArguments& args) {
  return isOne(args.tensor(1), 0) && isAtMost16(args.tensor(2), 0) && isAtMost16(args.tensor(2), 1);
}
bool isSmallAddmm(const BoundArguments& args) { return addsRowByColumn(args) || addsSmallRow(args); }
Result<Value> smallAddmm(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Formula product =
      p(addsRowByColumn(args) ? rowByColumn(p, 1, 2) : sum(permute(p[1], {1, 0}) * p[2], {0}, true));
  return p.done(product * p[4] + p[0] * p[3]);
}

constexpr std::int64_t mostOuterElements = 32;
bool isSmallOuter(const BoundArguments& args) {
  const Tensor &a = args.tensor(0), &b = args.tensor(1);
  return isOne(a, -1) && guardOrFalse(a.symSize(0) > 0) && isOne(b, 0) && a.dtype() == b.dtype() &&
         guardOrFalse(a.symNumel() + b.symNumel() <= mostOuterElements);
}
bool isRowByColumn(const BoundArguments& args) { return isOne(args.tensor(0), 0) && isOne(args.tensor(1), -1); }
bool isSmallMm(const BoundArguments& args) { return isSmallOuter(args) || isRowByColumn(args); }
Result<Value> smallMm(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  return p.done(isSmallOuter(args) ? p[0] * p[1] : rowByColumn(p, 0, 1));
}
bool isSmallBmm(const BoundArguments& args) { return isOne(args.tensor(0), 1) && isOne(args.tensor(1), -1); }
Result<Value> smallBmm(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Formula products = p(squeeze(p[0], 1) * squeeze(p[1], -1));
  return p.done(unsqueeze(sum(products, {1}, true), 1));
}

constexpr OpFacts productDecompositionsTable[] = {
    decomposes("aten::addr", addr),
    decomposes("aten::addmv", inOpMath<addmv>),
    decomposes("aten::baddbmm", inOpMath<baddbmm>),
    decomposes("aten::mv", inOpMath<mv>),
    decomposes("aten::dot", inOpMath<dot>),
    decomposes("aten::vdot", inOpMath<vdot>),
    decomposes("aten::_euclidean_dist", euclideanDist),
};

constexpr TableProgram programs[] = {
    {"aten::addmm", inOpMath<smallAddmm>, isSmallAddmm},
    {"aten::mm", inOpMath<smallMm>, isSmallMm},
    {"aten::bmm", inOpMath<smallBmm>, isSmallBmm},
};

const OpRegistration productDecompositions({.facts = productDecompositionsTable, .programs = programs});

}  // namespace

}  // namespace kerf::inline ops
