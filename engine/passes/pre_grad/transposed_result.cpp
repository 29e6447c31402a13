#include "engine/passes/pre_grad/transposed_result.h"

#include <algorithm>

#include "engine/ops/core/op_registry.h"
#include "engine/passes/call_arguments.h"
#include "engine/passes/node_facts.h"
#include "engine/passes/pre_grad/torch_call.h"
#include "engine/support/log.h"

namespace kerf::inline passes {

namespace {

constexpr std::string_view transpositions[] = {"torch.transpose", "torch.permute"};

/// The product, then the transposition with any dimensions.
Result<GraphModule> searched(const ProductPattern& pattern, std::string_view transposition) {
  return traceFunction([&](Tracer& tracer) {
    std::vector<Proxy> inputs;
    for (const char* name : pattern.inputs) inputs.push_back(tracer.placeholder(name));
    ArgumentList args{pattern.product(tracer, inputs)};
    const std::size_t dims = transposition == "torch.transpose" ? 2 : 1;
    for (std::size_t i = 0; i < dims; ++i) args.push_back(tracer.placeholder("dim"));
    tracer.output(tracer.call(transposition, std::move(args)));
  });
}

/// Traced only where something was found.
ReplacementOf transposedProduct(const ProductPattern& pattern) {
  return [&pattern](const PatternOccurrence&, const Graph&, const Graph& search) -> Result<Graph> {
    KERF_TRY(GraphModule replacement, traceFunction([&](Tracer& tracer) {
               std::vector<Proxy> given;
               for (std::size_t i = 0; i < search.placeholders().size(); ++i)
                 given.push_back(tracer.placeholder("input"));
               given.erase(given.begin() + std::ptrdiff_t(pattern.inputs.size()), given.end());  // the dimensions
               tracer.output(pattern.transposed(tracer, given));
             }));
    return std::move(replacement.graph);
  };
}

bool swapsLast(const TorchCall& call, std::size_t rank) {
  if (rank < 2) return false;
  if (call.is("torch.transpose")) {
    const auto first = call.integer(1), second = call.integer(2);
    const auto a = first ? wrappedDim(*first, rank) : std::nullopt,
               b = second ? wrappedDim(*second, rank) : std::nullopt;
    return a && b && std::min(*a, *b) == std::int64_t(rank) - 2 && std::max(*a, *b) == std::int64_t(rank) - 1;
  }
  const auto dims = call.integers(1);
  if (!dims || dims->size() != rank) return false;
  for (std::size_t i = 0; i < rank; ++i) {
    const std::size_t wanted = i + 2 < rank ? i : i + 2 == rank ? rank - 1 : rank - 2;
    if (wrappedDim((*dims)[i], rank) != std::int64_t(wanted)) return false;
  }
  return true;
}

/// Whether a call gives the same values and strides however its operand lies in memory.
bool ignoresLayout(const Node& user, std::size_t rank) {
  if (user.op() == Opcode::CallMethod) return user.target() == "contiguous" && user.args().size() == 1;
  const auto call = torchCall(user);
  if (!call) return false;
  if (call->is("torch.cat")) return rank < 4;  // above, it may follow a channels-last operand
  return call->is("torch.matmul") || call->is("torch.bmm") || call->is("torch.nn.functional.linear");
}

bool isMatrix(const PatternOccurrence& found, NodeId wildcard, const Graph& graph) {
  const Argument factor = found.of(wildcard);
  const NodeId* id = factor.as<NodeId>();
  const TensorMeta* meta = id ? tensorOf(graph, *id) : nullptr;
  return meta && meta->sizes.size() >= 2;
}

/// Whether an occurrence of a pattern may be replaced.
bool isFit(const PatternOccurrence& found, const Graph& graph, const Graph& pattern, const AliasGroups& aliases) {
  const NodeId result = found.nodes.at(pattern.node(pattern.outputNode()).inputs().front());
  const Node& node = graph.node(result);
  const TensorMeta* meta = node.meta().value.tensor();
  const auto call = torchCall(node);
  if (!meta || !call || !swapsLast(*call, meta->sizes.size())) return false;
  const auto wildcards = pattern.placeholders();
  if (!isMatrix(found, wildcards[0], graph) || !isMatrix(found, wildcards[1], graph)) return false;
  const bool isFree = std::ranges::all_of(
      node.users(), [&](NodeId user) { return ignoresLayout(graph.node(user), meta->sizes.size()); });
  return isFree && !node.users().empty() && std::ranges::none_of(found.nodes, [&](const auto& entry) {
           return aliases.touchesMutation(graph.node(entry.second));
         });
}

bool isSame(const ValueMeta& a, const ValueMeta& b) {
  const TensorMeta *x = a.tensor(), *y = b.tensor();
  if (!x || !y) return x == y;
  return x->dtype == y->dtype && sameLayout(*x, *y);
}

/// Whether every node that both have, but those that were replaced, is as it was.
bool keepsTheRest(const Graph& before, const Graph& after, const std::vector<NodeId>& made) {
  return std::ranges::all_of(after.order(), [&](NodeId id) {
    if (std::ranges::find(made, id) != made.end() || !before.contains(id)) return true;
    return isSame(before.node(id).meta().value, after.node(id).meta().value);
  });
}

}  // namespace

Result<void> transposeAtOnce(GraphModule& module, std::span<const ProductPattern> patterns) {
  GraphModule changed = module;
  std::vector<NodeId> made;
  const AliasGroups aliases(module.graph);
  for (const ProductPattern& pattern : patterns)
    for (const std::string_view transposition : transpositions) {
      KERF_TRY(const GraphModule search, searched(pattern, transposition));
      const MatchOptions options{.wildcardsMatchLiterals = true,
                                 .ignoresLiterals = false,
                                 .filters = {[&](const auto& found, const Graph& graph, const Graph& searchedGraph) {
                                   return isFit(found, graph, searchedGraph, aliases);
                                 }}};
      KERF_TRY(const auto matches, replacePattern(changed.graph, search.graph, transposedProduct(pattern), options));
      for (const PatternMatch& match : matches)
        made.insert(made.end(), match.replacements.begin(), match.replacements.end());
    }
  if (made.empty()) return {};
  const auto shaped = propagateShapes(changed);
  if (!shaped || !keepsTheRest(module.graph, changed.graph, made)) {
    logAt(LogCategory::Passes, LogLevel::Trace, "products are not transposed at once: strides elsewhere would change");
    return {};
  }
  module = std::move(changed);
  return {};
}

}  // namespace kerf::inline passes
