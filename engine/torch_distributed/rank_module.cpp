#include "engine/torch_distributed/rank_module.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "engine/distributed/group/collectives.h"
#include "engine/torch_api/dispatch_mode.h"
#include "engine/torch_api/placed_tensors.h"
#include "engine/torch_api/tensor_type.h"
#include "engine/torch_distributed/fake_rank.h"
#include "engine/torch_distributed/own_rank.h"
#include "engine/torch_distributed/placed_module.h"

namespace kerf::inline torch_distributed {
namespace {

/// The rank and one of its groups.
struct GroupOfRank {
  OwnRank& rank;
  Group group;
};

Result<GroupOfRank> groupOfRank(const char* name) {
  KERF_TRY(OwnRank* const rank, ownRank());
  KERF_TRY(Group group, rank->group(name));
  return GroupOfRank{*rank, std::move(group)};
}

/// Data alone: what a collective gives has no history.
Result<Tensor> plainTensor(PyObject* object) {
  if (!isTensor(object))
    return fail(ErrorCode::BadUsage, "a collective takes tensors, not a {}", Py_TYPE(object)->tp_name);
  Tensor tensor = tensorOf(object);
  if (!tensor.defined()) return fail(ErrorCode::BadUsage, "a collective takes tensors with data");
  KERF_CHECK(refusePlaced(tensor, "a collective"));
  tensor.traced = -1;
  tensor.requiresGrad = false;
  return tensor;
}

/// What is no operator would be missing in a graph that is being recorded: RuntimeFailed then.
Result<void> refuseInGraph(std::string_view what) {
  for (const Ref& mode : dispatchModes()) {
    const Ref records = attributeOf(mode.get(), "records_graph");
    if (!records || PyObject_IsTrue(records.get()) != 1) continue;
    return fail(ErrorCode::RuntimeFailed, "{} has no operator that a graph could hold: it cannot be exported", what);
  }
  PyErr_Clear();
  return {};
}

PyObject* rankNumber(PyObject*, PyObject*) {
  auto rank = ownRank();
  return rank ? PyLong_FromLong((*rank)->link().rank()) : raise(rank.error());
}

PyObject* worldSizeNumber(PyObject*, PyObject*) {
  auto rank = ownRank();
  return rank ? PyLong_FromLong((*rank)->link().worldSize()) : raise(rank.error());
}

/// _set_timeout(seconds): of each collective and message from now on.
PyObject* changeTimeout(PyObject*, PyObject* seconds) {
  const double value = PyFloat_AsDouble(seconds);
  if (value == -1 && PyErr_Occurred()) return nullptr;
  auto rank = ownRank();
  if (!rank) return raise(rank.error());
  constexpr double most = 24.0 * 3600;
  const double bounded = value > 0 && value < most ? value : most;
  (*rank)->link().setTimeout(std::chrono::milliseconds(std::int64_t(bounded * 1000)));
  Py_RETURN_NONE;
}

/// _pretend(rank, world size): a rank of a fake world.
PyObject* pretendToBeRank(PyObject*, PyObject* args) {
  int rank = 0, worldSize = 0;
  if (!PyArg_ParseTuple(args, "ii", &rank, &worldSize)) return nullptr;
  if (const auto pretended = pretendRank(rank, worldSize); !pretended) return raise(pretended.error());
  Py_RETURN_NONE;
}

PyObject* endPretending(PyObject*, PyObject*) {
  stopPretending();
  Py_RETURN_NONE;
}

/// _add_group(name, ranks)
PyObject* addProcessGroup(PyObject*, PyObject* args) {
  const char* name = nullptr;
  PyObject* list = nullptr;
  if (!PyArg_ParseTuple(args, "sO", &name, &list)) return nullptr;
  const Ref items = Ref::steal(PySequence_Fast(list, "the ranks of a process group are a list"));
  if (!items) return nullptr;
  std::vector<int> ranks;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.get()); ++i) {
    const long rank = PyLong_AsLong(PySequence_Fast_GET_ITEM(items.get(), i));
    if (rank == -1 && PyErr_Occurred()) return nullptr;
    ranks.push_back(int(std::clamp(rank, -1L, long{mostFakeRanks})));
  }
  auto rank = ownRank();
  if (!rank) return raise(rank.error());
  if (const auto added = (*rank)->addGroup(name, std::move(ranks)); !added) return raise(added.error());
  Py_RETURN_NONE;
}

PyObject* dropProcessGroup(PyObject*, PyObject* name) {
  auto rank = ownRank();
  if (!rank) return raise(rank.error());
  (*rank)->dropGroup(textOf(name));
  Py_RETURN_NONE;
}

/// _gather(group, name, detail, tensor): the tensors of all members, which must agree on both texts.
PyObject* gatherTensors(PyObject*, PyObject* args) {
  const char *group = nullptr, *name = nullptr, *detail = nullptr;
  PyObject* object = nullptr;
  if (!PyArg_ParseTuple(args, "sssO", &group, &name, &detail, &object)) return nullptr;
  const auto gathered = [&]() -> Result<Ref> {
    KERF_CHECK(refuseInGraph(name));
    KERF_TRY(const GroupOfRank own, groupOfRank(group));
    KERF_TRY(const Tensor mine, plainTensor(object));
    KERF_TRY(const std::vector<Tensor> all, own.rank.link().gather(own.group, {name, detail}, mine));
    Ref list = Ref::steal(PyList_New(0));
    for (const Tensor& one : all) {
      const Ref item = wrapTensor(one);
      if (!list || !item || PyList_Append(list.get(), item.get()) != 0) return fail(pendingError());
    }
    return list;
  };
  return give(gathered());
}

/// _gather_bytes(group, bytes): those of all members.
PyObject* gatherBytes(PyObject*, PyObject* args) {
  const char* group = nullptr;
  Py_buffer bytes{};
  if (!PyArg_ParseTuple(args, "sy*", &group, &bytes)) return nullptr;
  const std::string mine(static_cast<const char*>(bytes.buf), std::size_t(bytes.len));
  PyBuffer_Release(&bytes);
  const auto gathered = [&]() -> Result<Ref> {
    KERF_CHECK(refuseInGraph("a collective of objects"));
    KERF_TRY(const GroupOfRank own, groupOfRank(group));
    KERF_TRY(const auto all, allGatherObject(own.rank.link(), own.group, mine));
    Ref list = Ref::steal(PyList_New(0));
    for (const std::string& one : all) {
      const Ref item = Ref::steal(PyBytes_FromStringAndSize(one.data(), Py_ssize_t(one.size())));
      if (!list || !item || PyList_Append(list.get(), item.get()) != 0) return fail(pendingError());
    }
    return list;
  };
  return give(gathered());
}

/// _barrier(group)
PyObject* meet(PyObject*, PyObject* name) {
  const auto met = [&]() -> Result<void> {
    KERF_CHECK(refuseInGraph("barrier"));
    KERF_TRY(const GroupOfRank own, groupOfRank(textOf(name).c_str()));
    return barrier(own.rank.link(), own.group);
  };
  if (const auto done = met(); !done) return raise(done.error());
  Py_RETURN_NONE;
}

/// _send(group, to, tag, tensor): to the member of that rank in the group.
PyObject* sendTensor(PyObject*, PyObject* args) {
  const char* group = nullptr;
  int to = 0, tag = 0;
  PyObject* object = nullptr;
  if (!PyArg_ParseTuple(args, "siiO", &group, &to, &tag, &object)) return nullptr;
  const auto sent = [&]() -> Result<void> {
    KERF_CHECK(refuseInGraph("send"));
    KERF_TRY(const GroupOfRank own, groupOfRank(group));
    KERF_TRY(const Tensor mine, plainTensor(object));
    return own.rank.link().send(own.group, to, tag, mine);
  };
  if (const auto done = sent(); !done) return raise(done.error());
  Py_RETURN_NONE;
}

/// _recv(group, from, tag)
PyObject* receiveTensor(PyObject*, PyObject* args) {
  const char* group = nullptr;
  int from = 0, tag = 0;
  if (!PyArg_ParseTuple(args, "sii", &group, &from, &tag)) return nullptr;
  const auto received = [&]() -> Result<Ref> {
    KERF_CHECK(refuseInGraph("recv"));
    KERF_TRY(const GroupOfRank own, groupOfRank(group));
    KERF_TRY(const Tensor tensor, own.rank.link().receive(own.group, from, tag));
    return wrapTensor(tensor);
  };
  return give(received());
}

/// _recv_arrived(group, from, tag): None while nothing has come.
PyObject* receiveWhatArrived(PyObject*, PyObject* args) {
  const char* group = nullptr;
  int from = 0, tag = 0;
  if (!PyArg_ParseTuple(args, "sii", &group, &from, &tag)) return nullptr;
  const auto received = [&]() -> Result<Ref> {
    KERF_CHECK(refuseInGraph("recv"));
    KERF_TRY(const GroupOfRank own, groupOfRank(group));
    KERF_TRY(const std::optional<Tensor> tensor, own.rank.link().receiveArrived(own.group, from, tag));
    return tensor ? wrapTensor(*tensor) : Ref::borrow(Py_None);
  };
  return give(received());
}

/// _recv_any(group, tag): (rank in the group, tensor).
PyObject* receiveFromAny(PyObject*, PyObject* args) {
  const char* group = nullptr;
  int tag = 0;
  if (!PyArg_ParseTuple(args, "si", &group, &tag)) return nullptr;
  const auto received = [&]() -> Result<Ref> {
    KERF_CHECK(refuseInGraph("recv"));
    KERF_TRY(const GroupOfRank own, groupOfRank(group));
    KERF_TRY(const auto come, own.rank.link().receiveAny(own.group, tag));
    const Ref tensor = wrapTensor(come.second);
    if (!tensor) return fail(pendingError());
    return checked(Py_BuildValue("(iO)", come.first, tensor.get()));
  };
  return give(received());
}

PyMethodDef rankFunctions[] = {{"_rank", rankNumber, METH_NOARGS, nullptr},
                               {"_world_size", worldSizeNumber, METH_NOARGS, nullptr},
                               {"_set_timeout", changeTimeout, METH_O, nullptr},
                               {"_pretend", pretendToBeRank, METH_VARARGS, nullptr},
                               {"_stop_pretending", endPretending, METH_NOARGS, nullptr},
                               {"_add_group", addProcessGroup, METH_VARARGS, nullptr},
                               {"_drop_group", dropProcessGroup, METH_O, nullptr},
                               {"_gather", gatherTensors, METH_VARARGS, nullptr},
                               {"_gather_bytes", gatherBytes, METH_VARARGS, nullptr},
                               {"_barrier", meet, METH_O, nullptr},
                               {"_send", sendTensor, METH_VARARGS, nullptr},
                               {"_recv", receiveTensor, METH_VARARGS, nullptr},
                               {"_recv_arrived", receiveWhatArrived, METH_VARARGS, nullptr},
                               {"_recv_any", receiveFromAny, METH_VARARGS, nullptr},
                               {nullptr, nullptr, 0, nullptr}};

}  // namespace

PyObject* makeRankModule() {
  static PyModuleDef definition{PyModuleDef_HEAD_INIT,
                                "torch._C._distributed_c10d",
                                nullptr,
                                -1,
                                rankFunctions,
                                nullptr,
                                nullptr,
                                nullptr,
                                nullptr};
  Ref module = Ref::steal(PyModule_Create(&definition));
  return module && addPlacedTensors(module.get()) ? module.release() : nullptr;
}

}  // namespace kerf::inline torch_distributed
