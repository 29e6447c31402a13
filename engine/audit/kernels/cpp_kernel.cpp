// readCppKernel(): loops with vector bodies and tails, reductions, masked lambdas, as Inductor writes them.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "engine/audit/kernels/cpp_expressions.h"

namespace kerf::inline audit {
namespace {

class CppReader final : public CppExpressions {
 public:
  CppReader(KernelModel& model, std::string_view text) : CppExpressions(model), m_module(readCpp(text)) {}

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

  void accumulatorType(std::string_view name, const std::string& type, int line, bool isDeclared) override {
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

  void block(const SyntaxNode& node) override {
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

  void opaque(const SyntaxNode& node, std::string_view why) override {
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

  SyntaxNode m_module;
  std::map<std::string, std::vector<std::pair<std::string, int>>> m_accumulators;
  std::map<std::string, int> m_sumOf;  ///< by name, which one it is now
  int m_sums = 0;
  int m_parallel = 0, m_depth = 0;
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
