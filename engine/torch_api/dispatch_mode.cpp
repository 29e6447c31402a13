#include "engine/torch_api/dispatch_mode.h"

#include "engine/torch_api/conversions.h"
#include "engine/torch_api/dispatch_classes.h"
#include "engine/torch_api/variable.h"

namespace kerf::inline torch_api {
namespace {

int scopesBelowAutograd = 0;

/// torch.ops.aten.add.Tensor of the op's row.
Ref overloadOf(const OpInfo& op) {
  const Ref module = Ref::steal(PyImport_ImportModule("torch._ops"));
  Ref at = module ? attributeOf(module.get(), "ops") : Ref();
  const std::string& name = op.schema.name;
  const std::size_t colons = name.find("::");
  const std::string overload = op.schema.overload.empty() ? "default" : op.schema.overload;
  for (const std::string& part : {name.substr(0, colons), name.substr(colons + 2), overload})
    at = at ? Ref::steal(PyObject_GetAttrString(at.get(), part.c_str())) : Ref();
  return at;
}

Ref pythonTuple(const ValueList& args) {
  Ref tuple = Ref::steal(PyTuple_New(Py_ssize_t(args.size())));
  for (std::size_t i = 0; i < args.size(); ++i) {
    Ref item = objectOf(args[i]);
    if (!item) return {};
    PyTuple_SET_ITEM(tuple.get(), Py_ssize_t(i), item.release());
  }
  return tuple;
}

Ref pythonDict(const KeywordValues& kwargs) {
  Ref dict = Ref::steal(PyDict_New());
  for (const auto& [name, value] : kwargs) {
    const Ref item = objectOf(value);
    if (!item || PyDict_SetItemString(dict.get(), name.c_str(), item.get()) < 0) return {};
  }
  return dict;
}

/// Takes the innermost mode away, and gives it back.
class ModeOff {
 public:
  ModeOff() : m_mode(dispatchModes().back()) { dispatchModes().pop_back(); }
  ~ModeOff() { dispatchModes().push_back(m_mode); }
  ModeOff(const ModeOff&) = delete;
  ModeOff& operator=(const ModeOff&) = delete;
  PyObject* mode() const { return m_mode.get(); }

 private:
  Ref m_mode;
};

/// A mode with `keeps_composites` sees linear and conv2d instead of what they are made of.
PyObject* push(PyObject*, PyObject* mode) {
  dispatchModes().push_back(Ref::borrow(mode));
  Py_RETURN_NONE;
}
PyObject* pop(PyObject*, PyObject*) {
  if (dispatchModes().empty()) return PyErr_SetString(PyExc_RuntimeError, "no dispatch mode is on"), nullptr;
  const Ref mode = dispatchModes().back();
  dispatchModes().pop_back();
  return Py_NewRef(mode.get());
}
PyObject* count(PyObject*, PyObject*) { return PyLong_FromSize_t(dispatchModes().size()); }

}  // namespace

std::vector<Ref>& dispatchModes() {
  static auto& modes = *new std::vector<Ref>;
  return modes;
}

bool dispatchModeKeepsComposites() {
  if (dispatchModes().empty()) return false;
  const Ref keeps = attributeOf(dispatchModes().back().get(), "keeps_composites");
  return keeps && PyObject_IsTrue(keeps.get()) == 1;
}

bool dispatchModeDecomposes(const OpInfo& op) {
  if (dispatchModes().empty()) return false;
  PyObject* mode = dispatchModes().back().get();
  const Ref table = attributeOf(mode, "decomposition_table");
  if (!table || !PyUnicode_Check(table.get()) || textOf(table.get()) != "core") return false;
  const Ref kept = attributeOf(mode, "kept_operators");
  const Ref name = makeText(op.schema.qualifiedName());
  const int isKept = kept && PyAnySet_Check(kept.get()) ? PySet_Contains(kept.get(), name.get()) : 0;
  PyErr_Clear();
  return isKept != 1;
}

Result<DispatchCall> dispatchCall(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs) {
  DispatchCall call;
  call.overload = overloadOf(op);
  if (call.overload) call.args = pythonTuple(args);
  if (call.args) call.kwargs = pythonDict(kwargs);
  if (!call.kwargs) return fail(pendingError());
  return call;
}

BelowAutograd::BelowAutograd() { ++scopesBelowAutograd; }
BelowAutograd::~BelowAutograd() { --scopesBelowAutograd; }
bool isBelowAutograd() { return scopesBelowAutograd > 0; }

Result<Value> callDispatchMode(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs) {
  const ModeOff off;
  KERF_TRY(const DispatchCall call, dispatchCall(op, args, kwargs));
  const Ref types = dispatchTypes(args, kwargs);
  const BelowAutograd below;
  const Ref result = Ref::steal(PyObject_CallMethod(off.mode(), "__torch_dispatch__", "OOOO", call.overload.get(),
                                                    types.get(), call.args.get(), call.kwargs.get()));
  if (!result) return fail(pendingError());
  if (haveDispatchTensors()) CallScope::keepObject(result);
  auto value = valueOf(result.get());
  if (value) keepVariables(*value);
  return value;
}

bool addDispatchModes(PyObject* module) {
  static PyMethodDef functions[] = {{"_push_dispatch_mode", push, METH_O, nullptr},
                                    {"_pop_dispatch_mode", pop, METH_NOARGS, nullptr},
                                    {"_count_dispatch_modes", count, METH_NOARGS, nullptr},
                                    {nullptr, nullptr, 0, nullptr}};
  return PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace kerf::inline torch_api
