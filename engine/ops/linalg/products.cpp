// Products and norms of linear algebra that are programs over other ops.
#include <cmath>

#include "engine/ops/core/composite.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/strides.h"
#include "engine/ops/core/type_promotion.h"
#include "engine/ops/linalg/support.h"

namespace kerf::inline ops {
namespace {

using namespace linalg;

/// a[i] b[j] - a[j] b[i] with i, j the next two of three positions: two rolls of each operand.
Result<Value> cross(const BoundArguments& args, const OpRunner& run) {
  const Tensor pair[] = {args.tensor(0), args.tensor(1)};
  auto sizes = broadcastSizes(pair);
  if (!sizes || pair[0].dim() != pair[1].dim())
    return mismatch(args, "inputs must have the same number of dimensions and broadcast");
  std::int64_t dim = -1;
  if (args.none(2)) {  // cross: the first dimension of size 3
    for (std::int64_t d = std::int64_t(sizes->size()) - 1; d >= 0; --d)
      if (guardOrFalse((*sizes)[std::size_t(d)] == 3)) dim = d;
    if (dim < 0) return mismatch(args, "no dimension of size 3 in input");
  } else {
    KERF_TRY(dim, wrapDim(args, args.integer(2), std::int64_t(sizes->size())));
  }
  if (sizes->empty() || guardOrFalse((*sizes)[std::size_t(dim)] != 3))
    return mismatch(args, "inputs dimension {} must have length 3", dim);
  const auto rolled = [&](const Tensor& t, std::int64_t shift) -> Result<Tensor> {
    KERF_TRY(const Tensor wide, run("aten.expand.default"_op, {t, intList(*sizes)}));
    return run("aten.roll.default"_op, {wide, intList({shift}), intList({dim})});
  };
  KERF_TRY(const Tensor a1, rolled(pair[0], -1));
  KERF_TRY(const Tensor a2, rolled(pair[0], -2));
  KERF_TRY(const Tensor b1, rolled(pair[1], -1));
  KERF_TRY(const Tensor b2, rolled(pair[1], -2));
  KERF_TRY(const Tensor left, run("aten.mul.Tensor"_op, {a1, b2}));
  KERF_TRY(const Tensor right, run("aten.mul.Tensor"_op, {a2, b1}));
  KERF_TRY(Tensor out, run("aten.sub.Tensor"_op, {left, right}));
  return Value(std::move(out));
}

/// Σ conj(x) y along a dimension.
Result<Value> vecdot(const BoundArguments& args, const OpRunner& run) {
  if (args.tensor(0).dtype() != args.tensor(1).dtype()) return mismatch(args, "expected vectors of one dtype");
  Tensor x = args.tensor(0);
  if (isComplex(x.dtype())) {
    KERF_TRY(x, run("aten._conj_physical.default"_op, {x}));
  }
  KERF_TRY(const Tensor product, run("aten.mul.Tensor"_op, {x, args.values[1]}));
  KERF_TRY(Tensor out, run("aten.sum.dim_IntList"_op, {product, intList({args.integer(2)})}));
  return Value(std::move(out));
}

Result<Value> kron(const BoundArguments& args, const OpRunner& run) {
  const Tensor &a = args.tensor(0), &b = args.tensor(1);
  const std::size_t rank = std::max(a.symSizes().size(), b.symSizes().size());
  const auto sizeAt = [rank](const Tensor& t, std::size_t i) {
    const SymSizes& sizes = t.symSizes();
    return i + sizes.size() < rank ? SymInt(1) : sizes[i + sizes.size() - rank];
  };
  SymSizes left, right, out;
  for (std::size_t i = 0; i < rank; ++i) {
    const SymInt x = sizeAt(a, i), y = sizeAt(b, i);
    left.push_back(x);
    left.push_back(1);
    right.push_back(1);
    right.push_back(y);
    KERF_TRY(const SymInt both, checkedCount({x, y}));
    out.push_back(both);
  }
  KERF_TRY(const Tensor wideA, run("aten.reshape.default"_op, {a, intList(left)}));
  KERF_TRY(const Tensor wideB, run("aten.reshape.default"_op, {b, intList(right)}));
  KERF_TRY(const Tensor product, run("aten.mul.Tensor"_op, {wideA, wideB}));
  KERF_TRY(Tensor flat, run("aten.reshape.default"_op, {product, intList(out)}));
  return Value(std::move(flat));
}

// Norms of matrices

struct MatrixNorm {
  Tensor self;
  std::int64_t row = -2, column = -1;
  bool keep = false;
  std::string order = "fro";
  double number = 0;
};

/// The largest or smallest of the sums along one dimension, or of the singular values.
Result<Tensor> matrixNorm(const BoundArguments& args, const OpRunner& run, const MatrixNorm& norm) {
  const std::int64_t rank = norm.self.dim();
  if (rank < 2) return mismatch(args, "expected a tensor with at least 2 dimensions");
  KERF_TRY(const std::int64_t row, wrapDim(args, norm.row, rank));
  KERF_TRY(const std::int64_t column, wrapDim(args, norm.column, rank));
  if (row == column) return mismatch(args, "dims must be different");
  if (norm.order == "fro")
    return run("aten.linalg_vector_norm.default"_op, {norm.self, 2.0, intList({row, column}), norm.keep});
  const bool largest = norm.order == "nuc" || norm.number > 0;
  const double size = std::abs(norm.number);
  Tensor values;
  if (norm.order != "nuc" && (size == 1 || std::isinf(size))) {
    const std::int64_t summed = size == 1 ? row : column;
    std::int64_t rest = size == 1 ? column : row;
    KERF_TRY(values, run("aten.linalg_vector_norm.default"_op, {norm.self, 1.0, intList({summed}), norm.keep}));
    if (!norm.keep && rest > summed) --rest;
    if (largest && guardOrFalse(values.symSize(rest) == 0))  // of no sums
      return run("aten.sum.dim_IntList"_op, {values, intList({rest}), norm.keep});
    return run(largest ? "aten.amax.default"_op : "aten.amin.default"_op, {values, intList({rest}), norm.keep});
  }
  if (norm.order != "nuc" && size != 2)
    return mismatch(args, "matrix norms are defined for orders fro, nuc, 1, 2, inf and their negatives, got {}",
                    norm.number);
  Sizes order;
  for (std::int64_t d = 0; d < rank; ++d)
    if (d != row && d != column) order.push_back(d);
  order.insert(order.end(), {row, column});
  KERF_TRY(const Tensor turned, run("aten.permute.default"_op, {norm.self, intList(order)}));
  KERF_TRY(values, run("aten.linalg_svdvals.default"_op, {turned}));
  if (norm.order == "nuc") {
    KERF_TRY(values, run("aten.sum.dim_IntList"_op, {values, intList({-1})}));
  } else {
    KERF_TRY(values, run(largest ? "aten.amax.default"_op : "aten.amin.default"_op, {values, intList({-1})}));
  }
  if (!norm.keep) return values;
  for (std::int64_t dim : {std::min(row, column), std::max(row, column)}) {
    KERF_TRY(values, run("aten.unsqueeze.default"_op, {values, dim}));
  }
  return values;
}

Result<MatrixNorm> normArguments(const BoundArguments& args, const OpRunner& run) {
  MatrixNorm norm{args.tensor(0)};
  if (const auto* text = args.values[1].as<std::string>())
    norm.order = *text;
  else if (!args.none(1))
    norm.order = "number", norm.number = args.number(1);
  const Sizes dims = args.sizes(2);
  if (dims.size() == 2) norm.row = dims[0], norm.column = dims[1];
  norm.keep = args.boolean(3);
  if (const auto dtype = args.dtypeIf(4)) {
    KERF_TRY(norm.self, run("aten._to_copy.default"_op, {norm.self}, {{"dtype", *dtype}}));
  }
  if (norm.order != "fro" && norm.order != "nuc" && norm.order != "number")
    return mismatch(args, "order '{}' is neither 'fro' nor 'nuc'", norm.order);
  return norm;
}

Result<Value> matrixNormProgram(const BoundArguments& args, const OpRunner& run) {
  KERF_TRY(const MatrixNorm norm, normArguments(args, run));
  KERF_TRY(Tensor out, matrixNorm(args, run, norm));
  return Value(std::move(out));
}

/// linalg_norm: of vectors, or of matrices where two dimensions are meant.
Result<Value> normProgram(const BoundArguments& args, const OpRunner& run) {
  const Sizes dims = args.sizes(2);
  const Tensor& self = args.tensor(0);
  const bool isText = args.values[1].as<std::string>() != nullptr;
  const bool matrix = isText || dims.size() == 2 || (args.none(2) && self.dim() == 2);
  if (!args.none(1) && matrix) {
    KERF_TRY(const MatrixNorm norm, normArguments(args, run));
    KERF_TRY(Tensor out, matrixNorm(args, run, norm));
    return Value(std::move(out));
  }
  if (!args.none(1) && args.none(2) && self.dim() != 1)
    return mismatch(args, "an order without dimensions needs an input of one or two dimensions, got {}", self.dim());
  Tensor flat = self;
  if (args.none(1) && args.none(2)) {
    KERF_TRY(flat, run("aten.reshape.default"_op, {self, intList({-1})}));
  }
  const double order = args.none(1) ? 2.0 : args.number(1);
  KERF_TRY(Tensor out,
           run("aten.linalg_vector_norm.default"_op,
               {flat, order, args.none(2) ? Value() : args.values[2], args.values[3]}, {{"dtype", args.values[4]}}));
  return Value(std::move(out));
}

Result<Value> logdet(const BoundArguments& args, const OpRunner& run) {
  KERF_TRY(const Value parts, run.value("aten.linalg_slogdet.default"_op, {args.values[0]}));
  KERF_TRY(const Tensor sign, run("aten.log.default"_op, {parts.list()[0]}));
  KERF_TRY(Tensor out, run("aten.add.Tensor"_op, {parts.list()[1], sign}));
  return Value(std::move(out));
}

Result<Value> inner(const BoundArguments& args, const OpRunner& run) {
  const Tensor &a = args.tensor(0), &b = args.tensor(1);
  if (a.dim() == 0 || b.dim() == 0) {
    KERF_TRY(Tensor out, run("aten.mul.Tensor"_op, {a, b}));
    return Value(std::move(out));
  }
  if (guardOrFalse(a.symSizes().back() != b.symSizes().back()))
    return mismatch(args, "the last dimensions {} and {} differ", a.symSizes().back(), b.symSizes().back());
  const SymInt k = a.symSizes().back();
  KERF_TRY(const SymInt rowsA, checkedCount(batchSizes(a, 1)));
  KERF_TRY(const SymInt rowsB, checkedCount(batchSizes(b, 1)));
  KERF_TRY(const Tensor left, run("aten.reshape.default"_op, {a, intList({rowsA, k})}));
  KERF_TRY(const Tensor right, run("aten.reshape.default"_op, {b, intList({rowsB, k})}));
  KERF_TRY(const Tensor turned, run("aten.t.default"_op, {right}));
  KERF_TRY(const Tensor product, run("aten.mm.default"_op, {left, turned}));
  SymSizes sizes = batchSizes(a, 1);
  const SymSizes more = batchSizes(b, 1);
  sizes.append(more.begin(), more.end());
  KERF_TRY(Tensor out, run("aten.view.default"_op, {product, intList(sizes)}));
  return Value(std::move(out));
}

/// Left to right; the best order differs in rounding only.
Result<Value> multiDot(const BoundArguments& args, const OpRunner& run) {
  std::vector<Tensor> tensors = args.tensors(0);
  if (tensors.size() < 2) return mismatch(args, "expected at least 2 tensors, got {}", tensors.size());
  const bool row = tensors.front().dim() == 1, column = tensors.back().dim() == 1;
  if (row) {
    KERF_TRY(tensors.front(), run("aten.unsqueeze.default"_op, {tensors.front(), std::int64_t{0}}));
  }
  if (column) {
    KERF_TRY(tensors.back(), run("aten.unsqueeze.default"_op, {tensors.back(), std::int64_t{-1}}));
  }
  Tensor out = tensors[0];
  for (std::size_t i = 1; i < tensors.size(); ++i) {
    KERF_TRY(out, run("aten.mm.default"_op, {out, tensors[i]}));
  }
  if (column) {
    KERF_TRY(out, run("aten.squeeze.dim"_op, {out, std::int64_t{-1}}));
  }
  if (row) {
    KERF_TRY(out, run("aten.squeeze.dim"_op, {out, std::int64_t{0}}));
  }
  return Value(std::move(out));
}

/// The inverse of a tensor seen as a square matrix of its first `ind` and remaining dimensions.
Result<Value> tensorInverse(const BoundArguments& args, const OpRunner& run) {
  const Tensor& self = args.tensor(0);
  const std::int64_t ind = args.integer(1);
  if (ind <= 0 || ind > self.dim()) return mismatch(args, "expected a strictly positive 'ind', got {}", ind);
  const SymSizes first(self.symSizes().begin(), self.symSizes().begin() + ind),
      rest(self.symSizes().begin() + ind, self.symSizes().end());
  KERF_TRY(const SymInt rows, checkedCount(first));
  KERF_TRY(const SymInt columns, checkedCount(rest));
  if (guardOrFalse(rows != columns))
    return mismatch(args, "the dimensions before and after 'ind' have {} and {} elements", rows, columns);
  KERF_TRY(const Tensor flat, run("aten.reshape.default"_op, {self, intList({rows, columns})}));
  KERF_TRY(const Tensor inverse, run("aten.linalg_inv.default"_op, {flat}));
  SymSizes sizes = rest;
  sizes.append(first.begin(), first.end());
  KERF_TRY(Tensor out, run("aten.reshape.default"_op, {inverse, intList(sizes)}));
  return Value(std::move(out));
}

/// x with tensordot(self, x) = other: self seen as a matrix whose rows are other's elements, `dims` moved to its end.
Result<Value> tensorSolve(const BoundArguments& args, const OpRunner& run) {
  const Tensor& other = args.tensor(1);
  Tensor self = args.tensor(0);
  if (!args.none(2)) {
    KERF_TRY(const Sizes last, wrapDims(args, args.sizes(2), self.dim()));
    Sizes order;
    for (std::int64_t d = 0; d < self.dim(); ++d)
      if (std::ranges::find(last, d) == last.end()) order.push_back(d);
    order.insert(order.end(), last.begin(), last.end());
    KERF_TRY(self, run("aten.permute.default"_op, {self, intList(order)}));
  }
  if (self.dim() < other.dim())
    return mismatch(args, "self must have at least the {} dimensions of other", other.dim());
  const SymSizes sizes(self.symSizes().begin() + other.dim(), self.symSizes().end());
  KERF_TRY(const SymInt unknowns, checkedCount(sizes));
  KERF_TRY(const SymInt equations, checkedCount(other.symSizes()));
  if (guardOrFalse(unknowns != equations) || guardOrFalse(self.symNumel() != unknowns * unknowns))
    return mismatch(args, "{} unknowns for {} equations", unknowns, equations);
  KERF_TRY(const Tensor matrix, run("aten.reshape.default"_op, {self, intList({equations, unknowns})}));
  KERF_TRY(const Tensor right, run("aten.reshape.default"_op, {other, intList({equations})}));
  KERF_TRY(const Tensor solution, run("aten.linalg_solve.default"_op, {matrix, right}));
  KERF_TRY(Tensor out, run("aten.reshape.default"_op, {solution, intList(sizes)}));
  return Value(std::move(out));
}

/// The product of the norms of a matrix and its inverse: infinite where there is none.
Result<Value> conditionByInverse(const BoundArguments& args, const OpRunner& run) {
  const Tensor& self = args.tensor(0);
  if (guardOrFalse(self.symSize(self.dim() - 2) != self.symSize(self.dim() - 1)))
    return mismatch(args, "matrices must be square, got {} by {}", self.symSize(self.dim() - 2),
                    self.symSize(self.dim() - 1));
  KERF_TRY(const Value both, run.value("aten.linalg_inv_ex.default"_op, {args.values[0]}));
  CompositeSteps s(run);
  const Tensor fails = s("aten.gt.Scalar"_op, {both.list()[1], std::int64_t{0}});
  const Tensor spread =
      s("aten.unsqueeze.default"_op, {s("aten.unsqueeze.default"_op, {fails, std::int64_t{-1}}), std::int64_t{-1}});
  const Tensor inverse = s("aten.masked_fill.Scalar"_op, {both.list()[0], spread, double(INFINITY)});
  const OpId norm =
      args.values[1].as<std::string>() ? "aten.linalg_matrix_norm.str_ord"_op : "aten.linalg_matrix_norm.default"_op;
  const Tensor own = s(norm, {args.values[0], args.values[1]}), other = s(norm, {inverse, args.values[1]});
  const Tensor product = s("aten.mul.Tensor"_op, {own, other});
  return s.done(s("aten.nan_to_num.default"_op, {product, double(INFINITY), double(INFINITY), -double(INFINITY)}));
}

/// linalg_cond(self, p): of the singular values for 2, -2 and "nuc", else of norms.
Result<Value> conditionNumber(const BoundArguments& args, const OpRunner& run) {
  const Tensor& self = args.tensor(0);
  if (self.dim() < 2) return mismatch(args, "self needs at least 2 dimensions, got {}", self.dim());
  const std::string* text = args.values[1].as<std::string>();
  const double order = text != nullptr || args.none(1) ? 2 : args.number(1);
  if (text != nullptr ? *text != "fro" && *text != "nuc"
                      : std::abs(order) != 1 && std::abs(order) != 2 && !std::isinf(order))
    return mismatch(args, "p must be 1, 2, inf or their negatives, fro or nuc");
  const Value last(std::int64_t{-1});
  if (guardOrFalse(self.symNumel() == 0)) {
    const SymSizes batch(self.symSizes().begin(), self.symSizes().end() - 2);
    KERF_TRY(const Value zeros, run.value("aten.new_zeros.default"_op, {args.values[0], intList(batch)}));
    return run.value("aten.abs.default"_op, {zeros});  // of a complex matrix it is real
  }
  if (text == nullptr ? std::abs(order) != 2 : *text == "fro") return conditionByInverse(args, run);
  CompositeSteps s(run);
  const Tensor values = s("aten.linalg_svdvals.default"_op, {args.values[0]});
  if (text != nullptr) {
    const Tensor sum = s("aten.sum.dim_IntList"_op, {values, intList({-1})});
    const Tensor inverses = s("aten.sum.dim_IntList"_op, {s("aten.reciprocal.default"_op, {values}), intList({-1})});
    return s.done(s("aten.mul.Tensor"_op, {sum, inverses}));
  }
  const Tensor largest = s("aten.select.int"_op, {values, last, std::int64_t{0}});
  const Tensor smallest = s("aten.select.int"_op, {values, last, last});
  return s.done(order < 0 ? s("aten.div.Tensor"_op, {smallest, largest})
                          : s("aten.div.Tensor"_op, {largest, smallest}));
}

/// linalg_diagonal(A, *, offset, dim1, dim2): diagonal() of the last two dimensions.
Result<Value> matrixDiagonal(const BoundArguments& args, const OpRunner& run) {
  return run.value("aten.diagonal.default"_op, args.values);
}

constexpr OpRow linalgProductRows[] = {
    compositeRow(conditionNumber, "aten::linalg_cond(Tensor self, Scalar? p=None) -> Tensor"),
    compositeRow(conditionNumber, "aten::linalg_cond.p_str(Tensor self, str p) -> Tensor"),
    compositeRow(matrixDiagonal,
                 "aten::linalg_diagonal(Tensor(a) A, *, int offset=0, int dim1=-2, int dim2=-1) -> Tensor(a)"),
    compositeRow(cross, "aten::linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor"),
    compositeRow(cross, "aten::cross(Tensor self, Tensor other, int? dim=None) -> Tensor"),
    compositeRow(vecdot, "aten::linalg_vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor"),
    compositeRow(kron, "aten::kron(Tensor self, Tensor other) -> Tensor"),
    compositeRow(matrixNormProgram,
                 "aten::linalg_matrix_norm(Tensor self, Scalar ord, int[] dim=[-2,-1], bool "
                 "keepdim=False, *, ScalarType? dtype=None) -> Tensor"),
    compositeRow(matrixNormProgram,
                 "aten::linalg_matrix_norm.str_ord(Tensor self, str ord='fro', int[] dim=[-2,-1], bool "
                 "keepdim=False, *, ScalarType? dtype=None) -> Tensor"),
    compositeRow(normProgram,
                 "aten::linalg_norm(Tensor self, Scalar? ord=None, int[1]? dim=None, bool keepdim=False, *, "
                 "ScalarType? dtype=None) -> Tensor"),
    compositeRow(normProgram,
                 "aten::linalg_norm.ord_str(Tensor self, str ord, int[1]? dim=None, bool keepdim=False, *, "
                 "ScalarType? dtype=None) -> Tensor"),
    compositeRow(logdet, "aten::logdet(Tensor self) -> Tensor"),
    compositeRow(inner, "aten::inner(Tensor self, Tensor other) -> Tensor"),
    compositeRow(multiDot, "aten::linalg_multi_dot(Tensor[] tensors) -> Tensor"),
    compositeRow(tensorSolve, "aten::linalg_tensorsolve(Tensor self, Tensor other, int[]? dims=None) -> Tensor"),
    compositeRow(tensorInverse, "aten::linalg_tensorinv(Tensor self, int ind=2) -> Tensor"),
};

const OpRegistration linalgProductOps({.rows = linalgProductRows});

}  // namespace

}  // namespace kerf::inline ops
