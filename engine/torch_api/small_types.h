// torch.dtype, torch.device, torch.layout, torch.memory_format and torch.Size as Python types.
#pragma once

#include <optional>

#include "engine/python/reference.h"
#include "engine/tensor/value.h"

namespace kerf::inline torch_api {

/// The one object of a dtype.
Ref objectOf(DType dtype);
Ref objectOf(Layout layout);
Ref objectOf(MemoryFormat format);
Ref objectOf(const Device& device);
Ref sizeObject(const Sizes& sizes);
std::optional<DType> dtypeOf(PyObject* object);
std::optional<Layout> layoutOf(PyObject* object);
std::optional<MemoryFormat> memoryFormatOf(PyObject* object);
std::optional<Device> deviceOf(PyObject* object);
bool isSize(PyObject* object);
/// "cuda:0" as a device; BadInput for what is none.
Result<Device> parseDevice(std::string_view text);

/// torch.set_default_device, and `with torch.device(…)`.
std::optional<Device>& defaultDevice();

/// Adds the types and their constants (`float32`, `strided`, `channels_last`) to torch._C. False with an exception set.
bool addSmallTypes(PyObject* module);

}  // namespace kerf::inline torch_api
