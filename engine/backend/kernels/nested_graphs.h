// NestedGraphs: the graphs that the nodes of a graph call (branches, loop bodies, checkpointed parts), as machine code
// of their own.
//
//     while_loop(cond_fn, body_fn, (i, x), ())      →      cond_fn and body_fn compiled for an i64[] and an f32[2]; the
//     loop itself stays what runs them
#pragma once

#include <functional>
#include <map>
#include <set>

#include "engine/backend/backend.h"
#include "engine/backend/input_symbols.h"
#include "engine/runtime/program.h"

namespace kerf::inline backend {

class NestedGraphs : public NestedCode {
 public:
  /// Compiles a graph whose placeholders have metas.
  using Compile =
      std::function<Result<std::unique_ptr<Executable>>(std::shared_ptr<const GraphModule>, const std::stop_token&)>;

  NestedGraphs(std::shared_ptr<const GraphModule> owner, Compile compile)
      : m_owner(std::move(owner)), m_compile(std::move(compile)) {}

  /// Whether a node of `module` calls a graph.
  static bool areCalledBy(const GraphModule& module);

  /// Compiles every graph for the operands that shape rules give it; those of which nothing is known yet when they are
  /// first called. In the scope of a ShapeEnv, if the owner has symbols. UnsupportedOp and CompileFailed name the node
  /// ("body_fn/add_3").
  Result<void> compileAll(const std::stop_token& stop);
  void setSymbols(const SymbolBindings& symbols) override { m_symbols = symbols; }
  Result<Value> run(std::string_view path, const ValueList& args, std::stop_token stop) override;

  /// Of what compileAll() made; names and nodes begin with the graph's path.
  std::vector<KernelInfo> kernels() const;
  std::int64_t plannedBytes() const;
  std::int64_t unplannedBytes() const;

  /// Codes of one graph that are kept; the one that was not used for longest goes.
  static constexpr std::size_t maximumVariants = 8;

 private:
  /// Code of one graph for some operands.
  struct Variant {
    std::shared_ptr<const GraphModule> graph;  ///< its placeholders say for which
    InputSymbols inputSymbols;
    SymbolBindings outerSymbols;  ///< those of the owner, where the graph's arguments name them
    std::unique_ptr<Executable> code;
  };
  struct Body {
    std::shared_ptr<const GraphModule> graph;
    bool usesOuterSymbols = false, usesOffsets = false;
    int compilations = 0;
    std::vector<Variant> variants;  ///< the one used last first
  };
  class Recorder;

  Result<Body*> find(std::string_view path);
  Result<void> compileCalledBy(const Node& node, const std::stop_token& stop);
  Result<void> checkOps(const std::string& path) const;
  Result<Executable*> codeFor(Body& body, const ValueList& args, const std::stop_token& stop);
  bool fits(const Body& body, const Variant& variant, const ValueList& args) const;
  Result<GraphModule> described(const Body& body, const ValueList& operands) const;
  Result<void> addVariant(Body& body, const ValueList& operands, const std::stop_token& stop);

  const std::shared_ptr<const GraphModule> m_owner;
  const Compile m_compile;
  SymbolBindings m_symbols;
  std::map<std::string, Body, std::less<>> m_bodies;  ///< by path
};

}  // namespace kerf::inline backend
