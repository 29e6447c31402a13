#include "engine/capture/common/input_purpose.h"

#include <algorithm>
#include <unordered_set>

namespace kerf::inline capture {
namespace {

using Kind = InputPurpose::Kind;

/// "torch.ops.aten.embedding.default" → "embedding", "torch.nn.functional.embedding" → "embedding".
std::string_view baseName(const Node& node) {
  std::string_view target = node.target();
  if (node.op() == Opcode::CallMethod) return target;
  if (target.starts_with("torch.ops.")) target = target.substr(0, target.rfind('.'));
  const std::size_t dot = target.rfind('.');
  return dot == std::string_view::npos ? target : target.substr(dot + 1);
}

/// Ops whose result holds the elements of the argument at `position`, at most converted.
constexpr std::string_view passing[] = {"view",
                                        "reshape",
                                        "_unsafe_view",
                                        "unsqueeze",
                                        "squeeze",
                                        "expand",
                                        "permute",
                                        "transpose",
                                        "t",
                                        "slice",
                                        "select",
                                        "clone",
                                        "alias",
                                        "detach",
                                        "flatten",
                                        "convert_element_type",
                                        "_to_copy",
                                        "to",
                                        "contiguous",
                                        "long",
                                        "int",
                                        "copy",
                                        "repeat",
                                        "lift_fresh_copy",
                                        "unbind",
                                        "split",
                                        "getitem",
                                        "where",
                                        "float",
                                        "double",
                                        "T",
                                        "mT",
                                        "_unsafe_masked_index",
                                        "broadcast_in_dim",
                                        "clone_preserve_strides",
                                        "chunk",
                                        "cat",
                                        "stack",
                                        "masked_fill"};

bool passes(std::string_view name) { return std::ranges::find(passing, name) != std::end(passing); }

/// How an op indexes: argument `index` picks along `dim` of argument `self` (a number), along the dimension that
/// argument `dimArgument` names, or among all its elements.
struct Indexing {
  std::string_view name;
  std::size_t self;
  std::size_t index;
  std::optional<std::int64_t> dim;
  std::optional<std::size_t> dimArgument;
};
constexpr std::int64_t everyElement = -1000;
constexpr std::int64_t lastTwo = -1001;
constexpr Indexing indexings[] = {
    {"embedding", 0, 1, 0, {}},
    {"_embedding_bag", 0, 1, 0, {}},
    {"_embedding_bag_forward_only", 0, 1, 0, {}},
    {"embedding_bag", 0, 1, 0, {}},
    {"gather", 0, 2, {}, 1},
    {"gather_backward", 1, 3, {}, 2},
    {"index_select", 0, 2, {}, 1},
    {"index_select_backward", 0, 3, {}, 2},
    {"index_add", 0, 2, {}, 1},
    {"index_copy", 0, 2, {}, 1},
    {"index_fill", 0, 2, {}, 1},
    {"scatter", 0, 2, {}, 1},
    {"scatter_add", 0, 2, {}, 1},
    {"scatter_reduce", 0, 2, {}, 1},
    {"take", 0, 1, everyElement, {}},
    {"take_along_dim", 0, 1, {}, 2},
    {"nll_loss", 0, 1, 1, {}},
    {"nll_loss_forward", 0, 1, 1, {}},
    {"nll_loss2d_forward", 0, 1, 1, {}},
    {"nll_loss_backward", 1, 2, 1, {}},
    {"nll_loss2d_backward", 1, 2, 1, {}},
    {"cross_entropy", 0, 1, 1, {}},
    {"cross_entropy_loss", 0, 1, 1, {}},
    {"max_pool2d_with_indices_backward", 1, 7, lastTwo, {}},
    {"max_unpool2d", 0, 1, everyElement, {}},
};

const TensorMeta* metaOf(const Graph& graph, const Argument& argument) {
  const auto* id = argument.as<NodeId>();
  return id ? graph.node(*id).meta().value.tensor() : nullptr;
}

/// Size of dimension `dim` of the tensor argument; none where it is unknown.
std::optional<std::int64_t> sizeOf(const Graph& graph, const Argument& argument, std::int64_t dim) {
  const TensorMeta* meta = metaOf(graph, argument);
  const auto sizes = meta ? meta->concreteSizes() : std::nullopt;
  if (!sizes) return {};
  const auto rank = std::int64_t(sizes->size());
  if (dim == everyElement || (dim == lastTwo && rank < 2)) {
    const auto numel = checkedNumel(*sizes);
    return numel ? std::optional(*numel) : std::nullopt;
  }
  if (dim == lastTwo) return (*sizes)[sizes->size() - 1] * (*sizes)[sizes->size() - 2];
  if (rank == 1 && dim == 1) dim = 0;  // class scores of one sample
  if (dim < 0) dim += rank;
  if (dim < 0 || dim >= rank) return {};
  return (*sizes)[std::size_t(dim)];
}

bool mentions(const Argument& argument, NodeId id) { return argument.as<NodeId>() && *argument.as<NodeId>() == id; }

class PurposeSearch {
 public:
  explicit PurposeSearch(const GraphModule& module) : m_graph(module.graph) {}

  InputPurpose integers(NodeId start) {
    follow(start, &PurposeSearch::visitIndexUser);
    if (m_bound) return {Kind::Index, std::max<std::int64_t>(*m_bound, 1), 1};
    return {m_unbounded || reachesIndexing(start) ? Kind::Unbounded : Kind::Plain, 0, 1};
  }

  InputPurpose floats(NodeId start) {
    follow(start, &PurposeSearch::visitFloatUser);
    if (m_positive) return {Kind::Positive, 0, 1};
    if (m_normalized > 1) return {Kind::Weight, 0, m_normalized * m_normalized};
    const TensorMeta* meta = m_graph.node(start).meta().value.tensor();
    const auto sizes = meta ? meta->concreteSizes() : std::nullopt;
    if (!m_weight || !sizes || sizes->size() < 2) return {};
    std::int64_t fanIn = 1;
    for (std::size_t i = 1; i < sizes->size(); ++i) fanIn = std::min<std::int64_t>(fanIn * (*sizes)[i], 1 << 20);
    return {Kind::Weight, 0, std::max<std::int64_t>(fanIn, 1)};
  }

 private:
  using Visit = void (PurposeSearch::*)(const Node& user, NodeId value);

  /// Visits all users of `start` and of what only passes it on.
  void follow(NodeId start, Visit visit) {
    std::unordered_set<NodeId> seen{start};
    std::vector<NodeId> open{start};
    while (!open.empty() && seen.size() < maximumNodes) {
      const NodeId value = open.back();
      open.pop_back();
      for (const NodeId id : m_graph.node(value).users()) {
        const Node& user = m_graph.node(id);
        (this->*visit)(user, value);
        if ((passes(baseName(user)) || m_alsoThrough) && seen.insert(id).second) open.push_back(id);
      }
    }
  }

  void bound(std::optional<std::int64_t> size) {
    if (!size)
      m_unbounded = true;
    else
      m_bound = std::min(m_bound.value_or(*size), *size);
  }

  void visitIndexUser(const Node& user, NodeId value) {
    const std::string_view name = baseName(user);
    if (name == "index" || name == "_unsafe_index" || name == "index_put" || name == "_unsafe_index_put" ||
        name == "index_put_" || name == "getitem" || name == "setitem")
      return visitIndexList(user, value);
    if (name == "embedding_dense_backward" && user.args().size() > 2 && mentions(user.args()[1], value)) {
      const auto* rows = user.args()[2].as<std::int64_t>();
      return bound(rows ? std::optional(*rows) : std::nullopt);
    }
    const bool swapped = user.target() == "torch.nn.functional.embedding";
    for (const Indexing& entry : indexings) {
      if (entry.name != (name.ends_with('_') ? name.substr(0, name.size() - 1) : name)) continue;
      visitIndexing(user, value, swapped ? Indexing{entry.name, 1, 0, 0, {}} : entry);
    }
  }

  void visitIndexing(const Node& user, NodeId value, const Indexing& entry) {
    const ArgumentList& args = user.args();
    if (entry.index >= args.size() || !mentions(args[entry.index], value) || entry.self >= args.size()) return;
    std::optional<std::int64_t> dim = entry.dim;
    if (entry.dimArgument && *entry.dimArgument < args.size())
      if (const auto* named = args[*entry.dimArgument].as<std::int64_t>()) dim = *named;
    bound(dim ? sizeOf(m_graph, args[entry.self], *dim) : std::nullopt);
  }

  /// aten.index(self, [i, None, j]) and self[(i, j)].
  void visitIndexList(const Node& user, NodeId value) {
    if (user.args().size() < 2) return;
    if (mentions(user.args()[1], value)) return bound(sizeOf(m_graph, user.args()[0], 0));
    const ListArgument* list = user.args()[1].asList();
    if (!list) return;
    for (std::size_t i = 0; i < list->items.size(); ++i)
      if (mentions(list->items[i], value)) bound(sizeOf(m_graph, user.args()[0], std::int64_t(i)));
  }

  /// Whether anything computed from `start` indexes something.
  bool reachesIndexing(NodeId start) {
    m_alsoThrough = true;
    follow(start, &PurposeSearch::visitIndexUser);
    m_alsoThrough = false;
    return m_unbounded || m_bound.has_value();
  }

  void visitFloatUser(const Node& user, NodeId value) {
    const std::string_view name = baseName(user);
    const auto at = [&](std::size_t index) {
      return index < user.args().size() && mentions(user.args()[index], value);
    };
    static constexpr std::string_view roots[] = {"rsqrt", "sqrt", "log", "log2", "log10", "log1p", "reciprocal"};
    if (std::ranges::find(roots, name) != std::end(roots)) m_positive = true;
    if (name == "mul") m_normalized = std::max(m_normalized, normalizedBy(user, value));
    if ((name == "add" || name == "add_") && at(0) && user.args().size() > 1 && user.args()[1].as<double>())
      m_positive = m_positive || feedsRoot(user);
    if (name.find("batch_norm") != std::string_view::npos)
      m_positive = m_positive || (user.target().starts_with("torch.nn") ? at(2) : at(4));
    static constexpr std::string_view products[] = {"mm",     "bmm",    "matmul", "linear", "convolution",
                                                    "conv1d", "conv2d", "conv3d", "baddbmm"};
    if (std::ranges::find(products, name) != std::end(products)) m_weight = m_weight || at(1);
    if (name == "addmm") m_weight = m_weight || at(2);
  }

  /// Layer norm's backward multiplies a saved rsqrt / n with n * x - sum - …: n, read off the other factor.
  std::int64_t normalizedBy(const Node& product, NodeId value) const {
    if (product.args().size() < 2 || !mentions(product.args()[0], value)) return 0;
    const NodeId* other = product.args()[1].as<NodeId>();
    for (int step = 0; step < 3 && other != nullptr; ++step) {
      const Node& node = m_graph.node(*other);
      const bool difference = baseName(node) == "sub";
      if (!difference && baseName(node) != "mul") return 0;
      const auto* factor = node.args().size() > 1 ? node.args()[1].as<std::int64_t>() : nullptr;
      if (!difference) return factor != nullptr && *factor < (1 << 24) ? *factor : 0;
      other = node.args().empty() ? nullptr : node.args()[0].as<NodeId>();
    }
    return 0;
  }

  /// x + eps that goes into a root.
  bool feedsRoot(const Node& sum) const {
    return std::ranges::any_of(sum.users(), [&](NodeId id) {
      const std::string_view name = baseName(m_graph.node(id));
      return name == "rsqrt" || name == "sqrt";
    });
  }

  static constexpr std::size_t maximumNodes = 10'000;
  const Graph& m_graph;
  std::optional<std::int64_t> m_bound;
  std::int64_t m_normalized = 0;
  bool m_unbounded = false, m_positive = false, m_weight = false, m_alsoThrough = false;
};

}  // namespace

InputPurpose purposeOf(const GraphModule& module, NodeId placeholder) {
  const TensorMeta* meta = module.graph.node(placeholder).meta().value.tensor();
  if (meta == nullptr) return {};
  PurposeSearch search(module);
  return isIntegral(meta->dtype) ? search.integers(placeholder) : search.floats(placeholder);
}

}  // namespace kerf::inline capture
