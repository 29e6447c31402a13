// torch.device and torch.Size.
#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "engine/torch_api/small_types.h"

namespace kerf::inline torch_api {

bool addDeviceAndSize(PyObject* module);

namespace {

struct DeviceObject {
  PyObject_HEAD Device device;
};
PyTypeObject* deviceType = nullptr;
PyTypeObject* sizeType = nullptr;

const Device& deviceIn(PyObject* self) { return reinterpret_cast<DeviceObject*>(self)->device; }

PyObject* newDevice(PyTypeObject* type, Device device) {
  PyObject* object = type->tp_alloc(type, 0);
  if (object != nullptr) new (&reinterpret_cast<DeviceObject*>(object)->device) Device(std::move(device));
  return object;
}

PyObject* makeDevice(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  PyObject *what = nullptr, *index = nullptr;
  static const char* names[] = {"type", "index", nullptr};
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O", const_cast<char**>(names), &what, &index)) return nullptr;
  if (const auto given = deviceOf(what); given && !PyUnicode_Check(what)) return newDevice(type, *given);
  auto device =
      PyLong_Check(what) ? Result<Device>(Device{"cuda", int(PyLong_AsLong(what))}) : parseDevice(textOf(what));
  if (!device) return raise(device.error());
  if (index != nullptr && index != Py_None) device->index = int(PyLong_AsLong(index));
  return PyErr_Occurred() ? nullptr : newDevice(type, std::move(*device));
}

void freeDevice(PyObject* self) {
  reinterpret_cast<DeviceObject*>(self)->device.~Device();
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* reprDevice(PyObject* self) {
  const Device& device = deviceIn(self);
  if (device.index < 0) return makeText(fmt::format("device(type='{}')", device.type)).release();
  return makeText(fmt::format("device(type='{}', index={})", device.type, device.index)).release();
}
PyObject* textDevice(PyObject* self) { return makeText(deviceIn(self).text()).release(); }
Py_hash_t hashDevice(PyObject* self) { return Py_hash_t(std::hash<std::string>()(deviceIn(self).text()) & 0x7fffffff); }
PyObject* compareDevice(PyObject* a, PyObject* b, int how) {
  if (Py_TYPE(b) != deviceType || (how != Py_EQ && how != Py_NE)) Py_RETURN_NOTIMPLEMENTED;
  return PyBool_FromLong((deviceIn(a) == deviceIn(b)) == (how == Py_EQ));
}
PyObject* typeOfDevice(PyObject* self, void*) { return makeText(deviceIn(self).type).release(); }
PyObject* indexOfDevice(PyObject* self, void*) {
  if (deviceIn(self).index < 0) Py_RETURN_NONE;
  return PyLong_FromLong(deviceIn(self).index);
}
PyObject* reduceDevice(PyObject* self, PyObject*) {
  return Py_BuildValue("(O(s))", Py_TYPE(self), deviceIn(self).text().c_str());
}

std::vector<std::optional<Device>>& enteredDevices() {
  static std::vector<std::optional<Device>> stack;
  return stack;
}
PyObject* enterDevice(PyObject* self, PyObject*) {
  enteredDevices().push_back(defaultDevice());
  defaultDevice() = deviceIn(self);
  return Py_NewRef(self);
}
PyObject* leaveDevice(PyObject*, PyObject*) {
  if (!enteredDevices().empty()) {
    defaultDevice() = enteredDevices().back();
    enteredDevices().pop_back();
  }
  Py_RETURN_NONE;
}

PyGetSetDef deviceAttributes[] = {{"type", typeOfDevice, nullptr, nullptr, nullptr},
                                  {"index", indexOfDevice, nullptr, nullptr, nullptr},
                                  {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMethodDef deviceMethods[] = {{"__enter__", enterDevice, METH_NOARGS, nullptr},
                               {"__exit__", leaveDevice, METH_VARARGS, nullptr},
                               {"__reduce__", reduceDevice, METH_NOARGS, nullptr},
                               {nullptr, nullptr, 0, nullptr}};

/// A tuple of the same items.
PyObject* sizeOfTuple(PyObject* tuple) {
  if (tuple == nullptr || !PyTuple_CheckExact(tuple)) return tuple;
  PyObject* size = PyObject_CallOneArg(reinterpret_cast<PyObject*>(sizeType), tuple);
  Py_DECREF(tuple);
  return size;
}
PyObject* reprSize(PyObject* self) {
  std::string text;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self); ++i) text += (i ? ", " : "") + printed(PyTuple_GET_ITEM(self, i));
  return makeText("torch.Size([" + text + "])").release();
}
PyObject* sliceSize(PyObject* self, PyObject* key) {
  return sizeOfTuple(PyTuple_Type.tp_as_mapping->mp_subscript(self, key));
}
PyObject* joinSize(PyObject* a, PyObject* b) {
  if (!PyTuple_Check(a) || !PyTuple_Check(b)) Py_RETURN_NOTIMPLEMENTED;
  return sizeOfTuple(PySequence_Concat(Ref::steal(PySequence_Tuple(a)).get(), b));
}
PyObject* concatSize(PyObject* a, PyObject* b) {
  const auto function = PyTuple_Type.tp_as_sequence->sq_concat;
  return sizeOfTuple(function(a, b));
}
PyObject* repeatSize(PyObject* a, Py_ssize_t count) {
  return sizeOfTuple(PyTuple_Type.tp_as_sequence->sq_repeat(a, count));
}
PyObject* numelOfSize(PyObject* self, PyObject*) {
  Ref product = Ref::steal(PyLong_FromLong(1));
  for (Py_ssize_t i = 0; product && i < PyTuple_GET_SIZE(self); ++i)
    product = Ref::steal(PyNumber_Multiply(product.get(), PyTuple_GET_ITEM(self, i)));
  return product.release();
}
PyObject* reduceSize(PyObject* self, PyObject*) { return Py_BuildValue("(O(N))", sizeType, PySequence_List(self)); }
PyMethodDef sizeMethods[] = {{"numel", numelOfSize, METH_NOARGS, nullptr},
                             {"__reduce__", reduceSize, METH_NOARGS, nullptr},
                             {nullptr, nullptr, 0, nullptr}};

}  // namespace

std::optional<Device>& defaultDevice() {
  static std::optional<Device> device;
  return device;
}

Result<Device> parseDevice(std::string_view text) {
  constexpr std::array<std::string_view, 10> known = {"cpu", "cuda", "meta", "mps",           "xpu",
                                                      "xla", "hpu",  "mtia", "privateuseone", "ipu"};
  const std::size_t colon = text.find(':');
  Device device{std::string(text.substr(0, colon)), -1};
  if (std::ranges::find(known, device.type) == known.end())
    return fail(ErrorCode::RuntimeFailed,
                "Expected one of cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, maia, xla, lazy, "
                "vulkan, mps, meta, hpu, mtia, privateuseone device type at start of device string: {}",
                device.type);
  if (colon == std::string_view::npos) return device;
  const std::string_view digits = text.substr(colon + 1);
  if (std::from_chars(digits.data(), digits.data() + digits.size(), device.index).ec != std::errc())
    return fail(ErrorCode::RuntimeFailed, "Invalid device string: '{}'", text);
  return device;
}

Ref objectOf(const Device& device) { return Ref::steal(newDevice(deviceType, device)); }

std::optional<Device> deviceOf(PyObject* object) {
  if (object == nullptr || Py_TYPE(object) != deviceType) return {};
  return deviceIn(object);
}

Ref sizeObject(const Sizes& sizes) {
  const Ref tuple = Ref::steal(PyTuple_New(Py_ssize_t(sizes.size())));
  for (std::size_t i = 0; tuple && i < sizes.size(); ++i)
    PyTuple_SET_ITEM(tuple.get(), Py_ssize_t(i), PyLong_FromLongLong(sizes[i]));
  return tuple ? Ref::steal(sizeOfTuple(Py_NewRef(tuple.get()))) : Ref();
}

bool isSize(PyObject* object) { return sizeType != nullptr && PyObject_TypeCheck(object, sizeType); }

bool addDeviceAndSize(PyObject* module) {
  PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(makeDevice)},
                         {Py_tp_dealloc, reinterpret_cast<void*>(freeDevice)},
                         {Py_tp_repr, reinterpret_cast<void*>(reprDevice)},
                         {Py_tp_str, reinterpret_cast<void*>(textDevice)},
                         {Py_tp_hash, reinterpret_cast<void*>(hashDevice)},
                         {Py_tp_richcompare, reinterpret_cast<void*>(compareDevice)},
                         {Py_tp_getset, deviceAttributes},
                         {Py_tp_methods, deviceMethods},
                         {0, nullptr}};
  PyType_Spec spec{"torch.device", sizeof(DeviceObject), 0, Py_TPFLAGS_DEFAULT, slots};
  deviceType = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  PyType_Slot sizeSlots[] = {{Py_tp_repr, reinterpret_cast<void*>(reprSize)},
                             {Py_mp_subscript, reinterpret_cast<void*>(sliceSize)},
                             {Py_nb_add, reinterpret_cast<void*>(joinSize)},
                             {Py_sq_concat, reinterpret_cast<void*>(concatSize)},
                             {Py_sq_repeat, reinterpret_cast<void*>(repeatSize)},
                             {Py_tp_methods, sizeMethods},
                             {0, nullptr}};
  PyType_Spec sizeSpec{"torch.Size", 0, 0, Py_TPFLAGS_DEFAULT, sizeSlots};
  const Ref bases = Ref::steal(PyTuple_Pack(1, &PyTuple_Type));
  sizeType = bases ? reinterpret_cast<PyTypeObject*>(PyType_FromSpecWithBases(&sizeSpec, bases.get())) : nullptr;
  return deviceType != nullptr && sizeType != nullptr &&
         PyModule_AddObjectRef(module, "device", reinterpret_cast<PyObject*>(deviceType)) == 0 &&
         PyModule_AddObjectRef(module, "Size", reinterpret_cast<PyObject*>(sizeType)) == 0;
}

}  // namespace kerf::inline torch_api
