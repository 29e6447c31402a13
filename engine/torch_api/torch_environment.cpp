#include "engine/torch_api/torch_environment.h"

#include "engine/ops/core/op_call.h"
#include "engine/process/value_codec.h"
#include "engine/torch_api/conversions.h"
#include "engine/torch_api/module.h"
#include "engine/torch_api/torch_package.h"

namespace kerf::inline torch_api {

namespace {

/// What looks at the machine when it is first used, or starts threads, does so before the sandbox closes: the limit of
/// memory, OpenBLAS (which starts its threads anew after a fork) and oneDNN.
Result<void> warmUp() {
  (void)storageLimit();
  KERF_TRY(const Tensor matrix, Tensor::zeros(DType::Float32, {64, 64}));
  KERF_CHECK(callOp("aten.mm.default"_op, {matrix, matrix}));
  KERF_CHECK(callOp("aten.linalg_inv_ex.default"_op, {Tensor::scalar(1.0, DType::Float32).viewAs({1, 1}, {1, 1}, 0)}));
  KERF_TRY(const Tensor image, Tensor::zeros(DType::Float32, {1, 3, 16, 16}));
  KERF_TRY(const Tensor kernel, Tensor::zeros(DType::Float32, {4, 3, 3, 3}));
  KERF_CHECK(callOp("aten.conv2d.default"_op, {image, kernel}));
  return {};
}

}  // namespace

ProgramEnvironment torchEnvironment() {
  ProgramEnvironment environment;
  environment.modules = {{"torch._C", [] { return static_cast<void*>(makeTorchModule()); }}};
  environment.package = "torch";
  environment.files = torchFiles();
  environment.prepare = warmUp;
  return environment;
}

Result<std::string> encodeObject(void* object) {
  KERF_TRY(const Value value, valueOf(static_cast<PyObject*>(object)));
  return encode(value);
}

Result<Value> decodeObject(const std::string& bytes) { return decode<Value>(bytes, "what a program gave"); }

}  // namespace kerf::inline torch_api
