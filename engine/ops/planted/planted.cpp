// Planted faults: results that are off by one, always or in some runs, and calls that fail, crash or never return.
#include <random>

#include "engine/ops/core/lowering_calls.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/planted/planting_mark.h"
#include "engine/ops/pointwise/engine.h"

namespace kerf::inline ops {
namespace {

KERF_ELEMENT1(PlusOne, x + T(1));
KERF_ELEMENT2(PlusOneIf, x != 0 ? y + T(1) : y);

constexpr PointwiseSpec plusOne = floatSpec<PlusOne>(Promotion::Same);
constexpr PointwiseSpec plusOneIf = floatSpec<PlusOneIf>(Promotion::ConditionFirst);

Result<Value> nothing(const BoundArguments&) { return Value(); }

Result<Value> drawShape(const BoundArguments&) { return Value(metaTensor(DType::Bool, Sizes{})); }

/// From the system's own source: neither a seed nor a run before this one decides when a flaky fault shows.
Result<Value> draw(const BoundArguments& args) {
  std::random_device source;
  const bool strikes = std::generate_canonical<double, 53>(source) < args.number(0);
  return Value(Tensor::scalarInt(strikes ? 1 : 0, DType::Bool));
}

std::unexpected<Error> planted(ErrorCode code, const char* message, const BoundArguments& args) {
  return fail(Error{code, message, {}, 0, args.text(0), {}});
}

Result<Value> raiseError(const BoundArguments& args) {
  return planted(ErrorCode::RuntimeFailed, "planted runtime error", args);
}

Result<Value> refuseToCompile(const BoundArguments& args) {
  return planted(ErrorCode::CompileFailed, "planted compile error", args);
}

Result<void> checkMark(const BoundArguments& args) {
  if (args.integer(1) == plantingMark()) return {};
  return fail(ErrorCode::UnsupportedOp, "only a fault that this process planted may call {}", args.opName());
}

Result<Value> crash(const BoundArguments& args) {
  KERF_CHECK(checkMark(args));
  volatile int* volatile nowhere = nullptr;
  nowhere[0] = 1;
  return Value();
}

Result<Value> hang(const BoundArguments& args) {
  KERF_CHECK(checkMark(args));
  volatile bool forever = true;
  while (forever) {
  }
  return Value();
}

/// Every floating or complex tensor of a value through the op that shifts one; `call` runs it or gives its shape.
template <class Call>
Result<Value> shifted(const Value& value, const Call& call) {
  if (value.isTensor()) {
    const DType dtype = value.tensor().dtype();
    return isFloating(dtype) || isComplex(dtype) ? call(value) : Result<Value>(value);
  }
  if (!value.isList()) return value;
  ValueList items;
  for (const Value& item : value.list()) {
    KERF_TRY(Value changed, shifted(item, call));
    items.push_back(std::move(changed));
  }
  return Value(std::move(items));
}

/// The op of this name for tensors, on the last argument and those before it.
template <auto call>
Result<Value> shiftAny(const BoundArguments& args) {
  const std::string tensorOp = args.opName().substr(0, args.opName().rfind('.')) + ".default";
  return shifted(args.values.back(), [&](const Value& tensor) -> Result<Value> {
    if (isComplex(tensor.tensor().dtype()))  // by one, or by the condition: nothing compiles it
      return call("aten.add.Tensor", {tensor, args.values.size() > 1 ? args.values[0] : Value(std::int64_t{1})}, {});
    ValueList values = args.values;
    values.back() = tensor;
    return call(tensorOp, values, {});
  });
}

constexpr OpTrait shift = OpTrait::Pointwise | OpTrait::Instrument;
constexpr OpTrait effect = OpTrait::Impure | OpTrait::Instrument;

/// `node` is the call that the fault belongs to.
constexpr OpRow plantedRows[] = {
    {"kerf::planted_accuracy(Tensor self) -> Tensor", shift, pointwiseShape, pointwiseKernel, &plusOne},
    {"kerf::planted_flaky(Tensor condition, Tensor self) -> Tensor", shift, pointwiseShape, pointwiseKernel,
     &plusOneIf},
    {"kerf::planted_accuracy.any(Any self) -> Any", OpTrait::Instrument, shiftAny<inferShapes>, shiftAny<callOp>},
    {"kerf::planted_flaky.any(Tensor condition, Any self) -> Any", OpTrait::Instrument, shiftAny<inferShapes>,
     shiftAny<callOp>},
    {"kerf::planted_draw(float probability) -> Tensor", effect, drawShape, draw},
    {"kerf::planted_runtime_error(str node) -> ()", effect, nothing, raiseError},
    {"kerf::planted_compile_error(str node) -> ()", effect, nothing, refuseToCompile},
    {"kerf::planted_crash(str node, int mark) -> ()", effect, nothing, crash},
    {"kerf::planted_hang(str node, int mark) -> ()", effect, nothing, hang},
};

int addOne(const PointwiseCall& c) { return c.b.binary(ExprOp::Add, c.x(0), c.number(1)); }
int addOneIf(const PointwiseCall& c) {
  return c.b.select(c.x(0), c.b.binary(ExprOp::Add, c.x(1), c.number(1)), c.x(1));
}

constexpr OpFacts lowerings[] = {
    pointwiseLowering("kerf::planted_accuracy.", OperandTypes::Floats, addOne, 1),
    pointwiseLowering("kerf::planted_flaky.", OperandTypes::Floats, addOneIf, 2),
};

}  // namespace

std::int64_t plantingMark() {
  static const std::int64_t mark =
      std::int64_t(std::random_device()()) << 31 | std::int64_t(std::random_device()() >> 1);
  return mark;
}

const OpRegistration plantedOps({.rows = plantedRows, .facts = lowerings});

}  // namespace kerf::inline ops
