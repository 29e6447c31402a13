// Variable: what a torch.Tensor object stands for: a tensor with its place in autograd, its version and its object.
#pragma once

#include <memory>
#include <vector>

#include "engine/python/reference.h"
#include "engine/tensor/value.h"

namespace kerf::inline torch_api {

struct GradNode;
struct Variable;
using VariablePtr = std::shared_ptr<Variable>;

/// Where a gradient goes on to: result `number` of a node; no node: nowhere.
struct Edge {
  std::shared_ptr<GradNode> node;
  std::size_t number = 0;
};

struct Variable : std::enable_shared_from_this<Variable> {
  Tensor tensor;                     ///< `traced` is the variable's number
  bool requiresGrad = false;         ///< of leaves; what has a gradFn requires it anyway
  std::shared_ptr<GradNode> gradFn;  ///< null for leaves
  std::size_t outputNumber = 0;
  std::weak_ptr<GradNode> accumulator;  ///< of a leaf, while somebody needs it
  VariablePtr grad;
  Ref gradObject;  ///< keeps the object of a gradient whose class answers operators
  bool retainsGrad = false;
  bool isInference = false;
  bool isBatched = false;             ///< one example of those that torch.vmap runs its function on (batched_tensors.h)
  bool isDispatched = false;          ///< its object's class answers operators (dispatch_classes.h)
  PyObject* object = nullptr;         ///< borrowed; the object that stands for it, while there is one
  std::shared_ptr<unsigned> version;  ///< shared by all that look at the same memory
  VariablePtr base;                   ///< of a view
  std::shared_ptr<GradNode> baseFn;   ///< what the base's gradFn was when this view's was made
  std::vector<Ref> hooks;             ///< called with the gradient of a leaf; null where removed
  std::vector<Ref> accumulateHooks;   ///< called with the leaf after its gradient was added
  Ref nodeObject;                     ///< kept by an accumulator's Python object

  ~Variable();
  bool needsGrad() const { return requiresGrad || gradFn != nullptr; }
};

/// A new variable with a number of its own, on its own storage's version.
VariablePtr makeVariable(Tensor tensor);
/// A new variable that looks at the memory of another: writing into either reaches both. `keepsHistory` false: only the
/// version is shared (detach).
VariablePtr makeView(Tensor tensor, const VariablePtr& of, bool keepsHistory);
/// The variable that a handle belongs to; null where it belongs to none (any more).
VariablePtr variableOf(const Tensor& tensor);
/// Whether a gradient is asked for what the handle belongs to.
bool needsGrad(const Tensor& tensor);
/// The node that adds to a leaf's gradient, or the leaf's gradFn: where gradients of the variable go. Nowhere for what
/// needs none. Of a view whose base was written into, the gradFn is made anew.
Edge edgeOf(Variable& variable);

/// While the outermost of these lives, variables made within live too, whoever else holds them.
class CallScope {
 public:
  CallScope();
  ~CallScope();
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;
  /// Keeps a variable for the innermost scope.
  static void keep(VariablePtr variable);
  /// Keeps a Python object as long.
  static void keepObject(const Ref& object);

 private:
  std::size_t m_before, m_objectsBefore;
};

/// Keeps the variables of all tensors in a value for the innermost scope: what Python gave and drops.
void keepVariables(const Value& value);

}  // namespace kerf::inline torch_api
