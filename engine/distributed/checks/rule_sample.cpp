#include "engine/distributed/checks/rule_sample.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/autograd/pure_forms.h"
#include "engine/ops/core/op_call.h"

namespace kerf::inline distributed::inline checks {
namespace {

constexpr std::int64_t mostElements = std::int64_t{1} << 22;  ///< of all operands of a call
constexpr double maskedValue = 7.25;                          ///< what a rank has in rows of others

Result<Value> widened(const Value& value, bool isComplex);

Result<Value> widenedTensor(const Tensor& tensor, bool makeComplex) {
  KERF_TRY(const Tensor copy, tensor.clone());
  if (isComplex(copy.dtype())) {
    KERF_TRY(Tensor wide, copy.to(DType::Complex128));
    return Value(std::move(wide));
  }
  if (!isFloating(copy.dtype())) return Value(copy);
  KERF_TRY(const Tensor wide, copy.to(DType::Float64));
  if (!makeComplex) return Value(wide);
  KERF_TRY(const Tensor imaginary, callTensorOp("aten.mul.Scalar"_op, {wide, 0.5}));
  KERF_TRY(const Tensor shifted, callTensorOp("aten.add.Scalar"_op, {imaginary, 0.25}));
  KERF_TRY(Tensor made, callTensorOp("aten.complex.default"_op, {wide, shifted}));
  return Value(std::move(made));
}

Result<Value> widened(const Value& value, bool isComplex) {
  if (value.isTensor()) return widenedTensor(value.tensor(), isComplex);
  if (!value.isList()) return value;
  ValueList items;
  for (const Value& item : value.list()) {
    KERF_TRY(Value wide, widened(item, isComplex));
    items.push_back(std::move(wide));
  }
  return Value(std::move(items));
}

void collectOperands(const Value& value, std::vector<Tensor>& out) {
  if (value.isTensor()) out.push_back(value.tensor());
  if (value.isList())
    for (const Value& item : value.list()) collectOperands(item, out);
}

/// The same value with its tensors replaced in order.
Value replaced(const Value& value, const std::vector<Tensor>& tensors, std::size_t& at) {
  if (value.isTensor()) return Value(tensors[at++]);
  if (!value.isList()) return value;
  ValueList items;
  for (const Value& item : value.list()) items.push_back(replaced(item, tensors, at));
  return Value(std::move(items));
}

/// Floating numbers of a tensor: of a complex one both parts, in a dimension of their own.
Result<Tensor> numbersOf(const Tensor& tensor) {
  return isComplex(tensor.dtype()) ? callTensorOp("aten.view_as_real.default"_op, {tensor}) : Result<Tensor>(tensor);
}

/// An infinite number is no sum of parts of itself.
bool isFinite(const Tensor& tensor) {
  const auto numbers = numbersOf(tensor);
  if (!numbers) return false;
  for (std::int64_t i = 0; i < numbers->numel(); ++i)
    if (!std::isfinite(numbers->itemAsDouble(i))) return false;
  return true;
}

/// The weight of part `index` of a sum; those of all parts are 1 together. Times float32 numbers exact in float64.
double weightOf(std::int64_t count, std::int64_t index) {
  constexpr double weights[] = {1.5, -0.75, 0.5};
  if (index < count - 1) return weights[index % 3];
  double weight = 1;
  for (std::int64_t i = 0; i + 1 < count; ++i) weight -= weights[i % 3];
  return weight;
}

Result<Tensor> productPart(const Tensor& whole, std::int64_t count, std::int64_t index) {  // powers of two: exact
  KERF_TRY(const Tensor ones, callTensorOp("aten.ones_like.default"_op, {whole}));
  if (index > 0) return callTensorOp("aten.mul.Scalar"_op, {ones, 2.0});
  return callTensorOp("aten.mul.Scalar"_op, {whole, std::ldexp(1.0, -int(count - 1))});
}

/// One rank's part of `whole` along one dimension of the mesh, where that needs no mask.
Result<Tensor> partAlong(const Placement& placement, const Tensor& whole, std::int64_t count, std::int64_t index) {
  if (placement.isShard()) return shardOf(whole, placement, count, index);
  if (placement.isReplicate()) return whole;
  const double weight = weightOf(count, index);
  if (placement.reduction == "sum") return callTensorOp("aten.mul.Scalar"_op, {whole, weight});
  if (placement.reduction == "avg") return callTensorOp("aten.mul.Scalar"_op, {whole, weight * double(count)});
  if (placement.reduction == "product") return productPart(whole, count, index);
  const double distance = index == 0 ? 0 : placement.reduction == "max" ? -1.0 : 1.0;
  return callTensorOp("aten.add.Scalar"_op, {whole, distance});
}

/// A lookup's values before they are added up: every row is one rank's, and the others have something there.
Result<Tensor> maskedPart(const Placement& placement, const Tensor& whole, std::int64_t count, std::int64_t index) {
  KERF_TRY(Tensor mask, Tensor::zeros(DType::Bool, {whole.size(0)}));
  for (std::int64_t row = 0; row < whole.size(0); ++row) mask.data<bool>()[row] = row % count != index;
  placement.mask->mask = mask;
  while (mask.dim() < whole.dim()) {
    KERF_TRY(mask, callTensorOp("aten.unsqueeze.default"_op, {mask, std::int64_t{-1}}));
  }
  return callTensorOp("aten.masked_fill.Scalar"_op, {whole, mask, maskedValue});
}

std::string tensorDifference(const Tensor& own, const Tensor& whole) {
  if (own.sizes() != whole.sizes())
    return fmt::format("sizes [{}] instead of [{}]", fmt::join(own.sizes(), ", "), fmt::join(whole.sizes(), ", "));
  if (own.dtype() != whole.dtype())
    return fmt::format("dtype {} instead of {}", dtypeInfo(own.dtype()).torchName, dtypeInfo(whole.dtype()).torchName);
  const auto mine = numbersOf(own), right = numbersOf(whole);
  if (!mine || !right) return "values that cannot be compared";
  for (std::int64_t i = 0; i < right->numel(); ++i) {
    const double a = mine->itemAsDouble(i), b = right->itemAsDouble(i);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    if (!(std::abs(a - b) <= 1e-7 + 1e-6 * std::abs(b))) return fmt::format("element {}: {} instead of {}", i, a, b);
  }
  return {};
}

/// A number as a tensor without dimensions; none for what is no number.
std::optional<Tensor> numberOf(const Value& value) {
  if (const auto* number = value.as<double>()) return Tensor::scalar(*number, DType::Float64);
  if (const auto* number = value.as<std::int64_t>()) return Tensor::scalarInt(*number, DType::Int64);
  if (const auto* number = value.as<bool>()) return Tensor::scalarInt(*number ? 1 : 0, DType::Bool);
  return std::nullopt;
}

struct UnprovableTrait {
  OpTrait trait;
  const char* reason;
};
constexpr UnprovableTrait unprovableTraits[] = {
    {OpTrait::Random, "it draws numbers: those of several ranks need not be those of one"},
    {OpTrait::DataDependent, "sizes or numbers that it gives depend on values"},
    {OpTrait::Impure, "what it does is no result"}};

}  // namespace

std::pair<ValueList, KeywordValues> RuleSample::with(const std::vector<Tensor>& others) const {
  std::size_t at = 0;
  std::pair<ValueList, KeywordValues> result;
  for (const Value& value : args) result.first.push_back(replaced(value, others, at));
  for (const auto& [name, value] : kwargs) result.second.emplace_back(name, replaced(value, others, at));
  return result;
}

std::int64_t RuleSample::elements() const {
  return std::accumulate(tensors.begin(), tensors.end(), std::int64_t{0},
                         [](std::int64_t sum, const Tensor& tensor) { return sum + tensor.numel(); });
}

std::string unprovable(const OpInfo& op) {
  for (const UnprovableTrait& row : unprovableTraits)
    if (has(op.traits, row.trait)) return row.reason;
  return {};
}

Result<RuleSample> ruleSample(const RecordedCall& call, const OpInfo& op, bool isComplex) {
  RuleSample sample{.id = call.id, .isComplex = isComplex, .op = &op};
  for (const Value& value : call.args) {
    KERF_TRY(Value wide, widened(value, isComplex));
    sample.args.push_back(std::move(wide));
  }
  for (const auto& [name, value] : call.kwargs) {
    KERF_TRY(Value wide, widened(value, isComplex));
    sample.kwargs.emplace_back(name, std::move(wide));
  }
  for (const Value& value : sample.args) collectOperands(value, sample.tensors);
  for (const auto& [name, value] : sample.kwargs) collectOperands(value, sample.tensors);
  if (sample.tensors.empty()) return fail(ErrorCode::BadInput, "no argument is a tensor");
  if (sample.elements() > mostElements)
    return fail(ErrorCode::BadInput, "its tensors have more than {} elements", mostElements);
  std::vector<Tensor> copies;
  for (const Tensor& tensor : sample.tensors) {
    KERF_TRY(Tensor copy, tensor.clone());
    copies.push_back(std::move(copy));
  }
  const auto [args, kwargs] = sample.with(copies);
  const auto plain = referenceOps().call(op.id, args, kwargs);
  if (!plain) return fail(ErrorCode::BadInput, "it does not run in {}", isComplex ? "complex128" : "float64");
  collectResults(*plain, sample.plain);
  if (mayWrite(op)) sample.after = copies;
  if (sample.plain.empty() && sample.after.empty())
    return fail(ErrorCode::BadInput, "it gives no tensor and no number");
  return sample;
}

std::vector<Placement> placementOptions(const Tensor& tensor, bool isWide) {
  constexpr std::int64_t factor = 2, leastStriped = 8;  // two stripes on four ranks
  std::vector<Placement> options{Placement::replicate()};
  for (std::int64_t d = 0; d < tensor.dim(); ++d) options.push_back(Placement::shard(d));
  for (std::int64_t d = 0; isWide && d < tensor.dim(); ++d)
    if (tensor.size(d) >= leastStriped) options.push_back(Placement::strided(d, factor));
  const bool hasParts = isFloating(tensor.dtype()) || isComplex(tensor.dtype());
  if (!hasParts || !isFinite(tensor)) return options;
  for (const char* op : {"sum", "avg"}) options.push_back(Placement::partial(op));
  for (const char* op : {"max", "min"})
    if (isFloating(tensor.dtype())) options.push_back(Placement::partial(op));
  if (!isWide) return options;
  options.push_back(Placement::partial("product"));
  if (tensor.dim() > 0) options.push_back(Placement::maskPartial({tensor.size(0)}, 0));
  return options;
}

Result<RulePart> partUnder(const Placements& placements, const Tensor& whole, const DeviceMesh& mesh,
                           const Sizes& coordinate) {
  RulePart part{whole, placements};
  for (std::size_t d = 0; d < placements.size(); ++d) {
    if (placements[d].kind == Placement::Kind::MaskPartial) continue;
    KERF_TRY(part.local, partAlong(placements[d], part.local, mesh.size(d), coordinate[d]));
  }
  for (std::size_t d = 0; d < placements.size(); ++d) {  // a mask covers the rows that the rank has
    if (placements[d].kind != Placement::Kind::MaskPartial) continue;
    part.placements[d] = Placement::maskPartial(placements[d].lookedUp, placements[d].dim);
    KERF_TRY(part.local, maskedPart(part.placements[d], part.local, mesh.size(d), coordinate[d]));
  }
  return part;
}

void collectResults(const Value& value, ValueList& out) {
  if (value.isList()) {
    for (const Value& item : value.list()) collectResults(item, out);
    return;
  }
  if (value.isTensor() || numberOf(value)) out.push_back(value);
}

std::string resultDifference(const Value& own, const Value& whole) {
  const auto mine = own.isTensor() ? std::optional(own.tensor()) : numberOf(own);
  const auto right = whole.isTensor() ? std::optional(whole.tensor()) : numberOf(whole);
  if (!mine || !right) return "no tensor and no number";
  return tensorDifference(*mine, *right);
}

}  // namespace kerf::inline distributed::inline checks
