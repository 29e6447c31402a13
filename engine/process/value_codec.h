// Tensors and runtime values in messages: dtype, sizes and the elements as binary, contiguous.
#pragma once

#include "engine/process/codec.h"
#include "engine/tensor/value.h"

namespace kerf::inline process {

/// Strides and sharing of storages do not travel: what arrives is contiguous and owns its bytes.
template <>
struct WireType<Tensor> {
  static Wire write(const Tensor& tensor);
  static bool read(WireReader& reader, Wire& wire, Tensor& tensor);
};

/// None, bool, integers, floats, texts, tensors and lists of them; other values (dtypes, devices) travel as None.
template <>
struct WireType<Value> {
  static Wire write(const Value& value);
  static bool read(WireReader& reader, Wire& wire, Value& value);
};

}  // namespace kerf::inline process
