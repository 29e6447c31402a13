#include "engine/dynamo/random_calls.h"

#include <algorithm>
#include <array>

#include "engine/dynamo/stand_ins.h"
#include "engine/dynamo/tensor_calls.h"
#include "engine/dynamo/tracer.h"
#include "engine/dynamo/values.h"

namespace kerf::inline dynamo {
namespace {

/// Methods of random.Random in Python; random.random itself is a builtin, at which Dynamo breaks.
constexpr std::array<std::string_view, 3> kDraws = {"randint", "randrange", "uniform"};

PyObject* randomModule() { return PyDict_GetItemString(PyImport_GetModuleDict(), "random"); }

/// The program's own method, of which a copy stands on the stack.
PyObject* realOf(FrameTracer& tracer, PyObject* callable) {
  const StandIn* standIn = tracer.effects.find(callable);
  return standIn != nullptr && standIn->real ? standIn->real.get() : callable;
}

bool isDraw(PyObject* callable) {
  PyObject* module = randomModule();
  if (module == nullptr || !PyMethod_Check(callable)) return false;
  const Ref shared = attributeOf(module, "_inst");
  const std::string name = textOf(attributeOf(PyMethod_GET_FUNCTION(callable), "__name__").get());
  return shared && PyMethod_GET_SELF(callable) == shared.get() && std::ranges::find(kDraws, name) != kDraws.end();
}

bool areNumbers(PyObject* args) {
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(args); ++k)
    if (!isLiteral(PyTuple_GET_ITEM(args, k))) return false;
  return true;
}

/// Graphs hold ints of 64 bits.
bool fitsGraph(PyObject* number) {
  if (!PyLong_Check(number)) return PyFloat_Check(number);
  int isPast = 0;
  PyLong_AsLongLongAndOverflow(number, &isPast);
  return isPast == 0;
}

/// The largest numbers that a call can give fit, too.
bool alwaysFits(const TracedDraw& call, PyObject* example) {
  if (PyFloat_Check(example)) return true;
  bool fits = fitsGraph(example);
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(call.args.get()); ++k)
    fits = fits &&
           (!PyLong_Check(PyTuple_GET_ITEM(call.args.get(), k)) || fitsGraph(PyTuple_GET_ITEM(call.args.get(), k)));
  PyObject *key = nullptr, *value = nullptr;
  for (Py_ssize_t at = 0; call.kwargs && PyDict_Next(call.kwargs.get(), &at, &key, &value) != 0;)
    fits = fits && (!PyLong_Check(value) || fitsGraph(value));
  return fits;
}

/// A draw that the program's own draws do not notice.
Ref exampleOf(const TracedDraw& call) {
  const NativeScope native;
  PyObject* module = randomModule();
  const Ref state = Ref::steal(PyObject_CallMethod(module, "getstate", nullptr));
  Ref drawn = state ? call.draw() : Ref();
  if (!drawn) throw PythonRaised{};
  const Ref done = Ref::steal(PyObject_CallMethod(module, "setstate", "(O)", state.get()));
  if (!done) throw PythonRaised{};
  return drawn;
}

}  // namespace

Ref TracedDraw::draw() const { return Ref::steal(PyObject_Call(function.get(), args.get(), kwargs.get())); }

std::optional<VariableTracker> callRandom(FrameTracer& tracer, PyObject* given, PyObject* args, PyObject* kwargs) {
  if (!PyMethod_Check(given)) return std::nullopt;
  PyObject* callable = realOf(tracer, given);
  if (!isDraw(callable) || !areNumbers(args)) return std::nullopt;
  if (kwargs != nullptr && !areNumbers(Ref::steal(PyList_AsTuple(Ref::steal(PyDict_Values(kwargs)).get())).get()))
    return std::nullopt;
  const TracedDraw call{Ref::borrow(callable), Ref::borrow(args), Ref::borrow(kwargs)};
  const Ref example = exampleOf(call);
  if (!alwaysFits(call, example.get())) return std::nullopt;
  const NativeScope native;
  ProxyState state;
  state.real = tensorOfDraw(example.get());
  if (!state.real) throw PythonRaised{};
  state.fake = fakeOf(state.real.get());
  state.source = Source::random(static_cast<int>(tracer.randomCalls.size()));
  state.pythonClass = Ref::borrow(reinterpret_cast<PyObject*>(Py_TYPE(example.get())));
  state.isNumber = true;
  tracer.randomCalls.push_back(call);
  return VariableTracker{makeProxy(std::move(state)), nullptr, false};
}

std::optional<std::vector<Ref>> drawAll(const std::vector<TracedDraw>& calls) {
  std::vector<Ref> drawn;
  for (const TracedDraw& call : calls) {
    drawn.push_back(call.draw());
    if (!drawn.back()) return std::nullopt;
  }
  return drawn;
}

Ref tensorOfDraw(PyObject* number) {
  const Ref function = torchObject("tensor"), dtype = torchObject(PyFloat_Check(number) ? "float64" : "int64");
  const Ref args = Ref::steal(PyTuple_Pack(1, number)), kwargs = Ref::steal(PyDict_New());
  PyDict_SetItemString(kwargs.get(), "dtype", dtype.get());
  return Ref::steal(PyObject_Call(function.get(), args.get(), kwargs.get()));
}

}  // namespace kerf::inline dynamo
