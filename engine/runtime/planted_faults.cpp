#include "engine/runtime/planted_faults.h"

#include <random>

#include "engine/tensor/copy.h"
#include "engine/tensor/dispatch.h"
#include "engine/tensor/strided_loop.h"

namespace kerf::inline runtime {
namespace {

[[noreturn]] void crash() {
  volatile int* volatile nowhere = nullptr;
  nowhere[0] = 1;
  std::abort();
}

[[noreturn]] void hang() {
  volatile bool forever = true;
  while (forever) {
  }
  std::abort();
}

}  // namespace

Result<void> strike(const Step& step) {
  if (step.runFault == RunFault::Crash) crash();
  if (step.runFault == RunFault::Hang) hang();
  Error error{ErrorCode::RuntimeFailed, "planted runtime error", {}, 0, step.nodeName, {}};
  return fail(std::move(error));
}

bool drawsFault(double probability) {
  std::random_device source;
  return std::generate_canonical<double, 53>(source) < probability;
}

float faultAmount(ResultFault fault, float flag) { return fault == ResultFault::AddOne ? 1 : flag; }

Result<Value> addToFloats(const Value& value, float amount, InPlace inPlace) {
  if (value.isList()) {
    ValueList items;
    for (const Value& item : value.list()) {
      KERF_TRY(Value changed, addToFloats(item, amount, inPlace));
      items.push_back(std::move(changed));
    }
    return Value(std::move(items));
  }
  if (!value.isTensor() || !isFloating(value.tensor().dtype()) || amount == 0) return value;
  Tensor tensor = value.tensor();
  if (inPlace == InPlace::No) {
    KERF_TRY(tensor, tensor.clonePreservingStrides());
  }
  KERF_CHECK(dispatchFloating(tensor.dtype(), [&]<class T>() {
    const StridedLoop<1> loop(tensor.sizes(), {tensor.strides()});
    T* data = tensor.data<T>();
    loop.forRows([&](const auto& at, std::int64_t count) {
      for (std::int64_t i = 0; i < count; ++i) {
        T& element = data[at[0] + i * loop.innerStrides()[0]];
        element = T(OpMath<T>(element) + OpMath<T>(amount));
      }
    });
  }));
  return Value(std::move(tensor));
}

}  // namespace kerf::inline runtime
