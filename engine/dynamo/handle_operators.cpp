// Opcodes of operators and subscripts: CPython computes on stand-ins.
#include <array>
#include <span>
#include <utility>

#include "engine/dynamo/handlers.h"
#include "engine/dynamo/tracked_iterators.h"
#include "engine/dynamo/values.h"

namespace kerf::inline dynamo {
namespace {

using T = InstructionTranslator;
using I = Instruction;

using Binary = PyObject* (*)(PyObject*, PyObject*);
PyObject* power(PyObject* a, PyObject* b) { return PyNumber_Power(a, b, Py_None); }
PyObject* powerInto(PyObject* a, PyObject* b) { return PyNumber_InPlacePower(a, b, Py_None); }

/// By the argument of BINARY_OP.
constexpr std::array<Binary, 26> kBinary = {PyNumber_Add,
                                            PyNumber_And,
                                            PyNumber_FloorDivide,
                                            PyNumber_Lshift,
                                            PyNumber_MatrixMultiply,
                                            PyNumber_Multiply,
                                            PyNumber_Remainder,
                                            PyNumber_Or,
                                            power,
                                            PyNumber_Rshift,
                                            PyNumber_Subtract,
                                            PyNumber_TrueDivide,
                                            PyNumber_Xor,
                                            PyNumber_InPlaceAdd,
                                            PyNumber_InPlaceAnd,
                                            PyNumber_InPlaceFloorDivide,
                                            PyNumber_InPlaceLshift,
                                            PyNumber_InPlaceMatrixMultiply,
                                            PyNumber_InPlaceMultiply,
                                            PyNumber_InPlaceRemainder,
                                            PyNumber_InPlaceOr,
                                            powerInto,
                                            PyNumber_InPlaceRshift,
                                            PyNumber_InPlaceSubtract,
                                            PyNumber_InPlaceTrueDivide,
                                            PyNumber_InPlaceXor};

/// Containers of the program may hold what was not looked at yet.
void realizeOperand(T& t, const VariableTracker& operand) {
  if (!isConstant(operand.get()) && proxyOf(operand.get()) == nullptr) t.tracer().realizeDeep(operand.get());
}

/// The two on top, looked at in the order of the program.
std::pair<VariableTracker, VariableTracker> popPair(T& t) {
  VariableTracker right = t.popLazy();
  VariableTracker left = t.pop();
  t.tracer().realize(right);
  return {std::move(left), std::move(right)};
}

[[noreturn]] void refuseOperator(const char* name, PyObject* left, PyObject* right) {
  unsupported("Failed to trace builtin operator",
              std::string("Dynamo does not know how to trace builtin operator `") + name + "` with argument types ['" +
                  typeNameOf(left) + "', '" + typeNameOf(right) + "'] (has_kwargs False)",
              std::string("builtin ") + name);
}

bool isSequence(PyObject* object) { return PyList_Check(object) || PyTuple_Check(object); }

bool holdsTensors(PyObject* sequence) {
  for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(sequence); ++k) {
    PyObject* item = PySequence_Fast_GET_ITEM(sequence, k);
    if (proxyOf(item) != nullptr || (isSequence(item) && holdsTensors(item))) return true;
  }
  return false;
}

/// IntFlag and Flag answer `in` by code that Dynamo does not trace.
bool isFlag(PyObject* object) {
  const Ref type = Ref::steal(PyImport_ImportModule("enum"));
  const Ref flag = type ? attributeOf(type.get(), "Flag") : Ref();
  const int is = flag ? PyObject_IsInstance(object, flag.get()) : 0;
  PyErr_Clear();
  return is == 1;
}

/// By the argument of BINARY_OP, where it is no change in place.
constexpr std::array<const char*, 13> kForward = {"__add__", "__and__",     "__floordiv__", "__lshift__", "__matmul__",
                                                  "__mul__", "__mod__",     "__or__",       "__pow__",    "__rshift__",
                                                  "__sub__", "__truediv__", "__xor__"};

/// The method of an object of the program on the left; null where CPython's own rules are Dynamo's.
PyObject* forwardMethod(PyObject* left, PyObject* right, int op) {
  if (op >= int(kForward.size()) || isConstant(left) || proxyOf(left) != nullptr || symOf(left) != nullptr)
    return nullptr;
  if (Py_TYPE(left) == Py_TYPE(right) || PyType_IsSubtype(Py_TYPE(right), Py_TYPE(left)) != 0) return nullptr;
  PyObject* found = _PyType_Lookup(Py_TYPE(left), makeText(kForward[std::size_t(op)]).get());
  return found != nullptr && PyFunction_Check(found) ? found : nullptr;
}

void binaryOp(T& t, const I& i) {
  const auto [left, right] = popPair(t);
  realizeOperand(t, left);
  realizeOperand(t, right);
  const bool matmul = i.arg == 4 || i.arg == 17;
  if (matmul && proxyOf(left.get()) == nullptr && proxyOf(right.get()) == nullptr)
    refuseOperator("matmul", left.get(), right.get());
  if (PyObject* method = forwardMethod(left.get(), right.get(), i.arg)) {
    const VariableTracker bound{Ref::steal(PyMethod_New(method, left.get())), nullptr, false};
    VariableTracker answer = t.call(bound, {right}, nullptr);
    // Dynamo takes NotImplemented for the result, and does not ask the right side.
    if (answer.get() == Py_NotImplemented)
      throw Unsupported{"Observed exception",
                        "The left operand declines; Dynamo does not ask the right one.",
                        kForward[std::size_t(i.arg)],
                        {},
                        {},
                        true};
    return t.push(std::move(answer));
  }
  t.checkedPush(kBinary[static_cast<std::size_t>(i.arg)](left.get(), right.get()));
}

template <PyObject* (*Function)(PyObject*)>
void unary(T& t, const I&) {
  const VariableTracker value = t.pop();
  t.checkedPush(Function(value.get()));
}

void unaryNot(T& t, const I&) {
  const VariableTracker value = t.pop();
  const int truth = PyObject_IsTrue(value.get());
  t.tracer().checkStatus(truth);
  t.push(Ref::borrow(truth != 0 ? Py_False : Py_True));
}

void compareOp(T& t, const I& i) {
  const auto [left, right] = popPair(t);
  realizeOperand(t, left);
  realizeOperand(t, right);
  if (isSequence(left.get()) && isSequence(right.get()) && (holdsTensors(left.get()) || holdsTensors(right.get())))
    unsupported("Data-dependent branching", "Detected data-dependent branching: sequences of tensors are compared.",
                "attempted to jump with TensorVariable()");
  t.checkedPush(PyObject_RichCompare(left.get(), right.get(), i.arg));
}

/// Identity of what a stand-in stands for.
void isOp(T& t, const I& i) {
  const auto [left, right] = popPair(t);
  const ProxyState* a = proxyOf(left.get());
  const ProxyState* b = proxyOf(right.get());
  if (left.get() != right.get() && PyList_Check(left.get()) && PyList_Check(right.get()))
    refuseOperator("is_", left.get(), right.get());
  const bool same = left.get() == right.get() || (a && b && a->identity && a->identity == b->identity);
  t.push(Ref::borrow(same != (i.arg == 1) ? Py_True : Py_False));
}

void containsOp(T& t, const I& i) {
  const VariableTracker container = t.pop();
  const VariableTracker item = t.pop();
  t.tracer().realizeTracked(item.get());
  const StandIn* standIn = t.tracer().effects.find(container.get());
  if (standIn != nullptr && standIn->kind == StandIn::Kind::Dict && standIn->source && isConstant(item.get())) {
    t.tracer().guardEntry(*standIn, item);
  } else {
    realizeOperand(t, container);
  }
  if (proxyOf(container.get()) != nullptr)
    unsupported("Unsupported method call", "`in` on a tensor needs its data.",
                "call_method TensorVariable() __contains__");
  guardMethodUse(t.tracer(), container.get(), "__contains__");
  if (isFlag(container.get())) refuseOperator("contains", container.get(), item.get());
  const int found = PySequence_Contains(container.get(), item.get());
  t.tracer().checkStatus(found);
  t.push(Ref::borrow((found != 0) != (i.arg == 1) ? Py_True : Py_False));
}

/// A key that a dict does not have: a KeyError, or what __missing__ gives.
void guardMissingKey(T& t, const VariableTracker& container, const VariableTracker& key) {
  const StandIn* standIn = t.tracer().effects.find(container.get());
  if (standIn == nullptr || standIn->kind != StandIn::Kind::Dict || !standIn->source) return;
  const int held = isConstant(key.get()) ? PyDict_Contains(standIn->original.get(), key.get()) : 0;
  PyErr_Clear();
  if (held != 1) t.tracer().guardKeys(container.get());
}

/// A slice of a container holds items whose sources are no longer known.
void realizeSlice(T& t, const StandIn& standIn, PyObject* container, PyObject* slice) {
  Py_ssize_t start = 0, stop = 0, step = 0;
  if (!isSequence(container) || PySlice_Unpack(slice, &start, &stop, &step) < 0) {
    PyErr_Clear();
    return t.tracer().realizeDeep(container);
  }
  const Py_ssize_t count = PySlice_AdjustIndices(PySequence_Fast_GET_SIZE(container), &start, &stop, step);
  for (Py_ssize_t k = 0; k < count; ++k) {
    const Ref index = Ref::steal(PyLong_FromSsize_t(start + k * step));
    PyObject* item = PySequence_Fast_GET_ITEM(container, start + k * step);
    VariableTracker held{Ref::borrow(item), nullptr, false};
    if (t.tracer().effects.find(item) == nullptr)
      held.source = t.tracer().effects.itemSource(standIn, index.get(), item);
    held.lazy = held.source != nullptr;
    t.tracer().realize(held);
    t.tracer().realizeDeep(item);
  }
}

/// An item of a tuple whose items are looked at one by one.
VariableTracker trackedSubscript(T& t, const VariableTracker& tuple, const VariableTracker& key, const Ref& item) {
  Py_ssize_t place = PyLong_CheckExact(key.get()) ? PyLong_AsSsize_t(key.get()) : PY_SSIZE_T_MAX;
  PyErr_Clear();
  if (place < 0) place += PyTuple_GET_SIZE(tuple.get());
  if (std::optional<VariableTracker> held = itemOfTracked(t.tracer(), tuple.get(), item.get(), place)) return *held;
  t.tracer().realizeDeep(tuple.get());
  return {item, nullptr, false};
}

void binarySubscr(T& t, const I&) {
  const auto [container, key] = popPair(t);
  if (proxyOf(container.get()) != nullptr && !isConstant(key.get()) && proxyOf(key.get()) == nullptr)
    t.tracer().realizeDeep(key.get());
  t.tracer().realizeTracked(key.get());
  guardMissingKey(t, container, key);
  guardMethodUse(t.tracer(), container.get(), "__getitem__");
  Ref item = t.tracer().checked(PyObject_GetItem(container.get(), key.get()));
  VariableTracker result{item, nullptr, false};
  if (t.tracer().trackedTuples.contains(container.get())) return t.push(trackedSubscript(t, container, key, item));
  const StandIn* standIn = t.tracer().effects.find(container.get());
  if (standIn != nullptr && standIn->source && t.tracer().effects.find(item.get()) == nullptr &&
      proxyOf(item.get()) == nullptr) {
    result.source = t.tracer().effects.itemSource(*standIn, key.get(), item.get());
    result.lazy = result.source != nullptr;
    if (PySlice_Check(key.get())) realizeSlice(t, *standIn, container.get(), key.get());
  }
  t.push(std::move(result));
}

/// A list item that is written as what it was: that it was so is guarded, for the write is not seen at the end.
void guardKeptItem(T& t, const VariableTracker& list, const VariableTracker& key, const VariableTracker& value) {
  const StandIn* standIn = t.tracer().effects.find(list.get());
  if (standIn == nullptr || !standIn->source || !PyList_Check(list.get()) || !isConstant(value.get())) return;
  VariableTracker held = value;
  held.source = t.tracer().effects.itemSource(*standIn, key.get(), value.get());
  held.lazy = held.source != nullptr;
  t.tracer().realize(held);
}

void refuseFrozen(T& t, PyObject* container, const char* method) {
  if (t.parent() != nullptr && t.tracer().frozenLists.contains(container)) refuseListMethod(method);
}

void storeSubscr(T& t, const I&) {
  VariableTracker key = t.popLazy();
  const VariableTracker container = t.pop();
  t.tracer().realize(key);
  t.tracer().realizeTracked(key.get());
  refuseOwnHash(key.get());
  const VariableTracker value = t.pop();
  refuseFrozen(t, container.get(), "__setitem__");
  t.tracer().guardKeys(container.get());
  guardKeptItem(t, container, key, value);
  t.tracer().checkStatus(PyObject_SetItem(container.get(), key.get(), value.get()));
}

void deleteSubscr(T& t, const I&) {
  const VariableTracker key = t.pop();
  const VariableTracker container = t.pop();
  t.tracer().realizeTracked(key.get());
  refuseFrozen(t, container.get(), "__delitem__");
  t.tracer().guardKeys(container.get());
  if (PyList_Check(container.get())) t.tracer().realizeDeep(container.get());
  t.tracer().checkStatus(PyObject_DelItem(container.get(), key.get()));
}

constexpr OpHandlerRow kRows[] = {
    {Op::BINARY_OP, binaryOp},
    {Op::UNARY_NEGATIVE, unary<PyNumber_Negative>},
    {Op::UNARY_POSITIVE, unary<PyNumber_Positive>},
    {Op::UNARY_INVERT, unary<PyNumber_Invert>},
    {Op::UNARY_NOT, unaryNot},
    {Op::COMPARE_OP, compareOp},
    {Op::IS_OP, isOp},
    {Op::CONTAINS_OP, containsOp},
    {Op::BINARY_SUBSCR, binarySubscr},
    {Op::STORE_SUBSCR, storeSubscr},
    {Op::DELETE_SUBSCR, deleteSubscr},
};

}  // namespace

std::span<const OpHandlerRow> operatorHandlers() { return kRows; }

}  // namespace kerf::inline dynamo
