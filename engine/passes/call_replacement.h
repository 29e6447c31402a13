// CallReplacement: other calls in place of a node, checked before anything is changed: same dtype, sizes and strides.
//
//     y = add(mm(a, b), c)      →      y = addmm(c, a, b)
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "engine/ir/graph_module.h"
#include "engine/ops/core/op_tracer.h"
#include "engine/symbolic/shape_env.h"

namespace kerf::inline passes {

/// Writes calls, whose shapes are inferred as they are written; the first error ends the program.
class CallWriter {
 public:
  explicit CallWriter(const OpTracer& tracer) : m_tracer(tracer) {}
  /// One tensor or several; None after an error.
  Value operator()(const OpTarget& op, const ValueList& args, const KeywordValues& kwargs = {});
  const Result<void>& state() const { return m_state; }

 private:
  const OpTracer& m_tracer;
  Result<void> m_state;
};

/// What to write in place of a node, from the values of the nodes it reads.
using ReplacementProgram = std::function<Value(CallWriter&, std::span<const Value>)>;

class CallReplacement {
 public:
  explicit CallReplacement(GraphModule& module) : m_module(module) {}
  ~CallReplacement();
  CallReplacement(const CallReplacement&) = delete;
  CallReplacement& operator=(const CallReplacement&) = delete;

  /// Puts what `program` writes right before `node`, whose users then read that; `node` is erased. False, and nothing
  /// changed, where the program cannot be written (an op without shape rule) or gives another dtype, sizes or strides.
  /// `matched`: nodes that it stands for too, for provenance.
  Result<bool> replace(NodeId node, const std::vector<NodeId>& inputs, const ReplacementProgram& program,
                       const std::vector<NodeId>& matched = {});
  /// The same for several nodes at once, in graph order, whose values the program gives as a list. It is written before
  /// the first of them: all inputs stand above that.
  Result<bool> replaceAll(const std::vector<NodeId>& nodes, const std::vector<NodeId>& inputs,
                          const ReplacementProgram& program, const std::vector<NodeId>& matched = {});
  /// Drops what no one reads any more; call it when all replacements are made.
  void finish();
  bool changed() const { return m_changed; }

 private:
  Result<std::vector<NodeId>> write(const std::vector<NodeId>& inputs, const ReplacementProgram& program);
  bool fits(NodeId old, NodeId made) const;
  void describe(const std::vector<NodeId>& made, const std::vector<NodeId>& from);
  std::vector<NodeId> nodesFrom(std::uint32_t index) const;

  GraphModule& m_module;
  std::unique_ptr<ShapeEnv> m_symbols;  ///< of a graph with symbolic sizes, made when first needed
  bool m_changed = false;
};

}  // namespace kerf::inline passes
