// Fills the ValueTable: one look at every node, in order.
#include <algorithm>

#include "engine/ir/call_values.h"
#include "engine/ir/value_meta.h"
#include "engine/lower/lowering_fit.h"
#include "engine/lower/view_shapes.h"
#include "engine/ops/core/invented_numbers.h"
#include "engine/ops/core/strides.h"
#include "engine/ops/python/python_level.h"
#include "engine/symbolic/shape_env.h"

namespace kerf::inline lower {

void askFor(const Node& node) {
  if (ShapeEnv* env = ShapeEnv::current()) env->setAsker(node.name(), node.meta().sourceFile, node.meta().sourceLine);
}

NodeId ValueTable::root(NodeId id) const { return (*this)[id].kind == ValueKind::View ? (*this)[id].root : id; }

namespace {

bool hasExample(SymInt number) { return !number.isSymbolic() || ShapeEnv::current()->hint(number).has_value(); }
/// Whether the expression has symbols of floats, whose values are not known from sizes.
bool mentionsFloats(SymInt number) {
  return std::ranges::any_of(ShapeEnv::current()->expression(number).symbols(),
                             [](const std::string& name) { return name.starts_with('z'); });
}

bool hasExamples(const SymSizes& sizes) { return std::ranges::all_of(sizes, hasExample); }

/// The value without what depends on data: that is unknown until the graph runs.
Value knownPart(Value value) {
  if (const Tensor* tensor = value.as<Tensor>(); tensor && tensor->isSymbolic())
    return hasExamples(tensor->symSizes()) && hasExamples(tensor->symStrides()) ? value : Value();
  if (const auto* number = value.as<SymNumber>()) return hasExample(number->value) ? value : Value();
  if (!value.isList()) return value;
  ValueList items;
  for (const Value& item : value.list()) items.push_back(knownPart(item));
  return items;
}

}  // namespace

/// Classification of one module; errors carry the node's name.
class Classifier {
 public:
  Classifier(const GraphModule& module, const NodeChoice& choice) : m_choice(choice) {
    m_table.m_module = &module;
    std::size_t slots = 0;
    for (const NodeId id : module.graph.order()) slots = std::max<std::size_t>(slots, id.index + std::size_t{1});
    m_table.m_values.resize(slots);
    m_metas.resize(slots);
  }

  Result<ValueTable> run() {
    for (const NodeId id : m_table.graph().order()) {
      askFor(m_table.graph().node(id));
      auto done = classify(m_table.graph().node(id));
      if (done) continue;
      Error error = std::move(done).error();
      if (error.node.empty()) error.atNode(m_table.graph().node(id).name());
      return fail(std::move(error));
    }
    return std::move(m_table);
  }

 private:
  Result<void> classify(const Node& node) {
    ValueInfo& info = m_table[node.id()];
    readMeta(node, info);
    info.segment = m_segment;
    info.alone = isIn(m_choice.unfused, node) || isIn(m_choice.interpreted, node);
    switch (node.op()) {
      case Opcode::Placeholder:
        info.kind = ValueKind::Input;
        return {};
      case Opcode::GetAttr:
        return classifyAttribute(node, info);
      case Opcode::Output:
        info.kind = ValueKind::Output;
        return {};
      case Opcode::CallFunction:
        return classifyCall(node, info);
      default:
        info.kind = ValueKind::Extern;
        return {};
    }
  }

  static bool isIn(const std::set<std::string>& names, const Node& node) {
    const auto isNamed = [&](const std::string& name) { return names.contains(name); };
    return isNamed(node.name()) || std::ranges::any_of(node.meta().fromNodes, isNamed);
  }

  void readMeta(const Node& node, ValueInfo& info) {
    Value& value = m_metas[node.id().index] = knownPart(valueOf(node.meta().value).value_or(Value()));
    const Tensor* tensor = value.as<Tensor>();
    if (!tensor) return;
    info.isTensor = true;
    info.dtype = tensor->dtype();
    info.sizes = tensor->symSizes();
    info.strides = tensor->symStrides();
    info.storageOffset = node.meta().value.tensor()->storageOffset;
  }

  Result<void> classifyAttribute(const Node& node, ValueInfo& info) {
    const TensorAttribute* attribute = m_table.module().attribute(node.target());
    if (!attribute || !attribute->tensor.defined()) {
      info.kind = ValueKind::Extern;
      info.isTensor = false;
      return {};
    }
    info.kind = ValueKind::Attribute;
    info.isTensor = true;
    info.dtype = attribute->tensor.dtype();
    info.sizes = attribute->tensor.sizes();
    info.strides = attribute->tensor.strides();
    info.storageOffset = attribute->tensor.offset();
    m_metas[node.id().index] = metaTensor(info.dtype, info.sizes, info.strides, info.storageOffset);
    return {};
  }

  Result<void> classifyCall(const Node& node, ValueInfo& info) {
    if (isSizeNumber(node, info)) return {};
    if (node.isCall("operator.getitem"_op)) {
      KERF_TRY(const bool done, classifyItem(node, info));
      if (done) return {};
    }
    const OpInfo* op = findOp(node);
    if (!op) return classifyUnknown(node, info);
    startSegment(*op, info);
    KERF_TRY(const bool bound, bind(node, *op, info));
    if (!bound) return {};
    if (has(op->traits, OpTrait::View)) return classifyView(node, info);
    return classifyComputation(node, info);
  }

  /// Integers and truths that the symbols of the inputs give are computed from them when the inputs are known.
  bool isSizeNumber(const Node& node, ValueInfo& info) const {
    const auto* number = m_metas[node.id().index].as<SymNumber>();
    if (number == nullptr || number->kind == SymKind::Float || mentionsFloats(number->value)) return false;
    info.kind = ValueKind::Number;
    info.number = *number;
    return true;
  }

  /// A mutating op stands alone: what comes before and after never shares a kernel.
  void startSegment(const OpInfo& op, ValueInfo& info) {
    const bool mutates = has(op.traits, OpTrait::Inplace) ||
                         std::ranges::any_of(op.schema.arguments, [](const SchemaArgument& argument) {
                           return argument.alias.find('!') != std::string::npos;
                         });
    if (!mutates) return;
    info.segment = ++m_segment;
    ++m_segment;
  }

  Result<void> classifyUnknown(const Node& node, ValueInfo& info) {
    info.segment = ++m_segment;
    ++m_segment;
    if (node.target().starts_with("torch.ops.higher_order.") || runsAsPython(node.target())) return {};
    return fail(ErrorCode::UnsupportedOp, "no kernel, shape rule or lowering knows {}", node.target());
  }

  /// False when an argument has no known value yet (the node then stays extern).
  Result<bool> bind(const Node& node, const OpInfo& op, ValueInfo& info) {
    bool known = true;
    const Value none;
    const auto lookup = [&](NodeId id) -> const Value& {
      const Value& value = m_metas[id.index];
      known = known && !value.isNone();  // a number that only running tells, too
      return value;
    };
    KERF_TRY(const CallValues call, callValues(node, lookup));
    if (!known || !info.isTensor) {
      if (!node.meta().value.list()) return false;
    }
    auto bound = bindArguments(op, call.args, call.kwargs);
    // Lowerings read numbers alone. Of elu(x, s) with a tensor s the op's own kernel reads it when the graph runs.
    if (!bound || inventsNumbers(*bound, call.args, call.kwargs)) return false;
    info.bound = std::move(*bound);
    collectOperands(node, op, info);
    return true;
  }

  static void collectOperands(const Node& node, const OpInfo& op, ValueInfo& info) {
    const auto& schema = op.schema.arguments;
    info.operandNodes.assign(schema.size(), NodeId{});
    info.operandItems.assign(schema.size(), {});
    const auto collect = [&](std::size_t i, const Argument& argument) {
      if (const NodeId* id = argument.as<NodeId>()) info.operandNodes[i] = *id;
      const ListArgument* list = argument.asList();
      if (list == nullptr) return;
      for (const Argument& item : list->items) {
        const NodeId* id = item.as<NodeId>();
        info.operandItems[i].push_back(id ? *id : NodeId{});
      }
    };
    for (std::size_t i = 0; i < node.args().size() && i < schema.size(); ++i) collect(i, node.args()[i]);
    for (const auto& [key, argument] : node.kwargs())
      for (std::size_t i = 0; i < schema.size(); ++i)
        if (schema[i].name == key) collect(i, argument);
  }

  Result<void> classifyView(const Node& node, ValueInfo& info) {
    info.kind = ValueKind::Extern;
    if (info.operandNodes.empty() || !info.operandNodes[0].valid() || !info.bound.tensorIf(0)) return {};
    const ValueInfo& base = m_table[info.operandNodes[0]];
    const std::string& name = info.bound.op->schema.name;
    const bool isDtypeView = name == "aten::view" && info.bound.op->schema.overload == "dtype";
    const TensorMeta* result = node.meta().value.tensor();
    const bool changesDtype = result != nullptr && result->dtype != base.dtype;  // real, imag, view_as_complex, …
    if (!base.isTensor || isDtypeView || changesDtype) return {};
    if (name == "aten::reshape" && !viewStrides(info.bound.tensor(0), info.sizes)) return {};
    if (node.meta().value.list()) {
      if (onlyItemsUsed(node)) info.kind = ValueKind::Tuple;
      return {};
    }
    return makeView(node.id(), node.id(), info);
  }

  /// Whether every user takes one item by a constant index.
  bool onlyItemsUsed(const Node& node) const {
    return std::ranges::all_of(node.users(), [&](NodeId id) {
      const Node& user = m_table.graph().node(id);
      return user.isCall("operator.getitem"_op) && user.args().size() == 2 && user.args()[1].as<std::int64_t>() &&
             user.meta().value.tensor();
    });
  }

  static bool isStrided(const OpInfo& op) {
    return op.schema.name == "aten::as_strided" || op.schema.name == "aten::_reshape_alias";
  }

  /// Whether an as_strided is known to look at nothing but its root's own elements, at all sizes. Of any other the op's
  /// kernel asks the storage when the graph runs, as the interpreter does.
  bool staysWithin(const ValueInfo& view) const {
    const ValueInfo& root = m_table[view.root];
    // A view that its kernel makes has memory of others, from a place in it that is not known here.
    if (root.bound.op != nullptr && has(root.bound.op->traits, OpTrait::View)) return false;
    const bool isCounted = view.bound.values.size() > 3 && !view.bound.none(3);
    const bool isPlain = !root.sizes.isSymbolic() && !root.strides.isSymbolic() && !view.sizes.isSymbolic();
    if (!isPlain && !isCounted && view.base != view.root) return false;  // an offset that sizes decide
    const SymInt offset = isCounted ? view.bound.symInteger(3) : SymInt(view.storageOffset);
    const auto end = endOf(view.sizes, view.strides, offset), all = endOf(root.sizes, root.strides, root.storageOffset);
    if (!end || !all) return false;
    return staticallyKnown(offset >= root.storageOffset) && staticallyKnown(*end <= *all);
  }

  /// The place after the last element; none of what may be empty, or may lie farther than numbers count.
  static std::optional<SymInt> endOf(const SymSizes& sizes, const SymSizes& strides, SymInt offset) {
    if (!offset.isSymbolic() && offset.bits() > (std::int64_t{1} << 62)) return std::nullopt;  // no address
    SymInt end = offset + 1;
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      if (!staticallyKnown(sizes[d] > 0) || !staticallyKnown(strides[d] >= 0)) return std::nullopt;
      std::int64_t span = 0, sum = 0;
      const bool plain = !sizes[d].isSymbolic() && !strides[d].isSymbolic() && !end.isSymbolic();
      if (plain && (__builtin_mul_overflow(sizes[d].bits() - 1, strides[d].bits(), &span) ||
                    __builtin_add_overflow(end.bits(), span, &sum)))
        return std::nullopt;
      end = end + (sizes[d] - 1) * strides[d];
    }
    return end;
  }

  /// Runs the op's shape rule on a row-major base: what the view does, whatever memory the base has.
  Result<void> makeView(NodeId, NodeId call, ValueInfo& info, std::size_t item = 0) {
    const ValueInfo& source = m_table[call];
    info.base = source.operandNodes[0];
    info.root = m_table.root(info.base);
    info.viewCall = call;
    info.item = int(item);
    info.needsLayout = isStrided(*source.bound.op);
    if (info.needsLayout && !staysWithin(info)) return {};
    info.kind = ValueKind::View;
    if (info.needsLayout) return {};
    KERF_TRY(const Value shape, m_shapes.of(call, source.bound, [&] {
      return metaTensor(m_table[info.base].dtype, m_table[info.base].sizes);
    }));
    const Value& result = shape.isList() ? shape.list()[item] : shape;
    info.viewStrides = result.tensor().symStrides();
    info.viewOffset = result.tensor().symOffset();
    return {};
  }

  Result<void> classifyComputation(const Node& node, ValueInfo& info) {
    info.kind = ValueKind::Extern;
    if (isIn(m_choice.interpreted, node)) return {};
    if (node.meta().value.list()) {
      info.lowering = fittingReduction(info);
      if (!info.lowering) info.lowering = fittingElement(info);
      if (!info.lowering && m_choice.serialLoops) info.lowering = fittingScan(info);
      const bool reads = info.lowering && (!info.lowering->element || elementReadsAreTensors(info));
      if (reads && info.lowering->items > 1 && onlyItemsUsed(node)) info.kind = ValueKind::Tuple;
      return {};
    }
    if (has(info.bound.op->traits, OpTrait::Random)) return {};
    info.lowering = fittingPointwise(info);
    if (info.lowering && operandsAreTensors(info)) info.kind = ValueKind::Pointwise;
    if (info.lowering) return {};
    info.lowering = placesAreOwn(info) ? fittingElement(info) : nullptr;
    if (info.lowering && info.lowering->items == 1 && elementReadsAreTensors(info)) info.kind = ValueKind::Pointwise;
    if (info.lowering) return {};
    if (m_choice.serialLoops && classifySerial(info)) return {};
    info.lowering = fittingReduction(info);
    if (info.lowering && info.lowering->items == 1 && info.operandNodes[0].valid()) info.kind = ValueKind::Reduction;
    return {};
  }

  /// As loops whose iterations follow one another.
  bool classifySerial(ValueInfo& info) const {
    info.lowering = fittingWrites(info);
    if (info.lowering) {
      if (elementReadsAreTensors(info)) info.kind = ValueKind::Write;
      return true;
    }
    info.lowering = fittingScan(info);
    if (info.lowering && info.lowering->items == 1 && info.operandNodes[0].valid()) info.kind = ValueKind::Scan;
    return info.lowering != nullptr;
  }

  /// Whether the places that the op takes as an argument were found in this graph, where its lowering needs that.
  bool placesAreOwn(const ValueInfo& info) const {
    const Lowering& lowering = info.bound.op->lowering;
    if (!lowering.madeBy) return true;
    const BoundArguments* next = nullptr;
    for (NodeId at = info.operandNodes[std::size_t(lowering.place)]; at.valid();) {
      const Node& node = m_table.graph().node(at);
      const bool isItem = node.isCall("operator.getitem"_op) && node.args().size() == 2;
      if (isItem && node.args()[1] != Argument(1)) return false;
      const NodeId* list = isItem ? node.args()[0].as<NodeId>() : nullptr;
      const ValueInfo& step = m_table[list ? *list : at];
      if (!step.bound.op || !lowering.madeBy(info.bound, step.bound, next)) return false;
      if (list) return true;
      next = &step.bound;
      at = step.operandNodes[0];
    }
    return false;
  }

  /// Every operand of tensor type comes from a node with a known shape.
  bool operandsAreTensors(const ValueInfo& info) const {
    for (const std::size_t i : elementOperands(info)) {
      if (!info.bound.tensorIf(i)) continue;
      if (!info.operandNodes[i].valid() || !m_table[info.operandNodes[i]].isTensor) return false;
      if (info.bound.tensorIf(i)->dim() > std::int64_t(info.sizes.size())) return false;  // nothing that broadcasts
    }
    return true;
  }

  /// Every tensor that is read comes from a node with a known shape.
  bool elementReadsAreTensors(const ValueInfo& info) const {
    std::size_t tensors = 0;
    for (const Value& value : info.bound.values) {
      tensors += value.isTensor();
      if (value.isList()) tensors += std::size_t(std::ranges::count_if(value.list(), &Value::isTensor));
    }
    const auto reads = elementReads(info);
    return reads.size() == tensors && std::ranges::all_of(reads, [&](NodeId id) { return m_table[id].isTensor; });
  }

  Result<bool> classifyItem(const Node& node, ValueInfo& info) {
    if (node.args().size() < 2) return false;
    const NodeId* source = node.args()[0].as<NodeId>();
    const auto* index = node.args()[1].as<std::int64_t>();
    if (!source || !index || !info.isTensor) return false;
    const ValueInfo& tuple = m_table[*source];
    const auto* metas = m_table.graph().node(*source).meta().value.list();
    if (tuple.kind != ValueKind::Tuple || !metas) return false;
    const std::int64_t item = *index < 0 ? *index + std::int64_t(metas->size()) : *index;
    if (item < 0 || item >= std::int64_t(metas->size())) return false;
    if (!tuple.lowering) {
      KERF_CHECK(makeView(node.id(), *source, info, std::size_t(item)));
      return true;
    }
    info.kind = tuple.lowering->element ? ValueKind::Pointwise
                : tuple.lowering->scan  ? ValueKind::Scan
                                        : ValueKind::Reduction;
    info.lowering = tuple.lowering;
    info.bound = tuple.bound;
    info.operandNodes = tuple.operandNodes;
    info.operandItems = tuple.operandItems;
    info.item = int(item);
    return true;
  }

  const NodeChoice& m_choice;
  ValueTable m_table;
  ViewShapes m_shapes;
  std::vector<Value> m_metas;  ///< by NodeId::index, tensors without storage
  int m_segment = 0;
};

Result<ValueTable> classifyValues(const GraphModule& module, const NodeChoice& choice) {
  return Classifier(module, choice).run();
}

}  // namespace kerf::inline lower
