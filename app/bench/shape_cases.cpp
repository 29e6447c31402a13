#include "app/bench/shape_cases.h"

#include <algorithm>
#include <map>

#include "engine/capture/common/capture.h"
#include "engine/ops/core/op_registry.h"

namespace kerf::bench {
namespace {

namespace fs = std::filesystem;

using Texts = std::map<std::int64_t, std::string>;

/// The sizes of the recorded GPT-2 (batch 2, 128 tokens of 50,257) as expressions of three symbols.
const Texts& gpt2Sizes() {
  static const Texts texts{{2, "s0"},        {128, "s1"},          {256, "s0*s1"},
                           {50257, "s2"},    {6432896, "s1*s2"},   {12865792, "s0*s1*s2"},
                           {1024, "s0*512"}, {98304, "768*s1"},    {294912, "2304*s1"},
                           {16384, "s1**2"}, {196608, "12*s1**2"}, {512, "s0*s1*2"}};
  return texts;
}

bool mentionsSymbols(const std::string& target) {
  return std::ranges::any_of(std::initializer_list<std::string_view>{"aten.view.default", "aten.expand.default",
                                                                     "aten.full.default", "aten.rand.default"},
                             [&](std::string_view op) { return target.ends_with(op); });
}

Argument withSymbols(const Argument& argument, const Texts& texts) {
  const auto* list = argument.asList();
  if (list == nullptr) return argument;
  ListArgument result = *list;
  for (Argument& item : result.items)
    if (const auto* number = item.as<std::int64_t>())
      if (const auto text = texts.find(*number); text != texts.end()) item = SymExpr{text->second, *number};
  return result;
}

void makeSymbolic(std::vector<Dim>& dims, const Texts& texts) {
  for (Dim& item : dims)
    if (const auto text = texts.find(*item.hint); text != texts.end()) item.text = text->second;
}

/// Sizes of the first and the last placeholder, tokens and tangent, and of the calls that are told sizes.
void makeSymbolic(GraphModule& module) {
  const std::vector<NodeId> placeholders = module.graph.placeholders();
  for (const NodeId id : {placeholders.front(), placeholders.back()}) {
    ValueMeta meta = module.graph.node(id).meta().value;
    auto& tensor = std::get<TensorMeta>(meta.value);
    makeSymbolic(tensor.sizes, gpt2Sizes());
    makeSymbolic(tensor.strides, gpt2Sizes());
    module.graph.setValueMeta(id, std::move(meta));
  }
  const std::vector<NodeId> order(module.graph.order().begin(), module.graph.order().end());
  for (const NodeId id : order) {
    if (!mentionsSymbols(module.graph.node(id).target())) continue;
    ArgumentList args = module.graph.node(id).args();
    for (Argument& argument : args) argument = withSymbols(argument, gpt2Sizes());
    module.graph.setArgs(id, std::move(args));
  }
}

/// Annotations of everything but placeholders and attributes, taken away.
void strip(GraphModule& module) {
  const std::vector<NodeId> order(module.graph.order().begin(), module.graph.order().end());
  for (const NodeId id : order)
    if (module.graph.node(id).op() != Opcode::Placeholder && module.graph.node(id).op() != Opcode::GetAttr)
      module.graph.setValueMeta(id, {});
}

Result<BenchWork> prepare(const fs::path& log, bool symbolic) {
  KERF_TRY(const auto joint, loadJointGraph(log));
  GraphModule module = *joint;
  strip(module);
  if (symbolic) makeSymbolic(module);
  return BenchWork([module]() -> Result<void> {
    GraphModule copy = module;
    return propagateShapes(copy);
  });
}

Result<BenchWork> prepareStatic(const fs::path& log) { return prepare(log, false); }
Result<BenchWork> prepareSymbolic(const fs::path& log) { return prepare(log, true); }

}  // namespace

Result<std::shared_ptr<const GraphModule>> loadJointGraph(const fs::path& log) {
  KERF_TRY(Capture capture, importCapture(log));
  const auto joint = std::ranges::find(capture.graphs, "aot_joint_graph", &CapturedGraph::name);
  if (joint == capture.graphs.end()) return fail(ErrorCode::NotFound, "{} holds no joint graph", log.string());
  KERF_CHECK(joint->ensureLoaded());
  return std::make_shared<const GraphModule>(joint->module);
}

std::vector<BenchCase> shapeBenchCases() {
  static const std::string gpt2 = "traces/gpt2/dedicated_log_torch_trace_4u8yacx7.log";
  return {
      {"shapes_gpt2_joint", "shape propagation of a joint graph of 2,302 nodes", 0, gpt2, prepareStatic},
      {"shapes_gpt2_symbolic", "the same with three symbols; at most three times as long", 0, gpt2, prepareSymbolic}};
}

}  // namespace kerf::bench
