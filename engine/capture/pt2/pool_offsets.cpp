#include "engine/capture/pt2/pool_offsets.h"

#include <array>

namespace kerf::inline capture::pt2 {
namespace {

using Pair = std::array<std::int64_t, 2>;

std::optional<Pair> pairOf(const Argument& argument) {
  const ListArgument* list = argument.asList();
  if (list == nullptr || list->items.size() != 2) return std::nullopt;
  const auto *first = list->items[0].as<std::int64_t>(), *second = list->items[1].as<std::int64_t>();
  if (first == nullptr || second == nullptr) return std::nullopt;
  return Pair{*first, *second};
}

/// A pooling's geometry: height before width.
struct Geometry {
  Pair kernel, stride, padding, dilation, input, output;
  Device device;
};

/// Emits calls before a node; every value is an int64 tensor that broadcasts over [height, width] of the output.
class Emitter {
 public:
  Emitter(Graph& graph, NodeId before, const Geometry& geometry)
      : m_graph(graph), m_scope(graph, InsertionScope::Where::Before, before), m_geometry(geometry) {}

  NodeId call(const char* target, ArgumentList args, KeywordArguments kwargs = {}) {
    return m_graph.callFunction(target, std::move(args), std::move(kwargs), "pool");
  }
  NodeId floorDivide(Argument a, Argument b) {
    const char* target = b.as<NodeId>() ? "torch.ops.aten.div.Tensor_mode" : "torch.ops.aten.div.Scalar_mode";
    return call(target, {std::move(a), std::move(b)}, {{"rounding_mode", Argument("floor")}});
  }
  /// Where each window begins along one dimension: position * stride - padding.
  NodeId windowStart(std::size_t dim) {
    const NodeId positions = call("torch.ops.aten.arange.default", {Argument(m_geometry.output[dim])},
                                  {{"dtype", Argument(DType::Int64)}, {"device", Argument(m_geometry.device)}});
    const NodeId scaled = call("torch.ops.aten.mul.Scalar", {positions, m_geometry.stride[dim]});
    const NodeId shifted = call("torch.ops.aten.sub.Scalar", {scaled, m_geometry.padding[dim]});
    if (dim == 1) return shifted;
    return call("torch.ops.aten.unsqueeze.default", {shifted, std::int64_t{1}});
  }
  /// (position - start) / dilation along one dimension.
  NodeId stepInWindow(NodeId position, std::size_t dim) {
    return floorDivide(call("torch.ops.aten.sub.Tensor", {position, windowStart(dim)}), m_geometry.dilation[dim]);
  }
  /// start + step * dilation along one dimension.
  NodeId positionOf(NodeId step, std::size_t dim) {
    const NodeId scaled = call("torch.ops.aten.mul.Scalar", {step, m_geometry.dilation[dim]});
    return call("torch.ops.aten.add.Tensor", {scaled, windowStart(dim)});
  }
  /// high * factor + low.
  NodeId combine(NodeId high, std::int64_t factor, NodeId low) {
    return call("torch.ops.aten.add.Tensor", {call("torch.ops.aten.mul.Scalar", {high, factor}), low});
  }

 private:
  Graph& m_graph;
  InsertionScope m_scope;
  const Geometry& m_geometry;
};

std::optional<Pair> lastTwo(const TensorMeta* meta) {
  const auto sizes = meta == nullptr ? std::nullopt : meta->concreteSizes();
  if (!sizes || sizes->size() < 2) return std::nullopt;
  return Pair{sizes->end()[-2], sizes->back()};
}

/// Fills what both ops have in common from arguments at the given positions.
std::optional<Geometry> geometryOf(const Node& node, std::size_t kernel, std::size_t rest, std::optional<Pair> input,
                                   const TensorMeta* output) {
  const auto kernelSize = pairOf(node.args()[kernel]), stride = pairOf(node.args()[rest]);
  const auto padding = pairOf(node.args()[rest + 1]), dilation = pairOf(node.args()[rest + 2]);
  const auto outputSize = lastTwo(output);
  if (!kernelSize || !stride || !padding || !dilation || !input || !outputSize) return std::nullopt;
  return Geometry{*kernelSize, *stride, *padding, *dilation, *input, *outputSize, output->device};
}

}  // namespace

void poolOffsetsFromIndices(Graph& graph, NodeId id) {
  const Node node = graph.node(id);  // a copy: the graph changes under it
  const auto* self = node.args()[0].as<NodeId>();
  const auto* results = node.meta().value.list();
  if (self == nullptr || results == nullptr || results->size() != 2) return;
  const auto geometry =
      geometryOf(node, 1, 2, lastTwo(graph.node(*self).meta().value.tensor()), (*results)[1].tensor());
  if (!geometry) return;
  for (const NodeId user : node.users()) {
    const auto* index = graph.node(user).args().size() == 2 ? graph.node(user).args()[1].as<std::int64_t>() : nullptr;
    if (index == nullptr || *index != 1) continue;
    const std::vector<NodeId> readers = graph.node(user).users();
    const NodeId after = readers.empty() ? graph.outputNode() : readers.front();
    NodeId offsets;
    {
      Emitter emit(graph, after, *geometry);
      const NodeId row = emit.floorDivide(user, geometry->input[1]);
      const NodeId column = emit.call("torch.ops.aten.remainder.Scalar", {user, geometry->input[1]});
      const NodeId combined =
          emit.combine(emit.stepInWindow(row, 0), geometry->kernel[1], emit.stepInWindow(column, 1));
      offsets = emit.call("torch.ops.aten._to_copy.default", {combined}, {{"dtype", Argument(DType::Int8)}});
    }
    graph.setValueMeta(offsets, (*results)[1]);
    for (const NodeId reader : readers) graph.replaceInput(reader, user, Argument(offsets));
  }
  graph.setTarget(id, "torch.ops.aten.max_pool2d_with_indices.default");
}

void poolIndicesFromOffsets(Graph& graph, NodeId id) {
  const Node node = graph.node(id);
  const auto* offsets = node.args().empty() ? nullptr : node.args()[0].as<NodeId>();
  if (offsets == nullptr || node.args().size() != 6 || !node.kwargs().empty()) return;
  const auto geometry = geometryOf(node, 1, 3, pairOf(node.args()[2]), graph.node(*offsets).meta().value.tensor());
  if (!geometry) return;
  NodeId row, column;
  {
    Emitter emit(graph, id, *geometry);
    const NodeId wide = emit.call("torch.ops.aten._to_copy.default", {*offsets}, {{"dtype", Argument(DType::Int64)}});
    row = emit.positionOf(emit.floorDivide(wide, geometry->kernel[1]), 0);
    column = emit.positionOf(emit.call("torch.ops.aten.remainder.Scalar", {wide, geometry->kernel[1]}), 1);
    row = emit.call("torch.ops.aten.mul.Scalar", {row, geometry->input[1]});
  }
  graph.setTarget(id, "torch.ops.aten.add.Tensor");
  graph.setArgs(id, {Argument(row), Argument(column)});
}

}  // namespace kerf::inline capture::pt2
