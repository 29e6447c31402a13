#include "engine/dynamo/tracer.h"

#include <algorithm>
#include <array>

#include "engine/dynamo/instruction_translator.h"
#include "engine/dynamo/modules.h"
#include "engine/dynamo/subclass_calls.h"
#include "engine/dynamo/values.h"
#include "engine/torch_api/tensor_type.h"

namespace kerf::inline dynamo {
namespace {

/// visit(key or index, item) of a tuple, list or dict.
template <class Visit>
void visitItems(PyObject* value, const Visit& visit) {
  if (PyTuple_Check(value) || PyList_Check(value)) {
    for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(value); ++k)
      visit(Ref::steal(PyLong_FromSsize_t(k)).get(), PySequence_Fast_GET_ITEM(value, k));
  } else if (PyDict_Check(value)) {
    PyObject *key = nullptr, *item = nullptr;
    for (Py_ssize_t at = 0; PyDict_Next(value, &at, &key, &item) != 0;) visit(key, item);
  }
}

FrameTracer* activeTracer = nullptr;
int nativeDepth = 0;

Guard contentsGuard(const StandIn& standIn) {
  Guard guard;
  guard.kind = "EQUALS_MATCH";
  const Ref held = Ref::steal(PyFrozenSet_New(standIn.real.get()));
  guard.leaf = "EQUALS_MATCH: " + standIn.source->name() + " == " + printed(held.get());
  guard.source = standIn.source;
  guard.check = [kept = held](PyObject* now, const FrameScope&) {
    const int equal = PyObject_RichCompareBool(now, kept.get(), Py_EQ);
    if (equal < 0) PyErr_Clear();
    return equal == 1;
  };
  return guard;
}

/// Of bound methods that Dynamo takes apart it looks at what they are bound to: those of modules, and those on the stack of a
/// resumed frame, which Python 3.12 keeps as a pair.
bool isTakenApart(PyObject* method, const Source& source) {
  const Source* root = &source;
  while (root->base()) root = root->base().get();
  return root->text().starts_with("___stack") || isModule(PyMethod_GET_SELF(method));
}

/// The mode of a decorated function, whose clone() Dynamo knows: it looks at the method alone.
bool isModeOfMethod(PyObject* object, const Source& source) {
  return source.text() == "__self__" && source.kind() == Source::Kind::Attr &&
         textOf(attributeOf(reinterpret_cast<PyObject*>(Py_TYPE(object)), "__module__").get()) ==
             "torch.autograd.grad_mode";
}

/// forward() of a layer makes the calls that PyTorch's makes, so that it looks at the same names of `torch`.
bool isForwardOfLayer(const InstructionTranslator& translator) {
  const std::string module = textOf(PyDict_GetItemString(translator.globals(), "__name__"));
  return module.starts_with("torch.nn.modules.") && textOf(translator.code()->co_name) == "forward";
}

/// Its functions are those that PyTorch's layers call, too.
bool isFunctional(PyObject* module) {
  const char* name = PyModule_Check(module) ? PyModule_GetName(module) : nullptr;
  if (name == nullptr) PyErr_Clear();
  return name != nullptr && std::string_view(name) == "torch.nn.functional";
}

bool isTorchCode(PyObject* globals) {
  const std::string name = textOf(PyDict_GetItemString(globals, "__name__"));
  return name == "torch" || name.starts_with("torch.");
}

}  // namespace

FrameTracer* FrameTracer::active() { return activeTracer; }

TraceScope::TraceScope(FrameTracer& tracer) : m_before(activeTracer) { activeTracer = &tracer; }
TraceScope::~TraceScope() { activeTracer = m_before; }

NativeScope::NativeScope() { ++nativeDepth; }
NativeScope::~NativeScope() { --nativeDepth; }
bool NativeScope::active() { return nativeDepth > 0; }

void FrameTracer::addGuard(Guard guard) {
  if (guard.userLine.empty() && translator != nullptr) guard.userLine = translator->where();
  guard.isInternal = guard.isInternal || quiet > 0;
  guards.add(std::move(guard));
}

void FrameTracer::noteUse(const SymState& number) {
  if (number.source && number.real) addGuard(typeGuard(number.real.get(), number.source));
}

void FrameTracer::noteTensor(PyObject* proxy) {
  ProxyState* state = proxyOf(proxy);
  if (state == nullptr || state->node.valid()) return;
  VariableTracker variable{Ref::borrow(proxy), nullptr, false};
  realize(variable);
}

void FrameTracer::settle(VariableTracker& variable) {
  if (variable && effects.find(variable.get()) == nullptr) realize(variable);
}

/// A Python module keeps the name that it was first met by: under another it is only told to be the same one.
Guard FrameTracer::firstMet(VariableTracker& variable, Guard guard) {
  if (PyTuple_Check(variable.get())) addGuard(lengthGuard(variable.get(), variable.source));
  if (!PyModule_Check(variable.get()) && !PyType_Check(variable.get())) return guard;
  const auto [at, isFirst] = met.emplace(variable.get(), variable.source);
  if (isFirst || PyType_Check(variable.get()) || at->second->name() == variable.source->name()) return guard;
  guard.kind = "DUPLICATE_INPUT";
  // What torch's own code looks at is not told by the program's names.
  if (translator == nullptr || !isTorchCode(translator->globals()) || isFunctional(variable.get()) ||
      isForwardOfLayer(*translator))
    variable.source = at->second;
  return guard;
}

void FrameTracer::realize(VariableTracker& variable) {
  if (!variable || symOf(variable.get()) != nullptr) return;
  StandIn* standIn = effects.find(variable.get());
  if (standIn == nullptr) {
    if (variable.lazy && variable.source) {
      const NativeScope native;
      if (PyIter_Check(variable.get()) && !PyType_Check(variable.get()))
        unsupported("Unsupported method call", "An iterator that was there before the frame cannot be traced.",
                    variable.source->name());
      Guard guard = constantGuard(variable.get(), variable.source);
      if (PyLong_CheckExact(variable.get()) && effects.isStaticInt(variable.source)) guard.kind = "EQUALS_MATCH";
      if (PyFunction_Check(variable.get())) functions.emplace(variable.get(), variable.source);
      addGuard(firstMet(variable, std::move(guard)));
    }
    variable.lazy = false;
    return;
  }
  if (standIn->guarded || !standIn->source) return;
  standIn->guarded = true;
  const NativeScope native;
  PyObject* real = standIn->real.get();
  if (ProxyState* proxy = proxyOf(variable.get())) {
    addGuard(tensorGuard(real, proxy->fake, standIn->source));
    if (answersCalls(*proxy)) addGuard(typeGuard(real, standIn->source));
    graph.nodeOf(*proxy);
    return;
  }
  const auto kind = standIn->kind;
  const bool sequence = kind == StandIn::Kind::List || kind == StandIn::Kind::Tuple;
  const bool isHooks = kind == StandIn::Kind::Dict && effects.isHookTable(standIn->source);
  Guard guard = isHooks && PyDict_GET_SIZE(real) == 0 ? emptyHooksGuard(standIn->source)
                : sequence || isHooks                 ? lengthGuard(real, standIn->source)
                                                      : typeGuard(real, standIn->source);
  guard.isInternal =
      PyMethod_Check(real) ? isTakenApart(real, *standIn->source) : isModeOfMethod(real, *standIn->source);
  addGuard(std::move(guard));
  if (kind == StandIn::Kind::Set) addGuard(contentsGuard(*standIn));
}

void FrameTracer::guardKeys(PyObject* dict, bool walked) {
  const StandIn* standIn = effects.find(dict);
  if (standIn != nullptr && standIn->kind == StandIn::Kind::Dict && standIn->source &&
      !effects.isHookTable(standIn->source))
    addGuard(keysGuard(standIn->real.get(), standIn->source, walked));
}

void FrameTracer::guardEntry(const StandIn& standIn, const VariableTracker& key) {
  if (!standIn.source) return;
  PyObject* held = PyDict_GetItemWithError(standIn.original.get(), key.get());
  if (held == nullptr && PyErr_Occurred() != nullptr) throw PythonRaised{};
  const bool isHooks = effects.isHookTable(standIn.source);
  if (!key.source && !isHooks && proxyOf(key.get()) == nullptr)
    return addGuard(containsGuard(standIn.source, key.value, held != nullptr));
  if (held == nullptr) return guardKeys(standIn.value.get());
  VariableTracker item{Ref::borrow(held), effects.itemSource(standIn, key.get(), held), effects.find(held) == nullptr};
  realize(item);
}

void FrameTracer::guardLeadingConstants(PyObject* list) {
  const StandIn* standIn = effects.find(list);
  if (standIn == nullptr || !standIn->source || !PyList_CheckExact(list)) return;
  for (Py_ssize_t k = 0; k < PyList_GET_SIZE(list) && isConstant(PyList_GET_ITEM(list, k)); ++k) {
    const Ref index = Ref::steal(PyLong_FromSsize_t(k));
    VariableTracker item{Ref::borrow(PyList_GET_ITEM(list, k)), nullptr, false};
    item.source = effects.itemSource(*standIn, index.get(), item.get());
    item.lazy = item.source != nullptr;
    realize(item);
  }
}

void FrameTracer::realizeTracked(PyObject* tuple) {
  if (const auto tracked = trackedTuples.find(tuple); tracked != trackedTuples.end())
    for (VariableTracker item : tracked->second.second) realize(item);
}

/// Compiled code makes these tuples anew with what was there: PyTorch loads their items again.
void FrameTracer::settleTuples() {
  const QuietScope checkedOnly(*this);
  for (auto& [tuple, held] : trackedTuples)
    if (Py_REFCNT(tuple) > 1)
      for (VariableTracker item : held.second)
        if (effects.find(item.get()) == nullptr) realize(item);
}

bool FrameTracer::guardAsConstant(PyObject* value) {
  if (!PyTuple_CheckExact(value) || effects.find(value) != nullptr) return isConstant(value);
  const auto tracked = trackedTuples.find(value);
  bool leads = true;
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(value); ++k) {
    const bool isWhole = guardAsConstant(PyTuple_GET_ITEM(value, k));
    leads = leads && isWhole;
    if (!leads || tracked == trackedTuples.end()) continue;
    VariableTracker item = tracked->second.second[static_cast<std::size_t>(k)];
    realize(item);
  }
  return leads;
}

void FrameTracer::realizeDeep(PyObject* value) {
  if (value == nullptr || isConstant(value) || proxyOf(value) != nullptr) return;
  realizeTracked(value);
  if (const auto iterated = iterators.find(value); iterated != iterators.end()) {
    const std::vector<Ref> parts = iterated->second.parts;
    for (const Ref& part : parts) realizeDeep(part.get());
    return;
  }
  if (PyDictItems_Check(value) || PyDictValues_Check(value) || PyDictKeys_Check(value))
    return realizeDeep(reinterpret_cast<PyObject*>(reinterpret_cast<_PyDictViewObject*>(value)->dv_dict));
  if (std::ranges::find(m_realizing, value) != m_realizing.end()) return;
  m_realizing.push_back(value);
  VariableTracker whole{Ref::borrow(value), nullptr, false};
  realize(whole);
  StandIn* standIn = effects.find(value);
  if (standIn != nullptr && standIn->kind == StandIn::Kind::Object) effects.completeObject(*standIn);
  guardKeys(value);
  visitItems(value, [&](PyObject* key, PyObject* item) {
    if (standIn != nullptr && standIn->source && effects.find(item) == nullptr) {
      const SourcePtr source = effects.itemSource(*standIn, key, item);
      VariableTracker held{Ref::borrow(item), source, source != nullptr};
      realize(held);
    }
    realizeDeep(item);
  });
  m_realizing.pop_back();
}

void FrameTracer::realizeItems(PyObject* value) {
  const StandIn* standIn = effects.find(value);
  visitItems(value, [&](PyObject* key, PyObject* item) {
    VariableTracker held{Ref::borrow(item), nullptr, false};
    if (standIn != nullptr && standIn->source && effects.find(item) == nullptr) {
      held.source = effects.itemSource(*standIn, key, item);
      held.lazy = held.source != nullptr;
    }
    realizeLeaving(held);
  });
}

void FrameTracer::realizeLeaving(VariableTracker& variable) {
  PyObject* value = variable.get();
  if (value == nullptr || (variable.lazy && isLiteral(value))) return;
  if (proxyOf(value) != nullptr) return noteTensor(value);
  realize(variable);
  if (isConstant(value) || std::ranges::find(m_realizing, value) != m_realizing.end()) return;
  if (iterators.contains(value) || PyDictItems_Check(value) || PyDictValues_Check(value) || PyDictKeys_Check(value))
    return realizeDeep(value);
  m_realizing.push_back(value);
  realizeItems(value);
  m_realizing.pop_back();
}

std::vector<std::string> FrameTracer::userStack() const {
  std::vector<std::string> lines;
  for (const InstructionTranslator* at = translator; at != nullptr; at = at->parent())
    if (!at->isStandIn()) lines.push_back(at->where());
  std::ranges::reverse(lines);
  return lines;
}

PyObject* FrameTracer::keepException() {
  if (!m_pending) m_pending = std::current_exception();
  // BaseException, so that no handler of the program takes it for its own.
  if (!PyErr_Occurred()) PyErr_SetString(PyExc_SystemExit, "tracing stopped");
  return nullptr;
}

PyObject* FrameTracer::keepDataDependent(const std::string& message) {
  try {
    dataDependent(message);
  } catch (...) {
    return keepException();
  }
}

Ref FrameTracer::checked(PyObject* object) {
  if (m_pending) {
    Py_XDECREF(object);
    PyErr_Clear();
    std::rethrow_exception(std::exchange(m_pending, nullptr));
  }
  if (object == nullptr) throw PythonRaised{};
  return Ref::steal(object);
}

void FrameTracer::checkStatus(int status) {
  if (m_pending) {
    PyErr_Clear();
    std::rethrow_exception(std::exchange(m_pending, nullptr));
  }
  if (status < 0) throw PythonRaised{};
}

}  // namespace kerf::inline dynamo
