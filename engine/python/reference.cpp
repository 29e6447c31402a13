#include "engine/python/reference.h"

#include <array>

namespace kerf::inline python {
namespace {

/// The name of an exception's class, after its message's colon as Python prints it: "ValueError: no".
std::string describe(PyObject* exception) {
  const std::string name = Py_TYPE(exception)->tp_name;
  const std::string text = printed(exception);
  return text.empty() ? name : name + ": " + text;
}

/// File and line of the innermost frame that a traceback shows.
void locate(Error& error, PyObject* traceback) {
  for (Ref step = Ref::borrow(traceback); step && step.get() != Py_None; step = attributeOf(step.get(), "tb_next")) {
    const Ref frame = attributeOf(step.get(), "tb_frame");
    const Ref code = frame ? attributeOf(frame.get(), "f_code") : Ref();
    const Ref file = code ? attributeOf(code.get(), "co_filename") : Ref();
    const Ref line = attributeOf(step.get(), "tb_lineno");
    if (!file || !line || !PyLong_Check(line.get())) return;
    error.atFile(textOf(file.get()), int(PyLong_AsLong(line.get())));
  }
}

PyObject* exceptionOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::UnsupportedOp:
      return PyExc_NotImplementedError;
    case ErrorCode::BadUsage:
      return PyExc_TypeError;
    default:
      return PyExc_RuntimeError;
  }
}

/// Errors that come out of an op's kernel know Python's class by how the message begins: "IndexError: …".
PyObject* namedException(std::string_view message, std::string_view& rest) {
  static constexpr std::array<std::string_view, 7> names = {"IndexError",          "TypeError", "ValueError",
                                                            "NotImplementedError", "KeyError",  "ZeroDivisionError",
                                                            "AttributeError"};
  for (const std::string_view name : names) {
    if (!message.starts_with(name) || !message.substr(name.size()).starts_with(": ")) continue;
    rest = message.substr(name.size() + 2);
    PyObject* builtins = PyEval_GetBuiltins();  // borrowed
    return builtins ? PyDict_GetItemString(builtins, std::string(name).c_str()) : nullptr;
  }
  return nullptr;
}

}  // namespace

Error takePythonError() {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  if (type == nullptr) return Error(ErrorCode::Internal, "Python reported an error without an exception");
  PyErr_NormalizeException(&type, &value, &traceback);
  const Ref owners[] = {Ref::steal(type), Ref::steal(value), Ref::steal(traceback)};
  Error error(ErrorCode::RuntimeFailed, describe(value));
  if (traceback != nullptr) locate(error, traceback);
  PyErr_Clear();
  return error;
}

Result<Ref> checked(PyObject* object) {
  if (object == nullptr) return fail(takePythonError());
  return Ref::steal(object);
}

Error pendingError() { return Error(ErrorCode::Cancelled, "a Python exception is pending"); }

PyObject* raise(const Error& error) {
  if (error.code == ErrorCode::Cancelled && PyErr_Occurred()) return nullptr;
  std::string_view text = error.message;
  PyObject* type = namedException(error.message, text);
  if (type == nullptr) type = exceptionOf(error.code);
  const Ref message = makeText(text);
  if (message) PyErr_SetObject(type, message.get());
  return nullptr;
}

PyObject* give(Result<Ref> result) { return result ? result->release() : raise(result.error()); }

std::string textOf(PyObject* object) {
  if (object == nullptr || !PyUnicode_Check(object)) return {};
  Py_ssize_t size = 0;
  const char* bytes = PyUnicode_AsUTF8AndSize(object, &size);
  if (bytes != nullptr) return {bytes, std::size_t(size)};
  PyErr_Clear();  // lone surrogates
  const Ref encoded = Ref::steal(PyUnicode_AsEncodedString(object, "utf-8", "backslashreplace"));
  if (!encoded) return PyErr_Clear(), std::string();
  return {PyBytes_AS_STRING(encoded.get()), std::size_t(PyBytes_GET_SIZE(encoded.get()))};
}

std::string printed(PyObject* object) {
  const Ref text = Ref::steal(PyObject_Str(object));
  if (!text) PyErr_Clear();
  return textOf(text.get());
}

Ref makeText(std::string_view text) {
  return Ref::steal(PyUnicode_DecodeUTF8(text.data(), Py_ssize_t(text.size()), "replace"));
}

Ref attributeOf(PyObject* object, const char* name) {
  PyObject* found = PyObject_GetAttrString(object, name);
  if (found == nullptr) PyErr_Clear();
  return Ref::steal(found);
}

}  // namespace kerf::inline python
