#include "engine/backend/interp/interpreter_backend.h"

#include "engine/backend/input_symbols.h"
#include "engine/backend/size_guards.h"
#include "engine/ir/interpreter.h"
#include "engine/ops/core/instruments.h"

namespace kerf::inline backend {

namespace {

bool isCall(const Node& node) {
  return node.op() == Opcode::CallFunction || node.op() == Opcode::CallMethod || node.op() == Opcode::CallModule;
}

class InterpretedExecutable : public Executable {
 public:
  InterpretedExecutable(std::shared_ptr<const GraphModule> module, std::shared_ptr<const SizeGuards> captured)
      : m_module(std::move(module)),
        m_captured(std::move(captured)),
        m_symbols(*m_module),
        m_hasSymbolicArguments(hasSymbolicArguments(*m_module)) {
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
  std::optional<GuardViolation> violated(const ValueList& inputs) override {
    if (!m_captured || !m_symbols.any()) return {};
    const auto values = m_symbols.bind(m_symbols.numbers(inputs));
    return values ? m_captured->violated(*values) : std::nullopt;  // run() says what does not fit
  }

 private:
  std::shared_ptr<const GraphModule> m_module;
  std::shared_ptr<const SizeGuards> m_captured;
  InputSymbols m_symbols;
  bool m_hasSymbolicArguments;
  Artifacts m_artifacts;
};

class InterpretedModule : public LoweredModule {
 public:
  InterpretedModule(std::shared_ptr<const GraphModule> module, std::shared_ptr<const SizeGuards> captured)
      : m_module(std::move(module)), m_captured(std::move(captured)) {}
  Result<std::unique_ptr<Executable>> compile(std::stop_token) override {
    return std::make_unique<InterpretedExecutable>(m_module, m_captured);
  }

 private:
  std::shared_ptr<const GraphModule> m_module;
  std::shared_ptr<const SizeGuards> m_captured;
};

class InterpreterBackend : public Backend {
 public:
  std::string_view name() const override { return "interp"; }
  std::string_view description() const override { return "Runs every node through its reference kernel."; }
  Result<std::unique_ptr<LoweredModule>> lower(std::shared_ptr<const GraphModule> module, const BackendOptions& options,
                                               std::stop_token) const override {
    return std::make_unique<InterpretedModule>(std::move(module), options.captured);
  }
};

}  // namespace

const Backend& interpreterBackend() {
  static const InterpreterBackend backend;
  return backend;
}

}  // namespace kerf::inline backend
