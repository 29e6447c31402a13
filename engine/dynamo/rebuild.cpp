#include "engine/dynamo/rebuild.h"

#include <algorithm>
#include <string_view>

#include "engine/dynamo/stand_ins.h"
#include "engine/dynamo/subclass_calls.h"
#include "engine/dynamo/tensor_calls.h"
#include "engine/dynamo/tracer.h"
#include "engine/dynamo/unsupported.h"
#include "engine/dynamo/values.h"

namespace kerf::inline dynamo {
namespace {

bool isIterator(PyObject* value) {
  const std::string_view name = Py_TYPE(value)->tp_name;
  return PyIter_Check(value) && !PyGen_Check(value) &&
         (name.find('.') == std::string_view::npos || name.starts_with("itertools."));
}

Ref listOf(PyObject* deque) { return Ref::steal(PySequence_List(deque)); }

/// Whether an object of C reaches a tensor or a number of the graph: itself, or by what it holds, a few steps deep.
struct TracedSearch {
  int steps = 3;
  int left = 1000;
  bool isFound = false;
};

int searchTraced(PyObject* value, void* state) {
  auto& search = *static_cast<TracedSearch*>(state);
  if (proxyOf(value) != nullptr || symOf(value) != nullptr) search.isFound = true;
  if (--search.left < 0) search.isFound = true;  // it is not known that there is none
  if (search.isFound) return 1;
  const traverseproc traverse = Py_TYPE(value)->tp_traverse;
  if (search.steps == 0 || traverse == nullptr || !PyObject_IS_GC(value) || isConstant(value) || PyFrame_Check(value))
    return 0;
  --search.steps;
  const int stopped = traverse(value, searchTraced, state);
  ++search.steps;
  return stopped;
}

bool holdsTraced(PyObject* value) {
  TracedSearch search;
  searchTraced(value, &search);
  return search.isFound;
}

/// (callable, arguments, state) of an iterator, which it hands out for copying.
Ref reduced(PyObject* value) { return Ref::steal(PyObject_CallMethod(value, "__reduce__", nullptr)); }

}  // namespace

TemplateKind templateKind(PyObject* value, const std::unordered_set<PyObject*>& fresh) {
  if (fresh.contains(value)) return PyFunction_Check(value) ? TemplateKind::Function : TemplateKind::Object;
  if (proxyOf(value) != nullptr || symOf(value) != nullptr) return TemplateKind::Tensor;
  if (PyTuple_Check(value) || PyList_Check(value)) return TemplateKind::Sequence;
  if (PyDict_Check(value)) return TemplateKind::Dict;
  if (PyAnySet_Check(value)) return TemplateKind::Set;
  if (isContainerMethod(value)) return TemplateKind::ContainerMethod;
  if (isConstant(value)) return TemplateKind::Itself;
  if (PyCell_Check(value)) return TemplateKind::Cell;
  if (PyMethod_Check(value)) return TemplateKind::Method;
  if (PyExceptionInstance_Check(value)) return TemplateKind::Exception;
  if (isPartial(value)) return TemplateKind::Partial;
  if (PyDictKeys_Check(value) || PyDictValues_Check(value) || PyDictItems_Check(value)) return TemplateKind::DictView;
  if (PyGen_Check(value) || PyCoro_CheckExact(value)) return TemplateKind::Refused;
  if (std::string_view(Py_TYPE(value)->tp_name) == "kerf.TensorMethod") return TemplateKind::TensorMethod;
  if (std::string_view(Py_TYPE(value)->tp_name).starts_with("kerf.")) return TemplateKind::Refused;
  if (canCopyObject(value)) return TemplateKind::Object;
  if (isDeque(value)) return TemplateKind::Deque;
  if (isIterator(value)) return TemplateKind::Reduced;
  return TemplateKind::Itself;
}

void TemplateWalk::need(NodeId node) {
  if (std::ranges::find(m_needs.nodes, node) == m_needs.nodes.end()) m_needs.nodes.push_back(node);
}

void TemplateWalk::visit(PyObject* value) {
  if (value == nullptr || !m_seen.insert(value).second) return;
  if (StandIn* standIn = m_effects.find(value); standIn != nullptr && standIn->source) {
    m_needs.standIns.push_back(standIn);
    return;
  }
  visitParts(value);
}

void TemplateWalk::visitContents(PyObject* container) { visitParts(container); }

void TemplateWalk::visitNumber(PyObject* value, SymState& number) {
  OutputGraph& graph = FrameTracer::active()->graph;
  const bool isFloat = number.number.kind == SymKind::Float;
  graph.hasFloatInput = graph.hasFloatInput || (isFloat && number.source);
  if (number.source) {
    m_needs.numbers.emplace_back(Ref::borrow(value), number.source);
    return;
  }
  const NodeId node = graph.nodeOf(number);
  if (!isFloat) return need(node);
  const Ref args = Ref::steal(PyTuple_Pack(1, value)), kwargs = Ref::steal(PyDict_New());
  PyDict_SetItemString(kwargs.get(), "dtype", torchObject("float64").get());
  m_needs.floats.emplace_back(Ref::borrow(value), graph.record(Opcode::CallFunction, "torch.scalar_tensor",
                                                               {{}, {}, torchObject("scalar_tensor"), args, kwargs}));
  need(m_needs.floats.back().second);
}

void TemplateWalk::visitParts(PyObject* value) {
  PyObject *key = nullptr, *item = nullptr;
  switch (templateKind(value, m_fresh)) {
    case TemplateKind::Itself:
      return visitItself(value);
    case TemplateKind::Tensor:
      if (SymState* number = symOf(value)) return visitNumber(value, *number);
      if (const ProxyState& proxy = *proxyOf(value); proxy.isNumber)
        return m_needs.numbers.push_back({Ref::borrow(value), proxy.source});
      FrameTracer::active()->graph.checkOpen(proxyOf(value)->node);
      need(proxyOf(value)->node);
      return visit(proxyOf(value)->attributes.get());
    case TemplateKind::Sequence:
      for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(value); ++k) visit(PySequence_Fast_GET_ITEM(value, k));
      return visit(ownDictOf(value));
    case TemplateKind::Dict:
      for (Py_ssize_t at = 0; PyDict_Next(value, &at, &key, &item) != 0;) {
        visit(key);
        visit(item);
      }
      return visit(ownDictOf(value));
    case TemplateKind::Set: {
      const Ref list = Ref::steal(PySequence_List(value));
      for (Py_ssize_t k = 0; list && k < PyList_GET_SIZE(list.get()); ++k) visit(PyList_GET_ITEM(list.get(), k));
      return;
    }
    case TemplateKind::Deque: {
      const Ref list = listOf(value);
      for (Py_ssize_t k = 0; list && k < PyList_GET_SIZE(list.get()); ++k) visit(PyList_GET_ITEM(list.get(), k));
      return;
    }
    case TemplateKind::Cell:
      return visit(PyCell_GET(value));
    case TemplateKind::Function:
      visit(PyFunction_GET_CLOSURE(value));
      visit(PyFunction_GET_DEFAULTS(value));
      return visit(PyFunction_GET_KW_DEFAULTS(value));
    case TemplateKind::Method:
      visit(PyMethod_GET_FUNCTION(value));
      return visit(PyMethod_GET_SELF(value));
    case TemplateKind::Object:
      for (const auto& [name, descriptor] : slotsOf(value)) visit(slotValue(value, descriptor).get());
      return visit(ownDictOf(value));
    case TemplateKind::Exception:
      visit(reinterpret_cast<PyBaseExceptionObject*>(value)->args);
      return visit(ownDictOf(value));
    case TemplateKind::Partial:
      for (const char* name : {"func", "args", "keywords"}) visit(attributeOf(value, name).get());
      return;
    case TemplateKind::DictView:
      return visit(reinterpret_cast<PyObject*>(reinterpret_cast<_PyDictViewObject*>(value)->dv_dict));
    case TemplateKind::Reduced: {
      const Ref parts = reduced(value);
      if (parts) return visit(parts.get());
      PyErr_Clear();
      break;
    }
    case TemplateKind::TensorMethod: {
      Ref self;
      std::string name;
      isTensorMethod(value, self, name);
      return visit(self.get());
    }
    case TemplateKind::ContainerMethod:
      return visit(PyCFunction_GET_SELF(value));
    case TemplateKind::Refused:
      break;
  }
  unsupported("Reconstruction failure", "Dynamo cannot build this value again after a graph break.", typeNameOf(value),
              {"This graph break may be caused by a value that lives across it: a generator, for instance."});
}

/// An object without a rule: one with attributes that tracing made gets one here.
/// Another function of the same code passes the guard of this one: its cells and defaults are those of each call.
bool TemplateWalk::isFunctionOfFrame(PyObject* value) {
  if (!PyFunction_Check(value)) return false;
  const bool isPlain = PyFunction_GET_CLOSURE(value) == nullptr && PyFunction_GET_DEFAULTS(value) == nullptr &&
                       PyFunction_GET_KW_DEFAULTS(value) == nullptr;
  const auto& functions = FrameTracer::active()->functions;
  const auto found = functions.find(value);
  if (isPlain || found == functions.end() || found->second == nullptr) return false;
  m_needs.numbers.emplace_back(Ref::borrow(value), found->second);
  return true;
}

void TemplateWalk::visitItself(PyObject* value) {
  if (isFunctionOfFrame(value)) return;
  if (isConstant(value) || m_effects.isOpaque(value)) return;
  if (hasHiddenAttributes(value)) {
    FrameTracer::active()->freshFunctions.insert(value);
    return visitParts(value);
  }
  if (holdsTraced(value))
    unsupported("Reconstruction failure", "Dynamo cannot build this value again after a graph break.",
                typeNameOf(value), {"An object of this class holds tensors or numbers of the graph."});
}

Ref Rebuilder::build(PyObject* value) {
  if (value == nullptr) return {};
  if (const auto known = m_memo.find(value); known != m_memo.end()) return known->second;
  Ref made = make(value);
  if (made) m_memo[value] = made;
  return made;
}

Ref Rebuilder::make(PyObject* value) {
  switch (templateKind(value, m_fresh)) {
    case TemplateKind::Itself:
    case TemplateKind::Refused:
      return Ref::borrow(value);
    case TemplateKind::Tensor: {
      const SymState* number = symOf(value);
      const auto found = m_nodes.find(number ? number->node.index : proxyOf(value)->node.index);
      if (found != m_nodes.end()) return number ? found->second : makeTensor(value, found->second);
      PyErr_SetString(PyExc_RuntimeError, "a tensor of the graph has no value");
      return {};
    }
    case TemplateKind::Sequence:
      return makeSequence(value);
    case TemplateKind::Dict:
      return makeDict(value);
    case TemplateKind::Set:
      return makeSet(value);
    case TemplateKind::Deque: {
      const Ref contents = buildContents(value);
      std::vector<Ref> items;
      for (Py_ssize_t k = 0; contents && k < PyList_GET_SIZE(contents.get()); ++k)
        items.push_back(Ref::borrow(PyList_GET_ITEM(contents.get(), k)));
      return contents ? dequeLike(value, items) : Ref();
    }
    case TemplateKind::Cell: {
      Ref cell = Ref::steal(PyCell_New(nullptr));
      m_memo[value] = cell;
      if (PyCell_GET(value) == nullptr) return cell;
      const Ref contents = build(PyCell_GET(value));
      if (!contents) return {};
      PyCell_Set(cell.get(), contents.get());
      return cell;
    }
    case TemplateKind::Function:
      return makeFunction(value);
    case TemplateKind::Method: {
      const Ref function = build(PyMethod_GET_FUNCTION(value));
      const Ref self = build(PyMethod_GET_SELF(value));
      return function && self ? Ref::steal(PyMethod_New(function.get(), self.get())) : Ref();
    }
    case TemplateKind::Object:
      return makeObject(value);
    case TemplateKind::Exception:
      return makeException(value);
    case TemplateKind::Partial:
      return partialLike(value, [this](PyObject* part, const char*) { return build(part); });
    case TemplateKind::DictView: {
      const Ref dict = build(reinterpret_cast<PyObject*>(reinterpret_cast<_PyDictViewObject*>(value)->dv_dict));
      const char* method = PyDictKeys_Check(value) ? "keys" : PyDictValues_Check(value) ? "values" : "items";
      return dict ? Ref::steal(PyObject_CallMethod(dict.get(), method, nullptr)) : Ref();
    }
    case TemplateKind::Reduced:
      return makeReduced(value);
    case TemplateKind::TensorMethod: {
      Ref self;
      std::string name;
      isTensorMethod(value, self, name);
      const Ref real = build(self.get());
      return real ? Ref::steal(PyObject_GetAttrString(real.get(), name.c_str())) : Ref();
    }
    case TemplateKind::ContainerMethod: {
      const Ref self = build(PyCFunction_GET_SELF(value));
      const char* name = reinterpret_cast<PyCFunctionObject*>(value)->m_ml->ml_name;
      return self ? Ref::steal(PyObject_GetAttrString(self.get(), name)) : Ref();
    }
  }
  return {};
}

/// What a node gave, as the class that it has for the program, with what the program stored on it.
Ref Rebuilder::makeTensor(PyObject* value, Ref made) {
  const ProxyState& proxy = *proxyOf(value);
  const bool isOther = proxy.isRecast && reinterpret_cast<PyObject*>(Py_TYPE(made.get())) != proxy.pythonClass.get();
  if (answersCalls(proxy) || isOther)
    made = Ref::steal(PyObject_CallMethod(made.get(), "as_subclass", "O", proxy.pythonClass.get()));
  if (!made || !proxy.attributes) return made;
  m_memo[value] = made;
  PyObject *key = nullptr, *item = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(proxy.attributes.get(), &at, &key, &item) != 0;) {
    const Ref built = build(item);
    if (!built || PyObject_SetAttr(made.get(), key, built.get()) < 0) return {};
  }
  return made;
}

Ref Rebuilder::makeSequence(PyObject* value) {
  const bool list = PyList_Check(value);
  Ref made = list ? emptyLike(value) : Ref();
  if (list) m_memo[value] = made;
  std::vector<Ref> items;
  for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(value); ++k) {
    items.push_back(build(PySequence_Fast_GET_ITEM(value, k)));
    if (!items.back()) return {};
    if (list && PyList_Append(made.get(), items.back().get()) < 0) return {};
  }
  if (!list) made = tupleLike(value, items);
  PyObject* own = ownDictOf(made.get());
  if (own != nullptr && !fillDict(ownDictOf(value), own)) return {};
  return made;
}

bool Rebuilder::fillDict(PyObject* from, PyObject* into) {
  if (from == nullptr) return true;
  // An OrderedDict has an order of its own.
  const Ref items = Ref::steal(PyODict_Check(from) ? PyObject_CallMethod(from, "items", nullptr) : PyDict_Items(from));
  const Ref list = Ref::steal(items ? PySequence_List(items.get()) : nullptr);
  if (!list) return false;
  for (Py_ssize_t at = 0; at < PyList_GET_SIZE(list.get()); ++at) {
    PyObject* key = PyTuple_GET_ITEM(PyList_GET_ITEM(list.get(), at), 0);
    PyObject* item = PyTuple_GET_ITEM(PyList_GET_ITEM(list.get(), at), 1);
    const Ref newKey = build(key);
    const Ref newItem = build(item);
    if (!newKey || !newItem || setRawItem(into, newKey.get(), newItem.get()) < 0) return false;
  }
  return true;
}

Ref Rebuilder::makeDict(PyObject* value) {
  Ref made = emptyLike(value);
  m_memo[value] = made;
  if (!fillDict(value, made.get())) return {};
  PyObject* own = ownDictOf(made.get());
  if (own != nullptr && !fillDict(ownDictOf(value), own)) return {};
  return made;
}

Ref Rebuilder::makeSet(PyObject* value) {
  const Ref list = Ref::steal(PySequence_List(value));
  const Ref items = list ? makeSequence(list.get()) : Ref();
  if (!items) return {};
  return Ref::steal(PyObject_CallOneArg(reinterpret_cast<PyObject*>(Py_TYPE(value)), items.get()));
}

Ref Rebuilder::buildContents(PyObject* container) {
  if (PyList_Check(container) || isDeque(container)) {
    Ref plain = Ref::steal(PyList_New(0));
    const Ref list = listOf(container);
    for (Py_ssize_t k = 0; list && k < PyList_GET_SIZE(list.get()); ++k) {
      const Ref item = build(PyList_GET_ITEM(list.get(), k));
      if (!item || PyList_Append(plain.get(), item.get()) < 0) return {};
    }
    return plain;
  }
  if (PyDict_Check(container)) {
    Ref plain = Ref::steal(PyDict_New());
    return fillDict(container, plain.get()) ? plain : Ref();
  }
  return makeSet(container);
}

Ref Rebuilder::makeFunction(PyObject* value) {
  Ref made = Ref::steal(PyFunction_New(PyFunction_GET_CODE(value), PyFunction_GET_GLOBALS(value)));
  if (!made) return {};
  m_memo[value] = made;
  if (PyObject* closure = PyFunction_GET_CLOSURE(value)) {
    const Ref cells = build(closure);
    if (!cells || PyFunction_SetClosure(made.get(), cells.get()) < 0) return {};
  }
  if (PyObject* defaults = PyFunction_GET_DEFAULTS(value)) {
    const Ref values = build(defaults);
    if (!values || PyFunction_SetDefaults(made.get(), values.get()) < 0) return {};
  }
  if (PyObject* defaults = PyFunction_GET_KW_DEFAULTS(value)) {
    const Ref values = build(defaults);
    if (!values || PyFunction_SetKwDefaults(made.get(), values.get()) < 0) return {};
  }
  for (const char* name : {"__name__", "__qualname__", "__doc__"}) {
    const Ref text = attributeOf(value, name);
    if (text) PyObject_SetAttrString(made.get(), name, text.get());
  }
  PyObject* own = ownDictOf(value);
  if (own != nullptr && PyDict_GET_SIZE(own) > 0 && !fillDict(own, ownDictOf(made.get()))) return {};
  return made;
}

Ref Rebuilder::makeObject(PyObject* value) {
  Ref made = allocateLike(value);
  if (!made) return {};
  m_memo[value] = made;
  for (const auto& [name, descriptor] : slotsOf(value)) {
    const Ref held = slotValue(value, descriptor);
    const Ref built = held ? build(held.get()) : Ref();
    if (held && (!built || Py_TYPE(descriptor)->tp_descr_set(descriptor, made.get(), built.get()) < 0)) return {};
  }
  return fillDict(ownDictOf(value), ownDictOf(made.get())) ? made : Ref();
}

Ref Rebuilder::makeException(PyObject* value) {
  const Ref args = build(reinterpret_cast<PyBaseExceptionObject*>(value)->args);
  PyTypeObject* type = Py_TYPE(value);
  Ref made = Ref::steal(args ? type->tp_new(type, args.get(), nullptr) : nullptr);
  if (!made) return {};
  m_memo[value] = made;
  PyObject* own = ownDictOf(value);
  if (own != nullptr && PyDict_GET_SIZE(own) > 0 && !fillDict(own, ownDictOf(made.get()))) return {};
  return made;
}

Ref Rebuilder::makeReduced(PyObject* value) {
  const Ref parts = reduced(value);
  if (!parts) return {};
  const Py_ssize_t size = PyTuple_GET_SIZE(parts.get());
  const Ref args = build(PyTuple_GET_ITEM(parts.get(), 1));
  Ref made = Ref::steal(args ? PyObject_CallObject(PyTuple_GET_ITEM(parts.get(), 0), args.get()) : nullptr);
  if (!made) return {};
  if (size > 2 && PyTuple_GET_ITEM(parts.get(), 2) != Py_None) {
    const Ref state = build(PyTuple_GET_ITEM(parts.get(), 2));
    const Ref done = Ref::steal(state ? PyObject_CallMethod(made.get(), "__setstate__", "O", state.get()) : nullptr);
    if (!done) return {};
  }
  return made;
}

}  // namespace kerf::inline dynamo
