#include "engine/torch_api/torch_environment.h"

#include "engine/process/value_codec.h"
#include "engine/torch_api/conversions.h"
#include "engine/torch_api/module.h"
#include "engine/torch_api/torch_package.h"

namespace kerf::inline torch_api {

ProgramEnvironment torchEnvironment() {
  ProgramEnvironment environment;
  environment.modules = {{"torch._C", [] { return static_cast<void*>(makeTorchModule()); }}};
  environment.package = "torch";
  environment.files = torchFiles();
  return environment;
}

Result<std::string> encodeObject(void* object) {
  KERF_TRY(const Value value, valueOf(static_cast<PyObject*>(object)));
  return encode(value);
}

Result<Value> decodeObject(const std::string& bytes) { return decode<Value>(bytes, "what a program gave"); }

}  // namespace kerf::inline torch_api
