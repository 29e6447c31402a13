// GraphBody: the body of a higher-order operator, cut out of the graph in which it was traced.
#pragma once

#include <memory>

#include "engine/dynamo/output_graph.h"

namespace kerf::inline dynamo {

struct GraphBody {
  std::string name;         ///< "cond_true_0"; empty until it is installed
  std::vector<Node> nodes;  ///< as they stood in the graph around it
  std::vector<NodeId> own;  ///< inputs that are the body's own, by order
  std::vector<std::string> ownNames;
  std::vector<Ref> lifted;  ///< tensors and numbers from around it: proxies, by order of first use
  std::vector<TracedCall> calls;
  Ref output;   ///< proxies in tuples and lists
  Graph graph;  ///< once it is installed
  std::vector<NodeId> inputs;
};

/// A Python object around it; called, it runs the body.
Ref nestedGraphObject(std::shared_ptr<GraphBody> body);
/// Null where the object is none.
GraphBody* nestedOf(PyObject* object);

}  // namespace kerf::inline dynamo
