// What PyTorch refuses of numbers, dtypes and shapes of functions that are programs over other ops, and of some that are not:
// before anything is computed.
#include <algorithm>

#include "engine/ops/core/operand_checks.h"
#include "engine/ops/core/strides.h"
#include "engine/ops/core/symbolic_checks.h"
#include "engine/ops/core/type_promotion.h"

namespace kerf::inline ops {
namespace {

const Value* valueNamed(const BoundArguments& args, std::string_view name) {
  const auto& arguments = args.op->schema.arguments;
  const auto found = std::ranges::find(arguments, name, &SchemaArgument::name);
  return found == arguments.end() ? nullptr : &args.values[std::size_t(found - arguments.begin())];
}

std::optional<DType> dtypeOption(const BoundArguments& args) {
  const Value* value = valueNamed(args, "dtype");
  const DType* dtype = value != nullptr ? value->as<DType>() : nullptr;
  return dtype != nullptr ? std::optional(*dtype) : std::nullopt;
}

/// repeat_interleave(self, repeats, dim, *, output_size): a promise that is checked.
Result<void> promisedSize(const BoundArguments& args) {
  const Tensor* self = args.tensorIf(0);
  const auto promised = args.symIntegerIf(args.position("output_size")), repeats = args.symIntegerIf(1);
  if (!self || !promised || !repeats) return {};
  const auto dim = args.integerIf(2);
  SymInt size = self->symNumel();
  if (dim && self->dim() > 0) {
    KERF_TRY(const std::int64_t wrapped, wrapDim(args, *dim, self->dim()));
    size = self->symSize(wrapped);
  }
  if (checkEqual(size * *repeats, *promised)) return {};
  return mismatch(args, "'output_size' is {}, but there are {}", *promised, size * *repeats);
}

/// rms_norm(input, normalized_shape, weight)
Result<void> normalizedShape(const BoundArguments& args) {
  const Tensor *input = args.tensorIf(0), *weight = operandNamed(args, "weight");
  const SymSizes shape = args.symSizes(1);
  if (!input) return {};
  const std::int64_t first = input->dim() - std::int64_t(shape.size());
  bool fits = first >= 0;
  for (std::size_t i = 0; fits && i < shape.size(); ++i)
    fits = checkEqual(input->symSize(first + std::int64_t(i)), shape[i]);
  if (!fits)
    return mismatch(args, "the last dimensions of [{}] are not normalized_shape [{}]",
                    fmt::join(input->symSizes(), ", "), fmt::join(shape, ", "));
  const bool sameWeight =
      !weight || (weight->dim() == std::int64_t(shape.size()) && checkEqual(weight->symSizes(), shape));
  return sameWeight ? Result<void>()
                    : mismatch(args, "weight of shape [{}] for normalized_shape [{}]",
                               fmt::join(weight->symSizes(), ", "), fmt::join(shape, ", "));
}

/// select_scatter(self, src, dim, index): src has self's sizes without the dimension.
Result<void> selectedPlace(const BoundArguments& args) {
  const Tensor *self = args.tensorIf(0), *src = args.tensorIf(1);
  if (!self || !src || self->dim() == 0) return {};
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(2), self->dim()));
  SymSizes place;
  for (std::int64_t d = 0; d < self->dim(); ++d)
    if (d != dim) place.push_back(self->symSize(d));
  if (src->dim() == self->dim() - 1 && checkEqual(src->symSizes(), place)) return {};
  return mismatch(args, "src of shape [{}] does not fit the slice [{}]", fmt::join(src->symSizes(), ", "),
                  fmt::join(place, ", "));
}

/// triplet_margin_loss(anchor, positive, negative, …)
Result<void> tripletRanks(const BoundArguments& args) {
  const Tensor *anchor = args.tensorIf(0), *positive = args.tensorIf(1), *negative = args.tensorIf(2);
  if (!anchor || !positive || !negative) return {};
  if (anchor->dim() == positive->dim() && anchor->dim() == negative->dim()) return {};
  return mismatch(args, "anchor, positive and negative must have as many dimensions, have {}, {} and {}", anchor->dim(),
                  positive->dim(), negative->dim());
}

bool isEmpty(const Tensor& tensor) { return guardOrFalse(tensor.symNumel() == 0); }

/// nansum(self, dim, keepdim, *, dtype): NaN are looked for in a float dtype.
Result<void> floatSum(const BoundArguments& args) {
  const Tensor* self = args.tensorIf(0);
  const auto dtype = dtypeOption(args);
  if (!self || isEmpty(*self) || !dtype || !isIntegral(*dtype) || !isFloating(self->dtype())) return {};
  return mismatch(args, "not implemented for {}", nameOf(*dtype));
}

/// cumsum(self, dim, *, dtype): one element, or none, is copied.
Result<void> numberScan(const BoundArguments& args) {
  const Tensor* self = args.tensorIf(0);
  const auto dtype = dtypeOption(args);
  if (self && (self->dim() == 0 || isEmpty(*self))) return {};
  if (dtype == DType::Bool) return mismatch(args, "not implemented for {}", nameOf(*dtype));
  return {};
}

/// cumsum_(self, dim, *, dtype)
Result<void> ownDtype(const BoundArguments& args) {
  const Tensor* self = args.tensorIf(0);
  const auto dtype = dtypeOption(args);
  if (!self || !dtype || *dtype == self->dtype()) return numberScan(args);
  return mismatch(args, "'self' is {}, the result would be {}", nameOf(self->dtype()), nameOf(*dtype));
}

/// lerp(self, end, weight)
Result<void> lerpDtypes(const BoundArguments& args) {
  const Tensor *self = args.tensorIf(0), *end = operandNamed(args, "end"), *weight = operandNamed(args, "weight");
  if (!self) return {};
  for (const Tensor* other : {end, weight}) {
    if (!other || other->dtype() == self->dtype() || (other == weight && other->dim() == 0)) continue;
    return mismatch(args, "'{}' must be {} as self, is {}", other == end ? "end" : "weight", nameOf(self->dtype()),
                    nameOf(other->dtype()));
  }
  return {};
}

/// isclose(self, other, …, equal_nan): NaN of both are written into what self's comparison gave.
Result<void> comparedNan(const BoundArguments& args) {
  const Tensor *self = args.tensorIf(0), *other = args.tensorIf(1);
  const bool* equal = args.values[args.position("equal_nan")].as<bool>();
  if (!self || !other || !equal || !*equal || !(isFloating(self->dtype()) || isComplex(self->dtype()))) return {};
  KERF_TRY(const SymSizes sizes, broadcastSizes(self->symSizes(), other->symSizes()));
  if (sizes.size() == self->symSizes().size() && checkEqual(sizes, self->symSizes())) return {};
  return mismatch(args, "with equal_nan self of shape [{}] must have the shape of the result, [{}]",
                  fmt::join(self->symSizes(), ", "), fmt::join(sizes, ", "));
}

bool isOfTruths(const Value& value) {
  return value.as<bool>() != nullptr || (value.isTensor() && value.tensor().dtype() == DType::Bool);
}

/// remainder and fmod of truths alone.
Result<void> notTruths(const BoundArguments& args) {
  if (args.values.size() < 2 || !isOfTruths(args.values[0]) || !isOfTruths(args.values[1])) return {};
  return mismatch(args, "not implemented for {}", nameOf(DType::Bool));
}

Result<void> noTruth(const BoundArguments& args) {
  const Tensor* self = args.tensorIf(0);
  if (self && self->dtype() == DType::Bool) return mismatch(args, "not implemented for {}", nameOf(DType::Bool));
  return {};
}

/// abs(self): the kernel of CUDA takes bool.
Result<void> noTruthOnCpu(const BoundArguments& args) {
  const Tensor* self = args.tensorIf(0);
  return self && self->device().type == "cuda" ? Result<void>{} : noTruth(args);
}

/// abs_(self): the result of a complex tensor is real.
Result<void> realInPlace(const BoundArguments& args) {
  const Tensor* self = args.tensorIf(0);
  if (self && isComplex(self->dtype())) return mismatch(args, "not possible in place for complex tensors");
  return noTruthOnCpu(args);
}

/// cov(self, *, correction, fweights, aweights)
Result<void> covarianceOperands(const BoundArguments& args) {
  for (const std::string_view name : {"fweights", "aweights"})
    if (const Tensor* weights = operandNamed(args, name); weights && weights->dim() > 1)
      return mismatch(args, "'{}' must have at most one dimension, has {}", name, weights->dim());
  if (const Tensor* counts = operandNamed(args, "fweights"); counts && !isIntegral(counts->dtype()))
    return mismatch(args, "'fweights' must be whole numbers, are {}", nameOf(counts->dtype()));
  return noTruth(args);
}

/// cross(self, other): kernels look at both as self's dtype.
Result<void> crossDtypes(const BoundArguments& args) {
  const Tensor *self = args.tensorIf(0), *other = args.tensorIf(1);
  if (!self || !other || self->dtype() == other->dtype()) return {};
  return mismatch(args, "self and other must have one dtype, got {} and {}", nameOf(self->dtype()),
                  nameOf(other->dtype()));
}

/// isin(elements, test_elements)
Result<void> orderedDtypes(const BoundArguments& args) {
  for (std::size_t i = 0; i < 2; ++i) {
    if (args.values[i].as<bool>() != nullptr) return mismatch(args, "not implemented for {}", nameOf(DType::Bool));
    const Tensor* tensor = args.tensorIf(i);
    if (tensor && (tensor->dtype() == DType::Bool || isComplex(tensor->dtype())))
      return mismatch(args, "not implemented for {}", nameOf(tensor->dtype()));
  }
  return {};
}

/// fake_quantize_per_tensor_affine(self, scale, zero_point, quant_min, quant_max)
Result<void> quantizedZero(const BoundArguments& args) {
  const auto zero = args.integerIf(2), least = args.integerIf(3), most = args.integerIf(4);
  if (!zero || !least || !most || (*zero >= *least && *zero <= *most)) return {};
  return mismatch(args, "'zero_point' {} is not in [{}, {}]", *zero, *least, *most);
}

/// fake_quantize_per_channel_affine(self, scale, zero_point, axis, …)
Result<void> zeroDtype(const BoundArguments& args) {
  const Tensor* zero = args.tensorIf(2);
  if (!zero || zero->dtype() == DType::Int32 || zero->dtype() == DType::Float32 || zero->dtype() == DType::Float16)
    return {};
  return mismatch(args, "'zero_point' must be int32, float32 or float16, is {}", nameOf(zero->dtype()));
}

/// triu_indices(row, col, offset, *, dtype)
Result<void> indexDtype(const BoundArguments& args) {
  const auto dtype = dtypeOption(args);
  if (!dtype || *dtype == DType::Int64 || *dtype == DType::Int32) return {};
  return mismatch(args, "not implemented for {}", nameOf(*dtype));
}

/// bincount(self, weights, minlength)
Result<void> leastLength(const BoundArguments& args) {
  const auto length = args.integerIf(2);
  if (length && *length < 0) return mismatch(args, "'minlength' is negative: {}", *length);
  return {};
}

/// trapezoid(y, x)
Result<void> trapezoidDtypes(const BoundArguments& args) {
  for (std::size_t i = 0; i < std::min<std::size_t>(args.values.size(), 2); ++i)
    if (const Tensor* tensor = args.tensorIf(i); tensor && tensor->dtype() == DType::Bool)
      return mismatch(args, "not implemented for {}", nameOf(DType::Bool));
  return {};
}

/// logsumexp(self, dim, keepdim): no list of dimensions is not "all of them" here.
Result<void> namedDims(const BoundArguments& args) {
  const Tensor* self = args.tensorIf(0);
  const bool* keeps = args.values[2].as<bool>();
  if ((keeps != nullptr && *keeps) || (self && isEmpty(*self))) return {};
  if (self && self->dim() > 0 && args.values[1].isList() && args.values[1].list().empty())
    return mismatch(args, "'dim' names no dimension");
  return {};
}

/// linalg_norm(self, ord, dim, …): of one dimension, or of two.
Result<void> normDims(const BoundArguments& args) {
  const Value* dim = valueNamed(args, "dim");
  if (dim == nullptr || !dim->isList()) return {};
  const std::size_t count = dim->list().size(), least = args.values[1].as<std::string>() != nullptr ? 2 : 1;
  if (count == 2 || count == least) return {};
  return mismatch(args, "'dim' must name {}two dimensions, names {}", least == 2 ? "" : "one or ", count);
}

/// cosine_similarity(x1, x2)
Result<void> floatingTogether(const BoundArguments& args) {
  const Tensor *first = args.tensorIf(0), *second = args.tensorIf(1);
  if (!first || !second) return {};
  const DType common = promoteTypes(first->dtype(), second->dtype());
  if (isFloating(common)) return {};
  return mismatch(args, "the common dtype must be floating point, is {}", nameOf(common));
}

/// trapezoid(y, *, dx)
Result<void> realStep(const BoundArguments& args) {
  if (args.values[1].as<bool>() != nullptr) return mismatch(args, "'dx' must be a real number");
  return {};
}

/// index_put(self, indices, values)
Result<void> someIndex(const BoundArguments& args) {
  if (args.values[1].isList() && args.values[1].list().empty()) return mismatch(args, "'indices' has no index");
  return {};
}

constexpr OperandRule argumentRules[] = {
    {"aten::repeat_interleave.self_int", promisedSize},
    {"aten::rms_norm", normalizedShape},
    {"aten::select_scatter", selectedPlace},
    {"aten::triplet_margin_loss", tripletRanks},
    {"aten::nansum", floatSum},
    {"aten::cumsum aten::cumprod", numberScan},
    {"aten::cumsum_ aten::cumprod_", ownDtype},
    {"aten::lerp aten::lerp_", lerpDtypes},
    {"aten::isclose aten::allclose", comparedNan},
    {"aten::remainder aten::remainder_ aten::fmod aten::fmod_", notTruths},
    {"aten::abs aten::absolute", noTruthOnCpu},
    {"aten::abs_ aten::absolute_", realInPlace},
    {"aten::cov", covarianceOperands},
    {"aten::corrcoef", noTruth},
    {"aten::cross aten::linalg_cross", crossDtypes},
    {"aten::isin", orderedDtypes},
    {"aten::fake_quantize_per_tensor_affine", quantizedZero},
    {"aten::fake_quantize_per_channel_affine", zeroDtype},
    {"aten::triu_indices aten::tril_indices", indexDtype},
    {"aten::bincount", leastLength},
    {"aten::trapezoid aten::trapz aten::cumulative_trapezoid", trapezoidDtypes},
    {"aten::logsumexp", namedDims},
    {"aten::linalg_norm", normDims},
    {"aten::cosine_similarity", floatingTogether},
    {"aten::trapezoid.dx aten::trapz.dx aten::cumulative_trapezoid.dx", realStep},
    {"aten::index_put aten::index_put_", someIndex},
};

const OperandChecks argumentChecks({.rules = argumentRules});

}  // namespace
}  // namespace kerf::inline ops
