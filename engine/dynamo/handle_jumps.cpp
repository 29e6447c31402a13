// Opcodes of control flow: jumps on what is known while tracing, loops, returns.
#include <span>

#include "engine/dynamo/handlers.h"
#include "engine/dynamo/tracked_iterators.h"
#include "engine/dynamo/values.h"

namespace kerf::inline dynamo {
namespace {

using T = InstructionTranslator;
using I = Instruction;

bool truthOf(T& t, const VariableTracker& value) {
  if (value.get() == Py_True) return true;
  if (value.get() == Py_False) return false;
  const int truth = PyObject_IsTrue(value.get());
  t.tracer().checkStatus(truth);
  return truth != 0;
}

void jumpAlways(T& t, const I&) { t.jump(); }

template <bool When>
void popJumpIf(T& t, const I&) {
  const VariableTracker value = t.pop();
  if (truthOf(t, value) == When) t.jump();
}

template <bool When>
void jumpIfOrPop(T& t, const I&) {
  t.tracer().realize(t.peek());
  if (truthOf(t, t.peek()) == When)
    t.jump();
  else
    t.popLazy();
}

template <bool None>
void popJumpIfNone(T& t, const I&) {
  const VariableTracker value = t.pop();
  if ((value.get() == Py_None) == None) t.jump();
}

void getIter(T& t, const I&) {
  const VariableTracker value = t.pop();
  guardIteration(t.tracer(), value.get());
  if (std::optional<Ref> iterator = trackedIterator(t.tracer(), value.get())) return t.push(*std::move(iterator));
  // Other iterators hand out items without their sources.
  t.tracer().realizeDeep(value.get());
  t.checkedPush(PyObject_GetIter(value.get()));
}

bool unpacksNext(T& t) {
  const auto next = static_cast<std::size_t>(t.nextInstruction());
  return next < t.bytecode().instructions.size() && t.bytecode().instructions[next].op == Op::UNPACK_SEQUENCE;
}

void forIter(T& t, const I&) {
  t.tracer().realize(t.peek());
  PyObject* iterator = t.peek().get();
  PyObject* item = (*Py_TYPE(iterator)->tp_iternext)(iterator);
  if (item == nullptr && PyErr_Occurred() == nullptr) {
    t.popLazy();
    t.jump();
    return;
  }
  if (item == nullptr) {
    try {
      t.tracer().checked(nullptr);
    } catch (const PythonRaised&) {
      if (PyErr_ExceptionMatches(PyExc_StopIteration) == 0) throw;
      PyErr_Clear();
      t.popLazy();
      t.jump();
    }
    return;
  }
  const Ref made = t.tracer().checked(item);
  t.push(trackedItem(t.tracer(), iterator, made, unpacksNext(t)));
}

void returnValue(T& t, const I&) {
  VariableTracker value = t.popLazy();
  t.result = value.value;
  t.resultSource = value.source;
  t.resultLazy = value.lazy;
  t.stop(T::Stop::Returned);
}

void yieldValue(T& t, const I&) {
  VariableTracker value = t.pop();
  // C code may take it.
  t.tracer().realizeTracked(value.get());
  t.result = value.value;
  t.stop(T::Stop::Yielded);
}

void getYieldFromIter(T& t, const I& i) {
  if (PyGen_CheckExact(t.peek().get())) return;
  getIter(t, i);
}

/// `yield from`: the value sent is on top, the iterator below it.
void send(T& t, const I&) {
  const VariableTracker value = t.pop();
  PyObject* iterator = t.peek().get();
  PyObject* result = nullptr;
  const PySendResult status = PyIter_Send(iterator, value.get(), &result);
  if (status == PYGEN_ERROR) t.tracer().checked(nullptr);
  if (status == PYGEN_RETURN) {
    t.popLazy();
    t.checkedPush(result);
    t.jump();
    return;
  }
  t.checkedPush(result);
}

constexpr OpHandlerRow kRows[] = {
    {Op::JUMP_FORWARD, jumpAlways},
    {Op::JUMP_BACKWARD, jumpAlways},
    {Op::JUMP_BACKWARD_NO_INTERRUPT, jumpAlways},
    {Op::POP_JUMP_FORWARD_IF_TRUE, popJumpIf<true>},
    {Op::POP_JUMP_FORWARD_IF_FALSE, popJumpIf<false>},
    {Op::POP_JUMP_BACKWARD_IF_TRUE, popJumpIf<true>},
    {Op::POP_JUMP_BACKWARD_IF_FALSE, popJumpIf<false>},
    {Op::JUMP_IF_TRUE_OR_POP, jumpIfOrPop<true>},
    {Op::JUMP_IF_FALSE_OR_POP, jumpIfOrPop<false>},
    {Op::POP_JUMP_FORWARD_IF_NONE, popJumpIfNone<true>},
    {Op::POP_JUMP_FORWARD_IF_NOT_NONE, popJumpIfNone<false>},
    {Op::POP_JUMP_BACKWARD_IF_NONE, popJumpIfNone<true>},
    {Op::POP_JUMP_BACKWARD_IF_NOT_NONE, popJumpIfNone<false>},
    {Op::GET_ITER, getIter},
    {Op::FOR_ITER, forIter},
    {Op::RETURN_VALUE, returnValue},
    {Op::YIELD_VALUE, yieldValue},
    {Op::GET_YIELD_FROM_ITER, getYieldFromIter},
    {Op::SEND, send},
};

}  // namespace

std::span<const OpHandlerRow> jumpHandlers() { return kRows; }

}  // namespace kerf::inline dynamo
