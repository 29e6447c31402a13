// Shapes, integrals and statistics of exported programs that PyTorch composes of other ops.
#include <algorithm>
#include <cmath>

#include "engine/ops/composite/families.h"
#include "engine/ops/composite/program_steps.h"

namespace kerf::inline ops {
namespace {

constexpr std::int64_t zero = 0, one = 1, last = -1;

/// |a - b| <= atol + |rtol b|, in float for integers.
Result<Value> isclose(const BoundArguments& args, const OpRunner& run) {
  ProgramSteps s(run);
  Tensor a = args.tensor(0), b = args.tensor(1);
  if (a.dtype() != b.dtype()) return mismatch(args, "self and other must have one dtype");
  Tensor close = s("aten.eq.Tensor", {a, b});
  if (args.boolean(4) && !isIntegral(a.dtype())) {
    const Tensor left = s("aten.isnan.default", {a}), right = s("aten.isnan.default", {b});
    const Tensor both = s("aten.logical_and.default", {left, right});
    close = s("aten.logical_or.default", {close, both});
  }
  if (args.number(2) == 0 && args.number(3) == 0) return s.done(close);
  if (isIntegral(a.dtype())) {
    a = s("aten._to_copy.default", {a}, {{"dtype", DType::Float32}});
    b = s("aten._to_copy.default", {b}, {{"dtype", DType::Float32}});
  }
  const Tensor scaled = s("aten.mul.Scalar", {b, args.number(2)});
  const Tensor share = s("aten.abs.default", {scaled});
  const Tensor allowed = s("aten.add.Scalar", {share, args.number(3)});
  const Tensor difference = s("aten.sub.Tensor", {a, b});
  const Tensor error = s("aten.abs.default", {difference});
  const Tensor finite = s("aten.isfinite.default", {error});
  const Tensor small = s("aten.le.Tensor", {error, allowed});
  const Tensor near = s("aten.logical_and.default", {finite, small});
  return s.done(s("aten.logical_or.default", {close, near}));
}

// Diagonals, stacks, products

Result<Value> diag(const BoundArguments& args, const OpRunner& run) {
  const std::int64_t dims = args.tensor(0).dim();
  if (dims != 1 && dims != 2) return mismatch(args, "supports 1D or 2D tensors, got {}D", dims);
  return run.value(dims == 1 ? "aten.diag_embed.default" : "aten.diagonal_copy.default", args.values);
}
Result<Value> diagflat(const BoundArguments& args, const OpRunner& run) {
  ProgramSteps s(run);
  const Tensor flat = s("aten.reshape.default", {args.values[0], intList({last})});
  return s.done(s("aten.diag_embed.default", {flat, args.values[1]}));
}

/// Dimensions of one element are added: in front, or around for the third (torch.atleast_3d).
template <std::int64_t wanted>
Tensor atLeast(ProgramSteps& s, const Tensor& t) {
  Sizes sizes = t.sizes();
  if (t.dim() >= wanted) return t;
  if (wanted == 3 && t.dim() > 0) sizes.push_back(1);
  while (std::int64_t(sizes.size()) < wanted) sizes.insert(sizes.begin(), 1);
  return s("aten.reshape.default", {t, intList(sizes)});
}
template <std::int64_t wanted>
Result<Value> atLeastProgram(const BoundArguments& args, const OpRunner& run) {
  ProgramSteps s(run);
  return s.done(atLeast<wanted>(s, args.tensor(0)));
}
Result<Value> dstack(const BoundArguments& args, const OpRunner& run) {
  ProgramSteps s(run);
  ValueList parts;
  for (const Tensor& t : args.tensors(0)) parts.emplace_back(atLeast<3>(s, t));
  return s.done(s("aten.cat.default", {Value(std::move(parts)), std::int64_t{2}}));
}
Result<Value> columnStack(const BoundArguments& args, const OpRunner& run) {
  ProgramSteps s(run);
  ValueList parts;
  for (const Tensor& t : args.tensors(0))
    parts.emplace_back(t.dim() > 1 ? t : s("aten.reshape.default", {t, intList({t.numel(), 1})}));
  return s.done(s("aten.cat.default", {Value(std::move(parts)), one}));
}
Result<Value> argwhere(const BoundArguments& args, const OpRunner& run) {
  return run.value("aten.nonzero.default", args.values);
}
Result<Value> chainMatmul(const BoundArguments& args, const OpRunner& run) {
  const std::vector<Tensor> matrices = args.tensors(0);
  if (matrices.size() == 1) return Value(matrices[0]);
  return run.value("aten.linalg_multi_dot.default", args.values);
}
Result<Value> cartesianProduct(const BoundArguments& args, const OpRunner& run) {
  const std::vector<Tensor> lines = args.tensors(0);
  for (const Tensor& line : lines)
    if (line.dim() != 1) return mismatch(args, "expects 1D tensors");
  if (lines.empty()) return mismatch(args, "expects tensors");
  if (lines.size() == 1) return Value(lines[0]);
  KERF_TRY(const Value grids, run.value("aten.meshgrid.indexing", args.values, {{"indexing", std::string("ij")}}));
  ProgramSteps s(run);
  ValueList columns;
  for (const Value& grid : grids.list()) columns.emplace_back(s("aten.reshape.default", {grid, intList({last})}));
  return s.done(s("aten.stack.default", {Value(std::move(columns)), one}));
}

/// y = x1ᵀ W x2 + b over the last dimensions.
Result<Value> bilinear(const BoundArguments& args, const OpRunner& run) {
  const Tensor &a = args.tensor(0), &b = args.tensor(1), &weight = args.tensor(2);
  if (a.dim() == 0 || a.dim() != b.dim() || weight.dim() != 3 || a.sizes().back() != weight.size(1) ||
      b.sizes().back() != weight.size(2) || !std::equal(a.sizes().begin(), a.sizes().end() - 1, b.sizes().begin()))
    return mismatch(args, "the shapes of the inputs and of the weight do not fit");
  Sizes sizes = a.sizes();
  sizes.back() = weight.size(0);
  ProgramSteps s(run);
  const Tensor left = s("aten.reshape.default", {a, intList({last, a.sizes().back()})});
  const Tensor right = s("aten.reshape.default", {b, intList({last, b.sizes().back()})});
  const Tensor flat = s("aten._trilinear.default",
                        {left, weight, right, intList({1, 3}), intList({0}), intList({1, 2}), intList({2, 3})});
  Tensor out = s("aten.reshape.default", {flat, intList(sizes)});
  if (!args.none(3)) out = s("aten.add.Tensor", {out, args.values[3]});
  return s.done(out);
}

// Grids

Result<Value> gridSampler(const BoundArguments& args, const OpRunner& run) {
  const std::int64_t dims = args.tensor(0).dim();
  if (dims != 4 && dims != 5) return mismatch(args, "expected 4D or 5D input, got {}D", dims);
  return run.value(dims == 4 ? "aten.grid_sampler_2d.default" : "aten.grid_sampler_3d.default", args.values);
}

/// Pixel centres (or corners) from -1 to 1 along one side, shaped to broadcast over the grid's dimensions.
Tensor gridLine(ProgramSteps& s, DType dtype, const Sizes& sides, std::size_t side, bool corners) {
  const std::int64_t steps = sides[side];
  Tensor line;
  if (steps <= 1) {
    line = s("aten.zeros.default", {intList({steps})}, {{"dtype", dtype}});
  } else {
    line = s("aten.linspace.default", {-1.0, 1.0, steps}, {{"dtype", dtype}});
    if (!corners) line = s("aten.mul.Scalar", {line, double(steps - 1) / double(steps)});
  }
  Sizes shape(sides.size(), 1);
  shape[side] = steps;
  line = s("aten.reshape.default", {line, intList(shape)});
  return s("aten.expand.default", {line, intList(sides)});
}

/// theta [n, d, d + 1] and size [n, c, sides…] to a grid [n, sides…, d] (x first).
Result<Value> affineGrid(const BoundArguments& args, const OpRunner& run) {
  const Tensor& theta = args.tensor(0);
  const Sizes size = args.sizes(1);
  const auto dims = std::int64_t(size.size()) - 2;
  if ((dims != 2 && dims != 3) || theta.sizes() != Sizes{size[0], dims, dims + 1})
    return mismatch(args, "expected theta [n, d, d + 1] and size [n, c, …] with d = 2 or 3");
  const Sizes sides(size.begin() + 2, size.end());
  for (std::int64_t side : sides)
    if (side <= 0) return mismatch(args, "sizes must be positive");
  ProgramSteps s(run);
  ValueList lines;
  for (std::size_t d = sides.size(); d-- > 0;)
    lines.emplace_back(gridLine(s, theta.dtype(), sides, d, args.boolean(2)));
  lines.emplace_back(s("aten.ones.default", {intList(sides)}, {{"dtype", theta.dtype()}}));
  const Tensor base = s("aten.stack.default", {Value(std::move(lines)), last});
  KERF_TRY(const std::int64_t points, checkedNumel(sides));
  const Tensor flat = s("aten.reshape.default", {base, intList({1, points, dims + 1})});
  const Tensor wide = s("aten.expand.default", {flat, intList({size[0], points, dims + 1})});
  const Tensor turned = s("aten.transpose.int", {theta, one, std::int64_t{2}});
  const Tensor grid = s("aten.bmm.default", {wide, turned});
  Sizes out{size[0]};
  out.insert(out.end(), sides.begin(), sides.end());
  out.push_back(dims);
  return s.done(s("aten.view.default", {grid, intList(out)}));
}

// trapezoid(y, x or dx, dim) and its running form

/// x as it lines up with y: a line along `dim`, or with dimensions added in front.
Result<Tensor> alignedTo(ProgramSteps& s, const BoundArguments& args, const Tensor& y, const Tensor& x,
                         std::int64_t dim) {
  Sizes sizes = x.sizes();
  if (x.dim() == 1) {
    if (x.size(0) != y.size(dim)) return mismatch(args, "there must be one x value for each sample point");
    sizes.assign(y.sizes().size(), 1);
    sizes[std::size_t(dim)] = x.size(0);
  }
  while (sizes.size() < y.sizes().size()) sizes.insert(sizes.begin(), 1);
  return s("aten.reshape.default", {x, intList(sizes)});
}

template <bool running>
Result<Value> trapezoid(const BoundArguments& args, const OpRunner& run) {
  const Tensor& y = args.tensor(0);
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(args.position("dim")), y.dim()));
  if (y.dim() == 0) return mismatch(args, "expects a tensor with dimensions");
  const std::int64_t length = y.size(dim);
  ProgramSteps s(run);
  const auto pairs = [&](const Tensor& t, const char* op) {
    const std::int64_t points = std::min(t.size(dim), length);
    const Tensor right = s("aten.slice.Tensor", {t, dim, one, points});
    const Tensor left = s("aten.slice.Tensor", {t, dim, zero, std::max<std::int64_t>(points - 1, 0)});
    return s(op, {right, left});
  };
  Tensor areas = pairs(y, "aten.add.Tensor");
  if (const Tensor* x = args.tensorIf(1)) {
    KERF_TRY(const Tensor wide, alignedTo(s, args, y, *x, dim));
    if (wide.dim() == y.dim()) areas = s("aten.mul.Tensor", {areas, pairs(wide, "aten.sub.Tensor")});
  } else {
    areas = s("aten.mul.Scalar", {areas, args.values[1]});
  }
  const Tensor sums =
      running ? s("aten.cumsum.default", {areas, dim}) : s("aten.sum.dim_IntList", {areas, intList({dim})});
  return s.done(s("aten.div.Scalar", {sums, 2.0}));
}

// cov and corrcoef: rows are variables, columns observations

struct Weighting {
  Value weights;
  Value total;  ///< sum of the weights, or the number of observations
  Value norm;   ///< what the products are divided by
};
Weighting weightingOf(const BoundArguments& args, ProgramSteps& s, std::int64_t observations) {
  const std::int64_t correction = args.integer(1);
  const Value &counts = args.values[2], &importance = args.values[3];
  if (counts.isNone() && importance.isNone())
    return {{}, observations, double(std::max<std::int64_t>(observations - correction, 0))};
  Tensor weights = counts.isNone() ? importance.tensor() : counts.tensor();
  if (counts.isTensor() && importance.isTensor()) weights = s("aten.mul.Tensor", {counts, importance});
  const Tensor total = s("aten.sum.default", {weights});
  Tensor lost = s("aten.full_like.default", {total, correction});
  if (importance.isTensor()) {
    const Tensor products = s("aten.mul.Tensor", {weights, importance});
    const Tensor sum = s("aten.sum.default", {products});
    const Tensor share = s("aten.div.Tensor", {sum, total});
    lost = s("aten.mul.Scalar", {share, correction});
  }
  const Tensor left = s("aten.sub.Tensor", {total, lost});
  return {weights, total, s("aten.clamp_min.default", {left, zero})};
}

Tensor covariance(ProgramSteps& s, const Tensor& self, const Weighting& w) {
  Tensor in = self.dim() == 2 ? self : s("aten.reshape.default", {self, intList({1, last})});
  if (isIntegral(self.dtype())) in = s("aten._to_copy.default", {in}, {{"dtype", DType::Float32}});
  const auto weighted = [&](const Tensor& t) { return w.weights.isNone() ? t : s("aten.mul.Tensor", {t, w.weights}); };
  const Tensor sums = s("aten.sum.dim_IntList", {weighted(in), intList({1}), true});
  const Tensor means = s("aten.div.Tensor", {sums, w.total});
  const Tensor centred = s("aten.sub.Tensor", {in, means});
  Tensor turned = s("aten.t.default", {weighted(centred)});
  if (isComplex(self.dtype())) turned = s("aten._conj_physical.default", {turned});
  const Tensor products = s("aten.mm.default", {centred, turned});
  const Tensor scaled = s("aten.div.Tensor", {products, w.norm});

  return s("aten.squeeze.default", {scaled});
}

Result<Value> cov(const BoundArguments& args, const OpRunner& run) {
  const Tensor& self = args.tensor(0);
  if (self.dim() > 2) return mismatch(args, "expected a matrix or a line, got {} dimensions", self.dim());
  ProgramSteps s(run);
  const Weighting w = weightingOf(args, s, self.dim() == 2 ? self.size(1) : self.numel());
  return s.done(covariance(s, self, w));
}

Result<Value> corrcoef(const BoundArguments& args, const OpRunner& run) {
  const Tensor& self = args.tensor(0);
  KERF_TRY(const Tensor c, run("aten.cov.default", {self}));
  if (c.dim() == 0) return run.value("aten.div.Tensor", {c, c});
  ProgramSteps s(run);
  Tensor spread = s("aten.diagonal.default", {c});
  if (isComplex(c.dtype())) spread = s("aten.real.default", {spread});
  spread = s("aten.sqrt.default", {spread});
  const Tensor rows = s("aten.reshape.default", {spread, intList({last, 1})});
  const Tensor columns = s("aten.reshape.default", {spread, intList({1, last})});
  const Tensor halfway = s("aten.div.Tensor", {c, rows});
  const Tensor out = s("aten.div.Tensor", {halfway, columns});
  if (isComplex(c.dtype())) return s.done(out);
  return s.done(s("aten.clamp.default", {out, -1.0, 1.0}));
}

// Norms and powers

/// frobenius_norm.dim(self, dim, keepdim) and nuclear_norm(self, keepdim)
Result<Value> frobeniusNorm(const BoundArguments& args, const OpRunner& run) {
  if (args.sizes(1).size() > 2) return mismatch(args, "expected at most 2 dimensions");
  return run.value("aten.linalg_vector_norm.default", {args.values[0], 2.0, args.values[1], args.values[2]});
}
Result<Value> nuclearNorm(const BoundArguments& args, const OpRunner& run) {
  if (args.tensor(0).dim() != 2) return mismatch(args, "expected a matrix");
  return run.value("aten.linalg_matrix_norm.str_ord",
                   {args.values[0], std::string("nuc"), intList({0, 1}), args.values[1]});
}
Result<Value> logSumExp(const BoundArguments& args, const OpRunner& run) {
  return run.value("aten.logsumexp.default", args.values);
}

/// Powers 0, 1, … of x in a new last dimension.
Result<Value> vander(const BoundArguments& args, const OpRunner& run) {
  const Tensor& x = args.tensor(0);
  const bool old = args.op->schema.name == "aten::vander";
  if (x.dim() == 0 || (old && x.dim() != 1)) return mismatch(args, "got {} dimensions", x.dim());
  const std::int64_t count = args.integerIf(1).value_or(x.sizes().back());
  if (count < 0 || (!old && count < 2)) return mismatch(args, "cannot give {} powers", count);
  ProgramSteps s(run);
  Sizes sizes = x.sizes();
  sizes.push_back(std::max<std::int64_t>(count - 1, 0));
  const Tensor wide = s("aten.unsqueeze.default", {x, last});
  const Tensor repeated = s("aten.expand.default", {wide, intList(sizes)});
  const Tensor powers = s("aten.cumprod.default", {repeated, last});
  sizes.back() = std::min<std::int64_t>(count, 1);
  const Tensor ones =
      s("aten.ones.default", {intList(sizes)}, {{"dtype", isIntegral(x.dtype()) ? DType::Int64 : x.dtype()}});
  const Tensor rising = s("aten.cat.default", {Value(ValueList{ones, powers}), last});
  return s.done(old && !args.boolean(2) ? s("aten.flip.default", {rising, intList({1})}) : rising);
}

// Dropout of whole channels, and the form that keeps SELU's mean and variance

template <bool channels, bool alpha>
Result<Value> specialDropout(const BoundArguments& args, const OpRunner& run) {
  const Tensor& input = args.tensor(0);
  const double p = args.number(1);
  if (!(p >= 0 && p <= 1)) return mismatch(args, "dropout probability has to be between 0 and 1, but got {}", p);
  if (p == 0 || !args.boolean(2) || input.numel() == 0) return Value(input);
  if (channels && input.dim() < 2) return mismatch(args, "feature dropout requires at least 2 dimensions in the input");
  ProgramSteps s(run);
  if (p == 1) return s.done(s("aten.mul.Scalar", {input, 0.0}));
  Sizes sizes = input.sizes();
  if (channels) std::fill(sizes.begin() + 2, sizes.end(), 1);
  const Tensor place = s("aten.zeros.default", {intList(sizes)}, {{"dtype", input.dtype()}});
  const Tensor kept = s("aten.bernoulli.p", {place, 1 - p});
  if (!alpha) {
    const Tensor noise = s("aten.div.Scalar", {kept, 1 - p});
    return s.done(s("aten.mul.Tensor", {input, noise}));
  }
  constexpr double floor = 1.7580993408473766;  // -selu(-infinity)
  const double a = 1 / std::sqrt((floor * floor * p + 1) * (1 - p));
  const Tensor lost = s("aten.add.Scalar", {kept, -1.0});
  const Tensor lowered = s("aten.mul.Scalar", {lost, floor * a});
  const Tensor shift = s("aten.add.Scalar", {lowered, floor * a * p});
  const Tensor noise = s("aten.mul.Scalar", {kept, a});
  const Tensor product = s("aten.mul.Tensor", {input, noise});
  return s.done(s("aten.add.Tensor", {product, shift}));
}

#define KERF_X "(Tensor y, Tensor x, *, int dim=-1) -> Tensor"
#define KERF_DX(number) "(Tensor y, *, " number " dx=1, int dim=-1) -> Tensor"
constexpr OpRow rows[] = {
    programRow<isclose>(
        "aten::isclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> Tensor"),
    programRow<diag>("aten::diag(Tensor self, int diagonal=0) -> Tensor"),
    programRow<diagflat>("aten::diagflat(Tensor self, int offset=0) -> Tensor"),
    programRow<atLeastProgram<1>>("aten::atleast_1d(Tensor self) -> Tensor"),
    programRow<atLeastProgram<2>>("aten::atleast_2d(Tensor self) -> Tensor"),
    programRow<atLeastProgram<3>>("aten::atleast_3d(Tensor self) -> Tensor"),
    programRow<dstack>("aten::dstack(Tensor[] tensors) -> Tensor"),
    programRow<columnStack>("aten::column_stack(Tensor[] tensors) -> Tensor"),
    programRow<argwhere>("aten::argwhere(Tensor self) -> Tensor", OpTrait::DataDependent),
    programRow<chainMatmul>("aten::chain_matmul(Tensor[] matrices) -> Tensor", OpTrait::Matmul),
    programRow<cartesianProduct>("aten::cartesian_prod(Tensor[] tensors) -> Tensor"),
    programRow<bilinear>("aten::bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor",
                         OpTrait::Matmul),
    programRow<gridSampler>("aten::grid_sampler(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, "
                            "bool align_corners) -> Tensor"),
    programRow<affineGrid>("aten::affine_grid_generator(Tensor theta, SymInt[] size, bool align_corners) -> Tensor"),
    programRow<trapezoid<false>>("aten::trapezoid.x" KERF_X),
    programRow<trapezoid<false>>("aten::trapezoid.dx" KERF_DX("Scalar")),
    programRow<trapezoid<false>>("aten::trapz.x" KERF_X),
    programRow<trapezoid<false>>("aten::trapz.dx" KERF_DX("float")),
    programRow<trapezoid<true>>("aten::cumulative_trapezoid.x" KERF_X),
    programRow<trapezoid<true>>("aten::cumulative_trapezoid.dx" KERF_DX("Scalar")),
    programRow<cov>(
        "aten::cov(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None) -> Tensor"),
    programRow<corrcoef>("aten::corrcoef(Tensor self) -> Tensor"),
    programRow<frobeniusNorm>("aten::frobenius_norm.dim(Tensor self, int[1] dim, bool keepdim=False) -> Tensor"),
    programRow<nuclearNorm>("aten::nuclear_norm(Tensor self, bool keepdim=False) -> Tensor"),
    programRow<logSumExp>("aten::special_logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor"),
    programRow<vander>("aten::linalg_vander(Tensor x, *, SymInt? N=None) -> Tensor"),
    programRow<vander>("aten::vander(Tensor x, int? N=None, bool increasing=False) -> Tensor"),
    programRow<specialDropout<true, false>>("aten::feature_dropout(Tensor input, float p, bool train) -> Tensor",
                                            OpTrait::Random),
    programRow<specialDropout<false, true>>("aten::alpha_dropout(Tensor input, float p, bool train) -> Tensor",
                                            OpTrait::Random),
    programRow<specialDropout<true, true>>("aten::feature_alpha_dropout(Tensor input, float p, bool train) -> Tensor",
                                           OpTrait::Random),
};

}  // namespace

OpRows statisticOps() { return rows; }

}  // namespace kerf::inline ops
