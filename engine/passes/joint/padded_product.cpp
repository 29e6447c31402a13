// Reading a product from a node, and writing it with zeros around its factors.
#include "engine/passes/joint/padded_product.h"

#include "engine/passes/call_arguments.h"

namespace kerf::inline passes {

namespace {

/// Sizes that tensor cores take whole; 0 for dtypes that they do not multiply.
std::int64_t alignmentOf(DType dtype) {
  if (dtype == DType::Float16 || dtype == DType::BFloat16) return 8;
  return dtype == DType::Float32 ? 4 : 0;
}

std::optional<Sizes> sizesOf(const Graph& graph, const std::optional<NodeId>& node) {
  const TensorMeta* meta = node ? tensorOf(graph, *node) : nullptr;
  return meta ? fixedSizes(*meta) : std::nullopt;
}

/// beta and alpha where the call gives them; false where one is no number.
bool readFactors(const Node& node, KeywordValues& factors) {
  for (const auto& [name, value] : node.kwargs()) {
    const auto* whole = value.as<std::int64_t>();
    const auto* real = value.as<double>();
    if (whole == nullptr && real == nullptr) return false;
    factors.emplace_back(name, whole ? Value(*whole) : Value(*real));
  }
  return true;
}

Value padded(const CallMaker& call, const Value& tensor, std::int64_t columns, std::int64_t rows) {
  if (columns == 0 && rows == 0) return tensor;
  ValueList pad{std::int64_t{0}, columns};
  if (rows != 0) pad.insert(pad.end(), {std::int64_t{0}, rows});
  return call("aten.constant_pad_nd.default"_op, {tensor, pad, 0.0}, {});
}

/// What is added is padded where it has the size that grows, not where it is repeated.
Value paddedTerm(const CallMaker& call, const Value& term, const PaddedProduct& p) {
  const Sizes& sizes = p.added;
  const bool growsWide = !sizes.empty() && sizes.back() == p.n() && p.n() != 1;
  const bool growsHigh = sizes.size() > 1 && sizes[sizes.size() - 2] == p.m() && p.m() != 1;
  return padded(call, term, growsWide ? p.missing(p.n()) : 0, growsHigh ? p.missing(p.m()) : 0);
}

Value cut(const CallMaker& call, const Value& product, std::int64_t dim, std::int64_t size) {
  return call("aten.slice.Tensor"_op, {product, dim, std::int64_t{0}, size}, {});
}

Value product(const CallMaker& call, const PaddedProduct& p, const Value& a, const Value& b, const Value* term) {
  return term ? call(p.op, {*term, a, b}, p.factors) : call(p.op, {a, b}, {});
}

}  // namespace

double PaddedProduct::intensity() const {
  const double rows = double(m()), depth = double(k()), columns = double(n());
  const bool high = missing(m()) != 0, deep = missing(k()) != 0, wide = missing(n()) != 0;
  double copied = 0;
  if (high || deep) copied += rows * depth;
  if (deep || wide) copied += depth * columns;
  if (high || wide) copied += rows * columns;
  return rows * depth * columns / copied;
}

std::optional<PaddedProduct> paddedProductOf(const Graph& graph, const Node& node) {
  const bool adds = node.isCall("aten.addmm.default"_op);
  if (!adds && !node.isCall("aten.mm.default"_op) && !node.isCall("aten.bmm.default"_op)) return std::nullopt;
  const auto a = nodeNamed(node, adds ? "mat1" : "self"), b = nodeNamed(node, "mat2");
  const auto left = sizesOf(graph, a), right = sizesOf(graph, b);
  const TensorMeta* meta = node.meta().value.tensor();
  if (!left || !right || !meta || left->size() < 2 || left->size() != right->size()) return std::nullopt;
  PaddedProduct p{.op = node.opId(), .a = *a, .b = *b, .left = *left, .right = *right, .dtype = meta->dtype};
  p.alignment = alignmentOf(p.dtype);
  if (p.alignment == 0 || p.m() * p.k() * p.n() == 0) return std::nullopt;
  if (p.missing(p.m()) + p.missing(p.k()) + p.missing(p.n()) == 0) return std::nullopt;
  if (!adds) return p;
  const auto term = nodeNamed(node, "self");
  const auto added = sizesOf(graph, term);
  if (!added || !readFactors(node, p.factors)) return std::nullopt;
  p.term = *term;
  p.added = *added;
  return p;
}

Value writePlain(const CallMaker& call, std::span<const Value> inputs, const PaddedProduct& p) {
  return product(call, p, inputs[0], inputs[1], p.term.valid() ? &inputs[2] : nullptr);
}

Value writePadded(const CallMaker& call, std::span<const Value> inputs, const PaddedProduct& p) {
  const std::int64_t m = p.missing(p.m()), k = p.missing(p.k()), n = p.missing(p.n());
  const Value a = padded(call, inputs[0], k, m), b = padded(call, inputs[1], n, k);
  const Value term = p.term.valid() ? paddedTerm(call, inputs[2], p) : Value();
  Value result = product(call, p, a, b, p.term.valid() ? &term : nullptr);
  if (m != 0) result = cut(call, result, -2, p.m());
  if (n != 0) result = cut(call, result, -1, p.n());
  if (m == 0 && n == 0) return result;
  return call("aten.clone.default"_op, {result}, {{"memory_format", MemoryFormat::Contiguous}});
}

}  // namespace kerf::inline passes
