#include "engine/passes/post_grad/collective_bucketing.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "engine/ir/printer.h"
#include "engine/passes/call_arguments.h"
#include "engine/passes/node_facts.h"

namespace kerf::inline passes {

namespace {

struct Kind {
  OpId op;
  BucketingHook BucketingHooks::* hook;
};

std::span<const Kind> kinds() {
  static const Kind rows[] = {{"_c10d_functional.all_gather_into_tensor.default"_op, &BucketingHooks::allGather},
                              {"_c10d_functional.reduce_scatter_tensor.default"_op, &BucketingHooks::reduceScatter},
                              {"_c10d_functional.all_reduce.default"_op, &BucketingHooks::allReduce}};
  return rows;
}

/// What calls of one bucket share: all arguments but the input, dtype and device.
std::string keyOf(const Graph& graph, const Node& node, const TensorMeta& input) {
  std::string key = fmt::format("{} {} {}", node.target(), int(input.dtype), input.device.text());
  for (std::size_t i = 1; i < node.args().size(); ++i)
    key += " " + printArgument(graph, node.args()[i], ArgumentStyle::Python);
  for (const auto& [name, value] : node.kwargs())
    key += fmt::format(" {}={}", name, printArgument(graph, value, ArgumentStyle::Python));
  return key;
}

std::int64_t bytesOf(const TensorMeta& meta) {
  const auto sizes = fixedSizes(meta);
  if (!sizes) return 0;
  std::int64_t count = itemSize(meta.dtype);
  for (const std::int64_t size : *sizes) count *= size;
  return count;
}

/// The bucket of one key that is being filled, and what is computed from its calls.
struct Filling {
  CollectiveBucket bucket;
  std::unordered_set<NodeId> dependents;
};

class Collector {
 public:
  Collector(const Graph& graph, std::int64_t maxBytes) : m_graph(graph), m_aliases(graph), m_maxBytes(maxBytes) {}

  std::vector<CollectiveBucket> run() {
    for (const NodeId id : m_graph.order()) visit(m_graph.node(id));
    for (auto& [key, filling] : m_filling) close(filling);
    std::vector<CollectiveBucket> buckets;
    for (const NodeId id : m_graph.order())
      if (const auto bucket = m_done.find(id); bucket != m_done.end()) buckets.push_back(std::move(bucket->second));
    return buckets;
  }

 private:
  void visit(const Node& node) {
    for (auto& [key, filling] : m_filling) {
      const auto depends = [&](NodeId input) { return filling.dependents.contains(input); };
      if (std::ranges::any_of(node.inputs(), depends)) filling.dependents.insert(node.id());
    }
    const auto isOf = [&](const Kind& kind) { return node.isCall(kind.op); };
    const auto kind = std::ranges::find_if(kinds(), isOf);
    if (kind == kinds().end() || m_aliases.touchesMutation(node) || node.args().empty()) return;
    const NodeId* input = node.args()[0].as<NodeId>();
    const TensorMeta* meta = input ? tensorOf(m_graph, *input) : nullptr;
    if (!meta || node.inputs().size() != 1) return;
    add(m_filling[keyOf(m_graph, node, *meta)], kind->op, node, bytesOf(*meta));
  }

  void add(Filling& filling, OpId op, const Node& node, std::int64_t bytes) {
    if (filling.dependents.contains(node.id()) || filling.bucket.bytes + bytes > m_maxBytes) close(filling);
    filling.bucket.op = op;
    filling.bucket.calls.push_back(node.id());
    filling.bucket.bytes += bytes;
    filling.bucket.ranks = integerNamed(node, "group_size").value_or(1);
    filling.dependents.insert(node.id());
  }

  void close(Filling& filling) {
    if (filling.bucket.calls.size() > 1) {
      const NodeId first = filling.bucket.calls.front();
      m_done.emplace(first, std::move(filling.bucket));
    }
    filling = {};
  }

  const Graph& m_graph;
  AliasGroups m_aliases;
  std::int64_t m_maxBytes;
  std::map<std::string, Filling> m_filling;
  std::unordered_map<NodeId, CollectiveBucket> m_done;  ///< by first call
};

Result<void> askHooks(GraphModule& module, const BucketingHooks& hooks, std::int64_t maxBytes) {
  for (const Kind& kind : kinds()) {
    const BucketingHook& hook = hooks.*kind.hook;
    if (!hook) continue;
    auto buckets = collectiveBuckets(module.graph, maxBytes);
    std::erase_if(buckets, [&](const CollectiveBucket& bucket) { return bucket.op != kind.op; });
    if (!buckets.empty()) KERF_CHECK(hook(module, buckets));
  }
  return {};
}

}  // namespace

std::vector<CollectiveBucket> collectiveBuckets(const Graph& graph, std::int64_t maxBytes) {
  const auto talks = [&](NodeId id) {
    return std::ranges::any_of(kinds(), [&](const Kind& kind) { return graph.node(id).isCall(kind.op); });
  };
  if (std::ranges::none_of(graph.order(), talks)) return {};
  return Collector(graph, maxBytes).run();
}

Pass collectiveBucketingPass(BucketingHooks hooks) {
  return {.name = "collective_bucketing",
          .stage = PassStage::PostGrad,
          .description = "Offers collectives that could be one call to hooks; one rank has none.",
          .options = {{"max_bytes", std::int64_t{200'000'000}, "Largest sum of the inputs of one bucket."}},
          .run = [hooks = std::move(hooks)](GraphModule& module, const PassContext& context) {
            return askHooks(module, hooks, context.options.value<std::int64_t>("max_bytes"));
          }};
}

Pass collectiveBucketingPass() { return collectiveBucketingPass(BucketingHooks()); }

}  // namespace kerf::inline passes
