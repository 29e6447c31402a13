#include "engine/dynamo/modules.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace kerf::inline dynamo {
namespace {

template <std::size_t N>
bool among(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

/// Modules of the standard library that are traced into; the others are skipped.
constexpr std::array<std::string_view, 24> kTracedModules = {
    "functools", "contextlib",       "collections", "dataclasses", "itertools",  "operator",
    "abc",       "_collections_abc", "types",       "enum",        "typing",     "numbers",
    "math",      "fractions",        "bisect",      "heapq",       "string",     "weakref",
    "copyreg",   "keyword",          "reprlib",     "_weakrefset", "statistics", "textwrap"};

/// Modules of torch that Dynamo does not trace into.
constexpr std::array<std::string_view, 4> kSkippedTorch = {"torch.autograd.graph", "torch.autograd.anomaly_mode",
                                                           "torch.autograd.gradcheck", "torch.autograd.functional"};

constexpr std::array<std::string_view, 21> kCalledModules = {
    "builtins",     "_operator",   "operator", "math",     "_functools", "functools", "itertools",
    "_collections", "collections", "_abc",     "cmath",    "_bisect",    "_heapq",    "types",
    "_struct",      "enum",        "_thread",  "_weakref", "weakref",    "re",        "_sre"};

constexpr std::array<std::string_view, 19> kRefusedBuiltins = {
    "hex",        "bin",     "oct",    "print", "open",       "input", "exec", "eval", "compile",        "__import__",
    "breakpoint", "globals", "locals", "id",    "memoryview", "help",  "exit", "quit", "__build_class__"};

std::string topLevel(const std::string& module) { return module.substr(0, module.find('.')); }

bool isStandardModule(const std::string& name) {
  PyObject* names = PySys_GetObject("stdlib_module_names");
  const Ref key = makeText(name);
  const int found = names ? PySequence_Contains(names, key.get()) : 0;
  PyErr_Clear();
  return found == 1;
}

std::string moduleOfFunction(PyObject* function) {
  PyObject* globals = PyFunction_GetGlobals(function);
  PyObject* name = globals ? PyDict_GetItemString(globals, "__name__") : nullptr;
  return name ? textOf(name) : std::string();
}

}  // namespace

bool isModule(PyObject* object) { return isModuleType(Py_TYPE(object)); }

bool isModuleType(PyTypeObject* of) {
  PyObject* mro = of->tp_mro;
  for (Py_ssize_t k = 0; mro && k < PyTuple_GET_SIZE(mro); ++k) {
    auto* type = reinterpret_cast<PyTypeObject*>(PyTuple_GET_ITEM(mro, k));
    if (std::string_view(type->tp_name) != "Module" || type->tp_dict == nullptr) continue;
    PyObject* module = PyDict_GetItemString(type->tp_dict, "__module__");
    if (module && textOf(module).starts_with("torch.nn")) return true;
  }
  return false;
}

bool hasDefaultLookup(PyTypeObject* type) {
  const Ref name = makeText("__getattribute__");
  PyObject* found = _PyType_Lookup(type, name.get());
  return found == nullptr || !PyFunction_Check(found);
}

bool isTorchNamespace(PyObject* object) {
  if (!PyModule_Check(object)) return false;
  const char* name = PyModule_GetName(object);
  if (name == nullptr) PyErr_Clear();
  return name != nullptr && topLevel(name) == "torch";
}

bool mayInline(PyObject* function) {
  const std::string full = moduleOfFunction(function), module = topLevel(full);
  if (among(kSkippedTorch, full)) return false;
  return module == "__main__" || !isStandardModule(module) || among(kTracedModules, module);
}

bool mayCall(PyObject* callable) {
  if (callable == reinterpret_cast<PyObject*>(&PyBaseObject_Type)) return false;
  if (PyType_Check(callable)) {
    const std::string module = textOf(attributeOf(callable, "__module__").get());
    return among(kCalledModules, topLevel(module)) ||
           (reinterpret_cast<PyTypeObject*>(callable)->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0;
  }
  const std::string name = textOf(attributeOf(callable, "__name__").get());
  if (!PyCFunction_Check(callable)) return true;
  const Ref self = attributeOf(callable, "__self__");
  if (!self || !PyModule_Check(self.get())) {
    const std::string owner =
        self ? textOf(attributeOf(reinterpret_cast<PyObject*>(Py_TYPE(self.get())), "__module__").get())
             : std::string();
    if (self && (PyList_Check(self.get()) || PyTuple_Check(self.get()) || PyDict_Check(self.get()) ||
                 PyAnySet_Check(self.get())))
      return true;  // of a subclass too
    return !self || owner == "builtins" || among(kCalledModules, topLevel(owner)) || owner == "torch" ||
           PyType_Check(self.get());
  }
  const std::string module = textOf(attributeOf(callable, "__module__").get());
  if (module == "sys" && name == "intern") return true;
  if (!among(kCalledModules, topLevel(module)) || (module == "_operator" && name == "concat")) return false;
  return module != "builtins" || !among(kRefusedBuiltins, name);
}

std::string describeCallable(PyObject* callable) {
  const std::string module = textOf(attributeOf(callable, "__module__").get());
  const std::string name = textOf(attributeOf(callable, "__qualname__").get());
  return module.empty() ? name : module + "." + name;
}

}  // namespace kerf::inline dynamo
