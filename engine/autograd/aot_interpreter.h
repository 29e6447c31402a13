// AotInterpreter: runs a captured graph on an AotTracer, so that what it does is written into the traced graph.
#pragma once

#include <map>
#include <memory>

#include "engine/autograd/aot_tracer.h"
#include "engine/ir/interpreter.h"

namespace kerf::inline autograd {

/// Of a torch.nn module that is known by its repr, as attributes "<module>.<name>".
inline constexpr std::string_view parametersOfModules[] = {"weight", "bias"};

/// Values of attributes that became inputs, by path.
using LiftedAttributes = std::map<std::string, Value, std::less<>>;

/// Must outlive the tracer's walk back: gradients of nested graphs are traced from it.
class AotInterpreter : public Interpreter, private SubgraphCaller {
 public:
  AotInterpreter(const GraphModule& module, AotTracer& tracer, const LiftedAttributes& lifted)
      : Interpreter(module, tracer), m_tracer(tracer), m_lifted(lifted) {}

 protected:
  Result<Value> callFunction(const Node& node, const ValueList& args, const KeywordValues& kwargs) override;
  Result<Value> callMethod(const Node& node, const ValueList& args, const KeywordValues& kwargs) override;
  Result<Value> callModule(const Node& node, const ValueList& args, const KeywordValues& kwargs) override;
  Result<Value> getAttr(const Node& node) override;

 private:
  /// Writes the nested graph out where it is called.
  Result<Value> callSubgraph(std::string_view path, const ValueList& args) const override;
  /// cond, loops, maps: the nested graphs are traced on their own and called.
  Result<Value> callWithGraphs(const Node& node, const ValueList& args, const KeywordValues& kwargs);

  /// Parameters of the module that became inputs, by name.
  KeywordValues parametersOf(std::string_view module) const;

  AotTracer& m_tracer;
  const LiftedAttributes& m_lifted;
  std::map<std::string, Value, std::less<>> m_constants;  ///< attributes that stay, by path
  mutable std::vector<std::unique_ptr<AotInterpreter>> m_nested;
};

}  // namespace kerf::inline autograd
