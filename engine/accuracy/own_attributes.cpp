#include "engine/accuracy/own_attributes.h"

#include <cstring>

#include "engine/accuracy/same_two_models.h"

namespace kerf::inline accuracy {

Result<GraphModule> withOwnAttributes(const GraphModule& module, const std::vector<std::string>& paths) {
  GraphModule own = module;
  if (paths.empty()) return own;
  ValueList values;
  for (const auto& [path, value] : attributeValues(module, paths)) values.push_back(value);
  KERF_TRY(const ValueList copies, cloneInputs(values, false));
  std::size_t next = 0;
  for (const std::string& path : paths) {
    const Value& copy = copies[next++];
    for (auto& [name, attribute] : own.attributes.edit())
      if (name == path && copy.isTensor()) attribute.tensor = copy.tensor();
  }
  return own;
}

NamedValues attributeValues(const GraphModule& module, const std::vector<std::string>& paths) {
  NamedValues values;
  for (const std::string& path : paths) {
    const TensorAttribute* found = module.attribute(path);
    values.emplace_back(path, found != nullptr ? Value(found->tensor) : Value());
  }
  return values;
}

Result<void> restoreAttributes(const GraphModule& from, const GraphModule& into,
                               const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    const TensorAttribute* source = from.attribute(path);
    const TensorAttribute* target = into.attribute(path);
    if (source == nullptr || target == nullptr || !source->tensor.defined()) continue;
    const Storage& old = *source->tensor.storage();
    const Storage& written = *target->tensor.storage();
    if (old.bytes() != written.bytes()) return fail(ErrorCode::Internal, "attribute {} changed its storage", path);
    const auto bytes = std::size_t(old.bytes());
    if (bytes > 0 && std::memcmp(old.data(), written.data(), bytes) != 0)
      std::memcpy(written.data(), old.data(), bytes);
  }
  return {};
}

}  // namespace kerf::inline accuracy
