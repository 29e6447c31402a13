#include "engine/ops/pointwise/engine.h"

#include <algorithm>
#include <numeric>

#include "engine/ops/core/empty_output.h"
#include "engine/ops/core/strides.h"
#include "engine/ops/core/type_promotion.h"
#include "engine/ops/kernels/chunk_convert.h"
#include "engine/tensor/strided_loop.h"

namespace kerf::inline ops {
namespace {

constexpr std::size_t maxOperands = 5;
constexpr std::int64_t chunkLength = 512;
constexpr std::int64_t grain = 1 << 15;

struct Operand {
  Tensor tensor;
  LoadFunction load = nullptr;  ///< null: contiguous runs can be used in place
};

bool takesPart(const SchemaArgument& argument) {
  if (argument.type.starts_with("Tensor")) return true;
  static constexpr std::string_view names[] = {"other", "exponent", "min", "max", "self"};
  return argument.type.starts_with("Scalar") && std::ranges::find(names, argument.name) != std::end(names);
}

bool isOperand(const SchemaArgument& argument) {
  return argument.type.starts_with("Tensor") || argument.type.starts_with("Scalar?") || argument.type == "Scalar" ||
         argument.type == "float";
}

/// The values that decide the promoted type.
DType promotedType(const BoundArguments& args, const PointwiseSpec& spec, const ValueList& operands) {
  ResultType result;
  std::size_t k = 0;
  const bool skipFirst = spec.promotion == Promotion::ConditionFirst;
  for (std::size_t i = 0; i < args.values.size() && k < operands.size(); ++i) {
    const SchemaArgument& argument = args.op->schema.arguments[i];
    if (!isOperand(argument)) continue;
    if (takesPart(argument) && !(skipFirst && k == 0)) result.add(operands[k]);
    ++k;
  }
  const DType dtype = result.dtype();
  return spec.promotion == Promotion::Floating ? toFloating(dtype) : dtype;
}

/// Whether all tensor operands have the sizes and plain row-major strides of the first: then so has the result. Of
/// symbolic ones the general case tells it.
bool allRowMajor(const ValueList& operands) {
  const Tensor* first = nullptr;
  for (const Value& operand : operands) {
    if (!operand.isTensor()) continue;
    const Tensor& tensor = operand.tensor();
    if (tensor.isSymbolic()) return false;
    if (first != nullptr && tensor.sizes() != first->sizes()) return false;
    if (first == nullptr) first = &tensor;
    std::int64_t expected = 1;
    for (std::size_t d = tensor.sizes().size(); d-- > 0;)
      if (tensor.strides()[d] != expected ||
          __builtin_mul_overflow(expected, std::max<std::int64_t>(tensor.sizes()[d], 1), &expected))
        return false;
  }
  return first != nullptr;
}

const Tensor& firstTensor(const ValueList& operands) {
  return std::ranges::find_if(operands, [](const Value& operand) { return operand.isTensor(); })->tensor();
}

std::vector<Tensor> tensorsOf(const ValueList& operands) {
  std::vector<Tensor> result;
  for (const Value& operand : operands)
    result.push_back(operand.isTensor() ? operand.tensor() : metaTensor(DType::Float32, {}));
  return result;
}

Result<ValueList> gatherOperands(const BoundArguments& args, const PointwiseSpec& spec) {
  ValueList operands;
  for (std::size_t i = 0; i < args.values.size() && operands.size() < std::size_t(spec.arity); ++i) {
    const SchemaArgument& argument = args.op->schema.arguments[i];
    if (!isOperand(argument)) continue;
    if (args.none(i) && argument.name != "min" && argument.name != "max")
      return mismatch(args, "argument '{}' is missing", argument.name);
    operands.push_back(args.values[i]);
  }
  return operands;
}

const PointwiseSpec& specOf(const BoundArguments& args) {
  const PointwiseSpec& spec = *args.op->row->pointwise;
  const PointwiseSpec* selected = spec.select ? spec.select(args) : nullptr;
  return selected ? *selected : spec;
}

Result<ChunkFunction> chunkFunction(const BoundArguments& args, const PointwiseSpec& spec, DType compute) {
  ChunkFunction function = nullptr;
  if (compute == DType::Bool && spec.boolean)
    function = spec.boolean;
  else if (compute == DType::UInt64 && spec.u64)
    function = spec.u64;
  else if (compute == DType::Float64)
    function = spec.f64;
  else if (compute == DType::Float32 || compute == DType::Float16 || compute == DType::BFloat16)
    function = spec.f32;
  else if (isIntegral(compute) && (compute != DType::Bool || spec.allowBool))
    function = spec.i64;
  if (!function)
    return fail(ErrorCode::UnsupportedOp, "{}: not implemented for {}", args.opName(), dtypeInfo(compute).torchName);
  return function;
}

/// A Python number as a 0-d tensor of the compute type, rounded through `compute` first unless the spec says otherwise.
/// A bound that is none becomes the value that binds nothing.
Tensor numberTensor(const Value& value, std::size_t position, DType compute, NumberRounding rounding) {
  const DType wide = computeDType(computeTypeOf(compute));
  if (value.isNone()) {
    const bool lower = position == 1;
    if (compute == DType::UInt64) return Tensor::scalarInt(lower ? 0 : -1, wide);  // -1: all bits
    if (wide == DType::Int64)
      return Tensor::scalarInt(
          lower ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max(), wide);
    return Tensor::scalar(lower ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity(),
                          wide);
  }
  const DType type = rounding == NumberRounding::ToResultType ? compute : wide;
  if (const auto* integer = value.as<std::int64_t>()) return Tensor::scalarInt(*integer, type);
  if (const auto* flag = value.as<bool>()) return Tensor::scalarInt(*flag, type);
  return Tensor::scalar(*value.as<double>(), type);
}

Result<Operand> makeOperand(const Value& value, std::size_t position, const PointwiseSpec& spec, DType compute) {
  Operand operand;
  if (!value.isTensor())
    operand.tensor = numberTensor(value, position, compute, spec.rounding);
  else
    operand.tensor = value.tensor();
  const bool exactScalar = operand.tensor.dim() == 0 && spec.rounding == NumberRounding::Exact;
  const bool isCondition = position == 0 && spec.promotion == Promotion::ConditionFirst;
  const bool reduced = isFloating(compute) && itemSize(compute) < 4;
  const bool truths = compute == DType::Bool;  // of a mask's fill: a fraction is true
  if (value.isTensor() && operand.tensor.dtype() != compute && !isCondition && (truths || (reduced && !exactScalar))) {
    KERF_TRY(operand.tensor, operand.tensor.to(compute));
  }
  const ComputeType type = computeTypeOf(compute);
  operand.load = loadFunction(operand.tensor.dtype(), type);
  if (!operand.load)
    return fail(ErrorCode::UnsupportedOp, "no arithmetic on {}", dtypeInfo(operand.tensor.dtype()).torchName);
  return operand;
}

Result<void> checkDivisor(const BoundArguments& args, const Tensor& divisor, DType compute) {
  if (!isIntegral(compute)) return {};
  KERF_TRY(const Tensor wide, divisor.to(DType::Int64));
  KERF_TRY(const Tensor flat, wide.contiguous());
  const std::int64_t* data = flat.data<std::int64_t>();
  if (std::find(data, data + flat.numel(), 0) != data + flat.numel())
    return fail(ErrorCode::RuntimeFailed, "{}: integer division by zero", args.opName());
  return {};
}

/// Dimensions of the output, outermost in memory first, so that loops run along it.
std::vector<std::size_t> memoryOrder(const Tensor& out) {
  std::vector<std::size_t> order(out.sizes().size());
  std::iota(order.begin(), order.end(), 0);
  if (std::ranges::is_sorted(out.strides(), std::ranges::greater{})) return order;
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    return out.strides()[a] != out.strides()[b] ? out.strides()[a] > out.strides()[b] : a < b;
  });
  return order;
}

Sizes permuted(const Sizes& values, const std::vector<std::size_t>& order) {
  Sizes result;
  for (std::size_t dim : order) result.push_back(values[dim]);
  return result;
}

/// One call's loop: operands and output as base pointers, element sizes, and how to convert them.
struct Loop {
  ChunkFunction function;
  std::array<const std::byte*, maxOperands> in{};
  std::array<std::int64_t, maxOperands> inSize{};
  std::array<LoadFunction, maxOperands> load{};
  std::array<bool, maxOperands> direct{};
  std::size_t arity = 0;
  std::byte* out = nullptr;
  std::int64_t outSize = 0;
  StoreFunction store = nullptr;
  bool outDirect = false;

  template <std::size_t N>
  void row(const std::array<std::int64_t, N>& at, const std::array<std::int64_t, N>& step, std::int64_t count) const {
    alignas(64) std::byte buffers[maxOperands + 1][chunkLength * 8];
    std::array<const void*, maxOperands> inputs{};
    for (std::int64_t begin = 0; begin < count; begin += chunkLength) {
      const std::int64_t length = std::min(chunkLength, count - begin);
      for (std::size_t k = 0; k < arity; ++k) {
        const std::byte* from = in[k] + (at[k + 1] + begin * step[k + 1]) * inSize[k];
        if (direct[k] && (step[k + 1] == 1 || length == 1)) {
          inputs[k] = from;
          continue;
        }
        if (step[k + 1] != 0 || begin == 0) load[k](from, step[k + 1], buffers[k], length);
        inputs[k] = buffers[k];
      }
      std::byte* to = out + (at[0] + begin * step[0]) * outSize;
      const bool inPlace = outDirect && (step[0] == 1 || length == 1);
      function(inputs.data(), inPlace ? static_cast<void*>(to) : buffers[maxOperands], length);
      if (!inPlace) store(buffers[maxOperands], to, step[0], length);
    }
  }
};

template <std::size_t N>
void runLoop(const Loop& loop, const std::vector<Operand>& operands, const Tensor& out) {
  const auto order = memoryOrder(out);
  std::array<Sizes, N> strides;
  strides[0] = permuted(out.strides(), order);
  for (std::size_t k = 0; k + 1 < N; ++k)
    strides[k + 1] = permuted(broadcastStrides(operands[k].tensor, out.sizes()), order);
  const StridedLoop<N> walk(permuted(out.sizes(), order), strides);
  walk.forRowsParallel(grain, [&](const auto& at, std::int64_t count) { loop.row(at, walk.innerStrides(), count); });
}

}  // namespace

Result<Tensor> pointwiseMeta(const BoundArguments& args, const PointwiseSpec& spec, const ValueList& operands) {
  const DType promoted = promotedType(args, spec, operands);
  const DType dtype = spec.promotion == Promotion::ToBool ? DType::Bool : promoted;
  if (allRowMajor(operands)) return metaTensor(dtype, firstTensor(operands).sizes(), firstTensor(operands).strides());
  const auto tensors = tensorsOf(operands);
  auto sizes = broadcastSizes(tensors);
  if (!sizes) return mismatch(args, "{}", sizes.error().message);
  return metaTensor(dtype, *sizes, elementwiseStrides(tensors, *sizes));
}

Result<void> runPointwiseInto(const BoundArguments& args, const PointwiseSpec& spec, const ValueList& operands,
                              DType compute, const Tensor& out) {
  Loop loop;
  KERF_TRY(loop.function, chunkFunction(args, spec, compute));
  const ComputeType type = computeTypeOf(compute);
  std::vector<Operand> prepared;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    KERF_TRY(Operand operand, makeOperand(operands[k], k, spec, compute));
    loop.in[k] = operand.tensor.data<std::byte>() + operand.tensor.offset() * (itemSize(operand.tensor.dtype()) - 1);
    loop.inSize[k] = itemSize(operand.tensor.dtype());
    loop.load[k] = operand.load;
    loop.direct[k] = operand.tensor.dtype() == computeDType(type);
    prepared.push_back(std::move(operand));
  }
  if (spec.checkDivisor) KERF_CHECK(checkDivisor(args, prepared[1].tensor, compute));
  loop.arity = operands.size();
  loop.out = out.data<std::byte>() + out.offset() * (itemSize(out.dtype()) - 1);
  loop.outSize = itemSize(out.dtype());
  loop.store = storeFunction(type, out.dtype());
  loop.outDirect = out.dtype() == computeDType(type);
  if (!loop.store)
    return fail(ErrorCode::UnsupportedOp, "{}: no arithmetic on {}", args.opName(), dtypeInfo(out.dtype()).torchName);
  if (operands.size() <= 1)
    runLoop<2>(loop, prepared, out);
  else if (operands.size() == 2)
    runLoop<3>(loop, prepared, out);
  else if (operands.size() == 3)
    runLoop<4>(loop, prepared, out);
  else if (operands.size() == 4)
    runLoop<5>(loop, prepared, out);
  else
    runLoop<6>(loop, prepared, out);
  return {};
}

Result<Value> pointwiseShape(const BoundArguments& args) {
  const PointwiseSpec& spec = specOf(args);
  KERF_TRY(const ValueList operands, gatherOperands(args, spec));
  KERF_TRY(Tensor meta, pointwiseMeta(args, spec, operands));
  return Value(std::move(meta));
}

Result<Value> pointwiseKernel(const BoundArguments& args) {
  const PointwiseSpec& spec = specOf(args);
  KERF_TRY(const Value meta, runShapeRule(args));
  KERF_TRY(const ValueList operands, gatherOperands(args, spec));
  KERF_TRY(Tensor out, allocateEmpty(meta.tensor()));
  KERF_CHECK(runPointwiseInto(args, spec, operands, promotedType(args, spec, operands), out));
  return Value(std::move(out));
}

}  // namespace kerf::inline ops
