// Opcodes that move values: constants, locals, cells, globals, attributes.
#include <span>

#include "engine/dynamo/handlers.h"
#include "engine/dynamo/stand_ins.h"
#include "engine/dynamo/values.h"

namespace kerf::inline dynamo {
namespace {

using T = InstructionTranslator;
using I = Instruction;

void nothing(T&, const I&) {}

void loadConst(T& t, const I& i) { t.push(Ref::borrow(t.constant(i.arg))); }
void pushNull(T& t, const I&) { t.push(Ref()); }
void popTop(T& t, const I&) { t.popLazy(); }
void copy(T& t, const I& i) { t.push(t.peek(i.arg)); }
void swap(T& t, const I& i) { std::swap(t.peek(1), t.peek(i.arg)); }

void unbound(T& t, int slot) {
  const std::string name = t.variableName(slot);
  unsupported("Attempted to read undefined local variable",
              "Should not be possible, unless `" + name + "` was deleted.", "LOAD_FAST " + name);
}

void loadFast(T& t, const I& i) {
  const VariableTracker& held = t.variables()[static_cast<std::size_t>(i.arg)];
  if (!held) unbound(t, i.arg);
  t.push(held);
}

void storeFast(T& t, const I& i) { t.variables()[static_cast<std::size_t>(i.arg)] = t.popLazy(); }

void deleteFast(T& t, const I& i) {
  VariableTracker& held = t.variables()[static_cast<std::size_t>(i.arg)];
  if (!held) unbound(t, i.arg);
  held = {};
}

/// Cells hold stand-ins; one that the frame got from outside was wrapped when the frame started.
void makeCell(T& t, const I& i) {
  VariableTracker& held = t.variables()[static_cast<std::size_t>(i.arg)];
  if (held && PyCell_Check(held.get())) return;
  t.tracer().settle(held);
  held = {Ref::steal(PyCell_New(held.get())), nullptr, false};
  if (t.parent() == nullptr) t.tracer().effects.adoptCell(held.value, Source::cell(t.variableName(i.arg), i.arg));
}

PyObject* cellAt(T& t, int slot) {
  PyObject* cell = t.variables()[static_cast<std::size_t>(slot)].get();
  if (cell == nullptr || !PyCell_Check(cell))
    unsupported("Unsupported cell", "A variable of an enclosing function is not there.", t.variableName(slot));
  return cell;
}

void loadClosure(T& t, const I& i) { t.push(t.variables()[static_cast<std::size_t>(i.arg)]); }

void loadDeref(T& t, const I& i) {
  PyObject* cell = cellAt(t, i.arg);
  PyObject* held = PyCell_GET(cell);
  if (held == nullptr) {
    PyErr_Format(PyExc_NameError,
                 "cannot access free variable '%s' where it is not associated with a value in enclosing scope",
                 t.variableName(i.arg).c_str());
    throw PythonRaised{};
  }
  VariableTracker value{Ref::borrow(held), nullptr, false};
  const StandIn* standIn = t.tracer().effects.find(cell);
  if (standIn != nullptr && standIn->contents.get() == held && standIn->source) {
    value.source = Source::attribute(standIn->source, "cell_contents");
    value.lazy = true;
    const StandIn* known = t.tracer().effects.find(held);
    if (known != nullptr && known->source && known->source->name() != value.source->name())
      t.tracer().addGuard(sameObjectGuard(known->source, value.source));
  }
  t.push(std::move(value));
}

void storeDeref(T& t, const I& i) {
  VariableTracker value = t.pop();
  PyCell_Set(cellAt(t, i.arg), value.get());
}

void deleteDeref(T& t, const I& i) { PyCell_Set(cellAt(t, i.arg), nullptr); }

void loadGlobal(T& t, const I& i) {
  if ((i.arg & 1) != 0) t.push(Ref());
  t.push(t.loadGlobal(t.name(i.arg >> 1)));
}

void storeGlobal(T& t, const I& i) {
  const VariableTracker value = t.pop();
  t.tracer().effects.storeGlobal(t.globals(), t.name(i.arg), value.value);
}

void loadName(T& t, const I& i) { t.push(t.loadGlobal(t.name(i.arg))); }

void loadAttr(T& t, const I& i) {
  VariableTracker object = t.popLazy();
  t.push(t.loadAttribute(std::move(object), t.name(i.arg)));
}

/// A method comes as what it is bound to: the pair of NULL and the bound method means the same.
void loadMethod(T& t, const I& i) {
  VariableTracker object = t.popLazy();
  VariableTracker method = t.loadAttribute(std::move(object), t.name(i.arg));
  t.push(Ref());
  t.push(std::move(method));
}

void storeAttr(T& t, const I& i) {
  const VariableTracker object = t.pop();
  const VariableTracker value = t.pop();
  t.storeAttribute(object, t.name(i.arg), value.get());
}

void deleteAttr(T& t, const I& i) {
  const VariableTracker object = t.pop();
  t.storeAttribute(object, t.name(i.arg), nullptr);
}

void importName(T& t, const I& i) {
  const VariableTracker from = t.pop();
  const VariableTracker level = t.pop();
  const NativeScope native;
  const Ref name = makeText(t.name(i.arg));
  t.checkedPush(PyImport_ImportModuleLevelObject(name.get(), t.globals(), nullptr, from.get(),
                                                 static_cast<int>(PyLong_AsLong(level.get()))));
}

void importFrom(T& t, const I& i) {
  const VariableTracker module = t.peek();
  const NativeScope native;
  const std::string name = t.name(i.arg);
  t.checkedPush(PyObject_GetAttrString(module.get(), name.c_str()));
}

void loadAssertionError(T& t, const I&) { t.push(Ref::borrow(PyExc_AssertionError)); }

constexpr OpHandlerRow kRows[] = {
    {Op::NOP, nothing},
    {Op::CACHE, nothing},
    {Op::RESUME, nothing},
    {Op::PRECALL, nothing},
    {Op::COPY_FREE_VARS, nothing},
    {Op::LOAD_CONST, loadConst},
    {Op::PUSH_NULL, pushNull},
    {Op::POP_TOP, popTop},
    {Op::COPY, copy},
    {Op::SWAP, swap},
    {Op::LOAD_FAST, loadFast},
    {Op::STORE_FAST, storeFast},
    {Op::DELETE_FAST, deleteFast},
    {Op::MAKE_CELL, makeCell},
    {Op::LOAD_CLOSURE, loadClosure},
    {Op::LOAD_DEREF, loadDeref},
    {Op::STORE_DEREF, storeDeref},
    {Op::DELETE_DEREF, deleteDeref},
    {Op::LOAD_GLOBAL, loadGlobal},
    {Op::STORE_GLOBAL, storeGlobal},
    {Op::LOAD_NAME, loadName},
    {Op::LOAD_ATTR, loadAttr},
    {Op::LOAD_METHOD, loadMethod},
    {Op::STORE_ATTR, storeAttr},
    {Op::DELETE_ATTR, deleteAttr},
    {Op::IMPORT_NAME, importName},
    {Op::IMPORT_FROM, importFrom},
    {Op::LOAD_ASSERTION_ERROR, loadAssertionError},
};

}  // namespace

std::span<const OpHandlerRow> stackHandlers() { return kRows; }

}  // namespace kerf::inline dynamo
