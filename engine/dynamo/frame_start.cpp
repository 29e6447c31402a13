#include "engine/dynamo/frame_start.h"

#include "engine/dynamo/settings.h"
#include "engine/torch_api/tensor_type.h"

namespace kerf::inline dynamo {
namespace {

PyObject* closureOf(const FrameView& frame) {
  return frame.function && PyFunction_Check(frame.function) ? PyFunction_GET_CLOSURE(frame.function) : nullptr;
}

/// A dict that a break left on the stack may hold what is a variable, too: that one names it.
bool hasDictOnStack(const FrameView& frame, const FrameShape& shape) {
  for (int slot = 0; slot < shape.arguments; ++slot)
    if (shape.name(slot).starts_with("___stack") && frame.variables[slot] != nullptr &&
        PyDict_CheckExact(frame.variables[slot]))
      return true;
  return false;
}

}  // namespace

std::vector<VariableTracker> firstVariables(FrameTracer& tracer, const FrameView& frame, const FrameShape& shape) {
  std::vector<VariableTracker> variables(static_cast<std::size_t>(shape.places));
  PyObject* closure = closureOf(frame);
  int free = 0;
  if (hasDictOnStack(frame, shape))
    for (int slot = 0; slot < shape.arguments; ++slot)
      if (!shape.isFree(slot) && frame.variables[slot] != nullptr && isTensor(frame.variables[slot]) &&
          !shape.name(slot).starts_with("___stack"))
        tracer.effects.wrap(frame.variables[slot], Source::local(shape.name(slot), slot));
  for (int slot = 0; slot < shape.places; ++slot) {
    VariableTracker& variable = variables[static_cast<std::size_t>(slot)];
    if (shape.isFree(slot)) {
      if (closure)
        variable = tracer.effects.cell(PyTuple_GET_ITEM(closure, free), Source::cell(shape.name(slot), slot));
      ++free;
    } else if (slot < shape.arguments && frame.variables[slot] != nullptr) {
      variable = tracer.effects.wrap(frame.variables[slot], Source::local(shape.name(slot), slot));
    }
  }
  return variables;
}

DynamicMode sizeMode(DynamicMode asked) {
  if (asked != DynamicMode::Automatic) return asked;
  if (dynamoSetting("assume_static_by_default", 1) == 0) return DynamicMode::Always;
  return dynamoSetting("automatic_dynamic_shapes", 1) == 0 ? DynamicMode::Never : DynamicMode::Automatic;
}

FrameScope scopeOf(const FrameView& frame) {
  FrameScope scope;
  scope.globals = frame.globals;
  const FrameShape shape(frame.code);
  scope.local = [frame, shape](int slot) -> PyObject* {
    if (!shape.isFree(slot)) return frame.variables[slot];
    int free = 0;
    for (int k = 0; k < slot; ++k) free += shape.isFree(k) ? 1 : 0;
    PyObject* closure = closureOf(frame);
    return closure ? PyTuple_GET_ITEM(closure, free) : nullptr;
  };
  return scope;
}

}  // namespace kerf::inline dynamo
