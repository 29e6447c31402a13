// run_and_save_rng_state and run_with_rng_state: a random op whose draw can be made again.
//
//     state, r = run_and_save_rng_state(rand, [4])      …      r_again = run_with_rng_state(state, rand, [4])
#include "engine/ops/core/op_call.h"
#include "engine/ops/higher_order/higher_order.h"
#include "engine/ops/random/state.h"

namespace kerf::inline ops {
namespace {

const Tensor* firstTensor(const Value& value) {
  if (value.isTensor()) return &value.tensor();
  if (value.isList())
    for (const Value& item : value.list())
      if (const Tensor* tensor = firstTensor(item)) return tensor;
  return nullptr;
}

/// Calls the op at argument `i` with the arguments behind it.
Result<Value> callWrapped(const HigherOrderCall& call, std::size_t i) {
  const std::string* name = i < call.args.size() ? call.args[i].as<std::string>() : nullptr;
  if (name == nullptr) return fail(ErrorCode::ShapeMismatch, "{}: argument {} must be an op", call.name, i);
  return call.ops.call(*name, ValueList(call.args.begin() + std::ptrdiff_t(i) + 1, call.args.end()), call.kwargs);
}

/// (op, *arguments) → (state before the draw, result); the state of the generator of the result's device.
Result<Value> runAndSave(const HigherOrderCall& call) {
  const RandomState before = randomState();
  KERF_TRY(Value result, callWrapped(call, 0));
  const Tensor* made = firstTensor(result);
  const bool ofCuda = made != nullptr && made->device().type == "cuda";
  if (call.shapesOnly)
    return Value(
        ValueList{metaTensor(DType::UInt8, SymSizes{ofCuda ? cudaStateBytes : cpuStateBytes}), std::move(result)});
  KERF_TRY(Tensor state, stateTensor(before, ofCuda));
  return Value(ValueList{std::move(state), std::move(result)});
}

/// Puts the thread's generators back.
struct Restored {
  RandomState saved = randomState();
  ~Restored() { randomState() = saved; }
};

/// (state, op, *arguments) → result; draws with that state and leaves the generators as they were.
Result<Value> runWith(const HigherOrderCall& call) {
  if (call.shapesOnly) return callWrapped(call, 1);
  if (call.args.empty() || !call.args[0].isTensor())
    return fail(ErrorCode::ShapeMismatch, "{}: argument 0 must be a generator's state", call.name);
  const Restored restored;
  KERF_CHECK(setStateTensor(randomState(), call.args[0].tensor()));
  return callWrapped(call, 1);
}

constexpr HigherOrderRow randomStateRowsTable[] = {
    {"run_and_save_rng_state", runAndSave},
    {"run_with_rng_state", runWith},
};

}  // namespace

HigherOrderRows randomStateRows() { return randomStateRowsTable; }

}  // namespace kerf::inline ops
