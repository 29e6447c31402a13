#include "engine/dynamo/values.h"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>

#include "engine/dynamo/sym_proxy.h"
#include "engine/dynamo/tensor_proxy.h"
#include "engine/dynamo/tracer.h"
#include "engine/dynamo/unsupported.h"
#include "engine/torch_api/callables.h"
#include "engine/torch_api/conversions.h"
#include "engine/torch_api/return_types.h"

namespace kerf::inline dynamo {
namespace {

std::optional<Argument> scalarArgument(PyObject* object) {
  if (object == Py_None) return Argument();
  if (PyBool_Check(object)) return Argument(object == Py_True);
  if (PyLong_CheckExact(object)) return Argument(static_cast<std::int64_t>(PyLong_AsLongLong(object)));
  if (PyFloat_Check(object)) return Argument(PyFloat_AS_DOUBLE(object));
  if (PyUnicode_Check(object)) return Argument(textOf(object));
  if (object == Py_Ellipsis) return Argument(Ellipsis{});
  if (PyComplex_Check(object))
    return Argument(ComplexNumber{PyComplex_RealAsDouble(object), PyComplex_ImagAsDouble(object)});
  return std::nullopt;
}

/// Objects of torch that the engine has a type of its own for.
std::optional<Argument> torchArgument(PyObject* object) {
  const Result<Value> value = valueOf(object);
  if (!value) return std::nullopt;
  if (const DType* dtype = value->as<DType>()) return Argument(*dtype);
  if (const Device* device = value->as<Device>()) return Argument(*device);
  if (const Layout* layout = value->as<Layout>()) return Argument(*layout);
  if (const MemoryFormat* format = value->as<MemoryFormat>()) return Argument(*format);
  if (const std::int64_t* number = value->as<std::int64_t>()) return Argument(*number);
  if (const double* number = value->as<double>()) return Argument(*number);
  return std::nullopt;
}

ArgumentList sequenceItems(PyObject* sequence, const std::function<Argument(PyObject*)>& item) {
  ArgumentList list;
  for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(sequence); ++k)
    list.push_back(item(PySequence_Fast_GET_ITEM(sequence, k)));
  return list;
}

Argument dictArgument(PyObject* dict, const std::function<Argument(PyObject*)>& item) {
  DictArgument made;
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(dict, &at, &key, &value) != 0;)
    made.items.emplace_back(PyUnicode_Check(key) ? textOf(key) : printed(key), item(value));
  return made;
}

Argument sliceArgument(PyObject* object, const std::function<Argument(PyObject*)>& item) {
  const auto* slice = reinterpret_cast<PySliceObject*>(object);
  return SliceArgument{{item(slice->start), item(slice->stop), item(slice->step)}};
}

/// Floats as what they are now: rules of sizes do not look at them, see specialiseFloats.
Value fakeNumber(const SymState& state) {
  if (state.number.kind == SymKind::Int) return Value(state.number.value);
  return state.number;
}

ValueList fakeItems(PyObject* sequence) {
  ValueList list;
  for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(sequence); ++k)
    list.push_back(fakeValueOf(PySequence_Fast_GET_ITEM(sequence, k)));
  return list;
}

}  // namespace

NestedArgument::NestedArgument() {
  if (Py_EnterRecursiveCall(" in an argument of a call") != 0) throw PythonRaised{};
}

Argument plainArgument(PyObject* object, const std::function<Argument(PyObject*)>& item) {
  if (std::optional<Argument> scalar = scalarArgument(object)) return *scalar;
  if (PyTuple_Check(object)) return Argument::tuple(sequenceItems(object, item));
  if (PyList_Check(object)) return Argument::list(sequenceItems(object, item));
  if (PyDict_Check(object)) return dictArgument(object, item);
  if (PySlice_Check(object)) return sliceArgument(object, item);
  if (std::optional<Argument> known = torchArgument(object)) return *known;
  const std::string name = dottedName(object);
  return PythonName{name.empty() ? printed(object) : name};
}

Value fakeValueOf(PyObject* object) {
  if (const ProxyState* proxy = proxyOf(object)) return proxy->fake;
  if (const SymState* number = symOf(object)) return fakeNumber(*number);
  if (PyTuple_Check(object) || PyList_Check(object)) return fakeItems(object);
  if (PySlice_Check(object)) {
    const auto* slice = reinterpret_cast<PySliceObject*>(object);
    return ValueList{Value(std::string("slice")), fakeValueOf(slice->start), fakeValueOf(slice->stop),
                     fakeValueOf(slice->step)};
  }
  const Result<Value> value = valueOf(object);
  if (value) return *value;
  unsupported("Unsupported function call", "An argument of type " + typeNameOf(object) + " cannot enter a graph.",
              value.error().message);
}

Dim dimOf(SymInt size) {
  if (!size.isSymbolic()) return dim(size.bits());
  return Dim{symText(size), std::nullopt};
}

std::string dottedName(PyObject* object) {
  std::string builtin = callableOf(object);
  if (!builtin.empty()) return builtin;
  const std::string module = textOf(attributeOf(object, "__module__").get());
  const std::string name = textOf(attributeOf(object, "__qualname__").get());
  return module.empty() || name.empty() ? std::string() : module + "." + name;
}

Ref operatorFunction(const char* name) {
  const Ref module = Ref::steal(PyImport_ImportModule("_operator"));
  if (!module) throw PythonRaised{};
  Ref found = Ref::steal(PyObject_GetAttrString(module.get(), name));
  if (!found) throw PythonRaised{};
  return found;
}

namespace {

/// Field names of torch.return_types, by op.
const std::unordered_map<std::string_view, const char*> kFields = {
    {"max", "values indices"},
    {"min", "values indices"},
    {"median", "values indices"},
    {"nanmedian", "values indices"},
    {"mode", "values indices"},
    {"kthvalue", "values indices"},
    {"sort", "values indices"},
    {"topk", "values indices"},
    {"cummax", "values indices"},
    {"cummin", "values indices"},
    {"aminmax", "min max"},
    {"frexp", "mantissa exponent"},
    {"histogram", "hist bin_edges"},
    {"slogdet", "sign logabsdet"},
    {"qr", "Q R"},
    {"geqrf", "a tau"},
    {"svd", "U S V"},
    {"linalg.svd", "U S Vh"},
    {"linalg.qr", "Q R"},
    {"linalg.slogdet", "sign logabsdet"},
    {"linalg.eigh", "eigenvalues eigenvectors"},
    {"linalg.eig", "eigenvalues eigenvectors"},
    {"linalg.lu", "P L U"},
    {"linalg.inv_ex", "inverse info"},
    {"linalg.cholesky_ex", "L info"},
};

/// "linalg.svd" of "torch._C._linalg.linalg_svd".
std::string fieldsKey(const std::string& op) {
  const std::size_t linalg = op.rfind("linalg_");
  if (linalg != std::string::npos) return "linalg." + op.substr(linalg + 7);
  return op.substr(op.find('.') + 1);
}

}  // namespace

Ref namedResult(const std::string& op, Ref tuple) {
  const std::string key = fieldsKey(op);
  const auto row = kFields.find(key);
  if (row == kFields.end()) return tuple;
  std::vector<std::string> fields;
  for (std::string_view rest = row->second; !rest.empty();) {
    const std::size_t space = rest.find(' ');
    fields.emplace_back(rest.substr(0, space));
    rest = space == std::string_view::npos ? std::string_view() : rest.substr(space + 1);
  }
  std::string last = key;
  std::ranges::replace(last, '.', '_');
  if (std::ssize(fields) != PyTuple_GET_SIZE(tuple.get())) return tuple;
  PyTypeObject* type = returnType(last, fields);
  Ref made = Ref::steal(type ? PyStructSequence_New(type) : nullptr);
  if (!made) throw PythonRaised{};
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(tuple.get()); ++k)
    PyStructSequence_SetItem(made.get(), k, Py_NewRef(PyTuple_GET_ITEM(tuple.get(), k)));
  return made;
}

bool isConstant(PyObject* object) {
  if (object == Py_None || object == Py_Ellipsis || object == Py_NotImplemented) return true;
  return PyBool_Check(object) || PyLong_CheckExact(object) || PyFloat_CheckExact(object) ||
         PyUnicode_CheckExact(object) || PyBytes_CheckExact(object) || PyComplex_CheckExact(object) ||
         PySlice_Check(object) || PyRange_Check(object) || PyType_Check(object) || PyFunction_Check(object) ||
         PyCFunction_Check(object) || PyModule_Check(object) || PyCode_Check(object);
}

bool isLiteral(PyObject* object) {
  return PyBool_Check(object) || PyLong_CheckExact(object) || PyFloat_CheckExact(object) ||
         PyUnicode_CheckExact(object);
}

bool isPlainTuple(PyObject* object) {
  if (!PyTuple_CheckExact(object)) return false;
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(object); ++k) {
    PyObject* item = PyTuple_GET_ITEM(object, k);
    const bool literal = item == Py_None || item == Py_Ellipsis || PyBool_Check(item) || PyLong_CheckExact(item) ||
                         PyFloat_CheckExact(item) || PyUnicode_CheckExact(item) || PyBytes_CheckExact(item) ||
                         std::string_view(Py_TYPE(item)->tp_name) == "torch.dtype";
    if (!literal) return false;
  }
  return true;
}

void refuseOwnHash(PyObject* key) {
  PyTypeObject* type = Py_TYPE(key);
  if ((type->tp_flags & Py_TPFLAGS_HEAPTYPE) == 0 || proxyOf(key) != nullptr || symOf(key) != nullptr) return;
  PyObject* hash = _PyType_Lookup(type, makeText("__hash__").get());
  if (hash == nullptr || !PyFunction_Check(hash) || PyUnicode_Check(key) || PyLong_Check(key)) return;
  if (_PyType_Lookup(type, makeText("__dataclass_fields__").get()) != nullptr) return;
  const std::string module = textOf(attributeOf(hash, "__module__").get());
  if (module == "enum" || module.starts_with("torch")) return;
  unsupported("User-defined object with overridden __hash__",
              "Found a user-defined object " + typeNameOf(key) + " with overridden __hash__ when attempting to hash it",
              "hashing object of type=" + typeNameOf(key),
              {"Dynamo does not support hashing user-defined objects with overridden __hash__"});
}

std::string typeNameOf(PyObject* object) {
  if (const SymState* number = symOf(object)) return reinterpret_cast<PyTypeObject*>(pythonTypeOf(*number))->tp_name;
  if (const ProxyState* proxy = proxyOf(object); proxy && proxy->pythonClass)
    return reinterpret_cast<PyTypeObject*>(proxy->pythonClass.get())->tp_name;
  const std::string full = Py_TYPE(object)->tp_name;
  return full.substr(full.rfind('.') + 1);
}

void refuseListMethod(const std::string& method) {
  unsupported("Unsupported method call", "Dynamo does not know how to trace method `" + method + "` of class `list`",
              "call_method ListVariable " + method, {"Avoid calling `list." + method + "` in your code."});
}

}  // namespace kerf::inline dynamo
