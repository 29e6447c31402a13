#include "tests/differential/fuzzgraph/graph_builder.h"

#include <algorithm>
#include <cstring>

#include "engine/ir/tensor_objects.h"
#include "engine/symbolic/shape_env.h"
#include "tests/differential/fuzzgraph/op_nature.h"

namespace kerf::fuzzgraph {
namespace {

constexpr DType floats[] = {DType::Float32, DType::Float64, DType::BFloat16, DType::Float16};
constexpr DType wholes[] = {DType::Int64, DType::Int32, DType::Int16, DType::Int8, DType::UInt8, DType::Bool};
constexpr std::int64_t smallSizes[] = {1, 2, 3, 4, 5, 6, 8, 9, 16};
constexpr std::pair<const char*, std::int64_t> symbols[] = {{"s0", 7}, {"s1", 11}, {"s2", 13}};

DType themeDType(Dice& dice) {
  const std::size_t at = dice.below(100);
  if (at < 40) return DType::Float32;
  if (at < 52) return DType::Float64;
  if (at < 67) return DType::BFloat16;
  if (at < 80) return DType::Float16;
  if (at < 90) return wholes[dice.below(std::size(wholes))];
  return at < 96 ? DType::Complex64 : DType::Complex128;
}

bool overlapsItself(const Tensor& tensor) {
  for (std::int64_t d = 0; d < tensor.dim(); ++d)
    if (tensor.size(d) > 1 && tensor.stride(d) == 0) return true;
  return false;
}

/// View.dtype can make bools of any bytes; what a copy makes of such (the byte, or 1) is nobody's rule.
bool holdsTruths(const Tensor& tensor) {
  return spreadOf(Tensor(tensor.storage(), DType::UInt8, tensor.symSizes(), tensor.symStrides(), tensor.symOffset()))
             .greatest <= 1;
}

bool sameHandle(const Tensor& a, const Tensor& b) {
  return a.storage() == b.storage() && a.sizes() == b.sizes() && a.strides() == b.strides() && a.offset() == b.offset();
}

bool isWhole(const Value& value) {
  bool whole = false;
  forEachTensor(value, [&](const Tensor& tensor) { whole = whole || isIntegral(tensor.dtype()); });
  return whole || value.as<bool>() || value.as<std::int64_t>();
}

std::vector<std::byte> bytesOf(const Storage& storage) { return {storage.view().begin(), storage.view().end()}; }

void restore(const StoragePtr& storage, const std::vector<std::byte>& bytes) {
  if (!bytes.empty()) std::memcpy(storage->data(), bytes.data(), bytes.size());
}

/// Results whose size values give. A size of 1 counts as another where rules must decide (as in PyTorch, whose
/// assertion then fails); nonzero lays its result out by columns, but its rule (and PyTorch's) by rows.
bool isOddResult(const Value& rule, const Value& result) {
  std::vector<bool> isCounted;
  forEachTensor(rule, [&](const Tensor& t) { isCounted.push_back(t.isSymbolic()); });
  bool odd = false;
  std::size_t at = 0;
  forEachTensor(result, [&](const Tensor& t) {
    if (at < isCounted.size() && !isCounted[at++]) return;
    odd = odd || !t.isContiguous() || std::ranges::any_of(t.sizes(), [](auto n) { return n < 2; });
  });
  return odd;
}

/// By the shape rule, sizes that values give being symbols. None where not even their number is known.
std::optional<bool> isOddResult(const PlannedCall& call, const ValueList& args, const KeywordValues& kwargs,
                                const Value& result) {
  ShapeEnv env;
  const ShapeEnv::Scope scope(env);
  const auto rule = inferShapes(call.target, args, kwargs);
  return rule ? std::optional(isOddResult(*rule, result)) : std::nullopt;
}

}  // namespace

std::span<const std::pair<const char*, std::int64_t>> fuzzSymbols() { return symbols; }

GraphBuilder::GraphBuilder(std::uint64_t seed, bool symbolic) : dice(seed) {
  theme.dtype = themeDType(dice);
  theme.symbolic = symbolic;
  theme.corners = dice.chance(8);
  theme.mutates = !symbolic && dice.chance(25);
  const std::size_t rank = dice.pick({0u, 1u, 2u, 2u, 3u, 3u, 4u});
  for (std::size_t d = 0; d < rank; ++d) theme.sizes.push_back(smallSizes[dice.below(std::size(smallSizes))]);
  if (!symbolic) return;
  if (theme.sizes.empty()) theme.sizes = {1, 4};
  theme.sizes[0] = symbols[0].second;
  if (rank > 1 && dice.chance(60)) theme.sizes[1] = symbols[1].second;
  if (rank > 2 && dice.chance(40)) theme.sizes[2] = symbols[2].second;
}

DType GraphBuilder::randomDType() {
  if (dice.chance(75)) return theme.dtype;
  if (dice.chance(60)) return floats[dice.below(std::size(floats))];
  if (dice.chance(70)) return wholes[dice.below(std::size(wholes))];
  return dice.chance(50) ? DType::Complex64 : DType::Float32;
}

Sizes GraphBuilder::randomSizes() {
  Sizes sizes = theme.sizes;
  if (dice.chance(60)) return sizes;
  if (dice.chance(50)) {  // broadcasts
    for (std::int64_t& size : sizes)
      if (dice.chance(30)) size = 1;
    if (!sizes.empty() && dice.chance(40)) sizes.erase(sizes.begin());
    return sizes;
  }
  sizes.clear();
  const std::size_t rank = dice.below(5);
  for (std::size_t d = 0; d < rank; ++d) sizes.push_back(smallSizes[dice.below(std::size(smallSizes))]);
  if (rank > 0 && dice.chance(6)) sizes[dice.below(rank)] = 0;
  if (rank > 0 && !theme.sizes.empty() && dice.chance(50)) sizes.back() = theme.sizes.back();
  return sizes;
}

Interval GraphBuilder::randomRange() {
  return dice.pick({Interval{-2, 2}, Interval{-2, 2}, Interval{0.1, 2}, Interval{0.05, 0.95}, Interval{1.1, 3}});
}

Operand GraphBuilder::fresh(Tensor tensor) {
  const NodeId id{freshBase + std::uint32_t(m_fresh.size())};
  m_fresh.push_back({tensor, bytesOf(*tensor.storage())});
  return {Argument(id), Value(std::move(tensor)), false};
}

Operand GraphBuilder::fresh(DType dtype, const Sizes& sizes, Interval range, bool rowMajor) {
  rowMajor = rowMajor || theme.symbolic;
  const Arrangement arrangement = rowMajor ? Arrangement::RowMajor : randomArrangement(dice, sizes.size());
  return fresh(randomTensor(dice, dtype, sizes, range, arrangement, theme.corners));
}

bool GraphBuilder::isBenign(const Value& value) {
  bool benign = true;
  forEachTensor(value, [&](const Tensor& tensor) {
    if (tensor.numel() > maxElements || tensor.dtype() == DType::Complex32) benign = false;  // nor has PyTorch on CPUs
    if (!benign) return;
    if (tensor.dtype() == DType::Bool && !holdsTruths(tensor)) benign = false;
    const Spread spread = spreadOf(tensor);
    const double most = isIntegral(tensor.dtype()) ? 1e6 : 1e3;
    benign = (spread.allFinite && spread.greatest <= most) || dice.chance(theme.corners ? 20 : 2);
  });
  return benign;
}

/// Memory that is written must be written once, and be nobody else's argument.
bool GraphBuilder::mayWrite(const OpInfo& op, const PlannedCall& call) const {
  for (std::size_t i = 0; i < op.schema.arguments.size() && i < call.positional.size(); ++i) {
    if (op.schema.arguments[i].alias.find('!') == std::string::npos) continue;
    bool allowed = theme.mutates;
    forEachTensor(call.positional[i].value, [&](const Tensor& written) {
      allowed = allowed && !overlapsItself(written);
      int uses = 0;
      for (const Operand* operand : operandsOf(call))
        forEachTensor(operand->value, [&](const Tensor& other) {
          if (other.storage() != written.storage()) return;
          ++uses;
          allowed = allowed && sameHandle(other, written);
        });
      allowed = allowed && (uses == 1 || call.positional[i].value.isTensor());
    });
    if (!allowed) return false;
  }
  return true;
}

/// Whether the shape rule accepts the arguments and gives something of a modest size.
bool GraphBuilder::fits(const OpInfo& op, const PlannedCall& call, const ValueList& args, const KeywordValues& kwargs) {
  if (!mayWrite(op, call)) return false;
  if (refusesComplex(op) && !args.empty() && args[0].isTensor() && isComplex(args[0].tensor().dtype())) return false;
  const auto planned = inferShapes(call.target, args, kwargs);
  if (!planned) return planned.error().code == ErrorCode::UnsupportedOp && has(op.traits, OpTrait::DataDependent);
  bool modest = true;
  forEachTensor(*planned, [&](const Tensor& tensor) { modest = modest && tensor.numel() <= maxElements; });
  return modest;
}

bool GraphBuilder::keep(const OpInfo& op, PlannedCall call) {
  ValueList args;
  KeywordValues kwargs;
  for (const Operand& operand : call.positional) args.push_back(operand.value);
  for (const auto& [name, operand] : call.keywords) kwargs.emplace_back(name, operand.value);
  if (!fits(op, call, args, kwargs)) return false;
  const bool fromRounded =
      std::ranges::any_of(operandsOf(call), [](const Operand* operand) { return operand->rounded; });
  if (fromRounded && isDiscontinuous(op)) return false;
  std::vector<std::pair<StoragePtr, std::vector<std::byte>>> before;
  if (has(op.traits, OpTrait::Inplace) || has(op.traits, OpTrait::Impure))
    for (const Value& value : args)
      forEachTensor(value, [&](const Tensor& t) { before.emplace_back(t.storage(), bytesOf(*t.storage())); });
  const auto planned = inferShapes(call.target, args, kwargs);
  const auto result = referenceOps().call(call.target, args, kwargs);
  if (!result || (fromRounded && isWhole(*result)) || !isBenign(*result) ||
      (has(op.traits, OpTrait::DataDependent) && isOddResult(call, args, kwargs, *result).value_or(true))) {
    for (const auto& [storage, bytes] : before) restore(storage, bytes);
    return false;
  }
  if (planned && !has(op.traits, OpTrait::DataDependent)) checkShapes(op, *planned, *result, call);
  checkMemory(op, *result, call);
  const bool rounded = fromRounded || !isExact(op);
  write(call, *result, rounded);
  for (const auto& [storage, bytes] : before)
    for (KnownTensor& known : m_tensors)
      if (known.tensor.storage() == storage) known.rounded = known.rounded || rounded;
  ++kept[op.schema.qualifiedName()];
  return true;
}

void GraphBuilder::addFrontNode(NodeId node) {
  if (!m_firstCall) m_firstCall = node;
}

NodeId GraphBuilder::placeInput(const FreshInput& input) {
  const std::string name = fmt::format("arg{}_1", m_inputs.size());
  NodeId id;
  if (m_firstCall) {
    const InsertionScope scope(module.graph, InsertionScope::Where::Before, *m_firstCall);
    id = module.graph.placeholder(name);
  } else {
    id = module.graph.placeholder(name);
  }
  m_inputs.emplace_back(input.tensor);
  m_placed.push_back(input);
  m_tensors.push_back({id, input.tensor, false, true});
  if (theme.symbolic) nameSymbols(id, input.tensor);
  return id;
}

void GraphBuilder::placeFresh() {
  m_freshNodes.clear();
  for (const FreshInput& input : m_fresh) m_freshNodes.push_back(placeInput(input));
  m_fresh.clear();
}

Argument GraphBuilder::placed(const Argument& argument) const {
  return mapNodes(argument,
                  [&](NodeId id) { return Argument(id.index >= freshBase ? m_freshNodes[id.index - freshBase] : id); });
}

void GraphBuilder::write(const PlannedCall& call, const Value& result, bool rounded) {
  placeFresh();
  ArgumentList args;
  KeywordArguments kwargs;
  for (const Operand& operand : call.positional) args.push_back(placed(operand.argument));
  for (const auto& [name, operand] : call.keywords) kwargs.emplace_back(name, placed(operand.argument));
  const NodeId id = module.graph.callFunction(call.target, std::move(args), std::move(kwargs), call.name);
  addFrontNode(id);
  learnReshaped(id, result);
  learn(id, result, rounded);
}

/// What a call turned (transpose_) is known as it is now, under all its names.
void GraphBuilder::learnReshaped(NodeId call, const Value& result) {
  const std::vector<NodeId> operands = reshapedOperands(module.graph.node(call));
  if (operands.size() != 1 || !result.isTensor()) return;
  const TensorObjects objects(module.graph);
  for (KnownTensor& known : m_tensors)
    if (objects.first(known.node) == objects.first(operands[0])) known.tensor = result.tensor();
}

void GraphBuilder::learn(NodeId node, const Value& value, bool rounded) {
  if (value.isTensor() && value.tensor().defined())
    m_tensors.push_back({node, value.tensor(), rounded && !isIntegral(value.tensor().dtype()), false});
  if (!value.isList()) return;
  for (std::size_t i = 0; i < value.list().size(); ++i) {
    const Value& item = value.list()[i];
    if (item.isNone() || (i > 3 && dice.chance(50))) continue;
    const NodeId part =
        module.graph.callFunction("operator.getitem", {Argument(node), Argument(std::int64_t(i))}, {}, "getitem");
    learn(part, item, rounded);
  }
}

Operand GraphBuilder::nested(const std::string& name, GraphModule body) {
  std::string path = name;
  for (int i = 0; module.submodule(path); ++i) path = fmt::format("{}_{}", name, i);
  module.submodules.add(path, {std::make_shared<const GraphModule>(std::move(body)), {}});
  const NodeId id = module.graph.getAttr(path, path);
  addFrontNode(id);
  return {Argument(id), Value(path)};
}

}  // namespace kerf::fuzzgraph
