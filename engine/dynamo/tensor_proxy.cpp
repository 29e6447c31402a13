#include "engine/dynamo/tensor_proxy.h"

#include <structmember.h>

#include "engine/dynamo/drawn_numbers.h"
#include "engine/dynamo/tensor_calls.h"
#include "engine/dynamo/traced_slot.h"
#include "engine/dynamo/values.h"

namespace kerf::inline dynamo {
namespace {

struct TensorProxy {
  PyObject_HEAD ProxyState* state;
};

PyTypeObject* proxyType = nullptr;

TensorProxy* asProxy(PyObject* object) { return reinterpret_cast<TensorProxy*>(object); }

PyObject* binary(const char* name, PyObject* a, PyObject* b) {
  return whileTracing([&](FrameTracer& tracer) {
    const Ref args = Ref::steal(PyTuple_Pack(2, a, b));
    return tensorOperator(tracer, name, args.get());
  });
}

PyObject* unary(const char* name, PyObject* a) {
  return whileTracing([&](FrameTracer& tracer) {
    const Ref args = Ref::steal(PyTuple_Pack(1, a));
    return tensorOperator(tracer, name, args.get());
  });
}

#define KERF_BINARY(slot, name) \
  PyObject* slot(PyObject* a, PyObject* b) { return binary(name, a, b); }
KERF_BINARY(add, "add")
KERF_BINARY(subtract, "sub")
KERF_BINARY(multiply, "mul")
KERF_BINARY(remainder_, "mod")
KERF_BINARY(leftShift, "lshift")
KERF_BINARY(rightShift, "rshift")
KERF_BINARY(bitAnd, "and_")
KERF_BINARY(bitXor, "xor")
KERF_BINARY(bitOr, "or_")
KERF_BINARY(floorDivide, "floordiv")
KERF_BINARY(trueDivide, "truediv")
KERF_BINARY(matrixMultiply, "matmul")
KERF_BINARY(addInto, "iadd")
KERF_BINARY(subtractInto, "isub")
KERF_BINARY(multiplyInto, "imul")
KERF_BINARY(remainderInto, "imod")
KERF_BINARY(andInto, "iand")
KERF_BINARY(xorInto, "ixor")
KERF_BINARY(orInto, "ior")
KERF_BINARY(floorDivideInto, "ifloordiv")
KERF_BINARY(trueDivideInto, "itruediv")
KERF_BINARY(matrixMultiplyInto, "imatmul")
#undef KERF_BINARY
PyObject* power(PyObject* a, PyObject* b, PyObject* /*modulus*/) { return binary("pow", a, b); }
PyObject* powerInto(PyObject* a, PyObject* b, PyObject* /*modulus*/) { return binary("ipow", a, b); }
PyObject* negative(PyObject* a) { return unary("neg", a); }
PyObject* positive(PyObject* a) { return unary("pos", a); }
PyObject* invert(PyObject* a) { return unary("invert", a); }
PyObject* absolute(PyObject* a) {
  if (isDrawnNumber(a)) return unary("abs", a);
  return whileTracing(
      [&](FrameTracer& tracer) { return tensorMethod(tracer, a, "abs", Ref::steal(PyTuple_New(0)).get(), nullptr); });
}
PyObject* subscript(PyObject* a, PyObject* key) { return binary("getitem", a, key); }

PyObject* compare(PyObject* a, PyObject* b, int op) {
  static constexpr const char* names[] = {"lt", "le", "eq", "ne", "gt", "ge"};
  // Tensor.__eq__ is a Python function, which Dynamo's graphs call as a method.
  const bool comparable = proxyOf(b) != nullptr || PyLong_Check(b) || PyFloat_Check(b) || symOf(b) != nullptr;
  if (op == Py_EQ && proxyOf(a) != nullptr && comparable && !isDrawnNumber(a))
    return whileTracing([&](FrameTracer& tracer) {
      return tensorMethod(tracer, a, "__eq__", Ref::steal(PyTuple_Pack(1, b)).get(), nullptr);
    });
  return binary(names[op], a, b);
}

int assignItem(PyObject* self, PyObject* key, PyObject* value) {
  PyObject* done = whileTracing([&](FrameTracer& tracer) {
    if (value == nullptr) unsupported("Unsupported method call", "A tensor's items cannot be deleted.", "__delitem__");
    const Ref args = Ref::steal(PyTuple_Pack(3, self, key, value));
    return tensorSetItem(tracer, args.get());
  });
  Py_XDECREF(done);
  return done != nullptr ? 0 : -1;
}

Py_ssize_t length(PyObject* self) {
  const Ref size = Ref::steal(whileTracing([&](FrameTracer& tracer) {
    tracer.noteTensor(self);
    const Tensor& fake = asProxy(self)->state->fake;
    if (fake.dim() > 0) return Ref::steal(PyLong_FromLongLong(fake.size(0)));
    PyErr_SetString(PyExc_TypeError, "len() of a 0-d tensor");
    throw PythonRaised{};
  }));
  return size ? PyLong_AsSsize_t(size.get()) : -1;
}

PyObject* iterate(PyObject* self) {
  return whileTracing([&](FrameTracer& tracer) { return tensorIterator(tracer, self); });
}

/// What needs the data: a graph break, whose words depend on who asks.
int truth(PyObject* self) {
  whileTracing([&](FrameTracer& tracer) -> Ref {
    tracer.noteTensor(self);
    unsupported("Data-dependent branching",
                "Detected data-dependent branching (e.g. `if my_tensor.sum() > 0:`). Dynamo does not support tracing "
                "dynamic control flow.",
                "attempted to jump with TensorVariable()", {"Use `torch.cond` to express dynamic control flow."});
    return Ref::borrow(self);
  });
  return -1;
}

PyObject* asNumber(PyObject* self) {
  return whileTracing([&](FrameTracer& tracer) {
    Ref number = tensorMethod(tracer, self, "item", Ref::steal(PyTuple_New(0)).get(), nullptr);
    return symOf(number.get()) != nullptr ? specialise(tracer, *symOf(number.get())) : std::move(number);
  });
}

PyObject* asText(PyObject* self) {
  return whileTracing([&](FrameTracer&) -> Ref {
    unsupported("Unsupported method call", "A tensor's text needs its data.", "call_method TensorVariable() __repr__");
    return Ref::borrow(self);
  });
}

PyObject* attribute(PyObject* self, PyObject* name) {
  return whileTracing([&](FrameTracer& tracer) { return tensorAttribute(tracer, self, textOf(name)); });
}

int storeAttribute(PyObject* self, PyObject* name, PyObject* value) {
  PyObject* done =
      whileTracing([&](FrameTracer& tracer) { return tensorSetAttribute(tracer, self, textOf(name), value); });
  Py_XDECREF(done);
  return done != nullptr ? 0 : -1;
}

void drop(PyObject* self) {
  delete asProxy(self)->state;
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

/// Of a tensor: its identity. A number's hash is known when the graph has run.
Py_hash_t hashOf(PyObject* self) {
  if (!isDrawnNumber(self)) return _Py_HashPointer(self);
  whileTracing([&](FrameTracer&) -> Ref {
    unsupported("Unsupported method call", "A drawn number's hash needs its value.",
                "call_method UnspecializedPythonVariable() __hash__");
    return Ref::borrow(self);
  });
  return -1;
}

template <class Function>
void* slotOf(Function function) {
  return reinterpret_cast<void*>(function);
}

PyType_Slot* slots() {
  static PyType_Slot table[] = {{Py_tp_dealloc, slotOf(drop)},
                                {Py_tp_getattro, slotOf(attribute)},
                                {Py_tp_setattro, slotOf(storeAttribute)},
                                {Py_tp_hash, slotOf(hashOf)},
                                {Py_tp_richcompare, slotOf(compare)},
                                {Py_tp_iter, slotOf(iterate)},
                                {Py_tp_repr, slotOf(asText)},
                                {Py_tp_str, slotOf(asText)},
                                {Py_nb_add, slotOf(add)},
                                {Py_nb_subtract, slotOf(subtract)},
                                {Py_nb_multiply, slotOf(multiply)},
                                {Py_nb_remainder, slotOf(remainder_)},
                                {Py_nb_power, slotOf(power)},
                                {Py_nb_negative, slotOf(negative)},
                                {Py_nb_positive, slotOf(positive)},
                                {Py_nb_absolute, slotOf(absolute)},
                                {Py_nb_invert, slotOf(invert)},
                                {Py_nb_lshift, slotOf(leftShift)},
                                {Py_nb_rshift, slotOf(rightShift)},
                                {Py_nb_and, slotOf(bitAnd)},
                                {Py_nb_xor, slotOf(bitXor)},
                                {Py_nb_or, slotOf(bitOr)},
                                {Py_nb_floor_divide, slotOf(floorDivide)},
                                {Py_nb_true_divide, slotOf(trueDivide)},
                                {Py_nb_matrix_multiply, slotOf(matrixMultiply)},
                                {Py_nb_inplace_add, slotOf(addInto)},
                                {Py_nb_inplace_subtract, slotOf(subtractInto)},
                                {Py_nb_inplace_multiply, slotOf(multiplyInto)},
                                {Py_nb_inplace_remainder, slotOf(remainderInto)},
                                {Py_nb_inplace_power, slotOf(powerInto)},
                                {Py_nb_inplace_and, slotOf(andInto)},
                                {Py_nb_inplace_xor, slotOf(xorInto)},
                                {Py_nb_inplace_or, slotOf(orInto)},
                                {Py_nb_inplace_floor_divide, slotOf(floorDivideInto)},
                                {Py_nb_inplace_true_divide, slotOf(trueDivideInto)},
                                {Py_nb_inplace_matrix_multiply, slotOf(matrixMultiplyInto)},
                                {Py_nb_bool, slotOf(truth)},
                                {Py_nb_int, slotOf(asNumber)},
                                {Py_nb_float, slotOf(asNumber)},
                                {Py_nb_index, slotOf(asNumber)},
                                {Py_mp_length, slotOf(length)},
                                {Py_mp_subscript, slotOf(subscript)},
                                {Py_mp_ass_subscript, slotOf(assignItem)},
                                {0, nullptr}};
  return table;
}

}  // namespace

bool readyTensorProxy() {
  if (proxyType != nullptr) return true;
  PyType_Spec spec = {"kerf.TensorProxy", sizeof(TensorProxy), 0, Py_TPFLAGS_DEFAULT, slots()};
  proxyType = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  return proxyType != nullptr;
}

Ref makeProxy(ProxyState state) {
  if (!readyTensorProxy()) throw PythonRaised{};
  PyObject* made = proxyType->tp_alloc(proxyType, 0);
  if (made == nullptr) throw PythonRaised{};
  asProxy(made)->state = new ProxyState(std::move(state));
  return Ref::steal(made);
}

ProxyState* proxyOf(PyObject* object) {
  return proxyType != nullptr && Py_TYPE(object) == proxyType ? asProxy(object)->state : nullptr;
}

}  // namespace kerf::inline dynamo
