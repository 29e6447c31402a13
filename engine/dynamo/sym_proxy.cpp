#include "engine/dynamo/sym_proxy.h"

#include <unordered_map>

#include "engine/dynamo/drawn_numbers.h"
#include "engine/dynamo/tensor_calls.h"
#include "engine/dynamo/traced_slot.h"
#include "engine/dynamo/values.h"

namespace kerf::inline dynamo {
namespace {

struct SymProxy {
  PyObject_HEAD SymState* state;
};

PyTypeObject* symType = nullptr;

SymProxy* asSym(PyObject* object) { return reinterpret_cast<SymProxy*>(object); }

bool isPlainOrSym(PyObject* object) {
  return PyLong_Check(object) || PyFloat_Check(object) || symOf(object) != nullptr;
}

PyObject* symBinary(const char* name, PyObject* a, PyObject* b) {
  if (proxyOf(a) == nullptr && proxyOf(b) == nullptr && (!isPlainOrSym(a) || !isPlainOrSym(b)))
    Py_RETURN_NOTIMPLEMENTED;
  return whileTracing([&](FrameTracer& tracer) {
    const Ref args = Ref::steal(PyTuple_Pack(2, a, b));
    if (proxyOf(a) != nullptr || proxyOf(b) != nullptr) return tensorOperator(tracer, name, args.get());
    const Ref function = operatorFunction(name);
    return tracer.graph.callFunction("operator." + std::string(name), function.get(), args.get(), nullptr);
  });
}

PyObject* symUnary(const char* name, PyObject* a) {
  return whileTracing([&](FrameTracer& tracer) {
    const Ref args = Ref::steal(PyTuple_Pack(1, a));
    const Ref function = operatorFunction(name);
    return tracer.graph.callFunction("operator." + std::string(name), function.get(), args.get(), nullptr);
  });
}

#define KERF_BINARY(slot, name) \
  PyObject* slot(PyObject* a, PyObject* b) { return symBinary(name, a, b); }
KERF_BINARY(symAdd, "add")
KERF_BINARY(symSubtract, "sub")
KERF_BINARY(symMultiply, "mul")
KERF_BINARY(symRemainder, "mod")
KERF_BINARY(symLeftShift, "lshift")
KERF_BINARY(symRightShift, "rshift")
KERF_BINARY(symAnd, "and_")
KERF_BINARY(symXor, "xor")
KERF_BINARY(symOr, "or_")
KERF_BINARY(symFloorDivide, "floordiv")
KERF_BINARY(symTrueDivide, "truediv")
#undef KERF_BINARY
PyObject* symPower(PyObject* a, PyObject* b, PyObject* /*modulus*/) { return symBinary("pow", a, b); }
PyObject* symNegative(PyObject* a) { return symUnary("neg", a); }
PyObject* symPositive(PyObject* a) { return Py_NewRef(a); }
PyObject* symAbsolute(PyObject* a) { return symUnary("abs", a); }
PyObject* symInvert(PyObject* a) {
  return whileTracing(
      [&](FrameTracer& tracer) { return tracer.checked(PyNumber_Invert(specialise(tracer, *symOf(a)).get())); });
}
PyObject* symDivmod(PyObject* a, PyObject* b) {
  const Ref quotient = Ref::steal(PyNumber_FloorDivide(a, b));
  const Ref rest = Ref::steal(quotient ? PyNumber_Remainder(a, b) : nullptr);
  return rest ? PyTuple_Pack(2, quotient.get(), rest.get()) : nullptr;
}

Symbolic symExpressionOf(FrameTracer& tracer, PyObject* object) {
  if (const SymState* state = symOf(object)) {
    tracer.noteUse(*state);
    return tracer.symbols.expression(state->number);
  }
  if (PyFloat_Check(object)) return Symbolic::real(PyFloat_AS_DOUBLE(object));
  return Symbolic::integer(PyLong_AsLongLong(object));
}

/// Only running the graph tells: a node, unless ranges do.
Ref compareUnbacked(FrameTracer& tracer, const char* name, const Symbolic& condition, PyObject* a, PyObject* b) {
  if (const auto known = tracer.symbols.env().known(condition)) return Ref::borrow(*known ? Py_True : Py_False);
  return tracer.graph.callFunction("operator." + std::string(name), operatorFunction(name).get(),
                                   Ref::steal(PyTuple_Pack(2, a, b)).get(), nullptr);
}

PyObject* symCompare(PyObject* a, PyObject* b, int op) {
  static constexpr const char* relations[] = {"Lt", "Le", "Eq", "Ne", "Gt", "Ge"};
  static constexpr const char* operators[] = {"lt", "le", "eq", "ne", "gt", "ge"};
  if (proxyOf(b) != nullptr) return symBinary(operators[op], a, b);
  if (!isPlainOrSym(b)) Py_RETURN_NOTIMPLEMENTED;
  return whileTracing([&](FrameTracer& tracer) {
    const auto condition = Symbolic::call(relations[op], {symExpressionOf(tracer, a), symExpressionOf(tracer, b)});
    if (!condition) unsupported("Unsupported symbolic number", condition.error().message);
    if (condition->symbols().empty()) {
      const auto holds = condition->evaluateBool();
      return Ref::borrow(holds && *holds ? Py_True : Py_False);
    }
    if (tracer.symbols.isUnbacked(*condition)) return compareUnbacked(tracer, operators[op], *condition, a, b);
    return Ref::borrow(tracer.symbols.decide(*condition) ? Py_True : Py_False);
  });
}

int symTruth(PyObject* self) {
  if (symOf(self)->number.kind == SymKind::Bool) {
    const Ref holds = Ref::steal(whileTracing([&](FrameTracer& tracer) {
      return Ref::borrow(tracer.symbols.decide(symExpressionOf(tracer, self)) ? Py_True : Py_False);
    }));
    return holds ? (holds.get() == Py_True ? 1 : 0) : -1;
  }
  const Ref zero = Ref::steal(PyLong_FromLong(0));
  const Ref answer = Ref::steal(symCompare(self, zero.get(), Py_NE));
  if (answer && symOf(answer.get()) != nullptr) return symTruth(answer.get());
  return answer ? (answer.get() == Py_True ? 1 : 0) : -1;
}

PyObject* symValue(PyObject* self) {
  return whileTracing([&](FrameTracer& tracer) { return specialise(tracer, *symOf(self)); });
}

template <PyObject* (*Convert)(PyObject*)>
PyObject* ofValue(PyObject* self) {
  const Ref value = Ref::steal(symValue(self));
  return value ? Convert(value.get()) : nullptr;
}

Py_hash_t symHash(PyObject* self) {
  const Ref value = Ref::steal(symValue(self));
  return value ? PyObject_Hash(value.get()) : -1;
}

PyObject* symAttribute(PyObject* self, PyObject* name) {
  if (textOf(name) == "__class__") return Py_NewRef(pythonTypeOf(*symOf(self)));
  const Ref value = Ref::steal(symValue(self));
  return value ? PyObject_GetAttr(value.get(), name) : nullptr;
}

void dropSym(PyObject* self) {
  delete asSym(self)->state;
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

template <class Function>
void* symSlot(Function function) {
  return reinterpret_cast<void*>(function);
}

PyType_Slot* symSlots() {
  static PyType_Slot table[] = {{Py_tp_dealloc, symSlot(dropSym)},
                                {Py_tp_getattro, symSlot(symAttribute)},
                                {Py_tp_hash, symSlot(symHash)},
                                {Py_tp_richcompare, symSlot(symCompare)},
                                {Py_tp_repr, symSlot(ofValue<PyObject_Repr>)},
                                {Py_tp_str, symSlot(ofValue<PyObject_Str>)},
                                {Py_nb_add, symSlot(symAdd)},
                                {Py_nb_subtract, symSlot(symSubtract)},
                                {Py_nb_multiply, symSlot(symMultiply)},
                                {Py_nb_remainder, symSlot(symRemainder)},
                                {Py_nb_divmod, symSlot(symDivmod)},
                                {Py_nb_power, symSlot(symPower)},
                                {Py_nb_negative, symSlot(symNegative)},
                                {Py_nb_positive, symSlot(symPositive)},
                                {Py_nb_absolute, symSlot(symAbsolute)},
                                {Py_nb_invert, symSlot(symInvert)},
                                {Py_nb_lshift, symSlot(symLeftShift)},
                                {Py_nb_rshift, symSlot(symRightShift)},
                                {Py_nb_and, symSlot(symAnd)},
                                {Py_nb_xor, symSlot(symXor)},
                                {Py_nb_or, symSlot(symOr)},
                                {Py_nb_floor_divide, symSlot(symFloorDivide)},
                                {Py_nb_true_divide, symSlot(symTrueDivide)},
                                {Py_nb_bool, symSlot(symTruth)},
                                {Py_nb_int, symSlot(ofValue<PyNumber_Long>)},
                                {Py_nb_float, symSlot(ofValue<PyNumber_Float>)},
                                {Py_nb_index, symSlot(ofValue<PyNumber_Index>)},
                                {0, nullptr}};
  return table;
}

struct NumberFunction {
  const char* target;
  int arguments;
};
/// By "module.name". Those of one argument that is a float or int, those of two numbers.
const std::unordered_map<std::string_view, NumberFunction> kNumberFunctions = {
    {"builtins.max", {"torch.sym_max", 2}}, {"builtins.min", {"torch.sym_min", 2}},
    {"builtins.abs", {"operator.abs", 1}},  {"builtins.round", {"builtins.round", 1}},
    {"math.ceil", {"math.ceil", 1}},        {"math.floor", {"math.floor", 1}},
    {"math.trunc", {"math.trunc", 1}},      {"math.sqrt", {"torch._sym_sqrt", 1}},
    {"math.pow", {"math.pow", 2}},          {"math.log2", {"math.log2", 1}},
    {"math.exp", {"math.exp", 1}},          {"math.log", {"math.log", 1}},
    {"math.sin", {"math.sin", 1}},          {"math.cos", {"math.cos", 1}},
    {"math.tanh", {"math.tanh", 1}},
};

/// Whether a list or tuple holds numbers alone, one of the graph among them.
bool areGraphNumbers(PyObject* sequence) {
  bool anyOfGraph = false;
  for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(sequence); ++k) {
    PyObject* item = PySequence_Fast_GET_ITEM(sequence, k);
    if (!isPlainOrSym(item) && !isDrawnNumber(item)) return false;
    anyOfGraph = anyOfGraph || symOf(item) != nullptr || isDrawnNumber(item);
  }
  return anyOfGraph;
}

/// sum() of a list: ints are added up at once, symbols by one node.
Ref sumOfNumbers(FrameTracer& tracer, PyObject* callable, PyObject* args) {
  PyObject* sequence = PyTuple_GET_ITEM(args, 0);
  if (PyTuple_GET_SIZE(args) != 1 || (!PyTuple_Check(sequence) && !PyList_Check(sequence))) return {};
  if (!areGraphNumbers(sequence)) return {};
  const Ref packed = Ref::steal(PyTuple_Pack(1, Ref::steal(PySequence_Tuple(sequence)).get()));
  return tracer.graph.callFunction("torch.sym_sum", callable, packed.get(), nullptr);
}

}  // namespace

Ref makeSym(SymState state) {
  if (symType == nullptr) {
    PyType_Spec spec = {"kerf.SymProxy", sizeof(SymProxy), 0, Py_TPFLAGS_DEFAULT, symSlots()};
    symType = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  }
  PyObject* made = symType ? symType->tp_alloc(symType, 0) : nullptr;
  if (made == nullptr) throw PythonRaised{};
  asSym(made)->state = new SymState(std::move(state));
  return Ref::steal(made);
}

SymState* symOf(PyObject* object) {
  return symType != nullptr && object != nullptr && Py_TYPE(object) == symType ? asSym(object)->state : nullptr;
}

PyObject* pythonTypeOf(const SymState& state) {
  if (state.number.kind == SymKind::Float) return reinterpret_cast<PyObject*>(&PyFloat_Type);
  return reinterpret_cast<PyObject*>(state.number.kind == SymKind::Bool ? &PyBool_Type : &PyLong_Type);
}

Ref specialise(FrameTracer& tracer, const SymState& state) {
  tracer.noteUse(state);
  return tracer.symbols.specialise(state.number);
}

namespace {

/// As deep as a call takes lists: one may hold itself.
bool holdsSymWithin(PyObject* args, int depth) {
  if (symOf(args) != nullptr) return true;
  if (depth == 0 || (!PyTuple_Check(args) && !PyList_Check(args))) return false;
  for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(args); ++k)
    if (holdsSymWithin(PySequence_Fast_GET_ITEM(args, k), depth - 1)) return true;
  return false;
}

}  // namespace

bool holdsSym(PyObject* args) { return holdsSymWithin(args, 100); }

namespace {

/// "module.name" of a builtin; empty for anything else.
std::string builtinName(PyObject* callable) {
  if (!PyCFunction_Check(callable)) return {};
  return textOf(attributeOf(callable, "__module__").get()) + "." +
         reinterpret_cast<PyCFunctionObject*>(callable)->m_ml->ml_name;
}

bool convertsNumbers(PyObject* callable) {
  return callable == reinterpret_cast<PyObject*>(&PyLong_Type) ||
         callable == reinterpret_cast<PyObject*>(&PyFloat_Type);
}

/// int(n), float(n)
Ref convertNumber(FrameTracer& tracer, PyObject* type, PyObject* args) {
  if (PyTuple_GET_SIZE(args) != 1 || !areGraphNumbers(args)) return {};
  const Ref number = withoutDrawn(tracer, PyTuple_GET_ITEM(args, 0));
  const SymState* state = symOf(number.get());
  if (state == nullptr) return {};
  const bool toInt = type == reinterpret_cast<PyObject*>(&PyLong_Type);
  if (state->number.kind == (toInt ? SymKind::Int : SymKind::Float)) return number;
  const Ref packed = Ref::steal(PyTuple_Pack(1, number.get()));
  return tracer.graph.callFunction(toInt ? "torch.sym_int" : "torch.sym_float", type, packed.get(), nullptr);
}

}  // namespace

Ref callOnNumbers(FrameTracer& tracer, PyObject* callable, PyObject* args) {
  const Py_ssize_t count = PyTuple_GET_SIZE(args);
  if (count == 0) return {};
  if (convertsNumbers(callable)) return convertNumber(tracer, callable, args);
  const std::string name = builtinName(callable);
  if (name == "builtins.sum") return sumOfNumbers(tracer, callable, args);
  const auto row = kNumberFunctions.find(name);
  if (row == kNumberFunctions.end() || row->second.arguments != count || !areGraphNumbers(args)) return {};
  return tracer.graph.callFunction(row->second.target, callable, withoutDrawn(tracer, args).get(), nullptr);
}

}  // namespace kerf::inline dynamo
