#include "engine/passes/joint/joint_passes.h"

#include <map>

#include "engine/passes/call_arguments.h"
#include "engine/passes/call_replacement.h"
#include "engine/passes/node_facts.h"

namespace kerf::inline passes {

namespace {

struct Mode {
  std::string_view op, name;
};
constexpr Mode modes[] = {{"torch.ops.aten.rand.default", "rand"},
                          {"torch.ops.aten.randn.default", "randn"},
                          {"torch.ops.aten.rand_like.default", "rand"},
                          {"torch.ops.aten.randn_like.default", "randn"}};

/// "rand" or "randn"; empty for what is drawn otherwise.
std::string_view modeOf(const Node& node) {
  const TensorMeta* meta = node.meta().value.tensor();
  const bool fits =
      node.op() == Opcode::CallFunction && meta && meta->dtype == DType::Float32 && isFixedRowMajor(*meta);
  for (const Mode& mode : modes)
    if (fits && node.target() == mode.op) return mode.name;
  return {};
}

std::string deviceText(const Node& node) {
  const Device& device = node.meta().value.tensor()->device;
  return fmt::format("{}:{}", device.type, device.index);
}

/// The seeds of `count` draws, right before the first of them.
NodeId addSeeds(Graph& graph, NodeId first, std::int64_t count) {
  const InsertionScope scope(graph, InsertionScope::Where::Before, first);
  const Device device = graph.node(first).meta().value.tensor()->device;
  const NodeId seeds =
      graph.callFunction("torch.ops.prims.inductor_seeds.default", {count, device}, {}, "inductor_seeds_default");
  graph.setValueMeta(seeds,
                     {TensorMeta{.dtype = DType::Int64, .sizes = {dim(count)}, .strides = {dim(1)}, .device = device}});
  return seeds;
}

Result<void> runReplaceRandom(GraphModule& module, const PassContext& context) {
  if (!context.options.value<bool>("inductor_numbers")) return {};
  std::map<std::string, std::vector<NodeId>> draws;
  for (const NodeId id : module.graph.order())
    if (!modeOf(module.graph.node(id)).empty()) draws[deviceText(module.graph.node(id))].push_back(id);
  CallReplacement replacement(module);
  for (const auto& [device, nodes] : draws) {
    const NodeId seeds = addSeeds(module.graph, nodes.front(), std::int64_t(nodes.size()));
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const Node& node = module.graph.node(nodes[i]);
      const Sizes sizes = *fixedSizes(*node.meta().value.tensor());
      const std::string mode(modeOf(node));
      KERF_TRY(const bool replaced,
               replacement.replace(nodes[i], {seeds}, [&](CallWriter& call, std::span<const Value> in) {
                 const Value seed = call("prims.inductor_lookup_seed.default"_op, {in[0], std::int64_t(i)});
                 return call("prims.inductor_random.default"_op, {ValueList(sizes.begin(), sizes.end()), seed, mode});
               }));
      if (!replaced) return fail(ErrorCode::Internal, "a random tensor of known sizes was not replaced");
    }
  }
  replacement.finish();
  return {};
}

}  // namespace

Pass replaceRandomPass() {
  return {.name = "replace_random",
          .stage = PassStage::Joint,
          .description = "Computes random tensors from seeds and positions.",
          .options = {{"inductor_numbers", false, "Whether it runs, with other numbers than eager's."}},
          .run = runReplaceRandom};
}

}  // namespace kerf::inline passes
