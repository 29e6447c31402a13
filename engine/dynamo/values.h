// Python objects of a traced call as arguments of a node, and as the values from which shape rules derive its result.
#pragma once

#include <functional>
#include <string>

#include "engine/ir/node.h"
#include "engine/python/reference.h"
#include "engine/tensor/value.h"

namespace kerf::inline dynamo {

/// Lives while a list, tuple or dict in an argument is gone over: one that holds itself is an error of the program.
struct NestedArgument {
  NestedArgument();
  ~NestedArgument() { Py_LeaveRecursiveCall(); }
  NestedArgument(const NestedArgument&) = delete;
  NestedArgument& operator=(const NestedArgument&) = delete;
};

/// As Dynamo writes an argument; containers by `item`. Objects of torch and functions as their dotted names.
Argument plainArgument(PyObject* object, const std::function<Argument(PyObject*)>& item);
/// The same for shape rules: proxies give their fake tensors. Throws PythonRaised or Unsupported.
Value fakeValueOf(PyObject* object);
Dim dimOf(SymInt size);
/// "torch.nn.functional.relu" of a Python function; empty for what has no module or name.
std::string dottedName(PyObject* object);
/// A function of Python's module `operator`.
Ref operatorFunction(const char* name);
/// A tuple of results with the field names that torch.return_types gives them.
Ref namedResult(const std::string& op, Ref tuple);
/// An object that tracing may share with the program: nothing can change it.
bool isConstant(PyObject* object);
/// What PyTorch moves on without a look (LazyConstantVariable): a bool, number or text.
bool isLiteral(PyObject* object);
/// A tuple of numbers, texts and None.
bool isPlainTuple(PyObject* object);
/// Breaks at a key of a class of the program that has its own __hash__ (data classes aside).
void refuseOwnHash(PyObject* key);
/// Breaks at a method that changes a list which Dynamo takes for a constant.
[[noreturn]] void refuseListMethod(const std::string& method);
/// "list", "MyClass".
std::string typeNameOf(PyObject* object);

}  // namespace kerf::inline dynamo
