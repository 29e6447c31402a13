// Decompositions of reductions.
#include <cmath>
#include <limits>

#include "engine/ops/core/formula.h"
#include "engine/ops/core/op_math.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/type_promotion.h"

namespace kerf::inline ops {
namespace {

Formula logicalNot(const Formula& a) { return {"aten.logical_not.default"_op, {a}}; }

/// all(self, …): not any of what is not.
Result<Value> all(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  Formula any;
  if (args.values.size() == 1)
    any = {"aten.any.default"_op, {logicalNot(p[0])}};
  else
    any = {args.op->id == "aten.all.dim"_op ? "aten.any.dim"_op : "aten.any.dims"_op, {logicalNot(p[0]), p[1], p[2]}};
  const Formula result = p(logicalNot(any));
  return p.done(args.tensor(0).dtype() == DType::UInt8 ? to(result, DType::UInt8) : result);
}
/// aminmax(self, *, dim, keepdim)
Result<Value> aminmax(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Value dims = args.none(1) ? intList({}) : intList({args.integer(1)});
  const Formula least = p({"aten.amin.default"_op, {p[0], dims, p[2]}});
  return p.done(std::vector<Formula>{least, {"aten.amax.default"_op, {p[0], dims, p[2]}}});
}
/// count_nonzero(self) and count_nonzero(self, dims).
Result<Value> countNonzero(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  Sizes dims;
  const bool ofOne = args.op->id == "aten.count_nonzero.default"_op;
  if (!args.none(1)) dims = ofOne ? Sizes{args.integer(1)} : args.sizes(1);
  return p.done(sum(differs(p[0], 0), dims));
}
/// logsumexp(self, dims, keepdim)
Result<Value> logsumexp(const BoundArguments& args, const OpRunner& run) {
  const Tensor& self = args.tensor(0);
  KERF_TRY(Sizes dims, wrapDims(args, args.sizes(1), self.dim()));
  for (std::int64_t d = 0; dims.empty() && d < self.dim(); ++d) dims.push_back(d);
  const bool keep = args.boolean(2);
  Formulas p(args, run);
  if (guardOrFalse(self.symNumel() == 0)) return p.done(log(sum(exp(p[0]), dims, keep)));
  Formula top = p(amax(p[0], dims, true));
  top = p(where(equals(abs(top), HUGE_VAL), 0.0, top));
  const Formula offset = keep ? top : p(squeeze(top, dims));
  return p.done(log(sum(exp(p[0] - top), dims, keep)) + offset);
}
/// nansum(self, dim, keepdim, *, dtype)
Result<Value> nansum(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  KeywordValues options;
  if (!args.none(3)) options.emplace_back("dtype", args.values[3]);
  const Value dims = args.none(1) ? intList({}) : args.values[1];
  return p.done({"aten.sum.dim_IntList"_op, {where(isnan(p[0]), 0, p[0]), dims, p[2]}, options});
}
/// norm.Scalar(self, p) and norm.ScalarOpt_dim(self, p, dim, keepdim); the default order is 2.
Result<Value> norm(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Value order = args.none(1) ? Value(2.0) : args.values[1];
  if (args.values.size() < 4) return p.done({"aten.linalg_vector_norm.default"_op, {p[0], order}});
  return p.done({"aten.linalg_vector_norm.default"_op, {p[0], order, p[2], p[3]}});
}

/// linalg_vector_norm(self, ord, dim, keepdim, *, dtype): the root of a sum of powers.
Result<Value> linalgVectorNorm(const BoundArguments& args, const OpRunner& run) {
  const Tensor& self = args.tensor(0);
  const double order = args.number(1);
  DType dtype = args.dtypeIf(4).value_or(self.dtype());
  const bool complex = isComplex(dtype);
  if (complex) dtype = dtype == DType::Complex128 ? DType::Float64 : DType::Float32;
  Formulas p(args, run);
  const Value dims = args.values[2].isNone() ? intList({}) : args.values[2];
  const auto over = [&](OpId op, const Formula& x) { return Formula(op, {x, dims, p[3]}); };
  if (order == 0) return p.done({"aten.sum.dim_IntList"_op, {differs(p[0], 0.0), dims, p[3]}, {{"dtype", dtype}}});
  if (std::isinf(order))
    return p.done(to(over(order > 0 ? "aten.amax.default"_op : "aten.amin.default"_op, abs(p[0])), dtype));
  Formula x = p(to(p[0], complex ? self.dtype() : opMathType(dtype)));
  if (std::fmod(order, 2) != 0 || isComplex(self.dtype())) x = p(abs(x));
  const Formula powers = p(over("aten.sum.dim_IntList"_op, pow(x, p[1])));
  return p.done(to(pow(powers, 1 / order), dtype));
}

/// renorm(self, p, dim, maxnorm): slices along dim whose norm is larger are made that long.
Result<Value> renorm(const BoundArguments& args, const OpRunner& run) {
  const Tensor& self = args.tensor(0);
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(2), self.dim()));
  Sizes others;
  for (std::int64_t d = 0; d < self.dim(); ++d)
    if (d != dim) others.push_back(d);
  const DType wide = opMathType(self.dtype());
  KeywordValues options;
  if (wide != self.dtype()) options.emplace_back("dtype", wide);
  Formulas p(args, run);
  const Formula length = p({"aten.linalg_vector_norm.default"_op, {p[0], p[1], intList(others), true}, options});
  const Formula factor = p(where(length > p[3], p[3] / (length + 1e-7), 1.0));
  return p.done(contiguous(p[0] * to(factor, self.dtype())));
}

/// std and std_mean by variance: (self, dim, *, correction, keepdim).
KeywordValues varianceOptions(const BoundArguments& args) {
  KeywordValues options;
  if (!args.none(2)) options.emplace_back("correction", args.values[2]);
  if (args.boolean(3)) options.emplace_back("keepdim", true);
  return options;
}
Result<Value> stdCorrection(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  return p.done(sqrt({"aten.var.correction"_op, {p[0], p[1]}, varianceOptions(args)}));
}
Result<Value> stdMean(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const auto [variance, mean] = p.several<2>({"aten.var_mean.correction"_op, {p[0], p[1]}, varianceOptions(args)});
  return p.done(std::vector<Formula>{sqrt(variance), mean});
}
/// sum(self, *, dtype)
Result<Value> sumOfAll(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  KeywordValues options;
  if (!args.none(1)) options.emplace_back("dtype", args.values[1]);
  return p.done({"aten.sum.dim_IntList"_op, {p[0], intList({})}, options});
}

bool isOfBools(const BoundArguments& args) {
  return args.tensor(0).dtype() == DType::Bool && !(args.sizes(1).empty() && args.boolean(2));
}
/// amax and amin of bools; without dims over all.
template <bool greatest>
Result<Value> boolAmaxOrAmin(const BoundArguments& args, const OpRunner& run) {
  if (args.sizes(1).empty() && !args.boolean(2))
    return run.value(greatest ? "aten.any.default"_op : "aten.all.default"_op, {args.values[0]});
  return run.value(greatest ? "aten.any.dims"_op : "aten.all.dims"_op, args.values);
}

/// isin(elements, test_elements): against each, or by a search in the sorted ones where they are many.
Result<Value> isIn(const BoundArguments& args, const OpRunner& run) {
  const Tensor &elements = args.tensor(0), &tests = args.tensor(1);
  const bool inverts = args.boolean(3);
  Formulas p(args, run);
  const double count = double(std::int64_t(elements.symNumel())), tested = double(std::int64_t(tests.symNumel()));
  if (tested < 10.0 * std::pow(count, 0.145)) {
    if (count == 0) return p.done({"aten.empty_like.default"_op, {p[0]}, {{"dtype", DType::Bool}}});
    SymSizes shape = elements.symSizes();
    for (std::int64_t d = 0; d < tests.dim(); ++d) shape.push_back(1);
    Sizes dims;
    for (std::int64_t d = 0; d < tests.dim(); ++d) dims.push_back(-1 - d);
    const Formula apart = p(view(p[0], shape));
    const Formula hits = p(inverts ? differs(apart, p[1]) : equals(apart, p[1]));
    if (dims.empty()) return p.done(hits);
    return p.done({inverts ? "aten.all.dims"_op : "aten.any.dims"_op, {hits, intList(dims)}});
  }
  const Formula flat = p(flatten(p[0])), pool = p(flatten(p[1]));
  const Formula sorted = p.several<2>({"aten.sort.default"_op, {pool}})[0];
  const Formula place = p({"aten.searchsorted.Tensor"_op, {sorted, flat}});
  const Formula safe = p(where(place < tests.symNumel(), place, 0));
  Formula hits = p(equals(index(sorted, {safe}), flat));
  if (inverts) hits = p(logicalNot(hits));
  return p.done(reshape(hits, elements.symSizes()));
}

constexpr OpFacts reductionDecompositionsTable[] = {
    decomposes("aten::all", all),
    decomposes("aten::aminmax", aminmax),
    decomposes("aten::count_nonzero", countNonzero),
    decomposes("aten::logsumexp", inRealMath<logsumexp>),
    decomposes("aten::nansum", nansum),
    decomposes("aten::norm.Scalar", norm),
    decomposes("aten::norm.ScalarOpt_dim", norm),
    decomposes("aten::linalg_vector_norm", linalgVectorNorm),
    decomposes("aten::renorm", renorm),
    decomposes("aten::std.correction", stdCorrection),
    decomposes("aten::std_mean.correction", stdMean),
    decomposes("aten::sum.", sumOfAll),
    decomposes("aten::isin.Tensor_Tensor", isIn),
};

constexpr TableProgram programs[] = {
    {"aten::amax", boolAmaxOrAmin<true>, isOfBools},
    {"aten::amin", boolAmaxOrAmin<false>, isOfBools},
};

const OpRegistration reductionDecompositions({.facts = reductionDecompositionsTable, .programs = programs});

}  // namespace

}  // namespace kerf::inline ops
