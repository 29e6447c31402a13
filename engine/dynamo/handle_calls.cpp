// Opcodes of calls and of functions made on the way.
#include <span>

#include "engine/dynamo/handlers.h"
#include "engine/dynamo/values.h"

namespace kerf::inline dynamo {
namespace {

using T = InstructionTranslator;
using I = Instruction;

void kwNames(T& t, const I& i) { t.keywordNames = Ref::borrow(t.constant(i.arg)); }

void call(T& t, const I& i) {
  std::vector<VariableTracker> args = t.popMany(i.arg);
  VariableTracker second = t.popLazy();
  VariableTracker first = t.popLazy();
  const Ref names = std::exchange(t.keywordNames, Ref());
  if (first) {
    args.insert(args.begin(), std::move(second));
    second = std::move(first);
  }
  t.push(t.call(std::move(second), std::move(args), names.get()));
}

void callFunctionEx(T& t, const I& i) {
  VariableTracker keywords = (i.arg & 1) != 0 ? t.pop() : VariableTracker{};
  VariableTracker args = t.pop();
  VariableTracker callable = t.popLazy();
  t.popLazy();
  std::vector<VariableTracker> sources;
  const auto tracked = t.tracer().trackedTuples.find(args.get());
  if (tracked != t.tracer().trackedTuples.end())
    sources = tracked->second.second;
  else
    t.tracer().realizeDeep(args.get());
  const Ref tuple = PyTuple_CheckExact(args.get()) ? args.value : t.tracer().checked(PySequence_Tuple(args.get()));
  Ref dict = keywords.value;
  if (dict && !PyDict_CheckExact(dict.get())) {
    dict = Ref::steal(PyDict_New());
    t.tracer().checkStatus(PyDict_Update(dict.get(), keywords.get()));
  }
  if (dict) t.tracer().realizeDeep(keywords.get());
  t.push(t.callWith(std::move(callable), tuple.get(), dict.get(), std::move(sources)));
}

void makeFunction(T& t, const I& i) {
  const VariableTracker code = t.pop();
  Ref function = t.tracer().checked(PyFunction_New(code.get(), t.globals()));
  const auto set = [&](int bit, const char* name) {
    if ((i.arg & bit) == 0) return;
    const VariableTracker value = t.pop();
    if (bit == 1) t.tracer().realizeTracked(value.get());
    if (bit == 8) PyFunction_SetClosure(function.get(), value.get());
    if (bit == 4) PyFunction_SetAnnotations(function.get(), PyDict_Check(value.get()) ? value.get() : nullptr);
    if (bit == 2) PyFunction_SetKwDefaults(function.get(), value.get());
    if (bit == 1) PyFunction_SetDefaults(function.get(), value.get());
    static_cast<void>(name);
  };
  set(8, "closure");
  set(4, "annotations");
  set(2, "keyword defaults");
  set(1, "defaults");
  PyErr_Clear();
  t.tracer().freshFunctions.insert(function.get());
  t.tracer().kept.push_back(function);
  t.push(std::move(function));
}

constexpr OpHandlerRow kRows[] = {
    {Op::KW_NAMES, kwNames},
    {Op::CALL, call},
    {Op::CALL_FUNCTION_EX, callFunctionEx},
    {Op::MAKE_FUNCTION, makeFunction},
};

}  // namespace

std::span<const OpHandlerRow> callHandlers() { return kRows; }

}  // namespace kerf::inline dynamo
