#include "engine/torch_api/generator_type.h"

#include <random>

#include "engine/torch_api/small_types.h"
#include "engine/torch_api/tensor_type.h"

namespace kerf::inline torch_api {
namespace {

struct Generator {
  PyObject_HEAD RandomState* own;  ///< null: the default generator's, which is the thread's
  std::uint64_t seed;
  Device device;
};

PyTypeObject* generatorType = nullptr;
Generator& in(PyObject* self) { return *reinterpret_cast<Generator*>(self); }
RandomState& stateOf(PyObject* self) { return in(self).own ? *in(self).own : randomState(); }

PyObject* newGenerator(PyTypeObject* type, RandomState* own, Device device) {
  PyObject* object = type->tp_alloc(type, 0);
  if (object == nullptr) return nullptr;
  in(object).own = own;
  in(object).seed = defaultRandomSeed;
  new (&in(object).device) Device(std::move(device));
  return object;
}
PyObject* makeGenerator(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  PyObject* given = nullptr;
  static const char* names[] = {"device", nullptr};
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O", const_cast<char**>(names), &given)) return nullptr;
  Device device;
  if (const auto found = deviceOf(given))
    device = *found;
  else if (given != nullptr && PyUnicode_Check(given)) {
    auto parsed = parseDevice(textOf(given));
    if (!parsed) return raise(parsed.error());
    device = std::move(*parsed);
  }
  return newGenerator(type, new RandomState, std::move(device));
}
void freeGenerator(PyObject* self) {
  delete in(self).own;
  in(self).device.~Device();
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

/// Negative seeds count from 2^64.
bool readSeed(PyObject* object, std::uint64_t& seed) {
  const Ref index = Ref::steal(PyNumber_Index(object));
  if (!index) return false;
  seed = PyLong_AsUnsignedLongLongMask(index.get());
  return !PyErr_Occurred();
}

void seedWith(PyObject* self, std::uint64_t seed) {
  in(self).seed = seed;
  RandomState& state = stateOf(self);
  state.cpu.reseed(seed);
  state.cudaSeed = seed;
  state.cudaOffset = 0;
}

PyObject* manualSeed(PyObject* self, PyObject* object) {
  std::uint64_t seed = 0;
  if (!readSeed(object, seed)) return nullptr;
  seedWith(self, seed);
  return Py_NewRef(self);
}
/// seed(): a number of the machine's, of 53 bits as PyTorch's.
PyObject* newSeed(PyObject* self, PyObject*) {
  std::random_device source;
  const std::uint64_t seed = ((std::uint64_t(source()) << 32) | source()) & 0x1FFFFFFFFFFFFFU;
  seedWith(self, seed);
  return PyLong_FromUnsignedLongLong(seed);
}
PyObject* initialSeed(PyObject* self, PyObject*) { return PyLong_FromUnsignedLongLong(in(self).seed); }
PyObject* getState(PyObject* self, PyObject*) {
  auto state = stateTensor(stateOf(self), in(self).device.type == "cuda");
  return state ? wrapTensor(*state).release() : raise(state.error());
}
PyObject* setState(PyObject* self, PyObject* tensor) {
  if (!isTensor(tensor)) return PyErr_SetString(PyExc_TypeError, "expected a torch.ByteTensor"), nullptr;
  if (auto done = setStateTensor(stateOf(self), tensorOf(tensor)); !done) return raise(done.error());
  return Py_NewRef(self);
}
PyObject* deviceOfGenerator(PyObject* self, void*) { return objectOf(in(self).device).release(); }

}  // namespace

bool isGenerator(PyObject* object) { return generatorType != nullptr && Py_TYPE(object) == generatorType; }

GeneratorScope::GeneratorScope(PyObject* generator)
    : m_state(generator != nullptr && isGenerator(generator) ? in(generator).own : nullptr) {
  if (m_state != nullptr) std::swap(*m_state, randomState());
}
GeneratorScope::~GeneratorScope() {
  if (m_state != nullptr) std::swap(*m_state, randomState());
}

bool addGenerator(PyObject* module) {
  static PyMethodDef methods[] = {{"manual_seed", manualSeed, METH_O, nullptr},
                                  {"seed", newSeed, METH_NOARGS, nullptr},
                                  {"initial_seed", initialSeed, METH_NOARGS, nullptr},
                                  {"get_state", getState, METH_NOARGS, nullptr},
                                  {"set_state", setState, METH_O, nullptr},
                                  {nullptr, nullptr, 0, nullptr}};
  static PyGetSetDef attributes[] = {{"device", deviceOfGenerator, nullptr, nullptr, nullptr},
                                     {nullptr, nullptr, nullptr, nullptr, nullptr}};
  PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(makeGenerator)},
                         {Py_tp_dealloc, reinterpret_cast<void*>(freeGenerator)},
                         {Py_tp_methods, methods},
                         {Py_tp_getset, attributes},
                         {0, nullptr}};
  PyType_Spec spec{"torch._C.Generator", sizeof(Generator), 0, Py_TPFLAGS_DEFAULT, slots};
  generatorType = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  if (generatorType == nullptr) return false;
  const Ref standard = Ref::steal(newGenerator(generatorType, nullptr, Device()));
  return standard && PyModule_AddObjectRef(module, "Generator", reinterpret_cast<PyObject*>(generatorType)) == 0 &&
         PyModule_AddObjectRef(module, "default_generator", standard.get()) == 0;
}

}  // namespace kerf::inline torch_api
