#include "engine/process/value_codec.h"

#include <cstring>

#include "engine/tensor/empty.h"

namespace kerf::inline process {

namespace {

Wire::binary_t bytesOf(const Tensor& tensor) {
  const auto dense = tensor.contiguous();
  if (!dense || dense->byteSize() == 0) return {};
  const std::byte* first = dense->storage()->data() + dense->offset() * itemSize(dense->dtype());
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(first);
  return Wire::binary_t(std::vector<std::uint8_t>(bytes, bytes + dense->byteSize()));
}

/// Reading goes as deep as the message does, which parseWire has limited.
bool readList(WireReader& reader, Wire& wire, Value& value) {
  ValueList list(wire.size());
  for (std::size_t i = 0; i < list.size(); ++i)
    if (!reader.read(wire[i], list[i])) return false;
  value = Value(std::move(list));
  return true;
}

/// A tensor is an object, so that it cannot be taken for a list of values.
constexpr const char* tensorKey = "tensor";

}  // namespace

Wire WireType<Tensor>::write(const Tensor& tensor) {
  Wire wire = Wire::array({wireOf(tensor.dtype()), tensor.sizes()});
  wire.push_back(bytesOf(tensor));  // a list in braces would be copied
  return wire;
}

bool WireType<Tensor>::read(WireReader& reader, Wire& wire, Tensor& tensor) {
  if (!wire.is_array() || wire.size() != 3 || !wire[2].is_binary()) return reader.refuse("a tensor", wire);
  DType dtype{};
  Sizes sizes;
  if (!reader.read(wire[0], dtype) || !reader.read(wire[1], sizes)) return false;
  const auto& bytes = wire[2].get_binary();
  const auto count = checkedNumel(sizes);
  const auto size = itemSize(dtype);
  if (!count || *count != std::int64_t(bytes.size()) / size || std::int64_t(bytes.size()) % size != 0)
    return reader.refuse("as many bytes as the tensor's sizes say", wire);
  auto made = emptyTensor(dtype, sizes);
  if (!made) return reader.refuse("a tensor that fits into memory", wire);
  if (!bytes.empty()) std::memcpy(made->storage()->data(), bytes.data(), bytes.size());
  tensor = std::move(*made);
  return true;
}

Wire WireType<Value>::write(const Value& value) {
  if (value.isTensor()) {
    Wire wire = Wire::object();
    wire[tensorKey] = wireOf(value.tensor());
    return wire;
  }
  if (value.isList()) return wireOf(value.list());
  if (const auto* flag = value.as<bool>()) return *flag;
  if (const auto* integer = value.as<std::int64_t>()) return *integer;
  if (const auto* real = value.as<double>()) return *real;
  if (const auto* text = value.as<std::string>()) return *text;
  return nullptr;
}

bool WireType<Value>::read(WireReader& reader, Wire& wire, Value& value) {
  if (wire.is_object()) {
    Tensor tensor;
    const auto found = wire.find(tensorKey);
    if (found == wire.end()) return reader.refuse("a tensor", wire);
    if (!reader.read(*found, tensor)) return false;
    value = Value(std::move(tensor));
    return true;
  }
  if (wire.is_array()) return readList(reader, wire, value);
  if (wire.is_boolean()) return value = Value(wire.get<bool>()), true;
  if (wire.is_number_integer()) return value = Value(wire.get<std::int64_t>()), true;
  if (wire.is_number_float()) return value = Value(wire.get<double>()), true;
  if (wire.is_string()) return value = Value(std::move(wire.get_ref<std::string&>())), true;
  value = Value();
  return wire.is_null() || reader.refuse("a value", wire);
}

}  // namespace kerf::inline process
