// AotTracer: PyTorch's dispatch keys as layers over an OpTracer. A call comes in as a program makes it and goes down:
// autocast, composite programs (OpTracer), views and writes (AliasTable), gradients (Tape), a node of the graph.
#pragma once

#include <optional>

#include "engine/autograd/alias_table.h"
#include "engine/autograd/function_levels.h"
#include "engine/autograd/tape.h"
#include "engine/ops/core/op_tracer.h"
#include "engine/ops/core/shared_memory.h"

namespace kerf::inline autograd {

struct AotLayers {
  bool functionalizes = true;  ///< no node writes into another's value
  bool differentiates = true;  ///< the tape runs
};

class AotTracer : public OpTracer, public FollowsMemory, private ViewCalls {
 public:
  AotTracer(GraphModule& module, AotLayers layers);

  /// torch.no_grad and its like set the mode; everything else as OpTracer, with tensors as they look now.
  Result<Value> call(const OpTarget& target, const ValueList& args, const KeywordValues& kwargs) const override;
  /// Wrappers (checkpoint, wrap, invoke_subgraph, …) are written out, the graph of a torch.autograd.Function too.
  Result<Value> callHigherOrder(const OpTarget& target, const ValueList& args, const KeywordValues& kwargs,
                                const SubgraphCaller& subgraphs) const override;
  /// By the AliasTable: views of one tensor do.
  bool shareMemory(const Tensor& a, const Tensor& b) const override;

  /// What a value holds after all writes so far.
  Result<Value> current(const Value& value) const;
  /// The module that is written.
  GraphModule& target() const { return module(); }
  /// An attribute of the traced module with that tensor, under a name like `path`.
  Result<Value> constant(std::string_view path, const Tensor& tensor) const;
  /// Adds a node that only the caller knows (a nested graph's call) with its value; `inputs` are those that gradients
  /// may flow to, by `backward` if that is given.
  Value addCall(NodeId node, const ValueMeta& meta, const ValueList& inputs = {}, Tape::Backward backward = {}) const;
  Tape& tape() const { return m_tape; }
  AliasTable& aliases() const { return m_aliases; }
  /// Transforms of torch.func that the traced graph opens.
  FunctionLevels& levels() const { return m_levels; }
  bool recordsGradients() const { return m_layers.differentiates && m_gradMode; }
  const AotLayers& layers() const { return m_layers; }

  /// Nodes made from now on come from `source`, a node of the graph that is traced; null: from nowhere.
  void setSource(const Node* source) { m_source = source; }
  /// The backward part begins: values are what they are now, nothing is taped.
  void beginBackward();
  /// Nodes made from now on are gradients of what `forward` computes.
  void setForward(NodeId forward) const { m_forward = forward; }

  /// torch.set_grad_enabled for a scope.
  class GradMode {
   public:
    GradMode(const AotTracer& tracer, bool enabled) : m_tracer(tracer), m_before(tracer.m_gradMode) {
      tracer.m_gradMode = enabled;
    }
    ~GradMode() { m_tracer.m_gradMode = m_before; }
    GradMode(const GradMode&) = delete;
    GradMode& operator=(const GradMode&) = delete;

   private:
    const AotTracer& m_tracer;
    bool m_before;
  };

 protected:
  Result<Value> record(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs) const override;

 private:
  friend class FunctionLevels;
  static bool isFunctionalForm(const OpInfo& op);
  /// The op's program on what its arguments hold now.
  Result<Value> decomposeHandles(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs) const;
  Result<Value> emit(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs) const;
  Result<Value> emitBound(const BoundArguments& call) const;
  Result<Value> write(const BoundArguments& call, const ValueList& given) const;
  Result<Value> copyInto(const BoundArguments& call) const;
  Result<Value> reshape(const ValueList& args) const;
  Result<Value> applyFunction(const ValueList& args, const KeywordValues& kwargs,
                              const SubgraphCaller& subgraphs) const;
  Result<Tensor> view(const ViewStep& step, const Tensor& base) const override;
  Result<Tensor> unview(const ViewStep& step, const Tensor& base, const Tensor& view) const override;
  Value refreshed(const Value& value) const;
  Result<Value> asHandle(const Value& value) const;
  Result<Tensor> stored(const Tensor& value, const Tensor& target) const;
  void describeNodes(std::size_t from) const;

  AotLayers m_layers;
  const Node* m_source = nullptr;
  mutable NodeId m_forward;
  mutable bool m_gradMode = true;
  mutable bool m_isPure = false;  ///< inside what undoes a view: nothing is looked up
  mutable int m_checkpoints = 0;  ///< how many checkpointed regions the call is in
  mutable Tape m_tape;
  mutable AliasTable m_aliases;
  mutable FunctionLevels m_levels;
};

}  // namespace kerf::inline autograd
