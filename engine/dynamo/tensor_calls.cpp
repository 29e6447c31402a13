#include "engine/dynamo/tensor_calls.h"

#include <algorithm>
#include <array>

#include "engine/dynamo/drawn_numbers.h"
#include "engine/dynamo/fake_failures.h"
#include "engine/dynamo/settings.h"
#include "engine/dynamo/subclass_calls.h"
#include "engine/dynamo/traced_slot.h"
#include "engine/dynamo/values.h"
#include "engine/torch_api/conversions.h"
#include "engine/torch_api/tensor_type.h"

namespace kerf::inline dynamo {
namespace {

/// Python's callable for a method of one tensor; its own type, so that the translator knows it.
struct TensorMethod {
  PyObject_HEAD PyObject* self;
  PyObject* name;
};

PyObject* callMethodObject(PyObject* object, PyObject* args, PyObject* kwargs) {
  auto* method = reinterpret_cast<TensorMethod*>(object);
  return whileTracing(
      [&](FrameTracer& tracer) { return tensorMethod(tracer, method->self, textOf(method->name), args, kwargs); });
}

void dropMethodObject(PyObject* object) {
  auto* method = reinterpret_cast<TensorMethod*>(object);
  Py_XDECREF(method->self);
  Py_XDECREF(method->name);
  PyTypeObject* type = Py_TYPE(object);
  type->tp_free(object);
  Py_DECREF(type);
}

PyTypeObject* methodType() {
  static PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(dropMethodObject)},
                                {Py_tp_call, reinterpret_cast<void*>(callMethodObject)},
                                {0, nullptr}};
  static PyType_Spec spec = {"kerf.TensorMethod", sizeof(TensorMethod), 0, Py_TPFLAGS_DEFAULT, slots};
  static auto* type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  return type;
}

Ref methodObject(PyObject* self, const std::string& name) {
  PyTypeObject* type = methodType();
  Ref made = Ref::steal(type ? type->tp_alloc(type, 0) : nullptr);
  if (!made) throw PythonRaised{};
  auto* method = reinterpret_cast<TensorMethod*>(made.get());
  method->self = Py_NewRef(self);
  method->name = makeText(name).release();
  return made;
}

Ref sizeNumber(SymInt size) {
  if (!size.isSymbolic()) return Ref::steal(PyLong_FromLongLong(size.bits()));
  return FrameTracer::active()->graph.wrapNumber({size, SymKind::Int});
}

Ref integerTuple(const SymSizes& sizes) {
  Ref tuple = Ref::steal(PyTuple_New(static_cast<Py_ssize_t>(sizes.size())));
  for (std::size_t k = 0; k < sizes.size(); ++k)
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(k), sizeNumber(sizes[k]).release());
  return tuple;
}

SymInt symNumel(const SymSizes& sizes) {
  SymInt count = 1;
  for (const SymInt size : sizes) count *= size;
  return count;
}

Ref sizeObject(const SymSizes& sizes) {
  const Ref tuple = integerTuple(sizes);
  const Ref type = torchObject("Size");
  const Ref args = Ref::steal(PyTuple_Pack(1, tuple.get()));
  // The type's own constructor would ask for plain numbers.
  Ref made = Ref::steal(PyTuple_Type.tp_new(reinterpret_cast<PyTypeObject*>(type.get()), args.get(), nullptr));
  if (!made) throw PythonRaised{};
  return made;
}

/// A whole size with symbols in it may become a node.
Ref noted(FrameTracer& tracer, PyObject* self, Ref size) {
  if (PyTuple_Check(size.get()) && holdsSym(size.get())) tracer.graph.noteSize(size.get(), self);
  return size;
}

Ref truthObject(bool value) { return Ref::borrow(value ? Py_True : Py_False); }
Ref numberObject(std::int64_t value) { return Ref::steal(PyLong_FromLongLong(value)); }

using Property = Ref (*)(const ProxyState&);
struct PropertyRow {
  std::string_view name;
  Property read;
};

bool onDevice(const ProxyState& proxy, std::string_view type) { return proxy.fake.device().type == type; }

const PropertyRow kProperties[] = {
    {"shape", [](const ProxyState& p) { return sizeObject(p.fake.symSizes()); }},
    {"ndim", [](const ProxyState& p) { return numberObject(p.fake.dim()); }},
    {"dtype", [](const ProxyState& p) { return objectOf(Value(p.fake.dtype())); }},
    {"device", [](const ProxyState& p) { return objectOf(Value(p.fake.device())); }},
    {"layout", [](const ProxyState&) { return torchObject("strided"); }},
    {"requires_grad", [](const ProxyState& p) { return truthObject(p.fake.requiresGrad); }},
    {"is_leaf", [](const ProxyState& p) { return truthObject(!p.fake.requiresGrad || p.fake.isLeaf); }},
    {"is_cuda", [](const ProxyState& p) { return truthObject(onDevice(p, "cuda")); }},
    {"is_meta", [](const ProxyState& p) { return truthObject(onDevice(p, "meta")); }},
    {"is_sparse", [](const ProxyState&) { return truthObject(false); }},
    {"is_quantized", [](const ProxyState&) { return truthObject(false); }},
    {"is_nested", [](const ProxyState&) { return truthObject(false); }},
    {"itemsize", [](const ProxyState& p) { return numberObject(std::int64_t(itemSize(p.fake.dtype()))); }},
    {"nbytes", [](const ProxyState& p) { return numberObject(p.fake.byteSize()); }},
    {"names", [](const ProxyState&) { return Ref::borrow(Py_None); }},
};

/// Attributes that are tensors of their own: nodes builtins.getattr.
constexpr std::array<std::string_view, 6> kTensorAttributes = {"T", "mT", "H", "mH", "real", "imag"};

/// Methods whose result is known without data.
const PropertyRow kConstantMethods[] = {
    {"dim", [](const ProxyState& p) { return numberObject(p.fake.dim()); }},
    {"ndimension", [](const ProxyState& p) { return numberObject(p.fake.dim()); }},
    {"numel", [](const ProxyState& p) { return sizeNumber(symNumel(p.fake.symSizes())); }},
    {"nelement", [](const ProxyState& p) { return sizeNumber(symNumel(p.fake.symSizes())); }},
    {"element_size", [](const ProxyState& p) { return numberObject(std::int64_t(itemSize(p.fake.dtype()))); }},
    {"is_floating_point", [](const ProxyState& p) { return truthObject(isFloating(p.fake.dtype())); }},
    {"is_complex", [](const ProxyState& p) { return truthObject(isComplex(p.fake.dtype())); }},
    {"is_contiguous", [](const ProxyState& p) { return truthObject(p.fake.isContiguous()); }},
    {"storage_offset", [](const ProxyState& p) { return numberObject(p.fake.offset()); }},
    {"get_device", [](const ProxyState&) { return numberObject(-1); }},
    {"__len__", [](const ProxyState& p) { return sizeNumber(p.fake.symSizes()[0]); }},
};

template <std::size_t N>
const PropertyRow* rowOf(const PropertyRow (&rows)[N], const std::string& name) {
  const auto* found = std::ranges::find(rows, name, &PropertyRow::name);
  return found == std::end(rows) ? nullptr : found;
}

/// The same value as a tensor of another class: no call of the graph.
Ref asSubclass(const ProxyState& proxy, PyObject* type) {
  ProxyState made;
  made.fake = proxy.fake;
  made.node = proxy.node;
  made.pythonClass = Ref::borrow(type);
  made.isRecast = true;
  return makeProxy(std::move(made));
}

/// x.type(): what a tensor with these properties says.
Ref typeText(const Tensor& fake) {
  const NativeScope native;
  const Ref empty = torchObject("empty"), dtype = objectOf(Value(fake.dtype())),
            device = objectOf(Value(fake.device()));
  const Ref args = Ref::steal(PyTuple_Pack(1, numberObject(0).get())), named = Ref::steal(PyDict_New());
  PyDict_SetItemString(named.get(), "dtype", dtype.get());
  PyDict_SetItemString(named.get(), "device", device.get());
  const Ref example = Ref::steal(PyObject_Call(empty.get(), args.get(), named.get()));
  Ref text = Ref::steal(example ? PyObject_CallMethod(example.get(), "type", nullptr) : nullptr);
  if (!text) throw PythonRaised{};
  return text;
}

/// x.size(), x.size(dim), x.stride(dim).
Ref sizesOrOne(const SymSizes& sizes, PyObject* args, PyObject* kwargs, bool asSize) {
  PyObject* which = PyTuple_GET_SIZE(args) > 0 ? PyTuple_GET_ITEM(args, 0) : nullptr;
  if (which == nullptr && kwargs != nullptr) which = PyDict_GetItemString(kwargs, "dim");
  if (which == nullptr || which == Py_None) return asSize ? sizeObject(sizes) : integerTuple(sizes);
  const Ref tuple = integerTuple(sizes);
  const Ref item = Ref::steal(PyObject_GetItem(tuple.get(), which));
  if (item) return item;
  PyErr_Clear();
  const long rank = static_cast<long>(sizes.size());
  PyErr_Format(PyExc_IndexError, "Dimension out of range (expected to be in range of [%ld, %ld], but got %R)", -rank,
               rank - 1, which);
  throw PythonRaised{};
}

[[noreturn]] void breakOnItem(const std::string& method) {
  unsupported("Unsupported Tensor.item() call with capture_scalar_outputs=False",
              "Dynamo does not support tracing `Tensor.item()` with config.capture_scalar_outputs=False.",
              "call_method TensorVariable() " + method + " () {}",
              {"Set `torch._dynamo.config.capture_scalar_outputs = True` or "
               "`export TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS=1` to include these operations in the captured graph."});
}

bool isNumberMethod(const std::string& name) {
  return name == "item" || name == "__int__" || name == "__float__" || name == "__index__";
}

void refuseDataMethods(const std::string& name) {
  if (isNumberMethod(name) && !capturesScalars()) breakOnItem(name);
  if ((name == "tolist" && !capturesScalars()) || name == "numpy" || name == "data_ptr" || name == "__bool__")
    unsupported("Unsupported Tensor." + name + "() call", "Dynamo cannot trace what needs a tensor's data.", name);
  if (name == "requires_grad_")
    unsupported("Unsupported Tensor.requires_grad_() call",
                "Dynamo does not support changes to a Tensor's `requires_grad` through calling `requires_grad_()`.",
                "call_method TensorVariable() requires_grad_ () {}");
  if (name == "is_inference")
    unsupported("Encountered tensor.is_inference() during tracing", "tensor.is_inference() is not supported");
  if (name == "backward")
    unsupported("Unsupported Tensor.backward() call", "Dynamo currently does not support tracing `Tensor.backward()`.",
                "call_method TensorVariable() backward () {}");
  static const std::array<std::string_view, 5> dynamic = {"nonzero", "unique", "masked_select", "unique_consecutive",
                                                          "argwhere"};
  if (std::ranges::find(dynamic, name) != dynamic.end() && !capturesDynamicShapes())
    unsupported(
        "Dynamic shape operator", "Operator `" + name + "`'s output shape depends on input Tensor data.", name,
        {"Enable tracing of dynamic shape operators with `torch._dynamo.config.capture_dynamic_output_shape_ops "
         "= True`"});
}

/// x[mask], where the mask is a tensor of bool: how many items there are is in the data.
void refuseMasks(PyObject* key) {
  if (capturesDynamicShapes()) return;
  if (const ProxyState* proxy = proxyOf(key))
    if (proxy->fake.dtype() == DType::Bool || proxy->fake.dtype() == DType::UInt8)
      unsupported("Dynamic shape operator",
                  "Operator `aten.nonzero.default`'s output shape depends on input Tensor data.",
                  "aten.nonzero.default");
  if (!PyTuple_Check(key)) return;
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(key); ++k) refuseMasks(PyTuple_GET_ITEM(key, k));
}

/// x[i, 0] with an integer tensor i of no dimensions: torch takes its number.
void refuseScalarIndexes(PyObject* key) {
  if (!PyTuple_Check(key) || capturesScalars()) return;
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(key); ++k)
    if (const ProxyState* proxy = proxyOf(PyTuple_GET_ITEM(key, k)))
      if (proxy->fake.dim() == 0 && !isFloating(proxy->fake.dtype()))
        unsupported(
            "Data dependent operator",
            "Operator `aten._local_scalar_dense.default` has a non-Tensor output whose value is dependent on the "
            "data of Tensor inputs.",
            "aten._local_scalar_dense.default");
}

void shareIdentity(ProxyState& a, ProxyState& b) {
  if (!a.identity) a.identity = std::make_shared<int>(0);
  b.identity = a.identity;
}

/// What a method changes of the tensor it was called on, besides its data.
void followMethod(PyObject* self, const std::string& name, PyObject* args, const Ref& result) {
  ProxyState* proxy = proxyOf(self);
  ProxyState* made = proxyOf(result.get());
  if (proxy == nullptr || made == nullptr || name.size() < 2 || name.back() != '_' || name[name.size() - 2] == '_')
    return;
  proxy->fake = made->fake;
  shareIdentity(*proxy, *made);
  made->pythonClass = proxy->pythonClass;
  static_cast<void>(args);
}

Ref getattrNode(FrameTracer& tracer, PyObject* self, const std::string& name) {
  const Ref builtins = Ref::borrow(PyEval_GetBuiltins());
  const Ref getattr = Ref::borrow(PyDict_GetItemString(builtins.get(), "getattr"));
  const Ref args = Ref::steal(PyTuple_Pack(2, self, makeText(name).get()));
  return tracer.graph.callFunction("builtins.getattr", getattr.get(), args.get(), nullptr);
}

/// Attributes of the class: methods of torch.Tensor are calls, those of a program's own subclass are traced.
Ref classAttribute(FrameTracer& tracer, PyObject* self, const ProxyState& proxy, const std::string& name) {
  auto* type = proxy.pythonClass ? reinterpret_cast<PyTypeObject*>(proxy.pythonClass.get()) : tensorClass();
  const Ref key = makeText(name);
  PyObject* found = _PyType_Lookup(type, key.get());
  if (found == nullptr) {
    if (proxy.source && proxy.real) tracer.addGuard(hasAttributeGuard(proxy.source, name, false));
    PyErr_Format(PyExc_AttributeError, "'%s' object has no attribute '%s'", type->tp_name, name.c_str());
    throw PythonRaised{};
  }
  PyObject* common = _PyType_Lookup(tensorClass(), key.get());
  if (found != common && PyFunction_Check(found)) return Ref::steal(PyMethod_New(found, self));
  if (found != common && Py_TYPE(found)->tp_descr_get != nullptr)
    return tracer.checked(Py_TYPE(found)->tp_descr_get(found, self, reinterpret_cast<PyObject*>(type)));
  if (PyBool_Check(found) || found == Py_None) return Ref::borrow(found);
  return methodObject(self, name);
}

}  // namespace

Ref torchObject(const char* name) {
  const Ref module = Ref::steal(PyImport_ImportModule("torch"));
  Ref found = Ref::steal(module ? PyObject_GetAttrString(module.get(), name) : nullptr);
  if (!found) throw PythonRaised{};
  return found;
}

bool isTensorMethod(PyObject* object, Ref& self, std::string& name) {
  if (Py_TYPE(object) != methodType()) return false;
  const auto* method = reinterpret_cast<TensorMethod*>(object);
  self = Ref::borrow(method->self);
  name = textOf(method->name);
  return true;
}

bool capturesScalars() { return dynamoSetting("capture_scalar_outputs", 0) != 0; }
bool capturesDynamicShapes() { return dynamoSetting("capture_dynamic_output_shape_ops", 0) != 0; }

/// x[i] with a symbol: torch.select, for an index would ask for its number.
Ref selectBySymbol(FrameTracer& tracer, PyObject* self, PyObject* index) {
  const Ref zero = Ref::steal(PyLong_FromLong(0));
  return tracer.graph.callFunction("torch.select", torchObject("select").get(),
                                   Ref::steal(PyTuple_Pack(3, self, zero.get(), index)).get(), nullptr);
}

Ref tensorOperator(FrameTracer& tracer, const char* asked, PyObject* args) {
  const std::string_view op = operatorOnLeft(asked, PyTuple_GET_ITEM(args, 0));
  const std::string name(op);
  if (std::optional<Ref> answer = computeOnDrawn(tracer, op, args)) return *std::move(answer);
  if (std::optional<Ref> answer = askSubclassesOperator(tracer, name.c_str(), args)) return *std::move(answer);
  if (op == "getitem" && symOf(PyTuple_GET_ITEM(args, 1)) != nullptr)
    return selectBySymbol(tracer, PyTuple_GET_ITEM(args, 0), PyTuple_GET_ITEM(args, 1));
  if (op == "getitem") {
    refuseMasks(PyTuple_GET_ITEM(args, 1));
    refuseScalarIndexes(PyTuple_GET_ITEM(args, 1));
  }
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(args); ++k) {
    PyObject* operand = PyTuple_GET_ITEM(args, k);
    const bool number =
        PyLong_Check(operand) || PyFloat_Check(operand) || PyComplex_Check(operand) || symOf(operand) != nullptr;
    if (op != "getitem" && !number && proxyOf(operand) == nullptr) {
      if (op == "eq" || op == "ne") return truthObject(op == "ne");
      return Ref::borrow(Py_NotImplemented);
    }
  }
  if (op == "pow")
    if (const SymState* exponent = symOf(PyTuple_GET_ITEM(args, 1));
        exponent && exponent->number.kind == SymKind::Float) {
      // A square root is another operator.
      tracer.noteUse(*exponent);
      tracer.symbols.decide(*Symbolic::call("Eq", {tracer.symbols.expression(exponent->number), Symbolic::real(0.5)}));
    }
  const Ref function = operatorFunction(name.c_str());
  Ref result = tracer.graph.callFunction("operator." + name, function.get(), args, nullptr);
  if (op.size() > 3 && op[0] == 'i' && op != "invert") {
    ProxyState* self = proxyOf(PyTuple_GET_ITEM(args, 0));
    if (ProxyState* made = proxyOf(result.get()); self && made) {
      self->fake = made->fake;
      shareIdentity(*self, *made);
    }
  }
  return result;
}

Ref tensorSetItem(FrameTracer& tracer, PyObject* args) {
  if (std::optional<Ref> answer = askSubclassesOperator(tracer, "setitem", args)) return *std::move(answer);
  PyObject *target = PyTuple_GET_ITEM(args, 0), *stored = PyTuple_GET_ITEM(args, 2);
  const Ref function = operatorFunction("setitem"), key = withoutDrawn(tracer, PyTuple_GET_ITEM(args, 1));
  TracedCall call{{}, {}, function, Ref::steal(PyTuple_Pack(3, target, key.get(), stored)), {}};
  refuseLeafWrite(tracer, call, "operator.setitem");
  tracer.graph.record(Opcode::CallFunction, "operator.setitem", std::move(call));
  ProxyState* self = proxyOf(target);
  const ProxyState* value = proxyOf(stored);
  if (tracer.graph.gradEnabled && value && value->fake.requiresGrad) self->fake.requiresGrad = true;
  return Ref::borrow(Py_None);
}

namespace {

/// x.item(), int(x), float(x) as a number of the graph.
Ref numberOf(FrameTracer& tracer, PyObject* self, const std::string& name) {
  Ref item = isDrawnNumber(self) ? withoutDrawn(tracer, self) : tracer.graph.callItem(self);
  PyTypeObject* type = name == "__float__" ? &PyFloat_Type : name == "item" ? nullptr : &PyLong_Type;
  if (type == nullptr || symOf(item.get()) == nullptr) return item;
  return callOnNumbers(tracer, reinterpret_cast<PyObject*>(type), Ref::steal(PyTuple_Pack(1, item.get())).get());
}

/// x.tolist(): each item is a number of the graph.
Ref listOfItems(FrameTracer& tracer, PyObject* self) {
  const Tensor& fake = proxyOf(self)->fake;
  if (isFloating(fake.dtype()) || isComplex(fake.dtype()) || fake.dtype() == DType::Bool)
    unsupported("Tensor.tolist() with non-integer tensor",
                "Dynamo currently does not support tracing `tolist()` on non-integer tensors.",
                "call_method TensorVariable() tolist () {}",
                {"Ensure the input tensor to `tolist()` is an integer type."});
  if (fake.dim() == 0) return numberOf(tracer, self, "item");
  Ref list = Ref::steal(PyList_New(0));
  const std::int64_t count = fake.size(0);
  for (std::int64_t k = 0; k < count; ++k) {
    const Ref args = Ref::steal(PyTuple_Pack(2, self, numberObject(k).get()));
    const Ref row = tensorOperator(tracer, "getitem", args.get());
    PyList_Append(list.get(), listOfItems(tracer, row.get()).get());
  }
  return list;
}

}  // namespace

Ref tensorMethod(FrameTracer& tracer, PyObject* self, const std::string& name, PyObject* args, PyObject* kwargs) {
  tracer.noteTensor(self);
  if (name == "as_subclass" && PyTuple_GET_SIZE(args) == 1 && PyType_Check(PyTuple_GET_ITEM(args, 0)) &&
      PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(PyTuple_GET_ITEM(args, 0)), tensorClass()) != 0)
    return asSubclass(*proxyOf(self), PyTuple_GET_ITEM(args, 0));
  if (std::optional<Ref> answer = askSubclassesMethod(tracer, name, self, args, kwargs)) return *std::move(answer);
  const ProxyState& proxy = *proxyOf(self);
  if (name == "size") return noted(tracer, self, sizesOrOne(proxy.fake.symSizes(), args, kwargs, true));
  if (name == "stride") return sizesOrOne(proxy.fake.symStrides(), args, kwargs, false);
  if (const PropertyRow* row = rowOf(kConstantMethods, name)) return row->read(proxy);
  if (name == "type" && PyTuple_GET_SIZE(args) == 0 && kwargs == nullptr) return typeText(proxy.fake);
  refuseDataMethods(name);
  if (!proxy.source && (name == "register_hook" || name == "register_post_accumulate_grad_hook"))
    unsupported("Compilation of intermediate hooks requires compiled autograd",
                "Dynamo must be in compiled_autograd to register hooks.", "var_getattr TensorVariable() " + name);
  if (name == "tolist") return listOfItems(tracer, self);
  if (isNumberMethod(name)) return numberOf(tracer, self, name);
  if (name == "__getitem__")
    return tensorOperator(tracer, "getitem", Ref::steal(PyTuple_Pack(2, self, PyTuple_GET_ITEM(args, 0))).get());
  if (name == "add_" && kwargs != nullptr && PyTuple_GET_SIZE(args) == 1)
    if (PyObject* alpha = PyDict_GetItemString(kwargs, "alpha")) {
      // As Dynamo decomposes it.
      const Ref function = torchObject("mul");
      const Ref factors = Ref::steal(PyTuple_Pack(2, PyTuple_GET_ITEM(args, 0), alpha));
      const Ref product = tracer.graph.callFunction("torch.mul", function.get(), factors.get(), nullptr);
      return tensorMethod(tracer, self, name, Ref::steal(PyTuple_Pack(1, product.get())).get(), nullptr);
    }
  if (name == "addcdiv_" && kwargs != nullptr && PyTuple_GET_SIZE(args) == 2)
    if (PyObject* value = PyDict_GetItemString(kwargs, "value")) {
      const Ref quotient = tracer.graph.callFunction("torch.div", torchObject("div").get(), args, nullptr);
      const Ref product = tracer.graph.callFunction("torch.mul", torchObject("mul").get(),
                                                    Ref::steal(PyTuple_Pack(2, quotient.get(), value)).get(), nullptr);
      return tensorMethod(tracer, self, "add_", Ref::steal(PyTuple_Pack(1, product.get())).get(), nullptr);
    }
  Ref all = Ref::steal(PyTuple_New(PyTuple_GET_SIZE(args) + 1));
  PyTuple_SET_ITEM(all.get(), 0, Py_NewRef(self));
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(args); ++k)
    PyTuple_SET_ITEM(all.get(), k + 1, Py_NewRef(PyTuple_GET_ITEM(args, k)));
  Ref result = tracer.graph.callMethod(name, all.get(), kwargs);
  followMethod(self, name, args, result);
  return result;
}

Ref tensorAttribute(FrameTracer& tracer, PyObject* self, const std::string& name) {
  if (isDrawnNumber(self) && name != "__class__")
    return tracer.checked(PyObject_GetAttrString(withoutDrawn(tracer, self).get(), name.c_str()));
  tracer.noteTensor(self);
  ProxyState& proxy = *proxyOf(self);
  if (name == "shape") return noted(tracer, self, sizeObject(proxy.fake.symSizes()));
  if (name == "__class__")
    return proxy.pythonClass ? proxy.pythonClass : Ref::borrow(reinterpret_cast<PyObject*>(tensorClass()));
  if (name == "is_leaf" && !proxy.real && proxy.fake.requiresGrad) {
    tracer.graph.recordGetattr(self, name);
    return truthObject(false);
  }
  if (const PropertyRow* row = rowOf(kProperties, name)) return row->read(proxy);
  if (std::ranges::find(kTensorAttributes, name) != kTensorAttributes.end()) return getattrNode(tracer, self, name);
  if (name == "data") {
    const Ref detach = attributeOf(reinterpret_cast<PyObject*>(tensorClass()), "detach");
    return tracer.graph.callFunction("torch._C._autograd._get_data_attr", detach.get(),
                                     Ref::steal(PyTuple_Pack(1, self)).get(), nullptr);
  }
  if (name == "__dict__") {
    if (!proxy.attributes) proxy.attributes = Ref::steal(PyDict_New());
    return proxy.attributes;
  }
  if (proxy.attributes)
    if (PyObject* own = PyDict_GetItemString(proxy.attributes.get(), name.c_str())) return Ref::borrow(own);
  if (name == "grad" || name == "grad_fn" || name == "_version" || name == "_base" || name == "_grad") {
    if (name == "grad" && proxy.real && proxy.source) {
      const Ref grad = attributeOf(proxy.real.get(), "grad");
      if (grad) {
        VariableTracker made = tracer.effects.wrap(grad.get(), Source::attribute(proxy.source, name));
        tracer.realize(made);
        return made.value;
      }
    }
    if (name == "grad_fn" && !proxy.fake.requiresGrad) return Ref::borrow(Py_None);
    unsupported("Unsupported Tensor attribute", "Dynamo cannot trace the attribute of a tensor.", name);
  }
  if (proxy.real && proxy.source) {
    PyObject** dict = _PyObject_GetDictPtr(proxy.real.get());
    PyObject* own = dict && *dict ? PyDict_GetItemString(*dict, name.c_str()) : nullptr;
    if (own) {
      VariableTracker made = tracer.effects.wrap(own, Source::attribute(proxy.source, name));
      tracer.realize(made);
      return made.value;
    }
  }
  return classAttribute(tracer, self, proxy, name);
}

}  // namespace kerf::inline dynamo
