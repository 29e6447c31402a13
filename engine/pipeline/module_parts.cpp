#include "engine/pipeline/module_parts.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "engine/ir/interpreter.h"
#include "engine/ops/core/op_registry.h"
#include "engine/passes/node_facts.h"

namespace kerf::inline pipeline {
namespace {

constexpr int callsWithoutSource = 16;

/// Where a call comes from; empty where the capture does not say.
std::string sourceOf(const Node& node) {
  const NodeMeta& meta = node.meta();
  if (!meta.modulePath.empty()) return meta.modulePath;
  if (meta.sourceFile.empty()) return {};
  return fmt::format("{}:{}", std::filesystem::path(meta.sourceFile).filename().string(), meta.sourceLine);
}

/// The calls of a graph in parts, in order.
class Cutter {
 public:
  std::int64_t partOf(const Node& node) {
    const std::string source = sourceOf(node);
    const bool isFull = source.empty() && m_calls >= callsWithoutSource;
    if (m_parts.empty() || source != m_source || isFull) {
      m_parts.push_back({source, node.name(), node.name()});
      m_source = source;
      m_calls = 0;
    }
    ++m_calls;
    m_parts.back().last = node.name();
    return std::int64_t(m_parts.size()) - 1;
  }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    std::map<std::string, int> seen;
    for (const auto& [source, first, last] : m_parts) {
      const std::string own = first == last ? first : fmt::format("{} … {}", first, last);
      const std::string name = source.empty() ? own : source;
      const int count = ++seen[name];
      names.push_back(count == 1 ? name : fmt::format("{} ({})", name, count));
    }
    return names;
  }

 private:
  struct Range {
    std::string source, first, last;
  };
  std::vector<Range> m_parts;
  std::string m_source;
  int m_calls = 0;
};

class PartsInterpreter : public Interpreter {
 public:
  PartsInterpreter(const SplitModule& split, const std::vector<bool>& on, const CompileOptions& options,
                   std::stop_token stop)
      : Interpreter(split.module, referenceOps()),
        m_split(split),
        m_on(on),
        m_options(options),
        m_stop(std::move(stop)) {}

 protected:
  Result<Value> callModule(const Node& node, const ValueList& args, const KeywordValues& kwargs) override {
    const auto part = std::size_t(std::ranges::find(m_split.parts, node.target()) - m_split.parts.begin());
    if (part >= m_on.size() || !m_on[part]) return Interpreter::callModule(node, args, kwargs);
    KERF_TRY(const auto graph, compileFx(*module().submodule(node.target())->graph, m_options, m_stop));
    return graph->run(args, m_stop);
  }

 private:
  const SplitModule& m_split;
  const std::vector<bool>& m_on;
  const CompileOptions& m_options;
  std::stop_token m_stop;
};

}  // namespace

Result<ModuleParts> ModuleParts::of(const GraphModule& module) {
  Cutter cutter;
  ModuleParts parts;
  // parts are consecutive, so that effects stay in order as well
  KERF_TRY(parts.m_split, splitModule(module, [&](const Node& node) { return cutter.partOf(node); },
                                      {.prefix = "submod_", .isOrdered = mustStay}));
  parts.m_names = cutter.names();
  return parts;
}

Result<Value> ModuleParts::run(const ValueList& inputs, const std::vector<bool>& on, const CompileOptions& options,
                               std::stop_token stop) const {
  return PartsInterpreter(m_split, on, options, stop).run(inputs, stop);
}

}  // namespace kerf::inline pipeline
