// Shapes, integrals and statistics of exported programs that PyTorch composes of other ops.
#include <algorithm>
#include <cmath>

#include "engine/ops/core/composite.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/strides.h"

namespace kerf::inline ops {
namespace {

constexpr std::int64_t zero = 0, one = 1, last = -1;

/// |a - b| <= atol + |rtol b|, in float for integers.
Result<Value> isclose(const BoundArguments& args, const OpRunner& run) {
  CompositeSteps s(run);
  Tensor a = args.tensor(0), b = args.tensor(1);
  if (a.dtype() != b.dtype()) return mismatch(args, "self and other must have one dtype");
  Tensor close = s("aten.eq.Tensor"_op, {a, b});
  if (args.boolean(4) && !isIntegral(a.dtype())) {
    const Tensor left = s("aten.isnan.default"_op, {a}), right = s("aten.isnan.default"_op, {b});
    const Tensor both = s("aten.logical_and.default"_op, {left, right});
    close = s("aten.logical_or.default"_op, {close, both});
  }
  if (args.number(2) == 0 && args.number(3) == 0) return s.done(close);
  if (isIntegral(a.dtype())) {
    a = s("aten._to_copy.default"_op, {a}, {{"dtype", DType::Float32}});
    b = s("aten._to_copy.default"_op, {b}, {{"dtype", DType::Float32}});
  }
  const Tensor scaled = s("aten.mul.Scalar"_op, {b, args.number(2)});
  const Tensor share = s("aten.abs.default"_op, {scaled});
  const Tensor allowed = s("aten.add.Scalar"_op, {share, args.number(3)});
  const Tensor difference = s("aten.sub.Tensor"_op, {a, b});
  const Tensor error = s("aten.abs.default"_op, {difference});
  const Tensor finite = s("aten.isfinite.default"_op, {error});
  const Tensor small = s("aten.le.Tensor"_op, {error, allowed});
  const Tensor near = s("aten.logical_and.default"_op, {finite, small});
  return s.done(s("aten.logical_or.default"_op, {close, near}));
}

// Diagonals, stacks, products

Result<Value> diag(const BoundArguments& args, const OpRunner& run) {
  const std::int64_t dims = args.tensor(0).dim();
  if (dims != 1 && dims != 2) return mismatch(args, "supports 1D or 2D tensors, got {}D", dims);
  return run.value(dims == 1 ? "aten.diag_embed.default"_op : "aten.diagonal_copy.default"_op, args.values);
}
Result<Value> diagflat(const BoundArguments& args, const OpRunner& run) {
  CompositeSteps s(run);
  const Tensor flat = s("aten.reshape.default"_op, {args.values[0], intList({last})});
  return s.done(s("aten.diag_embed.default"_op, {flat, args.values[1]}));
}

/// Dimensions of one element are added: in front, or around for the third (torch.atleast_3d).
template <std::int64_t wanted>
Tensor atLeast(CompositeSteps& s, const Tensor& t) {
  SymSizes sizes = t.symSizes();
  if (t.dim() >= wanted) return t;
  if (wanted == 3 && t.dim() > 0) sizes.push_back(1);
  while (std::int64_t(sizes.size()) < wanted) sizes.insert(sizes.begin(), 1);
  return s("aten.reshape.default"_op, {t, intList(sizes)});
}
template <std::int64_t wanted>
Result<Value> atLeastProgram(const BoundArguments& args, const OpRunner& run) {
  CompositeSteps s(run);
  return s.done(atLeast<wanted>(s, args.tensor(0)));
}
Result<Value> dstack(const BoundArguments& args, const OpRunner& run) {
  CompositeSteps s(run);
  ValueList parts;
  for (const Tensor& t : args.tensors(0)) parts.emplace_back(atLeast<3>(s, t));
  return s.done(s("aten.cat.default"_op, {Value(std::move(parts)), std::int64_t{2}}));
}
Result<Value> columnStack(const BoundArguments& args, const OpRunner& run) {
  CompositeSteps s(run);
  ValueList parts;
  for (const Tensor& t : args.tensors(0))
    parts.emplace_back(t.dim() > 1 ? t : s("aten.reshape.default"_op, {t, intList({t.symNumel(), 1})}));
  return s.done(s("aten.cat.default"_op, {Value(std::move(parts)), one}));
}
Result<Value> argwhere(const BoundArguments& args, const OpRunner& run) {
  return run.value("aten.nonzero.default"_op, args.values);
}
Result<Value> chainMatmul(const BoundArguments& args, const OpRunner& run) {
  const std::vector<Tensor> matrices = args.tensors(0);
  if (matrices.size() == 1) return Value(matrices[0]);
  return run.value("aten.linalg_multi_dot.default"_op, args.values);
}
Result<Value> cartesianProduct(const BoundArguments& args, const OpRunner& run) {
  const std::vector<Tensor> lines = args.tensors(0);
  for (const Tensor& line : lines)
    if (line.dim() != 1) return mismatch(args, "expects 1D tensors");
  if (lines.empty()) return mismatch(args, "expects tensors");
  if (lines.size() == 1) return Value(lines[0]);
  KERF_TRY(const Value grids, run.value("aten.meshgrid.indexing"_op, args.values, {{"indexing", std::string("ij")}}));
  CompositeSteps s(run);
  ValueList columns;
  for (const Value& grid : grids.list()) columns.emplace_back(s("aten.reshape.default"_op, {grid, intList({last})}));
  return s.done(s("aten.stack.default"_op, {Value(std::move(columns)), one}));
}

/// y = x1ᵀ W x2 + b over the last dimensions.
Result<Value> bilinear(const BoundArguments& args, const OpRunner& run) {
  const Tensor &a = args.tensor(0), &b = args.tensor(1), &weight = args.tensor(2);
  const auto leading = [](const Tensor& t) { return SymSizes(t.symSizes().begin(), t.symSizes().end() - 1); };
  if (a.dim() == 0 || a.dim() != b.dim() || weight.dim() != 3 ||
      guardOrFalse(a.symSizes().back() != weight.symSize(1)) ||
      guardOrFalse(b.symSizes().back() != weight.symSize(2)) || !checkEqual(leading(a), leading(b)))
    return mismatch(args, "the shapes of the inputs and of the weight do not fit");
  SymSizes sizes = a.symSizes();
  sizes.back() = weight.symSize(0);
  CompositeSteps s(run);
  const Tensor left = s("aten.reshape.default"_op, {a, intList({last, a.symSizes().back()})});
  const Tensor right = s("aten.reshape.default"_op, {b, intList({last, b.symSizes().back()})});
  const Tensor flat = s("aten._trilinear.default"_op,
                        {left, weight, right, intList({1, 3}), intList({0}), intList({1, 2}), intList({2, 3})});
  Tensor out = s("aten.reshape.default"_op, {flat, intList(sizes)});
  if (!args.none(3)) out = s("aten.add.Tensor"_op, {out, args.values[3]});
  return s.done(out);
}

// Grids

Result<Value> gridSampler(const BoundArguments& args, const OpRunner& run) {
  const std::int64_t dims = args.tensor(0).dim();
  if (dims != 4 && dims != 5) return mismatch(args, "expected 4D or 5D input, got {}D", dims);
  return run.value(dims == 4 ? "aten.grid_sampler_2d.default"_op : "aten.grid_sampler_3d.default"_op, args.values);
}

/// Pixel centres (or corners) from -1 to 1 along one side, shaped to broadcast over the grid's dimensions.
Tensor gridLine(CompositeSteps& s, DType dtype, const SymSizes& sides, std::size_t side, bool corners) {
  const SymInt steps = sides[side];
  Tensor line;
  if (guardOrFalse(steps <= 1)) {
    line = s("aten.zeros.default"_op, {intList({steps})}, {{"dtype", dtype}});
  } else {
    line = s("aten.linspace.default"_op, {-1.0, 1.0, steps}, {{"dtype", dtype}});
    if (!corners && steps.isSymbolic())
      line = s("aten.div.Scalar"_op, {s("aten.mul.Scalar"_op, {line, steps - 1}), steps});
    else if (!corners)
      line = s("aten.mul.Scalar"_op, {line, double(steps - 1) / double(steps)});
  }
  SymSizes shape(sides.size(), 1);
  shape[side] = steps;
  line = s("aten.reshape.default"_op, {line, intList(shape)});
  return s("aten.expand.default"_op, {line, intList(sides)});
}

/// theta [n, d, d + 1] and size [n, c, sides…] to a grid [n, sides…, d] (x first).
Result<Value> affineGrid(const BoundArguments& args, const OpRunner& run) {
  const Tensor& theta = args.tensor(0);
  const SymSizes size = args.symSizes(1);
  const auto dims = std::int64_t(size.size()) - 2;
  if ((dims != 2 && dims != 3) || !checkEqual(theta.symSizes(), SymSizes{size[0], dims, dims + 1}))
    return mismatch(args, "expected theta [n, d, d + 1] and size [n, c, …] with d = 2 or 3");
  const SymSizes sides(size.begin() + 2, size.end());
  for (const SymInt side : sides)
    if (guardOrFalse(side <= 0)) return mismatch(args, "sizes must be positive");
  CompositeSteps s(run);
  ValueList lines;
  for (std::size_t d = sides.size(); d-- > 0;)
    lines.emplace_back(gridLine(s, theta.dtype(), sides, d, args.boolean(2)));
  lines.emplace_back(s("aten.ones.default"_op, {intList(sides)}, {{"dtype", theta.dtype()}}));
  const Tensor base = s("aten.stack.default"_op, {Value(std::move(lines)), last});
  KERF_TRY(const SymInt points, checkedCount(sides));
  const Tensor flat = s("aten.reshape.default"_op, {base, intList({1, points, dims + 1})});
  const Tensor wide = s("aten.expand.default"_op, {flat, intList({size[0], points, dims + 1})});
  const Tensor turned = s("aten.transpose.int"_op, {theta, one, std::int64_t{2}});
  const Tensor grid = s("aten.bmm.default"_op, {wide, turned});
  SymSizes out{size[0]};
  out.append(sides.begin(), sides.end());
  out.push_back(dims);
  return s.done(s("aten.view.default"_op, {grid, intList(out)}));
}

// trapezoid(y, x or dx, dim) and its running form

/// x as it lines up with y: a line along `dim`, or with dimensions added in front.
Result<Tensor> alignedTo(CompositeSteps& s, const BoundArguments& args, const Tensor& y, const Tensor& x,
                         std::int64_t dim) {
  SymSizes sizes = x.symSizes();
  if (x.dim() == 1) {
    if (guardOrFalse(x.symSize(0) != y.symSize(dim)))
      return mismatch(args, "there must be one x value for each sample point");
    sizes.assign(y.symSizes().size(), 1);
    sizes[std::size_t(dim)] = x.symSize(0);
  }
  while (sizes.size() < y.symSizes().size()) sizes.insert(sizes.begin(), 1);
  return s("aten.reshape.default"_op, {x, intList(sizes)});
}

template <bool running>
Result<Value> trapezoid(const BoundArguments& args, const OpRunner& run) {
  const Tensor& y = args.tensor(0);
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(args.position("dim")), y.dim()));
  if (y.dim() == 0) return mismatch(args, "expects a tensor with dimensions");
  CompositeSteps s(run);
  const auto pairs = [&](const Tensor& t, const char* op) {
    const SymInt points = t.symSize(dim);
    const Tensor right = s("aten.slice.Tensor"_op, {t, dim, one, points});
    const Tensor left = s("aten.slice.Tensor"_op, {t, dim, zero, symMax(points - 1, 0)});
    return s(op, {right, left});
  };
  Tensor areas = pairs(y, "aten.add.Tensor");
  if (const Tensor* x = args.tensorIf(1)) {
    KERF_TRY(const Tensor wide, alignedTo(s, args, y, *x, dim));
    areas = s("aten.mul.Tensor"_op, {areas, pairs(wide, "aten.sub.Tensor")});
  } else {
    areas = s("aten.mul.Scalar"_op, {areas, args.values[1]});
  }
  const Tensor sums =
      running ? s("aten.cumsum.default"_op, {areas, dim}) : s("aten.sum.dim_IntList"_op, {areas, intList({dim})});
  return s.done(s("aten.div.Scalar"_op, {sums, 2.0}));
}

// cov and corrcoef: rows are variables, columns observations

struct Weighting {
  Value weights;
  Value total;  ///< sum of the weights, or the number of observations
  Value norm;   ///< what the products are divided by
};
/// A divisor: a float where it is known.
Value countValue(SymInt count) { return count.isSymbolic() ? Value(count) : Value(double(count)); }

Weighting weightingOf(const BoundArguments& args, CompositeSteps& s, SymInt observations) {
  const std::int64_t correction = args.integer(1);
  const Value &counts = args.values[2], &importance = args.values[3];
  if (counts.isNone() && importance.isNone())
    return {{}, observations, countValue(symMax(observations - correction, 0))};
  Tensor weights = counts.isNone() ? importance.tensor() : counts.tensor();
  if (counts.isTensor() && importance.isTensor()) weights = s("aten.mul.Tensor"_op, {counts, importance});
  const Tensor total = s("aten.sum.default"_op, {weights});
  Tensor lost = s("aten.full_like.default"_op, {total, correction});
  if (importance.isTensor()) {
    const Tensor products = s("aten.mul.Tensor"_op, {weights, importance});
    const Tensor sum = s("aten.sum.default"_op, {products});
    const Tensor share = s("aten.div.Tensor"_op, {sum, total});
    lost = s("aten.mul.Scalar"_op, {share, correction});
  }
  const Tensor left = s("aten.sub.Tensor"_op, {total, lost});
  return {weights, total, s("aten.clamp_min.default"_op, {left, zero})};
}

Tensor covariance(CompositeSteps& s, const Tensor& self, const Weighting& w) {
  Tensor in = self.dim() == 2 ? self : s("aten.reshape.default"_op, {self, intList({1, last})});
  if (isIntegral(self.dtype())) in = s("aten._to_copy.default"_op, {in}, {{"dtype", DType::Float32}});
  const auto weighted = [&](const Tensor& t) {
    return w.weights.isNone() ? t : s("aten.mul.Tensor"_op, {t, w.weights});
  };
  const Tensor sums = s("aten.sum.dim_IntList"_op, {weighted(in), intList({1}), true});
  const Tensor means = s("aten.div.Tensor"_op, {sums, w.total});
  const Tensor centred = s("aten.sub.Tensor"_op, {in, means});
  Tensor turned = s("aten.t.default"_op, {weighted(centred)});
  if (isComplex(self.dtype())) turned = s("aten._conj_physical.default"_op, {turned});
  const Tensor products = s("aten.mm.default"_op, {centred, turned});
  const Tensor scaled = s("aten.div.Tensor"_op, {products, w.norm});

  return s("aten.squeeze.default"_op, {scaled});
}

Result<Value> cov(const BoundArguments& args, const OpRunner& run) {
  const Tensor& self = args.tensor(0);
  if (self.dim() > 2) return mismatch(args, "expected a matrix or a line, got {} dimensions", self.dim());
  CompositeSteps s(run);
  const Weighting w = weightingOf(args, s, self.dim() == 2 ? self.symSize(1) : self.symNumel());
  return s.done(covariance(s, self, w));
}

Result<Value> corrcoef(const BoundArguments& args, const OpRunner& run) {
  const Tensor& self = args.tensor(0);
  KERF_TRY(const Tensor c, run("aten.cov.default"_op, {self}));
  if (c.dim() == 0) return run.value("aten.div.Tensor"_op, {c, c});
  CompositeSteps s(run);
  Tensor spread = s("aten.diagonal.default"_op, {c});
  if (isComplex(c.dtype())) spread = s("aten.real.default"_op, {spread});
  spread = s("aten.sqrt.default"_op, {spread});
  const Tensor rows = s("aten.reshape.default"_op, {spread, intList({last, 1})});
  const Tensor columns = s("aten.reshape.default"_op, {spread, intList({1, last})});
  const Tensor halfway = s("aten.div.Tensor"_op, {c, rows});
  const Tensor out = s("aten.div.Tensor"_op, {halfway, columns});
  if (isComplex(c.dtype())) return s.done(out);
  return s.done(s("aten.clamp.default"_op, {out, -1.0, 1.0}));
}

// Norms and powers

/// frobenius_norm.dim(self, dim, keepdim) and nuclear_norm(self, keepdim)
Result<Value> frobeniusNorm(const BoundArguments& args, const OpRunner& run) {
  if (args.sizes(1).size() > 2) return mismatch(args, "expected at most 2 dimensions");
  return run.value("aten.linalg_vector_norm.default"_op, {args.values[0], 2.0, args.values[1], args.values[2]});
}
Result<Value> nuclearNorm(const BoundArguments& args, const OpRunner& run) {
  if (args.tensor(0).dim() < 2) return mismatch(args, "expected a matrix");
  return run.value("aten.linalg_matrix_norm.str_ord"_op,
                   {args.values[0], std::string("nuc"), intList({-2, -1}), args.values[1]});
}
/// nuclear_norm.dim(self, dim, keepdim)
Result<Value> nuclearNormDim(const BoundArguments& args, const OpRunner& run) {
  return run.value("aten.linalg_matrix_norm.str_ord"_op,
                   {args.values[0], std::string("nuc"), args.values[1], args.values[2]});
}
Result<Value> logSumExp(const BoundArguments& args, const OpRunner& run) {
  return run.value("aten.logsumexp.default"_op, args.values);
}

/// Powers 0, 1, … of x in a new last dimension.
Result<Value> vander(const BoundArguments& args, const OpRunner& run) {
  const Tensor& x = args.tensor(0);
  const bool old = args.op->id == "aten.vander.default"_op;
  if (x.dim() == 0 || (old && x.dim() != 1)) return mismatch(args, "got {} dimensions", x.dim());
  const SymInt count = args.symIntegerIf(1).value_or(x.symSizes().back());
  if (guardOrFalse(count < 0) || (!old && guardOrFalse(count < 2)))
    return mismatch(args, "cannot give {} powers", count);
  CompositeSteps s(run);
  SymSizes sizes = x.symSizes();
  sizes.push_back(symMax(count - 1, 0));
  const Tensor wide = s("aten.unsqueeze.default"_op, {x, last});
  const Tensor repeated = s("aten.expand.default"_op, {wide, intList(sizes)});
  const Tensor powers = s("aten.cumprod.default"_op, {repeated, last});
  sizes.back() = symMin(count, 1);
  const Tensor ones =
      s("aten.ones.default"_op, {intList(sizes)}, {{"dtype", isIntegral(x.dtype()) ? DType::Int64 : x.dtype()}});
  const Tensor rising = s("aten.cat.default"_op, {Value(ValueList{ones, powers}), last});
  return s.done(old && !args.boolean(2) ? s("aten.flip.default"_op, {rising, intList({1})}) : rising);
}

// Dropout of whole channels, and the form that keeps SELU's mean and variance

template <bool channels, bool alpha>
Result<Value> specialDropout(const BoundArguments& args, const OpRunner& run) {
  const Tensor& input = args.tensor(0);
  const double p = args.number(1);
  if (!(p >= 0 && p <= 1)) return mismatch(args, "dropout probability has to be between 0 and 1, but got {}", p);
  if (p == 0 || !args.boolean(2) || guardOrFalse(input.symNumel() == 0)) return Value(input);
  if (channels && input.dim() < 2) return mismatch(args, "feature dropout requires at least 2 dimensions in the input");
  CompositeSteps s(run);
  if (p == 1) return s.done(s("aten.mul.Scalar"_op, {input, 0.0}));
  SymSizes sizes = input.symSizes();
  if (channels) std::fill(sizes.begin() + 2, sizes.end(), 1);
  const Tensor place =
      channels ? s("aten.new_zeros.default"_op, {input, intList(sizes)}) : s("aten.zeros_like.default"_op, {input});
  const Tensor kept = s("aten.bernoulli.p"_op, {place, 1 - p});
  if (!alpha) {
    const Tensor noise = s("aten.div.Scalar"_op, {kept, 1 - p});
    return s.done(s("aten.mul.Tensor"_op, {input, noise}));
  }
  constexpr double floor = 1.7580993408473766;  // -selu(-infinity)
  const double a = 1 / std::sqrt((floor * floor * p + 1) * (1 - p));
  const Tensor lost = s("aten.add.Scalar"_op, {kept, -1.0});
  const Tensor lowered = s("aten.mul.Scalar"_op, {lost, floor * a});
  const Tensor shift = s("aten.add.Scalar"_op, {lowered, floor * a * p});
  const Tensor noise = s("aten.mul.Scalar"_op, {kept, a});
  const Tensor product = s("aten.mul.Tensor"_op, {input, noise});
  return s.done(s("aten.add.Tensor"_op, {product, shift}));
}

#define KERF_X "(Tensor y, Tensor x, *, int dim=-1) -> Tensor"
#define KERF_DX(number) "(Tensor y, *, " number " dx=1, int dim=-1) -> Tensor"
constexpr OpRow statisticRows[] = {
    compositeRow(
        isclose,
        "aten::isclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> Tensor"),
    compositeRow(diag, "aten::diag(Tensor self, int diagonal=0) -> Tensor"),
    compositeRow(diagflat, "aten::diagflat(Tensor self, int offset=0) -> Tensor"),
    compositeRow(atLeastProgram<1>, "aten::atleast_1d(Tensor self) -> Tensor"),
    compositeRow(atLeastProgram<2>, "aten::atleast_2d(Tensor self) -> Tensor"),
    compositeRow(atLeastProgram<3>, "aten::atleast_3d(Tensor self) -> Tensor"),
    compositeRow(dstack, "aten::dstack(Tensor[] tensors) -> Tensor"),
    compositeRow(columnStack, "aten::column_stack(Tensor[] tensors) -> Tensor"),
    compositeRow(argwhere, "aten::argwhere(Tensor self) -> Tensor", OpTrait::DataDependent),
    compositeRow(chainMatmul, "aten::chain_matmul(Tensor[] matrices) -> Tensor", OpTrait::Matmul),
    compositeRow(cartesianProduct, "aten::cartesian_prod(Tensor[] tensors) -> Tensor"),
    compositeRow(bilinear, "aten::bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor",
                 OpTrait::Matmul),
    compositeRow(gridSampler,
                 "aten::grid_sampler(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, "
                 "bool align_corners) -> Tensor"),
    compositeRow(affineGrid, "aten::affine_grid_generator(Tensor theta, SymInt[] size, bool align_corners) -> Tensor"),
    compositeRow(trapezoid<false>, "aten::trapezoid.x" KERF_X),
    compositeRow(trapezoid<false>, "aten::trapezoid.dx" KERF_DX("Scalar")),
    compositeRow(trapezoid<false>, "aten::trapz.x" KERF_X),
    compositeRow(trapezoid<false>, "aten::trapz.dx" KERF_DX("float")),
    compositeRow(trapezoid<true>, "aten::cumulative_trapezoid.x" KERF_X),
    compositeRow(trapezoid<true>, "aten::cumulative_trapezoid.dx" KERF_DX("Scalar")),
    compositeRow(cov,
                 "aten::cov(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None) -> Tensor"),
    compositeRow(corrcoef, "aten::corrcoef(Tensor self) -> Tensor"),
    compositeRow(frobeniusNorm, "aten::frobenius_norm.dim(Tensor self, int[1] dim, bool keepdim=False) -> Tensor"),
    compositeRow(nuclearNorm, "aten::nuclear_norm(Tensor self, bool keepdim=False) -> Tensor"),
    compositeRow(nuclearNormDim, "aten::nuclear_norm.dim(Tensor self, int[2] dim, bool keepdim=False) -> Tensor"),
    compositeRow(logSumExp, "aten::special_logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor"),
    compositeRow(vander, "aten::linalg_vander(Tensor x, *, SymInt? N=None) -> Tensor"),
    compositeRow(vander, "aten::vander(Tensor x, int? N=None, bool increasing=False) -> Tensor"),
    compositeRow(specialDropout<true, false>, "aten::feature_dropout(Tensor input, float p, bool train) -> Tensor",
                 OpTrait::Random),
    compositeRow(specialDropout<false, true>, "aten::alpha_dropout(Tensor input, float p, bool train) -> Tensor",
                 OpTrait::Random),
    compositeRow(specialDropout<true, true>, "aten::feature_alpha_dropout(Tensor input, float p, bool train) -> Tensor",
                 OpTrait::Random),
};

const OpRegistration statisticOps({.rows = statisticRows});

}  // namespace

}  // namespace kerf::inline ops
