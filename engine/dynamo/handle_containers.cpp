// Opcodes that make, fill and unpack containers.
#include <span>

#include "engine/dynamo/handlers.h"
#include "engine/dynamo/tracked_iterators.h"
#include "engine/dynamo/values.h"

namespace kerf::inline dynamo {
namespace {

using T = InstructionTranslator;
using I = Instruction;

void requireValue(T& t, const VariableTracker& item) {
  if (!item) unsupported("Empty stack", "Bytecode takes a NULL for a value.", t.where());
}

Ref tupleOf(T& t, int count) {
  std::vector<VariableTracker> items = t.popMany(count);
  Ref tuple = Ref::steal(PyTuple_New(count));
  for (int k = 0; k < count; ++k) {
    requireValue(t, items[static_cast<std::size_t>(k)]);
    t.tracer().settle(items[static_cast<std::size_t>(k)]);
    PyTuple_SET_ITEM(tuple.get(), k, items[static_cast<std::size_t>(k)].value.release());
  }
  return tuple;
}

/// Its numbers and texts are guarded when they are looked at, or where it leaves the graph.
void buildTuple(T& t, const I& i) {
  std::vector<VariableTracker> items = t.popMany(i.arg);
  Ref tuple = Ref::steal(PyTuple_New(i.arg));
  bool isLazy = false;
  for (VariableTracker& item : items) {
    requireValue(t, item);
    if (!item.lazy || !item.source || !isLiteral(item.get())) t.tracer().settle(item);
    isLazy = isLazy || item.lazy;
  }
  for (int k = 0; k < i.arg; ++k)
    PyTuple_SET_ITEM(tuple.get(), k, Py_XNewRef(items[static_cast<std::size_t>(k)].get()));
  if (isLazy) t.tracer().trackedTuples[tuple.get()] = {tuple, std::move(items)};
  t.push(std::move(tuple));
}
void buildList(T& t, const I& i) { t.checkedPush(PySequence_List(tupleOf(t, i.arg).get())); }
void buildSet(T& t, const I& i) { t.checkedPush(PySet_New(tupleOf(t, i.arg).get())); }

void buildMap(T& t, const I& i) {
  const Ref items = tupleOf(t, 2 * i.arg);
  const Ref dict = Ref::steal(PyDict_New());
  for (int k = 0; k < i.arg; ++k) refuseOwnHash(PyTuple_GET_ITEM(items.get(), 2 * k));
  for (int k = 0; k < i.arg; ++k)
    t.tracer().checkStatus(
        PyDict_SetItem(dict.get(), PyTuple_GET_ITEM(items.get(), 2 * k), PyTuple_GET_ITEM(items.get(), 2 * k + 1)));
  t.push(dict);
}

void buildConstKeyMap(T& t, const I& i) {
  const VariableTracker keys = t.pop();
  const Ref values = tupleOf(t, i.arg);
  const Ref dict = Ref::steal(PyDict_New());
  for (int k = 0; k < i.arg; ++k)
    t.tracer().checkStatus(
        PyDict_SetItem(dict.get(), PyTuple_GET_ITEM(keys.get(), k), PyTuple_GET_ITEM(values.get(), k)));
  t.push(dict);
}

void buildSlice(T& t, const I& i) {
  const Ref parts = tupleOf(t, i.arg);
  PyObject* step = i.arg == 3 ? PyTuple_GET_ITEM(parts.get(), 2) : nullptr;
  t.checkedPush(PySlice_New(PyTuple_GET_ITEM(parts.get(), 0), PyTuple_GET_ITEM(parts.get(), 1), step));
}

void buildString(T& t, const I& i) {
  const Ref parts = tupleOf(t, i.arg);
  const Ref empty = makeText("");
  t.checkedPush(PyUnicode_Join(empty.get(), parts.get()));
}

void formatValue(T& t, const I& i) {
  const VariableTracker spec = (i.arg & 4) != 0 ? t.pop() : VariableTracker{};
  const VariableTracker value = t.pop();
  t.tracer().realizeDeep(value.get());
  using Convert = PyObject* (*)(PyObject*);
  static constexpr Convert converts[] = {nullptr, PyObject_Str, PyObject_Repr, PyObject_ASCII};
  const Convert convert = converts[i.arg & 3];
  const Ref text = convert ? t.tracer().checked(convert(value.get())) : value.value;
  t.checkedPush(PyObject_Format(text.get(), spec.get()));
}

void listAppend(T& t, const I& i) {
  VariableTracker value = t.popLazy();
  t.tracer().settle(value);
  t.tracer().checkStatus(PyList_Append(t.peek(i.arg).get(), value.get()));
}

void setAdd(T& t, const I& i) {
  const VariableTracker value = t.pop();
  t.tracer().checkStatus(PySet_Add(t.peek(i.arg).get(), value.get()));
}

void mapAdd(T& t, const I& i) {
  const VariableTracker value = t.pop();
  const VariableTracker key = t.pop();
  t.tracer().checkStatus(PyDict_SetItem(t.peek(i.arg).get(), key.get(), value.get()));
}

void listExtend(T& t, const I& i) {
  const VariableTracker more = t.pop();
  t.tracer().realizeDeep(more.get());
  const Ref done = t.tracer().checked(_PyList_Extend(reinterpret_cast<PyListObject*>(t.peek(i.arg).get()), more.get()));
}

void listToTuple(T& t, const I&) {
  const VariableTracker list = t.pop();
  t.checkedPush(PyList_AsTuple(list.get()));
}

void setUpdate(T& t, const I& i) {
  const VariableTracker more = t.pop();
  t.tracer().realizeDeep(more.get());
  t.tracer().checkStatus(_PySet_Update(t.peek(i.arg).get(), more.get()));
}

void dictUpdate(T& t, const I& i) {
  const VariableTracker more = t.pop();
  t.tracer().realizeDeep(more.get());
  t.tracer().checkStatus(PyDict_Update(t.peek(i.arg).get(), more.get()));
}

void dictMerge(T& t, const I& i) {
  const VariableTracker more = t.pop();
  t.tracer().realizeDeep(more.get());
  PyObject* into = t.peek(i.arg).get();
  if (!PyMapping_Check(more.get())) {
    PyErr_SetString(PyExc_TypeError, "argument after ** must be a mapping");
    throw PythonRaised{};
  }
  t.tracer().checkStatus(_PyDict_MergeEx(into, more.get(), 2));
}

/// Items of a container that are still what was there have sources of their own.
VariableTracker itemOf(T& t, const VariableTracker& container, Ref item, Py_ssize_t index) {
  if (std::optional<VariableTracker> tracked = itemOfTracked(t.tracer(), container.get(), item.get(), index))
    return *tracked;
  VariableTracker made{std::move(item), nullptr, false};
  const StandIn* standIn = t.tracer().effects.find(container.get());
  if (standIn == nullptr || !standIn->source || t.tracer().effects.find(made.get()) != nullptr) return made;
  const Ref key = Ref::steal(PyLong_FromSsize_t(index));
  made.source = t.tracer().effects.itemSource(*standIn, key.get(), made.get());
  made.lazy = made.source != nullptr;
  return made;
}

Ref listOf(T& t, const VariableTracker& container) {
  const bool plain =
      PyTuple_Check(container.get()) || PyList_Check(container.get()) || proxyOf(container.get()) != nullptr;
  if (!plain) t.tracer().realizeDeep(container.get());
  return t.tracer().checked(PySequence_List(container.get()));
}

void unpackSequence(T& t, const I& i) {
  const VariableTracker container = t.pop();
  const Ref list = listOf(t, container);
  const Py_ssize_t size = PyList_GET_SIZE(list.get());
  if (size != i.arg) {
    if (size < i.arg)
      PyErr_Format(PyExc_ValueError, "not enough values to unpack (expected %d, got %zd)", i.arg, size);
    else
      PyErr_Format(PyExc_ValueError, "too many values to unpack (expected %d)", i.arg);
    throw PythonRaised{};
  }
  for (Py_ssize_t k = size; k-- > 0;) t.push(itemOf(t, container, Ref::borrow(PyList_GET_ITEM(list.get(), k)), k));
}

void unpackEx(T& t, const I& i) {
  const Py_ssize_t before = i.arg & 0xFF;
  const Py_ssize_t after = i.arg >> 8;
  const VariableTracker container = t.pop();
  const Ref list = listOf(t, container);
  const Py_ssize_t size = PyList_GET_SIZE(list.get());
  if (size < before + after) {
    PyErr_Format(PyExc_ValueError, "not enough values to unpack (expected at least %zd, got %zd)", before + after,
                 size);
    throw PythonRaised{};
  }
  const auto at = [&](Py_ssize_t k) { return itemOf(t, container, Ref::borrow(PyList_GET_ITEM(list.get(), k)), k); };
  for (Py_ssize_t k = size; k-- > size - after;) t.push(at(k));
  for (Py_ssize_t k = before; k < size - after; ++k) {
    VariableTracker item = at(k);
    t.tracer().realize(item);
    t.tracer().realizeDeep(item.get());
  }
  t.checkedPush(PyList_GetSlice(list.get(), before, size - after));
  for (Py_ssize_t k = before; k-- > 0;) t.push(at(k));
}

constexpr OpHandlerRow kRows[] = {
    {Op::BUILD_TUPLE, buildTuple},
    {Op::BUILD_LIST, buildList},
    {Op::BUILD_SET, buildSet},
    {Op::BUILD_MAP, buildMap},
    {Op::BUILD_CONST_KEY_MAP, buildConstKeyMap},
    {Op::BUILD_SLICE, buildSlice},
    {Op::BUILD_STRING, buildString},
    {Op::FORMAT_VALUE, formatValue},
    {Op::LIST_APPEND, listAppend},
    {Op::SET_ADD, setAdd},
    {Op::MAP_ADD, mapAdd},
    {Op::LIST_EXTEND, listExtend},
    {Op::LIST_TO_TUPLE, listToTuple},
    {Op::SET_UPDATE, setUpdate},
    {Op::DICT_UPDATE, dictUpdate},
    {Op::DICT_MERGE, dictMerge},
    {Op::UNPACK_SEQUENCE, unpackSequence},
    {Op::UNPACK_EX, unpackEx},
};

}  // namespace

std::span<const OpHandlerRow> containerHandlers() { return kRows; }

}  // namespace kerf::inline dynamo
