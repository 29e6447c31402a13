#include "engine/conformance/difference_point.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>

#include "engine/conformance/saved_results.h"
#include "engine/ops/random/state.h"
#include "engine/tensor/copy.h"

namespace kerf::inline conformance {
namespace {

constexpr double nudge = 0.01;

bool isNumbers(DType dtype) { return isFloating(dtype) || isComplex(dtype); }

/// Every tensor of a value, through lists.
Value mapTensors(const Value& value, const std::function<Tensor(const Tensor&)>& change) {
  if (value.isTensor()) return change(value.tensor());
  if (!value.isList()) return value;
  ValueList items;
  for (const Value& item : value.list()) items.push_back(mapTensors(item, change));
  return Value(std::move(items));
}

/// With its strides, unless elements share memory.
Tensor asNumbers(const Tensor& tensor, DType dtype) {
  Sizes strides = tensor.strides();
  for (std::size_t d = 0; d < strides.size(); ++d)
    if (strides[d] == 0 && tensor.size(std::int64_t(d)) > 1) strides = contiguousStrides(tensor.sizes());
  auto result = Tensor::zerosStrided(dtype, tensor.sizes(), strides);
  if (!result || !copyElements(tensor, *result)) return tensor;
  return *result;
}

/// Calls `change` with each number of a float64 or complex128 tensor, the parts of complex ones one by one.
void changeNumbers(const Tensor& tensor, const std::function<double(double)>& change) {
  const int parts = isComplex(tensor.dtype()) ? 2 : 1;
  for (std::int64_t i = 0; i < tensor.numel(); ++i) {
    std::int64_t at = tensor.offset();
    for (std::int64_t d = tensor.dim() - 1, rest = i; d >= 0; rest /= tensor.size(d--))
      at += rest % tensor.size(d) * tensor.stride(d);
    double* element = reinterpret_cast<double*>(tensor.storage()->data()) + at * parts;
    for (int part = 0; part < parts; ++part) element[part] = change(element[part]);
  }
}

/// Another copy; in float64 it may be changed.
Tensor copyOf(const Tensor& tensor) {
  const auto copy = tensor.clonePreservingStrides();
  if (!copy) return tensor;
  Tensor result = *copy;
  result.traced = tensor.traced;
  return result;
}

/// (m + mᴴ) / 2 of each matrix.
Tensor symmetricPart(const Tensor& matrices) {
  const OpRunner run(referenceOps());
  CompositeSteps s(run);
  const Tensor turned = s("aten.transpose.int"_op, {matrices, std::int64_t{-2}, std::int64_t{-1}});
  const Tensor both = s("aten.add.Tensor"_op, {matrices, s("aten._conj.default"_op, {turned})});
  const auto half = s.done(s("aten.mul.Scalar"_op, {both, 0.5}));
  return half ? half->tensor() : matrices;
}

double placed(PointKind kind, double value, std::mt19937& random) {
  const double draw = std::uniform_real_distribution<double>(0, 1)(random);
  switch (kind) {
    case PointKind::Nudged:
      return std::isfinite(value) ? value + nudge * (2 * draw - 1) * (1 + std::abs(value)) : draw;
    case PointKind::Inside:
      return 0.1 + 0.8 * draw;
    case PointKind::Above:
      return 1.1 + draw;
    case PointKind::Around:
      return 1.8 * draw - 0.9;
  }
  return value;
}

}  // namespace

DifferencePoint::DifferencePoint(const OpInfo& row, const BoundArguments& call, NumberField field)
    : m_row(row), m_args(call), m_field(field) {
  const DType dtype = field == NumberField::Complex ? DType::Complex128 : DType::Float64;
  m_args.op = &row;
  for (std::size_t i = 0; i < m_args.values.size(); ++i) {
    Value& value = m_args.values[i];
    const auto* named = value.as<DType>();
    if (named != nullptr && isNumbers(*named)) value = isComplex(*named) ? DType::Complex128 : dtype;
    const auto convert = [&](const Tensor& tensor) {
      if (!isNumbers(tensor.dtype())) return tensor;
      return asNumbers(tensor, isComplex(tensor.dtype()) ? DType::Complex128 : dtype);
    };
    value = mapTensors(value, convert);
    if (value.isTensor() && isNumbers(value.tensor().dtype())) m_numbers.push_back({i, -1});
    if (!value.isList()) continue;
    for (std::size_t k = 0; k < value.list().size(); ++k)
      if (value.list()[k].isTensor() && isNumbers(value.list()[k].tensor().dtype())) m_numbers.push_back({i, int(k)});
  }
  std::ranges::copy_if(m_numbers, std::back_inserter(m_leaves),
                       [&](DifferenceLeaf leaf) { return !isUndifferentiated(row, leaf.argument); });
}

void DifferencePoint::moveTo(PointKind kind, std::mt19937& random) {
  for (const DifferenceLeaf leaf : m_numbers) {
    const Tensor tensor = copyOf(tensorOf(leaf));
    changeNumbers(tensor, [&](double value) { return placed(kind, value, random); });
    m_args = with(leaf, isSymmetric(m_row, leaf.argument) ? symmetricPart(tensor) : tensor);
  }
}

const Tensor& DifferencePoint::tensorOf(DifferenceLeaf leaf) const {
  const Value& value = m_args.values[leaf.argument];
  return leaf.item < 0 ? value.tensor() : value.list()[std::size_t(leaf.item)].tensor();
}

BoundArguments replacedTensor(BoundArguments args, DifferenceLeaf leaf, const Tensor& tensor) {
  if (leaf.item < 0) {
    args.values[leaf.argument] = tensor;
  } else {
    ValueList items = args.values[leaf.argument].list();
    items[std::size_t(leaf.item)] = tensor;
    args.values[leaf.argument] = Value(std::move(items));
  }
  return args;
}

BoundArguments DifferencePoint::with(DifferenceLeaf leaf, const Tensor& tensor) const {
  return replacedTensor(m_args, leaf, tensor);
}

Tensor DifferencePoint::direction(DifferenceLeaf leaf, std::mt19937& random) const {
  const Tensor tensor = randomLike(tensorOf(leaf), random);
  return isSymmetric(m_row, leaf.argument) ? symmetricPart(tensor) : tensor;
}

Result<ValueList> DifferencePoint::run(const BoundArguments& args, const OpCaller& ops) const {
  const RandomScope seeded;
  BoundArguments own = args;
  for (Value& value : own.values)
    value = mapTensors(value, [](const Tensor& tensor) { return tensor.defined() ? copyOf(tensor) : tensor; });
  KERF_TRY(const Value result, callRow(m_row, own, OpRunner(ops)));
  return m_row.schema.returns.size() > 1 && result.isList() ? result.list() : ValueList{result};
}

std::vector<Tensor> numberTensors(const ValueList& results, const std::vector<bool>& flows) {
  std::vector<Tensor> tensors;
  const auto collect = [&](const auto& self, const Value& value) -> void {
    if (value.isTensor() && isNumbers(value.tensor().dtype())) tensors.push_back(value.tensor());
    if (value.isList())
      for (const Value& item : value.list()) self(self, item);
  };
  for (std::size_t k = 0; k < results.size(); ++k)
    if (k >= flows.size() || flows[k]) collect(collect, results[k]);
  return tensors;
}

Tensor randomLike(const Tensor& tensor, std::mt19937& random) {
  std::uniform_real_distribution<double> draw(-1, 1);
  const auto wide = Tensor::zeros(isComplex(tensor.dtype()) ? DType::Complex128 : DType::Float64, tensor.sizes());
  if (!wide) return tensor;
  changeNumbers(*wide, [&](double) { return draw(random); });
  return wide->to(tensor.dtype()).value_or(*wide);
}

std::vector<double> numbersOf(const Tensor& tensor) {
  std::vector<double> numbers;
  const bool complex = isComplex(tensor.dtype());
  const auto wide = tensor.to(complex ? DType::Complex128 : DType::Float64);
  if (!wide) return numbers;
  changeNumbers(*wide, [&](double value) {
    numbers.push_back(value);
    return value;
  });
  return numbers;
}

std::vector<double> numbersOf(const std::vector<Tensor>& tensors) {
  std::vector<double> numbers;
  for (const Tensor& tensor : tensors) {
    const auto own = numbersOf(tensor);
    numbers.insert(numbers.end(), own.begin(), own.end());
  }
  return numbers;
}

Tensor movedAlong(const Tensor& tensor, const Tensor& direction, double factor) {
  const Tensor result = copyOf(tensor);
  const auto steps = numbersOf(direction);
  std::size_t next = 0;
  changeNumbers(result, [&](double value) { return value + factor * steps[next++]; });
  return result;
}

}  // namespace kerf::inline conformance
