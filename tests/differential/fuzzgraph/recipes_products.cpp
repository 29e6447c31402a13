// Arguments of matrix products and of linear algebra.
#include "tests/differential/fuzzgraph/op_nature.h"
#include "tests/differential/fuzzgraph/recipes.h"

namespace kerf::fuzzgraph {
namespace {

const Sizes& sizesOf(const Operand& operand) { return operand.value.tensor().sizes(); }
std::int64_t width(CallDraft& draft) { return draft.dice.pick<std::int64_t>({1, 2, 3, 4, 8, 16}); }

/// A matrix of the graph or a new one, now and then of whole numbers or complex ones.
Operand matrix(CallDraft& draft, std::size_t rank = 2) {
  Sizes sizes;
  while (sizes.size() < rank) sizes.push_back(width(draft));
  if (draft.dice.chance(12)) return draft.build.fresh(draft.build.randomDType(), sizes, {});
  return draft.floatOfRank(rank, sizes);
}

Operand with(CallDraft& draft, const Operand& like, const Sizes& sizes) {
  const DType dtype = like.value.tensor().dtype();
  auto known = draft.existing([&](const Tensor& t) { return t.dtype() == dtype && t.sizes() == sizes; });
  if (known && draft.dice.chance(60)) return *known;
  return draft.build.fresh(dtype, sizes, {-2, 2});
}

bool mm(CallDraft& draft) {
  const Operand a = matrix(draft);
  draft.set("self", a);
  draft.set("mat2", with(draft, a, {sizesOf(a)[1], width(draft)}));
  return true;
}

bool bmm(CallDraft& draft) {
  const Operand a = matrix(draft, 3);
  draft.set("self", a);
  draft.set("mat2", with(draft, a, {sizesOf(a)[0], sizesOf(a)[2], width(draft)}));
  return true;
}

/// What is added broadcasts with the product.
Operand addend(CallDraft& draft, const Operand& like, Sizes sizes) {
  for (std::int64_t& size : sizes)
    if (draft.dice.chance(20)) size = 1;
  if (sizes.size() > 1 && draft.dice.chance(40)) sizes.erase(sizes.begin());
  return with(draft, like, sizes);
}

bool addmm(CallDraft& draft) {
  const Operand a = matrix(draft);
  const std::int64_t columns = width(draft);
  draft.set("self", addend(draft, a, {sizesOf(a)[0], columns}));
  draft.set("mat1", a);
  draft.set("mat2", with(draft, a, {sizesOf(a)[1], columns}));
  return true;
}

bool baddbmm(CallDraft& draft) {
  const Operand a = matrix(draft, 3);
  const std::int64_t columns = width(draft);
  const bool sums = plainName(draft.op()) == "addbmm";
  const Sizes product{sizesOf(a)[0], sizesOf(a)[1], columns};
  draft.set("self", addend(draft, a, sums ? Sizes{product[1], product[2]} : product));
  draft.set("batch1", a);
  draft.set("batch2", with(draft, a, {product[0], sizesOf(a)[2], columns}));
  return true;
}

bool mv(CallDraft& draft) {
  const Operand a = matrix(draft);
  if (draft.has("mat")) draft.set("self", addend(draft, a, {sizesOf(a)[0]}));
  draft.set(draft.has("mat") ? "mat" : "self", a);
  draft.set("vec", with(draft, a, {sizesOf(a)[1]}));
  return true;
}

bool vectors(CallDraft& draft) {
  const Operand a = draft.floatOfRank(1, {width(draft)});
  const bool outer = plainName(draft.op()) != "dot" && plainName(draft.op()) != "vdot";
  const Operand b = with(draft, a, {outer ? width(draft) : sizesOf(a)[0]});
  if (!draft.has("vec1")) {
    draft.set("self", a);
    draft.set(draft.has("vec2") ? "vec2" : draft.has("tensor") ? "tensor" : "other", b);
    return true;
  }
  draft.set("self", addend(draft, a, {sizesOf(a)[0], sizesOf(b)[0]}));
  draft.set("vec1", a);
  draft.set("vec2", b);
  return true;
}

bool matmul(CallDraft& draft) {
  const Operand a = matrix(draft, std::size_t(draft.dice.between(1, 4)));
  Sizes other{sizesOf(a).back()};
  if (draft.dice.chance(80)) other.push_back(width(draft));
  if (other.size() > 1 && sizesOf(a).size() > 2 && draft.dice.chance(50))
    other.insert(other.begin(), sizesOf(a).begin(), sizesOf(a).end() - 2);
  draft.set("self", a);
  draft.set("other", with(draft, a, other));
  return true;
}

bool linear(CallDraft& draft) {
  const Operand a = matrix(draft, std::size_t(draft.dice.between(1, 3)));
  const std::int64_t outputs = width(draft);
  draft.set("input", a);
  draft.set("weight", with(draft, a, {outputs, sizesOf(a).back()}));
  draft.set("bias", draft.dice.chance(60) ? with(draft, a, {outputs}) : Operand{});
  return true;
}

bool einsum(CallDraft& draft) {
  const Operand a = matrix(draft);
  const Operand b = with(draft, a, {sizesOf(a)[1], width(draft)});
  draft.set("equation", Value(std::string(draft.dice.pick({"ij,jk->ik", "ij,jk->ki", "ij,jk->i", "ij,jk"}))));
  draft.set("tensors", Operand{Argument::list({a.argument, b.argument}), Value(ValueList{a.value, b.value}),
                               a.rounded || b.rounded});
  return true;
}

/// n·1 on the diagonal makes any matrix of small numbers well conditioned; half of it alone makes it positive definite.
Tensor wellConditioned(CallDraft& draft, DType dtype, const Sizes& sizes, bool symmetric) {
  const Tensor tensor = randomTensor(draft.dice, dtype, sizes, {-1, 1}, Arrangement::RowMajor);
  const std::int64_t n = sizes.back();
  for (std::int64_t at = 0; at < tensor.numel(); ++at) {
    const std::int64_t row = at / n % n, column = at % n, matrixStart = at - row * n - column;
    const auto change = [&]<class T>() {
      T* data = tensor.data<T>();
      if (symmetric && column < row) data[at] = data[matrixStart + column * n + row];
      if (row == column) data[at] = T(std::abs(data[at]) + T(n));
    };
    dtype == DType::Float64 ? change.template operator()<double>() : change.template operator()<float>();
  }
  return tensor;
}

bool square(CallDraft& draft) {
  const DType dtype = draft.dice.chance(60) ? DType::Float32 : DType::Float64;
  const std::int64_t n = draft.dice.between(1, 4);
  const Sizes sizes = draft.dice.chance(30) ? Sizes{2, n, n} : Sizes{n, n};
  const std::string name = plainName(draft.op());
  const bool symmetric = name.find("cholesky") != name.npos || name.find("eigh") != name.npos || draft.dice.chance(20);
  const Operand a = draft.build.fresh(wellConditioned(draft, dtype, sizes, symmetric));
  draft.set(draft.has("A") ? "A" : draft.has("self") && !draft.has("B") ? "self" : "input", a);
  Sizes right = sizes;
  right.back() = draft.dice.between(1, 3);
  for (const std::string_view argument : {"B", "b"})
    if (draft.has(argument)) draft.set(argument, draft.build.fresh(dtype, right, {}));
  if (draft.has("left")) draft.set("left", Value(true));
  if (draft.has("n")) draft.set("n", Value(draft.dice.between(0, 3)));
  return true;
}

/// solve's two: B and the triangle that divides it.
bool triangularSolve(CallDraft& draft) {
  const std::int64_t n = draft.dice.between(1, 4);
  const Operand a = draft.build.fresh(wellConditioned(draft, DType::Float32, {n, n}, true));
  draft.set("self",
            plainName(draft.op()) == "linalg_solve_triangular" ? a : draft.build.fresh(DType::Float32, {n, 2}, {}));
  draft.set("A", a);
  draft.set("B", draft.build.fresh(DType::Float32, {n, 2}, {}));
  draft.set("input2", a);
  return true;
}

bool crossed(CallDraft& draft) {
  const Operand a = draft.floats({draft.dice.between(1, 4), 3});
  draft.set("self", a);
  draft.set("other", with(draft, a, sizesOf(a)));
  if (draft.has("dim")) draft.set("dim", Value(std::int64_t{-1}));
  return true;
}

bool distances(CallDraft& draft) {
  const Operand a = draft.floatOfRank(2, {4, 3});
  draft.set(draft.has("x1") ? "x1" : "self", a);
  draft.set("x2", with(draft, a, {draft.dice.between(1, 4), sizesOf(a)[1]}));
  draft.set("p", Value(2.0));
  return true;
}

bool intMm(CallDraft& draft) {
  draft.set("self", draft.build.fresh(DType::Int8, {4, 8}, {-5, 5}));
  draft.set("mat2", draft.build.fresh(DType::Int8, {8, 3}, {-5, 5}));
  return true;
}

/// Groups of rows that end at the offsets, or matrix by matrix.
bool groupedMm(CallDraft& draft) {
  const DType dtype = draft.dice.pick({DType::Float32, DType::BFloat16, DType::Float16});
  const std::int64_t groups = draft.dice.between(1, 3), rows = 8, inner = 8, columns = 16;
  const bool flat = draft.dice.chance(70);
  draft.set("self", draft.build.fresh(dtype, flat ? Sizes{rows, inner} : Sizes{groups, rows, inner}, {-2, 2}));
  draft.set("mat2", draft.build.fresh(dtype, {groups, inner, columns}, {-2, 2}));
  draft.set("bias", Value());
  if (!flat) return draft.set("offs", Value()), true;
  const Tensor ends = *Tensor::zeros(DType::Int32, {groups});
  for (std::int64_t g = 0; g < groups; ++g)
    ends.data<std::int32_t>()[g] = std::int32_t(g + 1 == groups ? rows : rows * (g + 1) / (groups + 1));
  draft.set("offs", draft.build.fresh(ends));
  return true;
}

/// A is tall as often as not; of low rank now and then, where it has no residuals.
bool leastSquares(CallDraft& draft) {
  const DType dtype = draft.dice.pick({DType::Float32, DType::Float64});
  const std::int64_t m = draft.dice.between(2, 6), n = draft.dice.between(1, 4);
  Operand a = draft.build.fresh(dtype, {m, n}, draft.dice.chance(20) ? Interval{1, 1} : Interval{-2, 2});
  draft.set("b", draft.build.fresh(dtype, {m, draft.dice.between(2, 3)}, {-2, 2}));
  draft.set("self", std::move(a));
  draft.set("rcond", Value());
  draft.set("driver", Value(std::string(draft.dice.pick({"gels", "gelsy", "gelsd", "gelss"}))));
  return true;
}

constexpr RecipeRow rows[] = {
    {"_grouped_mm", groupedMm},
    {"linalg_lstsq", leastSquares},
    {"mm", mm},
    {"bmm", bmm},
    {"addmm", addmm},
    {"baddbmm addbmm", baddbmm},
    {"mv addmv", mv},
    {"dot vdot outer ger inner addr", vectors},
    {"matmul", matmul},
    {"linear", linear},
    {"einsum", einsum},
    {"linalg_cholesky linalg_cholesky_ex cholesky cholesky_inverse cholesky_solve linalg_inv linalg_inv_ex inverse "
     "linalg_det _linalg_det det logdet slogdet linalg_slogdet _linalg_slogdet linalg_solve linalg_solve_ex "
     "_linalg_solve_ex linalg_eigh _linalg_eigh linalg_eigvalsh linalg_matrix_exp matrix_exp linalg_matrix_power "
     "matrix_power linalg_lu linalg_lu_factor linalg_lu_factor_ex _lu_with_info linalg_eig linalg_eigvals "
     "linalg_pinv pinverse linalg_ldl_factor linalg_ldl_factor_ex trace",
     square},
    {"triangular_solve linalg_solve_triangular", triangularSolve},
    {"cross linalg_cross", crossed},
    {"cdist _cdist_forward _euclidean_dist pdist", distances},
    {"_int_mm", intMm},
};

}  // namespace

std::span<const RecipeRow> productRecipes() { return rows; }

}  // namespace kerf::fuzzgraph
