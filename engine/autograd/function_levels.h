// FunctionLevels: the transforms of torch.func (vmap, grad, vjp, jvp) that Dynamo leaves in graphs as calls that open and
// close levels. A call goes through the open levels from the innermost one out: one of grad or jvp tapes it, one of vmap
// makes it a call on all examples, and the one below sees the result.
//
//     _vmap_increment_nesting(4, 'error')
//     x = _add_batch_dim(xs, 0, 1)          x looks like one row of xs; its physical tensor is xs
//     y = x.sum()                           sum(xs, [1]), which looks like a number
//     ys = _remove_batch_dim(y, 1, 4, 0)    the physical tensor again
#pragma once

#include <deque>
#include <memory>
#include <unordered_map>

#include "engine/autograd/tape.h"
#include "engine/ir/graph_module.h"

namespace kerf::inline autograd {

class AotTracer;

class FunctionLevels {
 public:
  explicit FunctionLevels(const AotTracer& tracer) : m_tracer(tracer) {}

  /// Runs a call that opens, closes or crosses a level; none for other targets. BadInput where levels do not nest.
  std::optional<Result<Value>> call(std::string_view target, const ValueList& args, const KeywordValues& kwargs);
  /// Whether emit() has something to do.
  bool isInside() const { return m_depth > 0; }
  /// A call of an op as the innermost level sees it. The tracer's own emit() is the level below all.
  Result<Value> emit(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs);
  /// BadInput where a tensor that all examples share would hold the values of one.
  Result<void> checkWrite(const Tensor& target, const Tensor& value) const;

 private:
  enum class Kind : std::uint8_t { Batch, Gradient, Tangent };
  /// An input of vmap, and how its rows look inside.
  struct Added {
    Tensor whole;
    std::int64_t dim;
    Tensor inside;
  };
  struct Level {
    Kind kind = Kind::Gradient;
    std::shared_ptr<Tape> tape;  ///< of grad and jvp; outlives the level where vjp's result is called later
    bool gradModeBefore = true;  ///< of grad and jvp
    SymInt size;                 ///< of vmap
    std::string randomness;
    std::vector<Added> added;
    std::vector<std::pair<Tensor, Value>> duals;  ///< jvp: primals with their tangents
  };
  /// What a tensor inside a level of vmap is: dimension 0 counts the examples.
  struct Batched {
    std::size_t level;  ///< from 1
    Tensor physical;
  };
  using Handler = Result<Value> (FunctionLevels::*)(const ValueList& args, const KeywordValues& kwargs);
  struct Row {
    std::string_view name;
    Handler run;
  };
  static const Row rows[];

  /// An argument by position or keyword; None where it is missing.
  static Value argumentOf(const ValueList& args, const KeywordValues& kwargs, std::size_t at, std::string_view key);
  Result<Value> none(const ValueList&, const KeywordValues&) { return Value(); }
  Result<Value> openBatch(const ValueList& args, const KeywordValues& kwargs);
  Result<Value> openGradient(const ValueList& args, const KeywordValues& kwargs);
  Result<Value> openTangent(const ValueList& args, const KeywordValues& kwargs);
  Result<Value> closeBatch(const ValueList& args, const KeywordValues& kwargs);
  Result<Value> close(const ValueList& args, const KeywordValues& kwargs);
  Result<Value> addBatchDim(const ValueList& args, const KeywordValues& kwargs);
  Result<Value> removeBatchDim(const ValueList& args, const KeywordValues& kwargs);
  Result<Value> wrap(const ValueList& args, const KeywordValues& kwargs);
  Result<Value> unwrap(const ValueList& args, const KeywordValues& kwargs);
  Result<Value> requireGradient(const ValueList& args, const KeywordValues& kwargs);
  Result<Value> gradient(const ValueList& args, const KeywordValues& kwargs);
  Result<Value> makeDual(const ValueList& args, const KeywordValues& kwargs);
  Result<Value> unpackDual(const ValueList& args, const KeywordValues& kwargs);

  Result<std::size_t> levelNamed(const ValueList& args, std::size_t at, Kind kind) const;
  Level* innermost(Kind kind);
  Result<Value> taped(Level& level, const OpInfo& op, const ValueList& args, const KeywordValues& kwargs);
  Result<Value> batched(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs);
  Result<Value> physicalResult(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs, const Value& look);
  Result<Value> eachExample(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs);
  Result<Value> exampleOf(const Value& value, std::int64_t example) const;
  Value lookingLike(const Value& look, const Value& physical);
  const Batched* find(const Tensor& tensor, std::size_t level) const;
  bool anyBatched(const Value& value, std::size_t level) const;
  bool anyBatched(const ValueList& args, const KeywordValues& kwargs, std::size_t level) const;
  Result<Value> tangentOf(Level& level, const Tensor& output);
  Result<Value> tangentByTwoGradients(Level& level, const Tensor& output);

  const AotTracer& m_tracer;
  std::deque<Level> m_levels;
  std::size_t m_depth = 0;                     ///< how many levels a call goes through now
  std::vector<std::shared_ptr<Tape>> m_tapes;  ///< all there ever were, the newest at the end
  std::unordered_map<int, Batched> m_batched;  ///< by Tensor::traced
  std::int64_t m_examples = 0;                 ///< calls that were made for single examples
};

/// Whether a graph, or one nested in it, has calls of such levels.
bool holdsFunctionLevels(const GraphModule& module);

}  // namespace kerf::inline autograd
