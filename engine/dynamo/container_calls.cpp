#include "engine/dynamo/container_calls.h"

#include <string_view>
#include <unordered_map>

#include "engine/dynamo/stand_ins.h"
#include "engine/dynamo/values.h"

namespace kerf::inline dynamo {
namespace {

struct ContainerCall {
  InstructionTranslator& t;
  PyObject* method;
  PyObject* self;
  PyObject* args;
  std::vector<VariableTracker>& sources;

  VariableTracker native() const {
    for (VariableTracker& source : sources) t.tracer().realize(source);
    return {t.tracer().checked(PyObject_Call(method, args, nullptr)), nullptr, false};
  }
};
using ContainerMethod = std::optional<VariableTracker> (*)(const ContainerCall& call, StandIn& standIn);

/// Items at the end come and go: those before keep their places.
std::optional<VariableTracker> changeEnd(const ContainerCall& call, StandIn&) { return call.native(); }

std::optional<VariableTracker> extendList(const ContainerCall& call, StandIn&) {
  call.t.tracer().realizeDeep(call.args);
  return call.native();
}

/// Another one than the last: all places change, so all items are guarded.
std::optional<VariableTracker> popFromWithin(const ContainerCall& call, const StandIn& standIn) {
  FrameTracer& tracer = call.t.tracer();
  tracer.realizeDeep(call.self);
  VariableTracker popped = call.native();
  if (tracer.effects.find(popped.get()) != nullptr) return popped;
  for (std::size_t k = 0; k < standIn.items.size() && !popped.source; ++k)
    if (standIn.items[k].get() == popped.get())
      popped.source = Source::item(standIn.source, Ref::steal(PyLong_FromSize_t(k)));
  return popped;
}

/// The last one.
std::optional<VariableTracker> popList(const ContainerCall& call, StandIn& standIn) {
  const Py_ssize_t size = PyList_GET_SIZE(call.self);
  if (size == 0) return std::nullopt;
  if (PyTuple_GET_SIZE(call.args) != 0) return popFromWithin(call, standIn);
  const Ref index = Ref::steal(PyLong_FromSsize_t(size - 1));
  PyObject* item = PyList_GET_ITEM(call.self, size - 1);
  SourcePtr source = call.t.tracer().effects.find(item) == nullptr
                         ? call.t.tracer().effects.itemSource(standIn, index.get(), item)
                         : nullptr;
  VariableTracker popped = call.native();
  popped.lazy = source != nullptr;
  popped.source = std::move(source);
  return popped;
}

/// One entry; the guard comes with its value, or with its absence.
std::optional<VariableTracker> getEntry(const ContainerCall& call, StandIn& standIn) {
  PyObject* key = PyTuple_GET_SIZE(call.args) > 0 ? PyTuple_GET_ITEM(call.args, 0) : nullptr;
  if (key == nullptr || !isConstant(key)) return std::nullopt;
  FrameTracer& tracer = call.t.tracer();
  const int held = PyDict_Contains(standIn.original.get(), key);
  tracer.checkStatus(held);
  if (held == 0)
    tracer.guardEntry(standIn, {Ref::borrow(key), call.sources.empty() ? nullptr : call.sources[0].source, false});
  PyObject* item = PyDict_GetItemWithError(call.self, key);
  PyErr_Clear();
  SourcePtr source = item != nullptr && held == 1 && tracer.effects.find(item) == nullptr
                         ? tracer.effects.itemSource(standIn, key, item)
                         : nullptr;
  VariableTracker found = call.native();
  if (found.get() != item) return found;
  found.lazy = source != nullptr;
  found.source = std::move(source);
  return found;
}

std::optional<VariableTracker> keysOnly(const ContainerCall& call, StandIn&) {
  call.t.tracer().guardKeys(call.self, PyTuple_GET_SIZE(call.args) == 0);
  return call.native();
}

const std::unordered_map<std::string_view, ContainerMethod> kListMethods = {
    {"append", changeEnd}, {"clear", changeEnd}, {"extend", extendList}, {"pop", popList}};
const std::unordered_map<std::string_view, ContainerMethod> kDictMethods = {{"get", getEntry},    {"pop", getEntry},
                                                                            {"keys", keysOnly},   {"items", keysOnly},
                                                                            {"values", keysOnly}, {"clear", keysOnly}};

/// x.__dict__.get("name"): the attribute, if the object itself has it.
std::optional<VariableTracker> ownEntry(const ContainerCall& call, std::string_view name, StandIn& standIn) {
  PyObject* key = PyTuple_GET_SIZE(call.args) > 0 ? PyTuple_GET_ITEM(call.args, 0) : nullptr;
  if (name != "get" || key == nullptr || !PyUnicode_Check(key)) return std::nullopt;
  for (VariableTracker& source : call.sources) call.t.tracer().realize(source);
  if (VariableTracker own = call.t.tracer().effects.ownAttribute(standIn, PyUnicode_AsUTF8(key))) return own;
  if (standIn.source) call.t.tracer().addGuard(presenceGuard(standIn.source, Ref::borrow(key), false));
  return call.native();
}

}  // namespace

std::optional<VariableTracker> callContainerMethod(InstructionTranslator& t, PyObject* method, PyObject* args,
                                                   PyObject* kwargs, std::vector<VariableTracker>& sources) {
  if (!PyCFunction_Check(method) || kwargs != nullptr) return std::nullopt;
  PyObject* self = PyCFunction_GET_SELF(method);
  if (self == nullptr || (!PyList_CheckExact(self) && !PyDict_CheckExact(self))) return std::nullopt;
  const std::string_view name = reinterpret_cast<PyCFunctionObject*>(method)->m_ml->ml_name;
  const ContainerCall call{t, method, self, args, sources};
  FrameTracer& tracer = t.tracer();
  if (const auto own = tracer.ownDicts.find(self); own != tracer.ownDicts.end())
    if (StandIn* holder = tracer.effects.find(own->second)) return ownEntry(call, name, *holder);
  StandIn* standIn = tracer.effects.find(self);
  if (standIn == nullptr || !standIn->source) return std::nullopt;
  VariableTracker whole{standIn->value, standIn->source, false};
  tracer.realize(whole);
  const auto& methods = PyList_CheckExact(self) ? kListMethods : kDictMethods;
  const auto row = methods.find(name);
  return row == methods.end() ? std::nullopt : row->second(call, *standIn);
}

}  // namespace kerf::inline dynamo
