// TensorProxy: the object that stands for a tensor while a program is traced; every operation on it becomes a node.
#pragma once

#include <memory>

#include "engine/dynamo/source.h"
#include "engine/ir/node.h"
#include "engine/python/reference.h"
#include "engine/tensor/tensor.h"

namespace kerf::inline dynamo {

struct ProxyState {
  Tensor fake;            ///< sizes, dtype, device; no storage
  NodeId node;            ///< invalid: an input that no node uses yet
  SourcePtr source;       ///< of an input
  Ref real;               ///< of an input: the tensor itself
  Ref pythonClass;        ///< what type(x) and isinstance see
  bool isNumber = false;  ///< the program has a number, which is a tensor in the graph
  Ref item;               ///< of such a number: the number that .item() of it gives, once asked for
  bool isRecast = false;  ///< the program asked for that class: what the node gives may have another
  /// Shared by what in-place methods give: the same tensor, by another node.
  std::shared_ptr<int> identity;
  Ref attributes;  ///< dict of what the program stored on it
};

/// Makes the type; once per interpreter. False with an exception set.
bool readyTensorProxy();
Ref makeProxy(ProxyState state);
/// Null where the object is no proxy.
ProxyState* proxyOf(PyObject* object);

}  // namespace kerf::inline dynamo
