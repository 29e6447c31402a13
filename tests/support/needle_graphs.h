// Seeded graphs of real ATen calls, of any length: blocks of a transformer, a gated network and what surrounds them, as
// AOTAutograd writes them, with skips across many blocks, tuples, index tensors, an epilogue and nested graphs.
#pragma once

#include <random>

#include <fmt/format.h>

#include "engine/ir/value_meta.h"
#include "engine/ops/core/op_registry.h"
#include "minifier/core/minify.h"

namespace kerf::testing {

struct NeedleGraphOptions {
  unsigned seed = 0;
  std::size_t calls = 50;  ///< about as many, nested ones not counted
  bool nested = false;     ///< some blocks are bodies of cond, invoke_subgraph and while_loop
  bool mutates = false;    ///< ends with copy_ into an input
};

class NeedleGraphBuilder {
 public:
  explicit NeedleGraphBuilder(const NeedleGraphOptions& options) : m_options(options), m_random(options.seed) {}

  Candidate build() {
    m_pool = {input("x", {m_rows, m_width}), input("y", {m_rows, m_width})};
    std::size_t blocks = 0;
    while (graph().size() - m_candidate.inputs.size() < m_options.calls) {
      if (m_options.nested && ++blocks % 12 == 0)
        m_pool.push_back(loop(pick()));
      else if (m_options.nested && blocks % 4 == 0)
        m_pool.push_back(nestedBlock(pick(), pick(), blocks % 8 == 0));
      else
        m_pool.push_back(block(pick()));
    }
    if (m_options.mutates) call("aten.copy_.default", {m_pool[1], m_pool.back()});
    ArgumentList outputs;
    for (const NodeId id : m_pool)
      if (graph().node(id).op() != Opcode::Placeholder && graph().node(id).users().empty()) outputs.emplace_back(id);
    graph().output(Argument::tuple(std::move(outputs)));
    (void)propagateShapes(m_candidate.module);
    return std::move(m_candidate);
  }

 private:
  Graph& graph() { return m_body ? m_body->graph : m_candidate.module.graph; }

  NodeId input(const std::string& name, const Sizes& sizes) {
    const NodeId id = m_candidate.module.graph.placeholder(name);
    Tensor tensor = *Tensor::zeros(DType::Float32, sizes);
    for (std::int64_t i = 0; i < tensor.numel(); ++i)
      tensor.data<float>()[i] = float(m_random() % 2000) / 1000.0f - 1.0f;
    m_candidate.inputs.emplace_back(tensor);
    m_candidate.module.graph.setValueMeta(id, metaOf(m_candidate.inputs.back()));
    return id;
  }

  /// Placeholders must come first, so weights are made of x.
  NodeId weight() { return m_pool[0]; }

  NodeId call(std::string_view op, ArgumentList args) {
    const std::string target = "torch.ops." + std::string(op);
    return graph().callFunction(target, std::move(args), {}, nameFromTarget(Opcode::CallFunction, target));
  }
  NodeId item(NodeId tuple, std::int64_t index) { return graph().callFunction("operator.getitem", {tuple, index}); }

  NodeId pick() {
    const std::size_t reach = m_random() % 3 == 0 ? m_pool.size() : std::min<std::size_t>(m_pool.size(), 3);
    return m_pool[m_pool.size() - 1 - m_random() % reach];
  }

  using Block = NodeId (NeedleGraphBuilder::*)(NodeId);

  NodeId block(NodeId x) {
    static constexpr Block blocks[] = {
        &NeedleGraphBuilder::linear, &NeedleGraphBuilder::attention,  &NeedleGraphBuilder::norm,
        &NeedleGraphBuilder::gate,   &NeedleGraphBuilder::halves,     &NeedleGraphBuilder::lookup,
        &NeedleGraphBuilder::mask,   &NeedleGraphBuilder::statistics, &NeedleGraphBuilder::pointwise};
    return (this->*blocks[m_random() % std::size(blocks)])(x);
  }

  NodeId linear(NodeId x) {
    const NodeId turned = call("aten.permute.default", {x, Argument::list({1, 0})});
    const NodeId square = call("aten.mm.default", {turned, x});
    const NodeId product = call("aten.mm.default", {x, square});
    return call("aten.tanh.default", {product});
  }
  NodeId attention(NodeId x) {
    const NodeId turned = call("aten.permute.default", {x, Argument::list({1, 0})});
    const NodeId scores = call("aten.mm.default", {x, turned});
    const NodeId weights = call("aten._softmax.default", {scores, -1, false});
    const NodeId mixed = call("aten.mm.default", {weights, x});
    return call("aten.add.Tensor", {mixed, x});
  }
  NodeId norm(NodeId x) {
    const NodeId pair = call("aten.var_mean.correction", {x, Argument::list({1})});
    graph().setKwargs(pair, {{"correction", 0}, {"keepdim", true}});
    const NodeId scale = call("aten.rsqrt.default", {call("aten.add.Tensor", {item(pair, 0), 1e-5})});
    return call("aten.mul.Tensor", {call("aten.sub.Tensor", {x, item(pair, 1)}), scale});
  }
  NodeId gate(NodeId x) {
    return call("aten.mul.Tensor", {call("aten.sigmoid.default", {x}), call("aten.neg.default", {x})});
  }
  NodeId halves(NodeId x) {
    const NodeId pair = call("aten.split.Tensor", {x, m_width / 2, 1});
    const NodeId left = item(pair, 0), right = item(pair, 1);
    return call("aten.cat.default", {Argument::list({call("aten.relu.default", {right}), left}), 1});
  }
  NodeId lookup(NodeId x) {
    const NodeId best = call("aten.argmax.default", {x, 0});
    return call("aten.index_select.default", {x, 1, best.valid() ? clamped(best) : best});
  }
  NodeId clamped(NodeId index) { return call("aten.clamp.default", {index, 0, m_width - 1}); }
  NodeId mask(NodeId x) {
    const NodeId positive = call("aten.gt.Scalar", {x, 0});
    return call("aten.where.self", {positive, x, call("aten.mul.Tensor", {x, 0.5})});
  }
  NodeId statistics(NodeId x) {
    const NodeId total = call("aten.sum.dim_IntList", {x, Argument::list({0}), true});
    return call("aten.sub.Tensor", {x, call("aten.div.Tensor", {total, m_rows})});
  }
  NodeId pointwise(NodeId x) {
    static constexpr const char* ops[] = {"aten.sin.default", "aten.cos.default", "aten.relu.default",
                                          "aten.erf.default", "aten.abs.default", "aten.tanh.default"};
    return call(ops[m_random() % std::size(ops)], {x});
  }

  /// body(a, b) = blocks over a, then + b, as an invoke_subgraph, or as the branch of a cond that is taken.
  NodeId nestedBlock(NodeId a, NodeId b, bool conditional) {
    const std::string name = fmt::format("body_{}", m_bodies++);
    GraphModule body;
    m_body = &body;
    const NodeId first = body.graph.placeholder("a_1"), second = body.graph.placeholder("b_1");
    NodeId current = first;
    for (int i = 0; i < 3; ++i) current = block(current);
    body.graph.output(Argument::tuple({call("aten.add.Tensor", {current, second})}));
    m_body = nullptr;
    m_candidate.module.submodules.add(name, {std::make_shared<const GraphModule>(std::move(body)), {}});
    const NodeId path = graph().getAttr(name);
    if (!conditional) return item(call("higher_order.invoke_subgraph", {path, name, a, b}), 0);
    const NodeId predicate = call("aten.lt.Scalar", {call("aten.sum.default", {a}), 1e9});
    return item(call("higher_order.cond", {predicate, path, otherBranch(), Argument::tuple({a, b})}), 0);
  }
  /// while (c < 2 * elements) { c += elements; a = blocks(a) }: two turns for an index c of an element.
  NodeId loop(NodeId a) {
    const std::int64_t elements = m_rows * m_width;
    GraphModule condition, body;
    m_body = &condition;
    const NodeId limit = condition.graph.placeholder("c_1");
    condition.graph.placeholder("a_1");
    condition.graph.output(call("aten.lt.Scalar", {limit, 2 * elements}));
    m_body = &body;
    const NodeId count = body.graph.placeholder("c_1");
    NodeId current = body.graph.placeholder("a_1");
    for (int i = 0; i < 3; ++i) current = block(current);
    body.graph.output(Argument::tuple({call("aten.add.Tensor", {count, elements}), current}));
    m_body = nullptr;
    ArgumentList graphs;
    for (GraphModule* nested : {&condition, &body}) {
      const std::string name = fmt::format("body_{}", m_bodies++);
      m_candidate.module.submodules.add(name, {std::make_shared<const GraphModule>(std::move(*nested)), {}});
      graphs.emplace_back(graph().getAttr(name));
    }
    const NodeId index = call("aten.argmax.default", {a});
    return item(
        call("higher_order.while_loop", {graphs[0], graphs[1], Argument::tuple({index, a}), Argument::tuple({})}), 1);
  }
  NodeId otherBranch() {
    const std::string name = fmt::format("body_{}", m_bodies++);
    GraphModule body;
    const NodeId first = body.graph.placeholder("a_1");
    body.graph.placeholder("b_1");
    body.graph.output(Argument::tuple({body.graph.callFunction("torch.ops.aten.neg.default", {first})}));
    m_candidate.module.submodules.add(name, {std::make_shared<const GraphModule>(std::move(body)), {}});
    return graph().getAttr(name);
  }

  NeedleGraphOptions m_options;
  std::mt19937 m_random;
  Candidate m_candidate;
  GraphModule* m_body = nullptr;  ///< the nested graph under construction
  std::vector<NodeId> m_pool;
  const std::int64_t m_rows = 16, m_width = 16;
  int m_bodies = 0;
};

/// Each dimension is 16. The same for the same options.
inline Candidate needleGraph(const NeedleGraphOptions& options) { return NeedleGraphBuilder(options).build(); }

}  // namespace kerf::testing
