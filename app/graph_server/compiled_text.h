// A graph that came as text, compiled.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "engine/pipeline/compile_fx.h"

namespace kerf::graph_server {

class CompiledText {
 public:
  /// The first graph of `text`; sizes, strides and dtypes of its inputs are as annotated. Errors as those of importing
  /// and compiling.
  static Result<std::unique_ptr<CompiledText>> compile(std::string_view text, std::string_view backend = "llvm");

  std::size_t outputs() const { return m_outputs; }
  /// Outputs may look at the inputs' memory.
  Result<ValueList> call(const ValueList& inputs);

 private:
  CompiledText(std::unique_ptr<CompiledGraph> graph, std::size_t outputs)
      : m_graph(std::move(graph)), m_outputs(outputs) {}

  std::unique_ptr<CompiledGraph> m_graph;
  std::size_t m_outputs;
};

}  // namespace kerf::graph_server
