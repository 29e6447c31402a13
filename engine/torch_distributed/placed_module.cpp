#include "engine/torch_distributed/placed_module.h"

#include <map>
#include <optional>

#include "engine/distributed/dtensor/distributed_tensor.h"
#include "engine/torch_api/tensor_type.h"
#include "engine/torch_distributed/own_rank.h"
#include "engine/torch_distributed/placed_parts.h"

namespace kerf::inline torch_distributed {
namespace {

using Meshes = std::map<long, std::shared_ptr<MeshOfProgram>>;

Meshes& meshesOfProgram() {
  static auto& meshes = *new Meshes;
  return meshes;
}

Result<std::shared_ptr<MeshOfProgram>> meshNumbered(long number) {
  const auto found = meshesOfProgram().find(number);
  if (found == meshesOfProgram().end()) return fail(ErrorCode::NotFound, "there is no device mesh {}", number);
  return found->second;
}

Result<Sizes> integersIn(PyObject* list) {
  const Ref items = Ref::steal(PySequence_Fast(list, "expected a list of integers"));
  if (!items) return fail(pendingError());
  Sizes integers;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.get()); ++i) {
    integers.push_back(PyLong_AsLongLong(PySequence_Fast_GET_ITEM(items.get(), i)));
    if (integers.back() == -1 && PyErr_Occurred()) return fail(pendingError());
  }
  return integers;
}

/// ["S(0)", "R"], one for each dimension of a mesh, for a tensor of `dims` dimensions.
Result<Placements> placementsIn(PyObject* list, const DeviceMesh& mesh, std::int64_t dims) {
  const Ref items = Ref::steal(PySequence_Fast(list, "placements are a list"));
  if (!items) return fail(pendingError());
  Placements placements;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.get()); ++i) {
    KERF_TRY(Placement one, parsePlacement(textOf(PySequence_Fast_GET_ITEM(items.get(), i))));
    placements.push_back(std::move(one));
  }
  if (placements.size() != mesh.dims())
    return fail(ErrorCode::BadInput, "a mesh of {} dimensions takes as many placements, not {}", mesh.dims(),
                placements.size());
  return normalized(std::move(placements), dims);
}

Result<const PlacedPart*> partOf(PyObject* object) {
  const PlacedPart* part = isTensor(object) ? PlacedParts::own().find(tensorOf(object)) : nullptr;
  if (part == nullptr) return fail(ErrorCode::BadUsage, "a {} is no DTensor", Py_TYPE(object)->tp_name);
  KERF_CHECK(PlacedParts::own().refresh(tensorOf(object)));
  return PlacedParts::own().find(tensorOf(object));
}

Result<Tensor> ownTensor(PyObject* object) {
  if (!isTensor(object)) return fail(ErrorCode::BadUsage, "a {} is no Tensor", Py_TYPE(object)->tp_name);
  Tensor tensor = tensorOf(object);
  KERF_CHECK(refusePlaced(tensor, "placements"));
  tensor.traced = -1;
  tensor.requiresGrad = false;
  return tensor;
}

Result<Ref> handleObject(const DistributedTensor& made, const std::shared_ptr<MeshOfProgram>& mesh,
                         const std::optional<Sizes>& strides = {}) {
  KERF_TRY(const Tensor handle, PlacedParts::own().handleOf({made.local, made.spec, mesh},
                                                            strides ? *strides : contiguousStrides(made.spec.sizes)));
  return wrapTensor(handle);
}

/// _make_mesh(sizes, ranks): its number.
PyObject* makeMesh(PyObject*, PyObject* args) {
  PyObject *sizes = nullptr, *ranks = nullptr;
  if (!PyArg_ParseTuple(args, "OO", &sizes, &ranks)) return nullptr;
  const auto made = [&]() -> Result<Ref> {
    KERF_TRY(const Sizes shape, integersIn(sizes));
    KERF_TRY(const Sizes listed, integersIn(ranks));
    KERF_TRY(OwnRank* const rank, ownRank());
    std::vector<int> members;
    for (const std::int64_t one : listed) members.push_back(int(one));
    KERF_TRY(auto mesh, meshOfProgram(rank->link(), shape, std::move(members)));
    const long number = long(meshesOfProgram().size());
    meshesOfProgram().emplace(number, std::move(mesh));
    return checked(PyLong_FromLong(number));
  };
  return give(made());
}

/// _from_local(local, mesh, placements, run_check, shape or None, stride or None)
PyObject* fromLocalTensor(PyObject*, PyObject* args) {
  PyObject *local = nullptr, *placements = nullptr, *shape = nullptr, *stride = nullptr;
  long number = 0;
  int isChecked = 0;
  if (!PyArg_ParseTuple(args, "OlOpOO", &local, &number, &placements, &isChecked, &shape, &stride)) return nullptr;
  const auto made = [&]() -> Result<Ref> {
    KERF_TRY(const auto mesh, meshNumbered(number));
    KERF_TRY(const Tensor own, ownTensor(local));
    KERF_TRY(const Placements placed, placementsIn(placements, mesh->mesh, own.dim()));
    KERF_TRY(DistributedTensor tensor, fromLocal(mesh->rank, own, placed, isChecked != 0));
    std::optional<Sizes> strides;
    if (shape != Py_None) {
      KERF_TRY(tensor.spec.sizes, integersIn(shape));
      if (tensor.spec.dims() != own.dim())
        return fail(ErrorCode::ShapeMismatch, "from_local: a whole of {} dimensions, and a part of {}",
                    tensor.spec.dims(), own.dim());
    }
    if (stride != Py_None) {
      KERF_TRY(strides, integersIn(stride));
      if (strides->size() != tensor.spec.sizes.size())
        return fail(ErrorCode::ShapeMismatch, "from_local: {} strides for {} sizes", strides->size(),
                    tensor.spec.sizes.size());
    }
    return handleObject(tensor, mesh, strides);
  };
  return give(made());
}

/// _distribute(tensor, mesh, placements, source): source -1: each rank's own values.
PyObject* distributeWhole(PyObject*, PyObject* args) {
  PyObject *whole = nullptr, *placements = nullptr;
  long number = 0;
  int source = 0;
  if (!PyArg_ParseTuple(args, "OlOi", &whole, &number, &placements, &source)) return nullptr;
  const auto made = [&]() -> Result<Ref> {
    KERF_TRY(const auto mesh, meshNumbered(number));
    KERF_TRY(const Tensor own, ownTensor(whole));
    KERF_TRY(const Placements placed, placementsIn(placements, mesh->mesh, own.dim()));
    KERF_TRY(DistributedTensor tensor,
             distributeTensor(mesh->rank, own, placed, source < 0 ? std::optional<int>() : std::optional<int>(source)));
    KERF_TRY(tensor.local, tensor.local.clone());  // never the caller's memory
    return handleObject(tensor, mesh);
  };
  return give(made());
}

/// _redistribute(dtensor, placements)
PyObject* redistributePlaced(PyObject*, PyObject* args) {
  PyObject *object = nullptr, *placements = nullptr;
  if (!PyArg_ParseTuple(args, "OO", &object, &placements)) return nullptr;
  const auto made = [&]() -> Result<Ref> {
    KERF_TRY(const PlacedPart* const found, partOf(object));
    const PlacedPart part = *found;
    KERF_TRY(const Placements to, placementsIn(placements, part.mesh->mesh, part.spec.dims()));
    KERF_TRY(const DistributedTensor moved, redistributed(part.mesh->rank, {part.local, part.spec}, to));
    return handleObject(moved, part.mesh, tensorOf(object).strides());
  };
  return give(made());
}

/// _redistribute_back(gradient, placements of what was redistributed)
PyObject* redistributeBack(PyObject*, PyObject* args) {
  PyObject *object = nullptr, *placements = nullptr;
  if (!PyArg_ParseTuple(args, "OO", &object, &placements)) return nullptr;
  const auto made = [&]() -> Result<Ref> {
    KERF_TRY(const PlacedPart* const found, partOf(object));
    const PlacedPart part = *found;
    Spec from = part.spec;
    KERF_TRY(from.placements, placementsIn(placements, part.mesh->mesh, part.spec.dims()));
    KERF_TRY(const DistributedTensor moved,
             redistributedBack(part.mesh->rank, {part.local, part.spec}, {Tensor(), from}));
    return handleObject(moved, part.mesh);
  };
  return give(made());
}

/// _local(dtensor): this rank's part, the same memory.
PyObject* localOfPlaced(PyObject*, PyObject* object) {
  const auto made = [&]() -> Result<Ref> {
    KERF_TRY(const PlacedPart* const part, partOf(object));
    return wrapTensor(part->local);
  };
  return give(made());
}

/// _spec(dtensor): number of the mesh, and texts of the placements.
PyObject* specOfPlaced(PyObject*, PyObject* object) {
  const auto made = [&]() -> Result<Ref> {
    KERF_TRY(const PlacedPart* const part, partOf(object));
    long number = -1;
    for (const auto& [key, mesh] : meshesOfProgram())
      if (mesh == part->mesh) number = key;
    const Ref texts = Ref::steal(PyList_New(0));
    for (const Placement& placement : part->spec.placements) {
      const Ref text = makeText(placement.text());
      if (!texts || !text || PyList_Append(texts.get(), text.get()) != 0) return fail(pendingError());
    }
    return checked(Py_BuildValue("(lO)", number, texts.get()));
  };
  return give(made());
}

PyObject* isPlacedObject(PyObject*, PyObject* object) {
  return PyBool_FromLong(isTensor(object) && isPlaced(tensorOf(object)));
}

/// _issued(mesh): collectives of DTensors on the mesh so far, by PyTorch's names.
PyObject* issuedOnMesh(PyObject*, PyObject* object) {
  const long number = PyLong_AsLong(object);
  if (number == -1 && PyErr_Occurred()) return nullptr;
  const auto mesh = meshNumbered(number);
  if (!mesh) return raise(mesh.error());
  Ref counts = Ref::steal(PyDict_New());
  for (const auto& [name, count] : (*mesh)->rank.issued) {
    const Ref value = Ref::steal(PyLong_FromLong(count));
    if (!counts || !value || PyDict_SetItemString(counts.get(), name.c_str(), value.get()) != 0) return nullptr;
  }
  return counts.release();
}

/// _set_implicit_replication(bool): what was before.
PyObject* setImplicitReplication(PyObject*, PyObject* wanted) {
  const int isWanted = PyObject_IsTrue(wanted);
  if (isWanted < 0) return nullptr;
  return PyBool_FromLong(PlacedParts::own().replicateOthers(isWanted != 0));
}

/// _set_placed_type(cls): what objects of DTensors are.
PyObject* setPlacedType(PyObject*, PyObject* type) {
  if (!PyType_Check(type)) return PyErr_SetString(PyExc_TypeError, "_set_placed_type takes a type"), nullptr;
  Py_INCREF(type);
  PlacedParts::own().setType(reinterpret_cast<PyTypeObject*>(type));
  Py_RETURN_NONE;
}

}  // namespace

bool addPlacedTensors(PyObject* module) {
  static PyMethodDef functions[] = {{"_make_mesh", makeMesh, METH_VARARGS, nullptr},
                                    {"_from_local", fromLocalTensor, METH_VARARGS, nullptr},
                                    {"_distribute", distributeWhole, METH_VARARGS, nullptr},
                                    {"_redistribute", redistributePlaced, METH_VARARGS, nullptr},
                                    {"_redistribute_back", redistributeBack, METH_VARARGS, nullptr},
                                    {"_local", localOfPlaced, METH_O, nullptr},
                                    {"_spec", specOfPlaced, METH_O, nullptr},
                                    {"_is_placed", isPlacedObject, METH_O, nullptr},
                                    {"_issued", issuedOnMesh, METH_O, nullptr},
                                    {"_set_implicit_replication", setImplicitReplication, METH_O, nullptr},
                                    {"_set_placed_type", setPlacedType, METH_O, nullptr},
                                    {nullptr, nullptr, 0, nullptr}};
  return PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace kerf::inline torch_distributed
