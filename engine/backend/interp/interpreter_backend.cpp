#include "engine/backend/interp/interpreter_backend.h"

#include "engine/backend/input_symbols.h"
#include "engine/ir/interpreter.h"
#include "engine/ops/core/instruments.h"

namespace kerf::inline backend {

namespace {

bool isCall(const Node& node) {
  return node.op() == Opcode::CallFunction || node.op() == Opcode::CallMethod || node.op() == Opcode::CallModule;
}

class InterpretedExecutable : public Executable {
 public:
  explicit InterpretedExecutable(std::shared_ptr<const GraphModule> module)
      : m_module(std::move(module)), m_symbols(*m_module), m_hasSymbolicArguments(hasSymbolicArguments(*m_module)) {
    for (const NodeId id : m_module->graph.order()) {
      const Node& node = m_module->graph.node(id);
      if (!isCall(node) || isInstrument(node)) continue;
      const auto& origins = node.meta().fromNodes;
      m_artifacts.kernels.push_back({.name = "interp_" + node.name(),
                                     .kind = "interpreted",
                                     .nodes = {node.name()},
                                     .capturedNodes = origins.empty() ? std::vector{node.name()} : origins});
    }
  }
  Result<Value> run(const ValueList& inputs, std::stop_token stop) override {
    if (!m_symbols.any() || !m_hasSymbolicArguments)
      return Interpreter(*m_module, referenceOps()).run(inputs, std::move(stop));
    KERF_TRY(const SymbolBindings values, m_symbols.bind(m_symbols.numbers(inputs)));
    KERF_TRY(const GraphModule module, withNumbers(*m_module, values));
    return Interpreter(module, referenceOps()).run(inputs, std::move(stop));
  }
  const Artifacts& artifacts() const override { return m_artifacts; }

 private:
  std::shared_ptr<const GraphModule> m_module;
  InputSymbols m_symbols;
  bool m_hasSymbolicArguments;
  Artifacts m_artifacts;
};

class InterpretedModule : public LoweredModule {
 public:
  explicit InterpretedModule(std::shared_ptr<const GraphModule> module) : m_module(std::move(module)) {}
  Result<std::unique_ptr<Executable>> compile(std::stop_token) override {
    return std::make_unique<InterpretedExecutable>(m_module);
  }

 private:
  std::shared_ptr<const GraphModule> m_module;
};

class InterpreterBackend : public Backend {
 public:
  std::string_view name() const override { return "interp"; }
  std::string_view description() const override { return "Runs every node through its reference kernel."; }
  Result<std::unique_ptr<LoweredModule>> lower(std::shared_ptr<const GraphModule> module, const BackendOptions&,
                                               std::stop_token) const override {
    return std::make_unique<InterpretedModule>(std::move(module));
  }
};

}  // namespace

const Backend& interpreterBackend() {
  static const InterpreterBackend backend;
  return backend;
}

}  // namespace kerf::inline backend
