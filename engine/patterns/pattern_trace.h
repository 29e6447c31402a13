// From a C++ function over proxies to flat ATen graphs with Inductor's decompositions: forward only, or with the
// backward part, so that one function is the pattern of inference and of training.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/ir/graph_module.h"
#include "engine/ir/tracer.h"
#include "engine/ops/core/decomposition_tables.h"
#include "engine/support/result.h"

namespace kerf::inline patterns {

/// One argument of a search or replacement function: a tensor like this one, or a value that is written into the trace.
struct PatternInput {
  std::string name;
  std::optional<TensorMeta> tensor;  ///< none: `value`
  Argument value;
};
using PatternInputs = std::vector<PatternInput>;

/// The arguments of one call of a search or replacement function, by name.
class PatternArguments {
 public:
  PatternArguments(Tracer& tracer, const PatternInputs& inputs);
  Tracer& tracer() const { return m_tracer; }
  /// The proxy of a tensor, the value of anything else; None for a name that there is not.
  Argument operator[](std::string_view name) const;
  /// A tensor's proxy. A number becomes torch.full([], number), as a function of PyTorch would take it.
  Proxy tensor(std::string_view name) const;
  /// Of a tensor: what is known of it. Float32 without sizes for others.
  TensorMeta meta(std::string_view name) const;
  /// One size of a tensor (from the end where negative); 0 where it has no such dimension or no number for it.
  std::int64_t size(std::string_view name, int dim) const;
  /// A value that is a number; 0 for others.
  double number(std::string_view name) const;
  /// The same as a whole number.
  std::int64_t integer(std::string_view name) const { return std::int64_t(number(name)); }

 private:
  const PatternInput* find(std::string_view name) const;
  Tracer& m_tracer;
  const PatternInputs& m_inputs;
  std::vector<std::pair<std::string_view, NodeId>> m_nodes;
};

/// Calls at any level (torch functions, methods, ATen); several results as a list.
using PatternFunction = std::function<std::vector<Proxy>(const PatternArguments&)>;

enum class PatternTrace : std::uint8_t {
  FwdOnly,      ///< the function's results
  JointFwdBwd,  ///< its results, then the gradient of each tensor argument; tangents are arguments too
};

/// A traced function. Placeholders are named as the arguments, then "tangents_1", …; numbers are no placeholders.
struct TracedPattern {
  GraphModule module;
  std::size_t userOutputs = 0;
};

/// UnsupportedOp, BadInput and others as aotTrace gives them, where the function does not fit the inputs. Calls that
/// change nothing are left out. `table`: None leaves ops whole that Inductor takes apart.
Result<TracedPattern> tracePattern(const PatternFunction& function, const PatternInputs& inputs, PatternTrace trace,
                                   DecompositionTable table = DecompositionTable::Inductor);

}  // namespace kerf::inline patterns
