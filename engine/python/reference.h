// Ref: an owned reference to a Python object; and Python's errors as Kerf's, both ways.
#pragma once

#define PY_SSIZE_T_CLEAN  // lengths in formats are Py_ssize_t
#include <Python.h>

#include <string>
#include <string_view>
#include <utility>

#include "engine/support/result.h"

namespace kerf::inline python {

/// Owns one reference, or nothing. Only for the process that runs the interpreter.
class Ref {
 public:
  Ref() = default;
  /// Takes over a reference that the caller owns ("new reference" in CPython's documents); null is nothing.
  static Ref steal(PyObject* object) { return Ref(object); }
  /// Adds a reference to an object that somebody else owns.
  static Ref borrow(PyObject* object) { return Ref(Py_XNewRef(object)); }
  Ref(const Ref& other) : m_object(Py_XNewRef(other.m_object)) {}
  Ref(Ref&& other) noexcept : m_object(std::exchange(other.m_object, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(m_object, other.m_object);
    return *this;
  }
  ~Ref() { Py_XDECREF(m_object); }

  PyObject* get() const { return m_object; }
  /// Gives the reference away.
  [[nodiscard]] PyObject* release() { return std::exchange(m_object, nullptr); }
  explicit operator bool() const { return m_object != nullptr; }

 private:
  explicit Ref(PyObject* object) : m_object(object) {}
  PyObject* m_object = nullptr;
};

/// The pending Python exception as an error, which it clears: RuntimeFailed with "TypeError: …", and the innermost line
/// of the program in `file` and `line`. Internal where none is pending.
Error takePythonError();
/// `object`, or the pending exception where it is null.
Result<Ref> checked(PyObject* object);
/// An error that stands for the exception that is pending now: raise() lets that one through.
Error pendingError();
/// Sets the Python exception that an error stands for: IndexError, TypeError, NotImplementedError for what Kerf has no op
/// for, else RuntimeError. Null, so that C functions can return it.
PyObject* raise(const Error& error);
/// Hands a result to Python: its object, or null with the exception set.
PyObject* give(Result<Ref> result);

/// The text of a str; empty for anything else.
std::string textOf(PyObject* object);
/// str(object); empty where that raises.
std::string printed(PyObject* object);
Ref makeText(std::string_view text);
/// Attribute, or nothing (no exception stays) where there is none.
Ref attributeOf(PyObject* object, const char* name);

}  // namespace kerf::inline python
