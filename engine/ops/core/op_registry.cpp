#include "engine/ops/core/op_registry.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "engine/ops/core/autocast.h"
#include "engine/ops/core/calls_without_row.h"
#include "engine/ops/core/complex_rows.h"
#include "engine/ops/core/composite.h"
#include "engine/ops/core/op_call.h"
#include "engine/ops/core/op_facts.h"
#include "engine/ops/core/op_row.h"
#include "engine/ops/core/operand_checks.h"
#include "engine/ops/core/result_device.h"

namespace kerf::inline ops {
namespace {

/// A schema default as a run-time value.
Value defaultValue(const Argument& argument) {
  if (const auto* list = argument.asList()) {
    ValueList items;
    for (const Argument& item : list->items) items.push_back(defaultValue(item));
    return items;
  }
  if (const auto* flag = argument.as<bool>()) return *flag;
  if (const auto* integer = argument.as<std::int64_t>()) return *integer;
  if (const auto* number = argument.as<double>()) return *number;
  if (const auto* text = argument.as<std::string>()) return *text;
  if (const auto* dtype = argument.as<DType>()) return *dtype;
  if (const auto* format = argument.as<MemoryFormat>()) return *format;
  return {};
}

/// "int[2] stride=1" means [1, 1].
Value expandedDefault(const SchemaArgument& argument) {
  const Value value = defaultValue(*argument.defaultValue);
  const auto open = argument.type.rfind('[');
  if (open == std::string::npos || value.isList() || value.isNone()) return value;
  const int length = std::max(1, std::atoi(argument.type.c_str() + open + 1));
  return ValueList(std::size_t(length), value);
}

Result<Value> runComposite(const BoundArguments& args) { return args.op->composite(args, OpRunner(referenceOps())); }
Result<Value> shapeOfComposite(const BoundArguments& args) { return args.op->composite(args, OpRunner(shapeOps())); }

struct Registry {
  std::vector<OpInfo> ops;
  std::vector<std::uint32_t> byId;  ///< OpId::index to position + 1; 0: no row

  Registry() {
    for (const OpRows& family : opFamilies())
      for (const OpRow& row : family) add(row);
    std::ranges::sort(ops, {}, [](const OpInfo& op) { return op.schema.qualifiedName(); });
    number();
    for (OpInfo& op : ops) op.base = baseOf(op);
    addFacts();
  }

  void number() {
    for (std::size_t i = 0; i < ops.size(); ++i) {
      ops[i].id = internOp(ops[i].schema.qualifiedName());
      byId.resize(std::max<std::size_t>(byId.size(), ops[i].id.index + std::size_t{1}), 0);
      if (byId[ops[i].id.index] == 0) byId[ops[i].id.index] = std::uint32_t(i + 1);
    }
  }

  bool has(OpId op) const { return op.index < byId.size() && byId[op.index] != 0; }

  /// The op that a row is another form of: named in the row, or by its own name: "aten.add_.Tensor" is one of
  /// "aten.add.Tensor", "aten.expand_copy.default" of "aten.expand.default".
  OpId baseOf(const OpInfo& op) const {
    if (op.row->base) return internOp(op.row->base);
    std::string name = op.schema.qualifiedName();
    const std::size_t dot = name.rfind('.');
    for (const std::string_view suffix : {"_copy", "_"})
      if (dot != std::string::npos && std::string_view(name).substr(0, dot).ends_with(suffix)) {
        const OpId base = knownOp(name.erase(dot - suffix.size(), suffix.size()));
        return has(base) ? base : OpId{};
      }
    return {};
  }

  void add(const OpRow& row) {
    auto schema = parseSchema(row.schema);
    if (!schema) return;  // a test walks all rows and finds such a line
    OpInfo info{.schema = std::move(*schema),
                .traits = row.traits,
                .kernel = row.kernel,
                .shape = row.shape,
                .composite = row.composite,
                .decomposition = row.composite,
                .row = &row};
    if (row.composite && !row.kernel) info.kernel = runComposite;
    if (row.composite && !row.shape) info.shape = shapeOfComposite;
    for (const SchemaArgument& argument : info.schema.arguments)
      info.defaults.push_back(argument.defaultValue ? std::optional(expandedDefault(argument)) : std::nullopt);
    ops.push_back(std::move(info));
  }

  /// The row's own columns count before those that a table has for the overload, and these before the op's as a whole.
  void addFacts() {
    std::unordered_map<std::string_view, std::vector<const OpFacts*>> known;
    for (const OpFactRows table : opFactTables())
      for (const OpFacts& facts : table) known[facts.op].push_back(&facts);
    for (OpInfo& op : ops) {
      fill(op, op.row->facts);
      for (const std::string& name : {op.schema.name + "." + op.schema.overload, op.schema.name})
        if (const auto found = known.find(name); found != known.end())
          for (const OpFacts* facts : found->second) fill(op, *facts);
    }
  }

  /// Forms of an op that are programs over it have other arguments: their derivatives are those of their steps.
  static bool isFormOf(const OpInfo& op, const char* facts) {
    return op.composite != nullptr && !op.schema.overload.empty() && facts != nullptr && facts == op.schema.name;
  }

  static void fill(OpInfo& op, const OpFacts& facts) {
    const auto set = [](auto& column, const auto& fact) {
      if (!column) column = fact;
    };
    set(op.lowering, facts.lowering);
    set(op.decomposition, facts.decomposition);
    if (!isFormOf(op, facts.op)) {
      set(op.gradient, facts.gradient);
      set(op.jvp, facts.jvp);
    }
    set(op.flops, facts.flops);
    set(op.sharding, facts.sharding);
  }
};

const Registry& registry() {
  static const Registry instance;
  return instance;
}

class ReferenceOps : public OpCaller {
 public:
  Result<Value> call(const OpTarget& target, const ValueList& args, const KeywordValues& kwargs) const override {
    const OpInfo* op = findOp(target);
    if (!op && callsWithoutRow().isPython(target.text))
      return callsWithoutRow().python(target.text, args, kwargs, *this);
    if (!op || !op->kernel) return fail(ErrorCode::UnsupportedOp, "no kernel for {}", target.text);
    if (auto cast = callInAutocast(*op, args, kwargs, *this)) return std::move(*cast);
    KERF_TRY(const BoundArguments bound, bindArguments(*op, args, kwargs));
    KERF_CHECK(checkOperands(bound));
    const OpRow* complex = complexRow(bound);
    auto result = complex ? complex->kernel(bound) : op->kernel(bound);
    if (!result) return refusal(bound, std::move(result).error());
    return onResultDevice(bound, *std::move(result));
  }
  /// Where the shape rule refuses the call as well, its words: they are what code for it is refused with.
  static std::unexpected<Error> refusal(const BoundArguments& bound, Error error) {
    if (error.code != ErrorCode::ShapeMismatch && error.code != ErrorCode::TooLarge) return fail(std::move(error));
    if (auto shape = runShapeRule(bound); !shape && shape.error().code == ErrorCode::ShapeMismatch)
      return fail(std::move(shape).error());
    return fail(std::move(error));
  }
  Result<Value> callHigherOrder(const OpTarget& target, const ValueList& args, const KeywordValues& kwargs,
                                const SubgraphCaller& subgraphs) const override {
    return callsWithoutRow().higherOrder(target.text, args, kwargs, subgraphs, *this, false);
  }
};

}  // namespace

const OpInfo* findOp(OpId op) {
  const Registry& table = registry();
  const std::uint32_t at = op.index < table.byId.size() ? table.byId[op.index] : 0;
  return at == 0 ? nullptr : &table.ops[at - 1];
}

const OpInfo* findOp(const OpTarget& target) {
  if (const OpInfo* op = findOp(target.id)) return op;
  (void)registry();  // numbers the names that the look-ups below know
  if (const OpInfo* op = findOp(knownOp(target.text))) return op;
  return findOp(knownOp(canonicalOpName(target.text) + ".default"));
}

const OpInfo* findOp(const Node& node) {
  if (node.op() != Opcode::CallFunction) return nullptr;
  return node.opId() ? findOp(node.opId()) : findOp(node.target());
}

std::span<const OpInfo> allOps() { return registry().ops; }

const OpCaller& referenceOps() {
  static const ReferenceOps instance;
  return instance;
}

Result<Value> inferShapes(const OpTarget& target, const ValueList& args, const KeywordValues& kwargs) {
  const OpInfo* op = findOp(target);
  if (!op) return fail(ErrorCode::UnsupportedOp, "no shape rule for {}", target.text);
  KERF_TRY(const BoundArguments bound, bindArguments(*op, args, kwargs));
  return runShapeRule(bound);
}

}  // namespace kerf::inline ops
