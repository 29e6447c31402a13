#include "engine/passes/pre_grad/pre_grad_passes.h"

#include <algorithm>

#include "engine/ir/interpreter.h"
#include "engine/passes/call_arguments.h"
#include "engine/passes/node_facts.h"
#include "engine/passes/pre_grad/torch_call.h"
#include "engine/passes/pre_grad/torch_replacement.h"

namespace kerf::inline passes {

namespace {

constexpr std::string_view layers[] = {"torch.conv1d", "torch.conv2d", "torch.conv3d", "torch.nn.functional.linear"};

/// A layer and the batch norm that alone reads it.
struct Pair {
  NodeId layer;
  TorchCall call, norm;
  std::vector<NodeId> parameters;  ///< weight, mean, variance; then those of bias, gamma, beta that are there
};

class Folding {
 public:
  Folding(GraphModule& module, bool takesInputs)
      : m_module(module), m_takesInputs(takesInputs), m_aliases(module.graph), m_replacement(module) {}

  Result<void> fold(NodeId id) {
    const auto pair = pairOf(m_module.graph.node(id));
    if (!pair) return {};
    const bool frozen = std::ranges::all_of(
        pair->parameters, [&](NodeId node) { return m_module.graph.node(node).op() == Opcode::GetAttr; });
    std::vector<NodeId> written;  // weight and bias
    KERF_TRY(const bool done,
             m_replacement.replace({id},
                                   [&](TorchWriter& call) {
                                     written = parametersOf(call, *pair);
                                     TorchCall layer = pair->call;
                                     layer.arguments[1] = written[0];
                                     layer.arguments[2] = written[1];
                                     auto [args, kwargs] = shortest(layer);
                                     return std::vector{call(layer.function->name, std::move(args), std::move(kwargs))};
                                   },
                                   {pair->layer}));
    return done && frozen ? freeze(written) : Result<void>();
  }

  void finish() { m_replacement.finish(); }

 private:
  bool isParameter(NodeId id) const {
    const Node& node = m_module.graph.node(id);
    const bool isHere = node.op() == Opcode::GetAttr ? m_module.attribute(node.target()) != nullptr
                                                     : m_takesInputs && node.op() == Opcode::Placeholder;
    const TensorMeta* meta = node.meta().value.tensor();
    const bool isReal = meta && (meta->dtype == DType::Float32 || meta->dtype == DType::Float64);
    return isHere && isReal && !m_aliases.mutated(id);
  }

  /// The feature of every output of a layer is its dimension 1, as batch norm takes it.
  bool hasFeaturesSecond(const Node& layer, const TorchCall& call) const {
    const TensorMeta* meta = layer.meta().value.tensor();
    const TensorMeta* weight = call.node(1) ? tensorOf(m_module.graph, *call.node(1)) : nullptr;
    if (!meta || !weight) return false;
    if (call.is("torch.nn.functional.linear")) return meta->sizes.size() == 2;
    return meta->sizes.size() == weight->sizes.size();  // with a batch
  }

  /// The layer is computed where the batch norm stands: what it reads must not be written meanwhile. That either's
  /// memory is written later, as by an activation in place, makes no difference: both results are new.
  bool isQuietBetween(NodeId layer, NodeId norm) const {
    const auto order = m_module.graph.order();
    const auto first = std::ranges::find(order, layer), last = std::ranges::find(order, norm);
    return std::all_of(first, last, [&](NodeId id) {
      const Node& node = m_module.graph.node(id);
      return !mustStay(node) || isPureTorchCall(node) || node.op() == Opcode::Placeholder;
    });
  }

  std::optional<Pair> pairOf(const Node& node) const {
    auto norm = torchCall(node, "torch.nn.functional.batch_norm");
    const auto below = norm ? norm->node(0) : std::nullopt;
    if (!below || !norm->arguments[5].as<bool>() || norm->flag(5) || !numberOf(norm->arguments[7])) return std::nullopt;
    const Node& layer = m_module.graph.node(*below);
    auto call = torchCall(layer);
    const bool isLayer = call && std::ranges::find(layers, call->function->name) != std::end(layers);
    if (!isLayer || layer.users().size() != 1 || !hasFeaturesSecond(layer, *call)) return std::nullopt;
    if (m_aliases.mutated(*below) || !isQuietBetween(*below, node.id())) return std::nullopt;
    Pair pair{*below, *std::move(call), *std::move(norm), {}};
    const auto take = [&](const Argument& argument, bool isNeeded) {
      const NodeId* id = argument.as<NodeId>();
      if (!id) return !isNeeded && argument.isNone();
      pair.parameters.push_back(*id);
      return isParameter(*id);
    };
    const bool good = take(pair.call.arguments[1], true) && take(pair.norm.arguments[1], true) &&
                      take(pair.norm.arguments[2], true) && take(pair.call.arguments[2], false) &&
                      take(pair.norm.arguments[3], false) && take(pair.norm.arguments[4], false);
    return good && sameDtypes(pair) ? std::optional(std::move(pair)) : std::nullopt;
  }

  bool sameDtypes(const Pair& pair) const {
    const DType dtype = tensorOf(m_module.graph, pair.parameters[0])->dtype;
    return std::ranges::all_of(pair.parameters,
                               [&](NodeId id) { return tensorOf(m_module.graph, id)->dtype == dtype; });
  }

  /// The new weight and bias.
  std::vector<NodeId> parametersOf(TorchWriter& call, const Pair& pair) const {
    const auto& norm = pair.norm.arguments;
    const NodeId shifted = call("torch.ops.aten.add.Tensor", {norm[2], norm[7]});
    NodeId scale = call("torch.ops.aten.rsqrt.default", {shifted});
    if (!norm[3].isNone()) scale = call("torch.ops.aten.mul.Tensor", {scale, norm[3]});
    const std::size_t rank = tensorOf(m_module.graph, pair.parameters[0])->sizes.size();
    ArgumentList wide{Argument(-1)};
    wide.resize(rank, Argument(1));
    const NodeId rows = call("torch.ops.aten.reshape.default", {scale, Argument::list(std::move(wide))});
    const NodeId weight = call("torch.ops.aten.mul.Tensor", {pair.call.arguments[1], rows});
    const Argument& bias = pair.call.arguments[2];
    const NodeId moved = bias.isNone() ? call("torch.ops.aten.neg.default", {norm[1]})
                                       : call("torch.ops.aten.sub.Tensor", {bias, norm[1]});
    const NodeId scaled = call("torch.ops.aten.mul.Tensor", {moved, scale});
    return {weight, norm[4].isNone() ? scaled : call("torch.ops.aten.add.Tensor", {scaled, norm[4]})};
  }

  /// Attributes in the place of what was written: the parameters are constants.
  Result<void> freeze(const std::vector<NodeId>& nodes) {
    Environment known;
    Interpreter interpreter(m_module, referenceOps());
    for (const NodeId id : nodes) {
      KERF_TRY(const Value value, valueOf(interpreter, known, id));
      if (!value.isTensor()) return fail(ErrorCode::Internal, "a folded parameter is not a tensor");
      std::string path = fmt::format("_folded_{}", m_module.graph.node(id).name());
      while (m_module.attribute(path)) path += "_";
      m_module.attributes.add(path, {value.tensor(), true, {}});
      NodeId read;
      {
        const InsertionScope scope(m_module.graph, InsertionScope::Where::Before, id);
        read = m_module.graph.getAttr(path);
      }
      m_module.graph.setMeta(read, m_module.graph.node(id).meta());
      m_module.graph.replaceAllUsesWith(id, read);
    }
    return {};
  }

  Result<Value> valueOf(Interpreter& interpreter, Environment& known, NodeId id) const {
    const Node& node = m_module.graph.node(id);
    for (const NodeId input : node.inputs()) {
      if (known.contains(input)) continue;
      KERF_TRY(known[input], valueOf(interpreter, known, input));
    }
    return interpreter.runNode(node, known);
  }

  GraphModule& m_module;
  bool m_takesInputs;
  AliasGroups m_aliases;
  TorchReplacement m_replacement;
};

Result<void> runFuseConvBn(GraphModule& module, const PassContext& context) {
  const Graph& graph = module.graph;
  const auto isNorm = [&](NodeId id) {
    return torchCall(graph.node(id), "torch.nn.functional.batch_norm").has_value();
  };
  std::vector<NodeId> norms;
  std::ranges::copy_if(graph.order(), std::back_inserter(norms), isNorm);
  if (norms.empty()) return {};
  Folding folding(module, context.options.value<bool>("inputs"));
  for (const NodeId id : norms) KERF_CHECK(folding.fold(id));
  folding.finish();
  return {};
}

}  // namespace

Pass fuseConvBnPass() {
  return {.name = "fuse_conv_bn",
          .stage = PassStage::PreGrad,
          .description = "Puts a batch norm of inference into the weights of the layer before it.",
          .options = {{"inputs", false, "Also where parameters are inputs: the new ones are computed in each run."}},
          .run = runFuseConvBn};
}

}  // namespace kerf::inline passes
