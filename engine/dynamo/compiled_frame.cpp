#include "engine/dynamo/compiled_frame.h"

#include <structmember.h>

#include "engine/dynamo/call_backend.h"
#include "engine/dynamo/graph_compiler.h"
#include "engine/dynamo/stand_ins.h"
#include "engine/dynamo/tensor_calls.h"
#include "engine/dynamo/tracer.h"
#include "engine/torch_api/compiled_backward.h"
#include "engine/torch_api/eager_ops.h"
#include "engine/torch_api/torch_function.h"

namespace kerf::inline dynamo {
namespace {

struct Prepared {
  const Effect* effect = nullptr;
  Ref target;
  Ref value;
};

bool setDictContents(PyObject* dict, PyObject* contents, PyObject* removed) {
  const Ref cleared = removed ? Ref::borrow(Py_None) : Ref::steal(PyObject_CallMethod(dict, "clear", nullptr));
  if (!cleared) return false;
  for (Py_ssize_t k = 0; removed && k < PyList_GET_SIZE(removed); ++k)
    if (PyDict_DelItem(dict, PyList_GET_ITEM(removed, k)) < 0) return false;
  PyObject *key = nullptr, *value = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(contents, &at, &key, &value) != 0;)
    if (setRawItem(dict, key, value) < 0) return false;
  return true;
}

bool setDequeContents(PyObject* deque, PyObject* contents) {
  const Ref cleared = Ref::steal(PyObject_CallMethod(deque, "clear", nullptr));
  const Ref extended = Ref::steal(cleared ? PyObject_CallMethod(deque, "extend", "O", contents) : nullptr);
  return static_cast<bool>(extended);
}

bool setSetContents(PyObject* set, PyObject* contents) {
  const Ref cleared = Ref::steal(PyObject_CallMethod(set, "clear", nullptr));
  return cleared && _PySet_Update(set, contents) >= 0;
}

/// In the object's own dict, past what its class does about it: the trace did that.
bool setOwnAttribute(PyObject* object, const std::string& name, PyObject* value) {
  PyObject* slot = _PyType_Lookup(Py_TYPE(object), makeText(name).get());
  if (slot != nullptr && Py_TYPE(slot) == &PyMemberDescr_Type)
    return Py_TYPE(slot)->tp_descr_set(slot, object, value) >= 0;
  PyObject* own = ownDictOf(object);
  if (own == nullptr) return PyObject_SetAttrString(object, name.c_str(), value) >= 0;
  if (value != nullptr) return PyDict_SetItemString(own, name.c_str(), value) >= 0;
  return PyDict_DelItemString(own, name.c_str()) >= 0;
}

bool apply(const Prepared& change) {
  const Effect& effect = *change.effect;
  PyObject* target = change.target.get();
  switch (effect.kind) {
    case Effect::Kind::ListContents:
      if (isDeque(target)) return setDequeContents(target, change.value.get());
      return PyList_SetSlice(target, effect.kept, PyList_GET_SIZE(target), change.value.get()) >= 0;
    case Effect::Kind::DictContents:
      return setDictContents(target, change.value.get(), effect.removed.get());
    case Effect::Kind::SetContents:
      return setSetContents(target, change.value.get());
    case Effect::Kind::SetAttr:
    case Effect::Kind::DelAttr:
      return setOwnAttribute(target, effect.name, change.value.get());
    case Effect::Kind::TensorAttr:
      return PyObject_SetAttrString(target, effect.name.c_str(), change.value.get()) >= 0;
    case Effect::Kind::CellContents:
      return PyCell_Set(target, change.value.get()) >= 0;
    case Effect::Kind::Global:
      if (PyType_Check(target)) return PyObject_SetAttrString(target, effect.name.c_str(), change.value.get()) >= 0;
      if (change.value) return PyDict_SetItemString(target, effect.name.c_str(), change.value.get()) >= 0;
      return PyDict_DelItemString(target, effect.name.c_str()) >= 0;
  }
  return false;
}

bool isContents(Effect::Kind kind) {
  return kind == Effect::Kind::ListContents || kind == Effect::Kind::DictContents || kind == Effect::Kind::SetContents;
}

bool prepare(const Effect& effect, Rebuilder& rebuilder, std::vector<Prepared>& into) {
  Prepared change{
      &effect, effect.kind == Effect::Kind::Global ? effect.target : rebuilder.build(effect.target.get()), {}};
  if (!change.target) return false;
  if (isContents(effect.kind)) {
    change.value = rebuilder.buildContents(effect.value.get());
    if (!change.value) return false;
  } else if (effect.value) {
    change.value = rebuilder.build(effect.value.get());
    if (!change.value) return false;
  }
  into.push_back(std::move(change));
  return true;
}

struct FrameObject {
  PyObject_HEAD vectorcallfunc call;
  std::shared_ptr<const CompiledFrame>* frame;
};

PyObject* callFrame(PyObject* self, PyObject* const* args, std::size_t flags, PyObject* /*names*/) {
  const auto frame = *reinterpret_cast<FrameObject*>(self)->frame;
  try {
    return frame->run(args, static_cast<std::size_t>(PyVectorcall_NARGS(flags))).release();
  } catch (const PythonRaised&) {
    return nullptr;
  }
}

void dropFrame(PyObject* self) {
  delete reinterpret_cast<FrameObject*>(self)->frame;
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyTypeObject* frameType() {
  static PyMemberDef members[] = {{"__vectorcalloffset__", T_PYSSIZET, offsetof(FrameObject, call), READONLY, nullptr},
                                  {nullptr, 0, 0, 0, nullptr}};
  static PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(dropFrame)},
                                {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                                {Py_tp_members, members},
                                {0, nullptr}};
  static PyType_Spec spec = {"kerf.CompiledFrame", sizeof(FrameObject), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL, slots};
  static auto* type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  return type;
}

}  // namespace

Ref CompiledFrame::run(PyObject* const* args, std::size_t count) const {
  FrameScope scope;
  scope.globals = globals.get();
  scope.local = [&](int slot) -> PyObject* {
    for (std::size_t k = 0; k < slots.size() && k < count; ++k)
      if (slots[k] == slot) return args[k];
    return nullptr;
  };
  const std::optional<std::vector<Ref>> drawn = drawAll(randomCalls);
  if (!drawn) return {};
  scope.drawn = &*drawn;
  NodeValues values;
  for (const FrameInput& input : inputs) {
    Ref value = input.source->evaluate(scope);
    if (!value) {
      PyErr_Format(PyExc_RuntimeError, "%s is gone", input.source->name().c_str());
      return {};
    }
    if (input.asTensor || input.source->kind() == Source::Kind::Random) value = tensorOfDraw(value.get());
    if (!value) return {};
    values[input.node.index] = std::move(value);
  }
  Rebuilder rebuilder(freshFunctions, values);
  for (const StandIn* standIn : standIns) {
    Ref real = standIn->source->evaluate(scope);
    if (!real) {
      PyErr_Format(PyExc_RuntimeError, "%s is gone", standIn->source->name().c_str());
      return {};
    }
    rebuilder.know(standIn->value.get(), std::move(real));
  }
  for (const auto& [proxy, source] : numbers) {
    Ref real = source->evaluate(scope);
    if (!real) return {};
    rebuilder.know(proxy.get(), std::move(real));
  }
  const NativeScope native;  // what the graph calls is not compiled by itself
  const NoSubclassScope plain;
  const CompiledGraphScope compiledGraph(isAot);
  const bool gradBefore = gradModes().grad;
  const bool ran = backendCall ? runBackendCall(*this, values)
                   : runner    ? runCompiledGraph(*this, values)
                               : replay(calls, values);
  if (!ran) {
    gradModes().grad = gradBefore;  // the graph did not come to where it leaves its modes
    return {};
  }
  for (const auto& [proxy, node] : floats) {
    Ref number = Ref::steal(PyObject_CallMethod(values[node.index].get(), "item", nullptr));
    if (!number) return {};
    rebuilder.know(proxy.get(), std::move(number));
  }
  std::vector<Ref> built;
  for (std::size_t k = 0; k < results.size(); ++k) {
    const auto handedOn = moved.find(k);
    built.push_back(handedOn == moved.end() ? rebuilder.build(results[k].get()) : handedOn->second->evaluate(scope));
    if (!built.back()) return {};
  }
  std::vector<Prepared> changes;
  for (const Effect& effect : effects)
    if (!prepare(effect, rebuilder, changes)) return {};
  for (const Prepared& change : changes)
    if (!apply(change)) return {};
  if (single) return built.front();
  Ref tuple = Ref::steal(PyTuple_New(static_cast<Py_ssize_t>(built.size())));
  for (std::size_t k = 0; k < built.size(); ++k)
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(k), built[k].release());
  return tuple;
}

Ref compiledFrameObject(std::shared_ptr<const CompiledFrame> frame) {
  PyTypeObject* type = frameType();
  Ref made = Ref::steal(type ? type->tp_alloc(type, 0) : nullptr);
  if (!made) throw PythonRaised{};
  auto* object = reinterpret_cast<FrameObject*>(made.get());
  object->call = callFrame;
  object->frame = new std::shared_ptr<const CompiledFrame>(std::move(frame));
  return made;
}

}  // namespace kerf::inline dynamo
