// readCppKernel(): loops with vector bodies and tails, reductions, masked lambdas, as Inductor writes them.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "engine/audit/kernels/cpp_vectors.h"

namespace kerf::inline audit {
namespace {

constexpr int mostCalls = 2000;  ///< of lambdas, in one kernel

/// "at::vec::Vectorized<float>::loadu" → "float"
std::string templateType(std::string_view name) {
  const std::size_t open = name.rfind('<');
  const std::size_t end = name.find_first_of(",>", open == std::string_view::npos ? 0 : open);
  if (open == std::string_view::npos || end == std::string_view::npos) return {};
  return elementType(name.substr(open + 1, end - open - 1));
}

class CppReader final : public CppVectors {
 public:
  CppReader(KernelModel& model, std::string_view text) : CppVectors(model), m_module(readCpp(text)) {}

  void read() {
    const SyntaxNode* kernel = nullptr;
    for (const SyntaxNode& node : m_module.items)
      if (node.is(SyntaxKind::Define) && node.items.size() >= 2) kernel = &node;
    if (kernel == nullptr) {
      m_model.opaque = "it has no definition that can be read";
      return;
    }
    m_model.line = kernel->line;
    parameters(*kernel);
    block(kernel->items[1]);
    if (m_model.opaque.empty()) finish();
  }

 private:
  void parameters(const SyntaxNode& kernel) {
    for (const SyntaxNode& each : kernel.items[0].items) {
      const std::string written = each.keywords.empty() ? std::string() : each.keywords[0];
      KernelParameter parameter;
      parameter.name = each.text;
      parameter.isPointer = written.find('*') != std::string::npos;
      parameter.isConst = written.starts_with("const");
      parameter.type = elementType(written);
      const int index = int(m_model.parameters.size());
      KernelValue value = ofTerm(m_terms.size(index), parameter.type);
      if (parameter.isPointer) {
        value.term = m_terms.number(0);
        value.pointer = index;
      }
      m_values[parameter.name] = std::move(value);
      m_model.parameters.push_back(std::move(parameter));
    }
  }

  void finish() {
    for (std::size_t i = 0; i < m_model.parameters.size(); ++i) {
      const KernelParameter& each = m_model.parameters[i];
      if (!each.isPointer) continue;
      const bool isStored = std::ranges::any_of(m_model.accesses, [&](const KernelAccess& access) {
        return access.parameter == int(i) && access.kind != KernelAccess::Kind::Load;
      });
      remark(KernelRemark::About::Parameters, each.isConst ? m_model.isUsed(int(i)) && !isStored : isStored,
             m_model.line,
             fmt::format("{} through {}",
                         each.isConst ? (isStored ? "it writes" : "nothing is read") : "nothing is stored", each.name),
             each.isConst && !isStored ? int(i) : -1);
    }
    claimAtomics(false);
    accumulators();
  }

  /// tmp_acc0, tmp_acc0_vec, tmp_acc0_arr and what is reduced into them have one type.
  void accumulators() {
    for (const auto& [name, types] : m_accumulators)
      for (const auto& [type, line] : types) {
        // Whether there is any is kept as a mask, and combined as a bool.
        const bool holds = type == types.front().first || type == "bool" || types.front().first == "bool";
        remark(KernelRemark::About::Accumulator, holds, line,
               fmt::format("{} is kept as {} and as {}", name, types.front().first, type));
      }
  }

  void accumulatorType(std::string_view name, const std::string& type, int line, bool isDeclared = false) {
    if (!name.starts_with("tmp_acc") || type.empty()) return;
    std::size_t end = 7;
    while (end < name.size() && name[end] >= '0' && name[end] <= '9') ++end;
    // Declared anew, it is another sum under the same name.
    const bool isNew = isDeclared && end == name.size();
    m_sums += isNew ? 1 : 0;
    int& sum = m_sumOf[std::string(name.substr(0, end))];
    if (isNew || sum == 0) sum = m_sums;
    m_accumulators[fmt::format("{} ({})", name.substr(0, end), sum)].emplace_back(type, line);
  }

  // --- statements ---------------------------------------------------------------------------------------------------

  void block(const SyntaxNode& node) {
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      const std::size_t before = m_model.accesses.size();
      statement(node.items[i]);
      if (i + 1 == node.items.size() || !isBody(node.items[i], "C10_LIKELY") ||
          !isBody(node.items[i + 1], "C10_UNLIKELY"))
        continue;
      const std::size_t middle = m_model.accesses.size();
      statement(node.items[++i]);
      claimSameTail(before, middle, node.items[i].line);
    }
  }

  /// An `if` around vector statements, without loops of its own.
  static bool isBody(const SyntaxNode& node, std::string_view condition) {
    return node.is(SyntaxKind::If) && node.items[0].callee() == condition && node.items[1].is(SyntaxKind::Block) &&
           !hasLoop(node.items[1]);
  }

  static bool hasLoop(const SyntaxNode& node) {
    return std::ranges::any_of(node.items,
                               [](const SyntaxNode& each) { return each.is(SyntaxKind::For) || hasLoop(each); });
  }

  /// The tail touches what the body touches, at the same indices of its own range.
  void claimSameTail(std::size_t body, std::size_t tail, int line) {
    const std::size_t count = tail - body;
    bool isSame = m_model.accesses.size() - tail == count;
    int where = line;
    for (std::size_t i = 0; i < count && isSame; ++i) {
      const KernelAccess& a = m_model.accesses[body + i];
      const KernelAccess& b = m_model.accesses[tail + i];
      isSame = a.kind == b.kind && a.parameter == b.parameter && shapeOf(a.index) == shapeOf(b.index);
      where = a.line;
    }
    remark(KernelRemark::About::Mask, isSame, where, "the vectors and their tail do not touch the same elements");
  }

  /// A term as text, with lanes and data without their numbers.
  std::string shapeOf(TermId id, int depth = 0) const {
    if (id < 0 || depth > 40) return "?";
    const IndexTerm& term = m_terms[id];
    if (term.op == TermOp::Data) return "data";
    if (term.op == TermOp::Variable && m_model.variables[std::size_t(term.number)].kind == KernelVariable::Kind::Lane)
      return "lane";
    std::string text = fmt::format("{}:{}", int(term.op), term.op == TermOp::Choice ? 0 : term.number);
    if (term.a >= 0) text += '(' + shapeOf(term.a, depth + 1) + ' ' + shapeOf(term.b, depth + 1) + ')';
    return text.size() > 4000 ? "?" : text;
  }

  void statement(const SyntaxNode& node) {
    switch (node.kind) {
      case SyntaxKind::Block:
        return block(node);
      case SyntaxKind::Pragma:
        return pragma(node.text);
      case SyntaxKind::For:
        return loop(node);
      case SyntaxKind::If:
        return condition(node);
      case SyntaxKind::Declare:
        return declare(node);
      case SyntaxKind::Assign:
        return assign(node);
      case SyntaxKind::Update:
        return update(node);
      case SyntaxKind::Expression:
        (void)evaluate(node.items[0]);
        return;
      case SyntaxKind::Return:
        if (!node.items.empty()) m_returned = evaluate(node.items[0]);
        return;
      case SyntaxKind::Import:
        return;
      default:
        opaque(node, "has a statement that is not known");
    }
  }

  void opaque(const SyntaxNode& node, std::string_view why) {
    if (m_model.opaque.empty()) m_model.opaque = fmt::format("line {} of the kernel {}", node.line, why);
  }

  /// `omp for` makes the next loop parallel, `collapse(n)` the next n.
  void pragma(std::string_view text) {
    const bool isFor =
        text.find("omp for") != std::string_view::npos || text.find("parallel for") != std::string_view::npos;
    if (!isFor) return;
    m_parallel = 1;
    if (const std::size_t at = text.find("collapse("); at != std::string_view::npos && at + 9 < text.size())
      m_parallel = std::max(1, text[at + 9] - '0');
  }

  void loop(const SyntaxNode& node) {
    const SyntaxNode& start = node.items[0];
    const SyntaxNode& until = node.items[1];
    const SyntaxNode& step = node.items[2];
    const bool isPlain = start.is(SyntaxKind::Assign) && until.is(SyntaxKind::Binary) && until.text == "<" &&
                         until.items[0].isName(start.items[0].text);
    if (!isPlain) return opaque(node, "is a loop of another kind");
    KernelVariable variable;
    variable.name = start.items[0].text;
    variable.begin = evaluate(start.items[1]).term;
    variable.end = evaluate(until.items[1]).term;
    if (step.is(SyntaxKind::Update)) {
      const auto by = m_terms.value(evaluate(step.items[1]).term);
      if (!by || *by <= 0 || step.text != "+") return opaque(node, "has a step that is not known");
      variable.step = *by;
    }
    if (m_parallel > 0) {
      variable.kind = KernelVariable::Kind::Parallel;
      --m_parallel;
    }
    if (m_depth == 0) ++m_nest;
    if (variable.step > 1) m_width = variable.step;
    variable.scope = m_nest;
    const int index = int(m_model.variables.size());
    m_model.variables.push_back(variable);
    const auto before = m_values.find(variable.name);
    const KernelValue outer = before == m_values.end() ? KernelValue() : before->second;
    m_values[variable.name] = ofTerm(m_terms.variable(index), "int64");
    const int lane = std::exchange(m_lane, -1);
    ++m_depth;
    m_loops.push_back(index);
    block(node.items[3]);
    m_loops.pop_back();
    --m_depth;
    m_lane = lane;
    m_values[variable.name] = outer;
  }

  void condition(const SyntaxNode& node) {
    const SyntaxNode* asked = &node.items[0];
    if ((asked->callee() == "C10_LIKELY" || asked->callee() == "C10_UNLIKELY") && asked->argumentCount() == 1)
      asked = &asked->argument(0);
    const KernelValue value = evaluate(*asked);
    const TermId when = conditionOf(value);
    branch(node.items[1], when);
    if (node.items.size() > 2) branch(node.items[2], m_terms.of(TermOp::Not, when));
  }

  void branch(const SyntaxNode& node, TermId when) {
    const TermId outer = m_mask;
    const int lane = std::exchange(m_lane, -1);
    m_mask = outer < 0 ? when : m_terms.of(TermOp::And, outer, when);
    block(node);
    m_mask = outer;
    m_lane = lane;
  }

  void declare(const SyntaxNode& node) {
    const std::string& name = node.items[0].text;
    KernelValue value = unknown(typeOf(node.text));
    accumulatorType(name, value.type, node.line, true);
    m_values[name] = std::move(value);
  }

  static std::string typeOf(std::string_view declared) {
    const std::string inside = templateType(declared);
    return inside.empty() ? elementType(declared) : inside;
  }

  void assign(const SyntaxNode& node) {
    const SyntaxNode& target = node.items[0];
    KernelValue value = evaluate(node.items[1]);
    if (target.is(SyntaxKind::Item)) return stored(target, value, node.line);
    if (target.is(SyntaxKind::Name)) {
      if (!node.text.empty() && node.text != "auto") {
        const std::string type = typeOf(node.text);
        accumulatorType(target.text, type, node.line, true);
        if (target.text.starts_with("tmp_acc") || isFloatType(type)) value = unknown(type);
        if (!type.empty()) value.type = type;
      } else if (node.text.empty() && target.text.starts_with("tmp_acc")) {
        // Sums are of the type they were declared with.
        const KernelValue before = m_values[target.text];
        if (!before.type.empty() && !value.type.empty())
          remark(KernelRemark::About::Accumulator, !isNarrower(before.type, value.type), node.line,
                 fmt::format("{} of {} adds values of {}", target.text, before.type, value.type));
        value = before;
      }
      m_values[target.text] = std::move(value);
      return;
    }
    opaque(node, "assigns to what is no variable");
  }

  void update(const SyntaxNode& node) {
    const KernelValue value = evaluate(node.items[1]);
    if (!node.items[0].is(SyntaxKind::Item)) return;
    (void)evaluate(node.items[0]);
    stored(node.items[0], value, node.line);
  }

  void stored(const SyntaxNode& target, const KernelValue& value, int line) {
    const KernelValue pointer = binary("+", evaluate(target.items[0]), indexOf(target));
    if (pointer.pointer >= 0) note(KernelAccess::Kind::Store, pointer, m_mask, line, value.type);
  }

  KernelValue indexOf(const SyntaxNode& item) {
    KernelValue index = item.items.size() == 2 ? evaluate(item.items[1]) : unknown();
    if (index.pointer >= 0) index = unknown();
    return index;
  }

  // --- expressions --------------------------------------------------------------------------------------------------

  KernelValue evaluate(const SyntaxNode& node) override {
    switch (node.kind) {
      case SyntaxKind::Name: {
        if (node.text == "true" || node.text == "false") return ofTerm(m_terms.number(node.text == "true"), "bool");
        const auto found = m_values.find(node.text);
        return found == m_values.end() ? unknown() : found->second;
      }
      case SyntaxKind::Number: {
        const auto integer = node.integer();
        return integer ? ofTerm(m_terms.number(*integer), "int64")
                       : unknown(node.text.ends_with('f') ? "float32" : "float64");
      }
      case SyntaxKind::Unary:
        return unary(node);
      case SyntaxKind::Binary: {
        const KernelValue a = evaluate(node.items[0]), b = evaluate(node.items[1]);
        return binary(node.text, a, b);
      }
      case SyntaxKind::Item: {
        const KernelValue pointer = binary("+", evaluate(node.items[0]), indexOf(node));
        if (pointer.pointer < 0) return dataOf(pointer.type);
        note(KernelAccess::Kind::Load, pointer, m_mask, node.line);
        return dataOf(pointer.type);
      }
      case SyntaxKind::Lambda: {
        KernelValue value;
        value.lambda = &node;
        return value;
      }
      case SyntaxKind::Choice:
        return choice(node);
      case SyntaxKind::Call:
        return call(node);
      default:
        return unknown();
    }
  }

  KernelValue unary(const SyntaxNode& node) {
    if (node.text == "&" && node.items[0].is(SyntaxKind::Item))
      return binary("+", evaluate(node.items[0].items[0]), indexOf(node.items[0]));
    if (node.text == "*") {
      const KernelValue pointer = evaluate(node.items[0]);
      if (pointer.pointer >= 0) note(KernelAccess::Kind::Load, pointer, m_mask, node.line);
      return dataOf(pointer.type);
    }
    KernelValue value = evaluate(node.items[0]);
    if (node.text == "-") value.term = m_terms.of(TermOp::Mul, m_terms.number(-1), value.term);
    if (node.text == "!" || node.text == "~") value = ofTerm(m_terms.of(TermOp::Not, conditionOf(value)), "bool");
    return value;
  }

  /// c ? a : b, where loads of a happen under c only.
  KernelValue choice(const SyntaxNode& node) {
    const KernelValue condition = evaluate(node.items[0]);
    const TermId when = conditionOf(condition), outer = m_mask;
    m_mask = outer < 0 ? when : m_terms.of(TermOp::And, outer, when);
    const KernelValue a = evaluate(node.items[1]);
    m_mask = outer;
    const KernelValue b = evaluate(node.items[2]);
    return chosen(condition, a, b);
  }

  KernelValue run(const SyntaxNode& lambda) {
    if (++m_calls > mostCalls || m_callDepth > 30) {
      opaque(lambda, "calls too much");
      return unknown();
    }
    ++m_callDepth;
    m_returned = unknown();
    const std::map<std::string, KernelValue, std::less<>> outer = m_values;
    if (!lambda.items.empty()) block(lambda.items[0]);
    m_values = outer;
    --m_callDepth;
    return std::exchange(m_returned, unknown());
  }

  KernelValue call(const SyntaxNode& node) {
    const SyntaxNode& callee = node.items[0];
    if (callee.is(SyntaxKind::Member)) return method(node, callee);
    if (callee.is(SyntaxKind::Lambda)) return run(callee);
    const std::string name = callee.dotted();
    if (const auto found = m_values.find(name); found != m_values.end() && found->second.lambda != nullptr)
      return run(*found->second.lambda);
    if (name == "std::min" || name == "std::max" || name == "min" || name == "max" || name.starts_with("std::min<") ||
        name.starts_with("std::max<"))
      return pair(node, name.find("min") != std::string::npos ? TermOp::Min : TermOp::Max);
    if (name == "c10::div_floor_integer" || name == "div_floor_integer") return pair(node, TermOp::FloorDiv);
    if (name == "mod" || name == "c10::modulus" || name == "modulus") return pair(node, TermOp::Mod);
    if (name == "AOTI_TORCH_CHECK" || name == "TORCH_CHECK") {
      if (node.argumentCount() > 0) assume(evaluate(node.argument(0)).term);
      return unknown();
    }
    if (name.starts_with("transpose_mxn<") || name.find("::transpose_mxn<") != std::string::npos)
      return transpose(node, name);
    if (name == "atomic_add" || name.starts_with("atomic_add<") || name.starts_with("atomic_add_vec"))
      return atomic(node, name);
    if (name.ends_with("::loadu") || (name.ends_with("::from") && name.find("VecMask") != std::string::npos) ||
        name.ends_with("::load"))
      return loadVector(node, templateType(name), noTerm);
    if (name.ends_with("::arange")) return arange(node);
    if (isCast(name) && node.argumentCount() >= 1) return castTo(name, evaluate(node.argument(0)));
    return other(node, name);
  }

  static bool isCast(std::string_view name) {
    static constexpr std::array<std::string_view, 6> casts = {
        "static_cast<", "c10::convert<", "at::vec::convert<", "reinterpret_cast<", "at::vec::VecMask<", "c10::load<"};
    return std::ranges::any_of(casts, [&](std::string_view each) { return name.starts_with(each); }) ||
           (name.starts_with("at::vec::Vectorized") && name.ends_with('>')) || !elementType(name).empty();
  }

  KernelValue castTo(const std::string& name, KernelValue value) {
    if (name.starts_with("at::vec::VecMask")) return ofTerm(conditionOf(value), "bool");
    std::string type = templateType(name);
    if (type.empty()) type = elementType(name);
    if (name.find("decltype") != std::string::npos) type.clear();
    if (value.pointer >= 0) return value;
    if (!type.empty()) {
      if (isFloatType(type))
        value.term = noTerm;
      else if (isFloatType(value.type))
        value.term = m_terms.data();
      value.type = type;
    }
    return value;
  }

  KernelValue pair(const SyntaxNode& node, TermOp op) {
    if (node.argumentCount() < 2) return unknown();
    const KernelValue a = evaluate(node.argument(0)), b = evaluate(node.argument(1));
    const std::string type = commonType(a.type, b.type);
    return ofTerm(isFloatType(type) ? noTerm : m_terms.of(op, a.term, b.term), type);
  }

  /// A function that only computes; what it is given pointers to may be used in any way.
  KernelValue other(const SyntaxNode& node, const std::string& name) {
    std::string type;
    for (std::size_t i = 0; i < node.argumentCount(); ++i) {
      const KernelValue value = evaluate(node.argument(i));
      if (value.pointer >= 0) noteUnknown(value, node.line);
      if (value.lambda == nullptr) type = commonType(type, value.type);
    }
    if (name.find("vec_reduce_all<") != std::string::npos) {
      type = templateType(name);
      if (node.argumentCount() > 1 && node.argument(1).is(SyntaxKind::Name))
        accumulatorType(node.argument(1).text, type, node.line);
    }
    return type == "bool" ? dataOf(type) : unknown(type);
  }

  KernelValue method(const SyntaxNode& node, const SyntaxNode& callee) {
    const KernelValue object = evaluate(callee.items[0]);
    if (callee.text == "store" && node.argumentCount() > 0) {
      const KernelValue pointer = evaluate(node.argument(0));
      if (pointer.pointer >= 0) vectorAccess(KernelAccess::Kind::Store, node, pointer, noTerm, object.type);
      return unknown();
    }
    if (callee.text.starts_with("loadu<") && node.argumentCount() > 0)
      return loadVector(node, templateType(callee.text), conditionOf(object));
    if (callee.text.starts_with("cast<") || callee.text.starts_with("to<")) {
      KernelValue value = object;
      if (callee.text.starts_with("to<")) {
        value.type = templateType(callee.text);
        if (isFloatType(value.type)) value.term = noTerm;
      }
      return value;
    }
    for (std::size_t i = 0; i < node.argumentCount(); ++i)
      if (const KernelValue value = evaluate(node.argument(i)); value.pointer >= 0) noteUnknown(value, node.line);
    if (callee.text == "all_zero" || callee.text == "all_masked") return dataOf("bool");
    return object.type == "bool" ? dataOf(object.type) : unknown(object.type);
  }

  SyntaxNode m_module;
  std::map<std::string, std::vector<std::pair<std::string, int>>> m_accumulators;
  KernelValue m_returned;
  std::map<std::string, int> m_sumOf;  ///< by name, which one it is now
  int m_sums = 0;
  int m_parallel = 0, m_depth = 0, m_calls = 0, m_callDepth = 0;
};

}  // namespace

KernelModel readCppKernel(std::string name, std::string_view text) {
  KernelModel model;
  model.name = std::move(name);
  model.language = KernelModel::Language::Cpp;
  CppReader(model, text).read();
  return model;
}

}  // namespace kerf::inline audit
