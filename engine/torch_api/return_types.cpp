#include "engine/torch_api/return_types.h"

#include <deque>
#include <functional>
#include <map>
#include <vector>

#include "engine/ops/core/op_registry.h"
#include "engine/torch_api/conversions.h"
#include "engine/torch_api/eager_ops.h"

namespace kerf::inline torch_api {
namespace {

/// "values", "indices" of "... -> (Tensor values, Tensor indices)"; empty where one has no name.
std::vector<std::string> resultNames(std::string_view schema) {
  const std::size_t arrow = schema.rfind("-> (");
  if (arrow == std::string_view::npos) return {};
  std::string_view rest = schema.substr(arrow + 4, schema.rfind(')') - arrow - 4);
  std::vector<std::string> names;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(", ");
    const std::string_view one = rest.substr(0, comma);
    const std::size_t space = one.rfind(' ');
    if (space == std::string_view::npos) return {};
    names.emplace_back(one.substr(space + 1));
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 2);
  }
  return names;
}

/// The type and what its description looks at, for good.
struct NamedTuple {
  std::string name;
  std::vector<std::string> names;
  std::vector<PyStructSequence_Field> fields;
  PyTypeObject* type = nullptr;
};

std::map<std::string, NamedTuple>& namedTuples() {
  static auto& all = *new std::map<std::string, NamedTuple>;
  return all;
}

/// As PyTorch prints one: each result on a line of its own.
PyObject* describe(PyObject* self) {
  const NamedTuple* tuple = nullptr;
  for (const auto& [name, entry] : namedTuples())
    if (entry.type == Py_TYPE(self)) tuple = &entry;
  std::string text = std::string(Py_TYPE(self)->tp_name) + "(";
  for (Py_ssize_t i = 0; tuple && i < PyTuple_GET_SIZE(self); ++i) {
    const Ref item = Ref::steal(PyObject_Repr(PyTuple_GET_ITEM(self, i)));
    if (!item) return nullptr;
    text += (i > 0 ? ",\n" : "\n") + tuple->names[std::size_t(i)] + "=" + textOf(item.get());
  }
  return makeText(text + ")").release();
}

PyTypeObject* madeType(const std::string& last, const std::function<std::vector<std::string>()>& fields) {
  std::string name = "torch.return_types." + last;
  NamedTuple& tuple = namedTuples()[name];
  if (tuple.type != nullptr || !tuple.name.empty()) return tuple.type;
  tuple.name = std::move(name);
  tuple.names = fields();
  if (tuple.names.empty()) return nullptr;
  for (const std::string& field : tuple.names) tuple.fields.push_back({field.c_str(), nullptr});
  tuple.fields.push_back({nullptr, nullptr});
  PyStructSequence_Desc description{tuple.name.c_str(), nullptr, tuple.fields.data(), int(tuple.names.size())};
  tuple.type = PyStructSequence_NewType(&description);
  if (tuple.type != nullptr) tuple.type->tp_repr = describe;
  return tuple.type;
}

PyTypeObject* typeOf(const OpInfo& op) {
  return madeType(op.schema.name.substr(op.schema.name.rfind(':') + 1), [&] { return resultNames(op.schema.text); });
}

/// Ops whose results PyTorch gives as a plain tuple though its schema names them.
bool isPlain(const OpInfo& op) {
  return op.schema.name.starts_with("aten::native_") || op.schema.name.starts_with("aten::_native");
}

}  // namespace

PyTypeObject* returnType(const std::string& name, const std::vector<std::string>& fields) {
  return madeType(name, [&] { return fields; });
}

Ref resultObject(const Value& result) {
  const NamedResults& named = lastNamedResults();
  if (!result.isList() || named.op == nullptr || named.list != &result.list() || isPlain(*named.op))
    return objectOf(result);
  PyTypeObject* type = typeOf(*named.op);
  if (type == nullptr) return PyErr_Occurred() ? Ref() : objectOf(result);
  Ref tuple = Ref::steal(PyStructSequence_New(type));
  for (std::size_t i = 0; tuple && i < result.list().size(); ++i) {
    Ref item = objectOf(result.list()[i]);
    if (!item) return {};
    PyStructSequence_SetItem(tuple.get(), Py_ssize_t(i), item.release());
  }
  return tuple;
}

}  // namespace kerf::inline torch_api
