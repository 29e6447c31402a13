#include "engine/ops/kernels/chunk_convert.h"

#include <algorithm>

#include "engine/tensor/convert_flat.h"
#include "engine/tensor/simd.h"

namespace kerf::inline ops {
namespace {

template <class From, class To>
struct ConvertKernel {
  KERF_KERNEL void run(const From* from, To* to, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = convertFlat<To>(from[i]);
  }
};

template <class From, class To>
void load(const void* from, std::int64_t stride, void* to, std::int64_t count) {
  const From* source = static_cast<const From*>(from);
  To* target = static_cast<To*>(to);
  if (stride == 1)
    perIsa<ConvertKernel<From, To>>(source, target, count);
  else if (stride == 0)
    std::fill_n(target, count, convertFlat<To>(source[0]));
  else
    for (std::int64_t i = 0; i < count; ++i) target[i] = convertFlat<To>(source[i * stride]);
}

template <class From, class To>
void store(const void* from, void* to, std::int64_t stride, std::int64_t count) {
  const From* source = static_cast<const From*>(from);
  To* target = static_cast<To*>(to);
  if (stride == 1)
    perIsa<ConvertKernel<From, To>>(source, target, count);
  else
    for (std::int64_t i = 0; i < count; ++i) target[i * stride] = convertFlat<To>(source[i]);
}

template <class Body>
void withCompute(ComputeType type, Body&& body) {
  if (type == ComputeType::Float)
    body.template operator()<float>();
  else if (type == ComputeType::Double)
    body.template operator()<double>();
  else
    body.template operator()<std::int64_t>();
}

}  // namespace

LoadFunction loadFunction(DType from, ComputeType to) {
  LoadFunction result = nullptr;
  withCompute(to, [&]<class C>() { (void)dispatchAll(from, [&]<class T>() { result = load<T, C>; }); });
  return result;
}

StoreFunction storeFunction(ComputeType from, DType to) {
  StoreFunction result = nullptr;
  withCompute(from, [&]<class C>() { (void)dispatchAll(to, [&]<class T>() { result = store<C, T>; }); });
  return result;
}

}  // namespace kerf::inline ops
