// Numbers in the graph: symbols of sizes and of plain numbers as inputs, and what is computed from them.
#include "engine/dynamo/output_graph.h"
#include "engine/dynamo/tensor_calls.h"
#include "engine/dynamo/tracer.h"
#include "engine/dynamo/unsupported.h"
#include "engine/dynamo/values.h"
#include "engine/symbolic/symbolic_node.h"
#include "engine/torch_api/conversions.h"

namespace kerf::inline dynamo {
namespace {

using NodeKind = SymbolicNode::Kind;

[[noreturn]] void cannotCompute(const Symbolic& expression) {
  unsupported("Unsupported symbolic number", "No node computes it.", expression.text());
}

struct ComputedFunction {
  std::string_view function;
  const char* target;
  const char* python;  ///< of module operator, or of builtins
};
constexpr ComputedFunction kComputed[] = {
    {"FloorDiv", "operator.floordiv", "floordiv"},
    {"Mod", "operator.mod", "mod"},
    {"PythonMod", "operator.mod", "mod"},
    {"PowByNatural", "operator.pow", "pow"},
    {"IntTrueDiv", "operator.truediv", "truediv"},
    {"FloatTrueDiv", "operator.truediv", "truediv"},
    {"Abs", "operator.abs", "abs"},
    {"Max", "torch.sym_max", "max"},
    {"Min", "torch.sym_min", "min"},
    {"ToFloat", "torch.sym_float", "float"},
    {"TruncToInt", "torch.sym_int", "int"},
};

Ref pythonFunction(const std::string& target, const char* name) {
  if (target.starts_with("operator.")) return operatorFunction(name);
  return Ref::borrow(PyDict_GetItemString(PyEval_GetBuiltins(), name));
}

Ref packedTuple(const std::vector<Ref>& items) {
  Ref tuple = Ref::steal(PyTuple_New(static_cast<Py_ssize_t>(items.size())));
  for (std::size_t k = 0; k < items.size(); ++k)
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(k), Py_NewRef(items[k].get()));
  return tuple;
}

}  // namespace

/// Symbols of a tensor's sizes come before it.
void OutputGraph::placeSymbols(const Tensor& fake) {
  for (const SymInt size : fake.symSizes())
    if (size.isSymbolic())
      for (const std::string& name : m_tracer.symbols.env().expression(size).symbols())
        computeExpression(Symbolic::symbol(name));
}

/// Sizes of a result that only running the graph gives are asked of it.
void OutputGraph::noteUnbacked(const Tensor& fake, PyObject* proxy) {
  const SymSizes sizes = fake.symSizes();
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    if (!sizes[k].isSymbolic()) continue;
    const Symbolic size = m_tracer.symbols.env().expression(sizes[k]);
    if (isKind(size, NodeKind::Symbol) && m_tracer.symbols.isUnbacked(size))
      m_sizedBy.try_emplace(size.text(), Ref::borrow(proxy), static_cast<std::int64_t>(k));
  }
}

/// tensor.size(dim)
Ref OutputGraph::placeUnbacked(const Symbolic& expression) {
  const auto sized = m_sizedBy.find(expression.text());
  if (sized == m_sizedBy.end()) cannotCompute(expression);
  const auto& [tensor, dim] = sized->second;
  const Ref args = Ref::steal(PyTuple_Pack(2, tensor.get(), Ref::steal(PyLong_FromLongLong(dim)).get()));
  const NodeId node = record(Opcode::CallMethod, "size", {{}, "size", {}, args, {}});
  m_numbers.insert(node.index);
  return makeSym({{m_tracer.symbols.env().intern(expression), SymKind::Int}, node, {}, {}});
}

Ref OutputGraph::placeSymbol(const Symbolic& expression) {
  const InputSymbol* symbol = m_tracer.symbols.find(expression.text());
  if (symbol == nullptr) return placeUnbacked(expression);
  const bool isSize = symbol->source->kind() == Source::Kind::Size;
  const bool isFloat = PyFloat_Check(symbol->number.get());
  const std::string name = isSize ? symbol->name : inputNameOf(symbol->source->name());
  NodeId node = placeholder(name, {}, {{}, symbol->source, {}, isFloat, symbol->name, {}});
  const SymNumber number{m_tracer.symbols.env().intern(expression), isFloat ? SymKind::Float : SymKind::Int};
  if (isFloat) {
    hasFloatInput = true;
    ProxyState scalar;
    scalar.fake = Tensor(nullptr, DType::Float64, SymSizes(), SymSizes(), 0);
    scalar.node = node;
    const Ref self = makeProxy(std::move(scalar));
    node = record(Opcode::CallMethod, "item", {{}, "item", {}, packedTuple({self}), {}});
    m_numbers.insert(node.index);
  }
  return makeSym({number, node, {}, {}});
}

/// Nodes for what no node gives yet.
Ref OutputGraph::computeExpression(const Symbolic& expression) {
  if (const auto whole = expression.asInteger()) return Ref::steal(PyLong_FromLongLong(*whole));
  const std::string text = expression.text();
  if (const auto known = m_byExpression.find(text); known != m_byExpression.end()) return known->second;
  if (isKind(expression, NodeKind::Symbol)) return m_byExpression[text] = placeSymbol(expression);
  if (isKind(expression, NodeKind::Number)) return Ref::steal(PyFloat_FromDouble(expression.node().value.asDouble()));
  std::vector<Ref> parts;
  for (const Symbolic& part : expression.node().arguments) parts.push_back(computeExpression(part));
  if (isKind(expression, NodeKind::Add))
    return recordNumbers("torch.sym_sum", "sum", packedTuple({Ref::steal(PySequence_List(packedTuple(parts).get()))}));
  if (isKind(expression, NodeKind::Mul)) {
    Ref product = parts.front();
    for (std::size_t k = 1; k < parts.size(); ++k)
      product = recordNumbers("operator.mul", "mul", packedTuple({product, parts[k]}));
    return product;
  }
  if (isKind(expression, NodeKind::Pow)) return recordNumbers("operator.pow", "pow", packedTuple(parts));
  for (const ComputedFunction& row : kComputed)
    if (row.function == expression.node().name) return recordNumbers(row.target, row.python, packedTuple(parts));
  cannotCompute(expression);
}

Ref OutputGraph::recordNumbers(const std::string& target, const char* python, const Ref& args) {
  return callFunction(target, pythonFunction(target, python).get(), args.get(), nullptr);
}

NodeId OutputGraph::nodeOf(SymState& number) {
  if (number.node.valid() && !isClosed(number.node)) return number.node;
  m_tracer.noteUse(number);
  Symbolic expression = m_tracer.symbols.expression(number.number);
  // A number that a guard fixed is still the input that it came as.
  if (expression.symbols().empty()) expression = m_tracer.symbols.env().expression(number.number.value);
  const Ref known = computeExpression(expression);
  const SymState* state = symOf(known.get());
  if (state == nullptr) cannotCompute(expression);
  number.node = state->node;
  return number.node;
}

Ref OutputGraph::wrapNumber(SymNumber number) {
  const Symbolic expression = m_tracer.symbols.expression(number);
  if (expression.symbols().empty()) return m_tracer.symbols.hintOf(number);
  if (const auto known = m_byExpression.find(expression.text()); known != m_byExpression.end()) return known->second;
  return makeSym({number, {}, {}, {}});
}

/// What a call on numbers gives: the node that gave the same before, or its own. A number that guards have fixed by now
/// stays a node, too: Dynamo does not look back.
Ref OutputGraph::wrapComputed(const Value& value, NodeId node) {
  const auto* number = value.as<SymNumber>();
  const auto* whole = value.as<std::int64_t>();
  if (number == nullptr && whole == nullptr) {
    forget(node);
    return objectOf(value);
  }
  if (number == nullptr || m_tracer.symbols.expression(*number).symbols().empty()) {
    const SymNumber fixed = number != nullptr ? *number : SymNumber{SymInt(*whole), SymKind::Int};
    m_numbers.insert(node.index);
    return makeSym({fixed, node, {}, {}});
  }
  Ref made = wrapNumber(*number);
  SymState* state = symOf(made.get());
  if (state == nullptr || state->node.valid()) {
    forget(node);
    return made;
  }
  state->node = node;
  // Dynamo keeps x.item() though nothing uses it.
  if (m_graph.node(node).target() != "item") m_numbers.insert(node.index);
  m_byExpression[m_tracer.symbols.expression(*number).text()] = made;
  return made;
}

/// A function of numbers alone, such as operator.add(n, 1).
bool OutputGraph::isOnNumbers(const std::string& name, PyObject* args) {
  if (!holdsSym(args)) return false;
  if (name.starts_with("torch.sym_") || name.starts_with("torch._sym_") || name.starts_with("math.") ||
      name.starts_with("builtins."))
    return name != "builtins.getattr";
  if (!name.starts_with("operator.")) return false;
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(args); ++k) {
    PyObject* item = PyTuple_GET_ITEM(args, k);
    if (symOf(item) == nullptr && !PyLong_Check(item) && !PyFloat_Check(item)) return false;
  }
  return true;
}

}  // namespace kerf::inline dynamo
