#include "engine/dynamo/call_guards.h"

#include <array>
#include <string_view>

#include "engine/dynamo/modules.h"

namespace kerf::inline dynamo {
namespace {

/// What PyTorch's own code of a function looks at by a module's name: told by the program's name for that module.
struct NamedLookup {
  std::string_view function, module;
  std::array<const char*, 2> path;
};

constexpr NamedLookup kLookups[] = {
    {"torch._higher_order_ops.cond.cond", "torch", {"compiler", "is_dynamo_compiling"}},
    {"torch._higher_order_ops.while_loop.while_loop", "torch", {"compiler", "is_dynamo_compiling"}},
    {"torch.func._vmap._run_vmap", "torch", {"Tensor", nullptr}},
    {"itertools.zip_longest", "itertools", {"repeat", nullptr}},
};

}  // namespace

void noteLookups(FrameTracer& tracer, PyObject* callable) {
  if (!PyFunction_Check(callable) && !PyType_Check(callable)) return;
  const std::string name = describeCallable(callable);
  for (const NamedLookup& row : kLookups) {
    if (row.function != name) continue;
    PyObject* module = PyDict_GetItemString(PyImport_GetModuleDict(), std::string(row.module).c_str());
    const auto met = tracer.met.find(module);
    if (met == tracer.met.end()) return;
    VariableTracker at{met->first ? Ref::borrow(met->first) : Ref(), met->second, true};
    for (const char* part : row.path) {
      if (part == nullptr) break;
      at = {attributeOf(at.get(), part), Source::attribute(at.source, part), true};
      if (!at) return;
      tracer.realize(at);
    }
  }
}

void guardKeywordDefaults(FrameTracer& tracer, const VariableTracker& callable, PyObject* kwargs) {
  if (!callable.source || !PyFunction_Check(callable.get())) return;
  if (constantGuard(callable.get(), callable.source).isInternal) return;
  PyObject *key = nullptr, *value = nullptr, *defaults = PyFunction_GET_KW_DEFAULTS(callable.get());
  for (Py_ssize_t at = 0; defaults != nullptr && PyDict_Next(defaults, &at, &key, &value) != 0;) {
    if ((value != Py_None && !PyBool_Check(value)) || (kwargs != nullptr && PyDict_Contains(kwargs, key) == 1))
      continue;
    const SourcePtr source = Source::item(Source::attribute(callable.source, "__kwdefaults__"), Ref::borrow(key));
    tracer.addGuard(constantGuard(value, source));
  }
}

void guardAutogradFunction(FrameTracer& tracer, PyObject* cls) {
  const auto met = tracer.met.find(cls);
  if (met == tracer.met.end() || !attributeOf(cls, "forward")) return;
  for (const char* name : {"forward", "backward"})
    if (const Ref function = attributeOf(cls, name); function && PyFunction_Check(function.get()))
      tracer.addGuard(constantGuard(function.get(), Source::attribute(met->second, name)));
}

}  // namespace kerf::inline dynamo
