// readTritonKernel(): pointwise kernels and reductions, persistent and looped, as Inductor writes them.
#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "engine/audit/kernels/constant_products.h"
#include "engine/audit/kernels/triton_axes.h"

namespace kerf::inline audit {
namespace {

constexpr std::array<std::string_view, 9> reductions = {"tl.sum",
                                                        "tl.max",
                                                        "tl.min",
                                                        "triton_helpers.max2",
                                                        "triton_helpers.min2",
                                                        "triton_helpers.any",
                                                        "triton_helpers.prod",
                                                        "triton_helpers.max_with_index",
                                                        "triton_helpers.min_with_index"};

class TritonReader : public TritonAxes {
 public:
  TritonReader(KernelModel& model, std::string_view text) : TritonAxes(model), m_module(readPython(text)) {}

  void read() {
    const SyntaxNode* decorator = nullptr;
    const SyntaxNode* definition = nullptr;
    const SyntaxNode* above = nullptr;
    for (const SyntaxNode& node : m_module.items) {
      if (node.is(SyntaxKind::Expression) && node.text == "@" && node.items[0].is(SyntaxKind::Call))
        above = &node.items[0];
      if (!node.is(SyntaxKind::Define)) continue;
      if (node.text == m_model.name || definition == nullptr || definition->text != m_model.name) {
        definition = &node;
        decorator = above;
      }
      above = nullptr;
    }
    if (definition == nullptr || definition->items.size() < 2) {
      m_model.opaque = "it has no definition that can be read";
      return;
    }
    m_model.line = definition->line;
    parameters(*definition, decorator);
    block(definition->items[1]);
    remarkProducts(*definition, m_model);
    finish(decorator);
  }

 private:
  // --- the header ---------------------------------------------------------------------------------------------------

  static const SyntaxNode* entry(const SyntaxNode* call, std::string_view keyword, std::string_view key) {
    const SyntaxNode* const dictionary = call == nullptr ? nullptr : call->keyword(keyword);
    return dictionary == nullptr ? nullptr : dictionary->keyword(key);
  }

  void parameters(const SyntaxNode& definition, const SyntaxNode* decorator) {
    const SyntaxNode* const signature = entry(decorator, "triton_meta", "signature");
    for (const SyntaxNode& each : definition.items[0].items) {
      KernelParameter parameter;
      parameter.name = each.text;
      const SyntaxNode* const type = signature == nullptr ? nullptr : signature->keyword(each.text);
      parameter.isPointer = type != nullptr && type->text.starts_with('*');
      parameter.isConstexpr = !each.keywords.empty();
      if (type != nullptr) parameter.type = elementType(type->text);
      const int index = int(m_model.parameters.size());
      KernelValue value = ofTerm(m_terms.size(index), parameter.type == "int64" ? "int64" : "int32");
      if (parameter.isPointer) {
        value = ofTerm(m_terms.number(0), parameter.type);
        value.pointer = index;
      } else if (std::ranges::find(axisBlocks, each.text, &AxisBlock::block) != axisBlocks.end()) {
        value = unknown("int32");
        value.block = each.text;
      }
      m_values[parameter.name] = std::move(value);
      m_model.parameters.push_back(std::move(parameter));
    }
    if (signature == nullptr) m_model.opaque = "it has no signature";
  }

  void finish(const SyntaxNode* decorator) {
    if (!m_model.opaque.empty()) return;
    const SyntaxNode* const atomics = entry(decorator, "inductor_meta", "atomic_add_found");
    claimAtomics(atomics != nullptr && atomics->isName("True"));
    for (std::size_t i = 0; i < m_model.parameters.size(); ++i) {
      const KernelParameter& each = m_model.parameters[i];
      if (!each.isPointer || each.name.starts_with("ws_")) continue;
      // What an in_out_ptr was stored for may have been fused away; the header counts the stores.
      const bool isOutput = each.name.starts_with("out_ptr");
      const bool isStored = std::ranges::any_of(m_model.accesses, [&](const KernelAccess& access) {
        return access.parameter == int(i) && access.kind != KernelAccess::Kind::Load;
      });
      remark(KernelRemark::About::Parameters, isOutput ? isStored : m_model.isUsed(int(i)), m_model.line,
             isOutput ? fmt::format("nothing is stored through {}", each.name)
                      : fmt::format("nothing is read through {}", each.name),
             isOutput ? -1 : int(i));
    }
    counts(decorator);
  }

  void counts(const SyntaxNode* decorator) {
    const SyntaxNode* const stores = entry(decorator, "inductor_meta", "num_store");
    if (stores == nullptr || !stores->integer()) return;
    const auto written = std::ranges::count_if(
        m_model.accesses, [](const KernelAccess& access) { return access.kind != KernelAccess::Kind::Load; });
    remark(KernelRemark::About::Parameters, written >= *stores->integer(), m_model.line,
           fmt::format("its header counts {} stores, and it has {}", *stores->integer(), written));
  }

  // --- axes ---------------------------------------------------------------------------------------------------------

  void block(const SyntaxNode& node) {
    for (const SyntaxNode& each : node.items) statement(each);
  }

  void statement(const SyntaxNode& node) {
    switch (node.kind) {
      case SyntaxKind::Assign:
        return assign(node.items[0], node.items[1], node.line);
      case SyntaxKind::Expression:
        (void)evaluate(node.items[0]);
        return;
      case SyntaxKind::For:
        return loop(node);
      case SyntaxKind::Import:
      case SyntaxKind::Block:
      case SyntaxKind::Pragma:
        return;
      default:
        opaque(node, "has a statement that is not known");
    }
  }

  void opaque(const SyntaxNode& node, std::string_view why) {
    if (m_model.opaque.empty()) m_model.opaque = fmt::format("line {} of the kernel {}", node.line, why);
  }

  void loop(const SyntaxNode& node) {
    const SyntaxNode& range = node.items[1];
    const std::string callee = range.callee();
    const bool isBlocked =
        (callee == "tl.range" || callee == "range") && range.argumentCount() >= 3 && node.items[0].items.size() == 1;
    if (!isBlocked || !isBlock(range.argument(2))) return opaque(node, "is a loop of another kind");
    const KernelValue end = evaluate(range.argument(1));
    if (!goesOverAxis(node, evaluate(range.argument(0)), end)) return opaque(node, "goes over a part of its axis");
    const int before = m_scope;
    m_scope = ++m_scopes;
    KernelValue offset = unknown(end.type);
    offset.block = range.argument(2).text;
    offset.isBlockOffset = true;
    m_values[node.items[0].items[0].text] = offset;
    block(node.items[2]);
    m_scope = before;
  }

  /// `for r0_offset in range(0, r0_numel, R0_BLOCK)`: from the first element to the last. False: it is not known.
  bool goesOverAxis(const SyntaxNode& loop, const KernelValue& first, const KernelValue& end) {
    const TermId numel = numelOf(loop.items[1].argument(2).text);
    const auto from = m_terms.value(first.term), to = m_terms.value(end.term), count = m_terms.value(numel);
    if (from == 0 && numel >= 0 && end.term == numel) return true;
    if (!from || !to || !count) return false;
    remark(KernelRemark::About::Mask, *from == 0 && *to == *count, loop.line,
           fmt::format("the loop goes from {} to {}, and its axis has {} elements", *from, *to, *count));
    return true;
  }

  void assign(const SyntaxNode& target, const SyntaxNode& from, int line) {
    KernelValue value = evaluate(from);
    if (target.is(SyntaxKind::Tuple)) {
      for (std::size_t i = 0; i < target.items.size(); ++i)
        m_values[target.items[i].text] = i < value.parts.size() ? value.parts[i] : unknown(value.type);
      return;
    }
    if (!target.is(SyntaxKind::Name)) return opaque(target, "assigns to what is no name");
    if (const int parameter = m_model.find(target.text); parameter >= 0)
      if (const auto fixed = m_terms.value(value.term)) m_model.fixedSizes[parameter] = *fixed;
    const auto before = m_values.find(target.text);
    if (m_scope > 0 && before != m_values.end() && before->second.isAccumulator && isInitial(before->second)) {
      if (!neededMasks().empty())
        remark(KernelRemark::About::Mask, isGuarded(value.guard), line,
               fmt::format("{} takes up elements beyond the end of the reduction", target.text));
      value.isAccumulator = true;
      value.block = before->second.block;
    }
    m_values[target.text] = std::move(value);
  }

  static bool isInitial(const KernelValue& value) { return !value.block.empty() && !value.isBlockOffset; }

  // --- expressions --------------------------------------------------------------------------------------------------

  KernelValue evaluate(const SyntaxNode& node) {
    switch (node.kind) {
      case SyntaxKind::Name:
        return named(node);
      case SyntaxKind::Number: {
        const auto integer = node.integer();
        if (!integer) return unknown("float32");
        const bool isWide = *integer > 2147483647 || *integer < -2147483648LL;
        return ofTerm(m_terms.number(*integer), isWide ? "int64" : "int32");
      }
      case SyntaxKind::Tuple: {
        KernelValue tuple;
        for (const SyntaxNode& each : node.items) tuple.parts.push_back(evaluate(each));
        return tuple;
      }
      case SyntaxKind::Unary:
        return unary(node);
      case SyntaxKind::Binary:
        return operation(node);
      case SyntaxKind::Item:
        return evaluate(node.items[0]);
      case SyntaxKind::Call:
        return call(node);
      case SyntaxKind::Choice:
        return unknown();
      default:
        return unknown();
    }
  }

  KernelValue named(const SyntaxNode& node) {
    if (node.text == "True" || node.text == "False") return ofTerm(m_terms.number(node.text == "True"), "bool");
    const auto found = m_values.find(node.text);
    return found == m_values.end() ? unknown() : found->second;
  }

  KernelValue unary(const SyntaxNode& node) {
    KernelValue value = evaluate(node.items[0]);
    if (node.text == "-") {
      value.term = m_terms.of(TermOp::Mul, m_terms.number(-1), value.term);
    } else if (node.text != "+") {
      if (value.type == "bool")
        value = ofTerm(m_terms.of(TermOp::Not, conditionOf(value)), "bool");
      else
        value = dataOf(value.type);
    }
    value.guard = noTerm;
    return value;
  }

  KernelValue operation(const SyntaxNode& node) {
    const KernelValue a = evaluate(node.items[0]), b = evaluate(node.items[1]);
    if (node.text == "*" && (isBlock(node.items[0]) || isBlock(node.items[1]))) {
      KernelValue offset = unknown(commonType(a.type, b.type));
      offset.block = isBlock(node.items[1]) ? node.items[1].text : node.items[0].text;
      offset.isBlockOffset = true;
      return offset;
    }
    if (node.text == "+" && a.isBlockOffset && b.block == a.block) return axis(a.block, commonType(a.type, b.type));
    if (node.text == "+" && b.isBlockOffset && a.block == b.block) return axis(a.block, commonType(a.type, b.type));
    if (a.isAccumulator != b.isAccumulator) {
      const KernelValue& kept = a.isAccumulator ? a : b;
      const KernelValue& added = a.isAccumulator ? b : a;
      if (!kept.type.empty() && !added.type.empty() && isInitial(kept))
        remark(KernelRemark::About::Accumulator, !isNarrower(kept.type, added.type) && isFit(kept.type, added.type),
               node.line, fmt::format("an accumulator of {} adds values of {}", kept.type, added.type));
    }
    return binary(node.text, a, b);
  }

  static bool isBlock(const SyntaxNode& node) {
    return node.is(SyntaxKind::Name) &&
           std::ranges::find(axisBlocks, std::string_view(node.text), &AxisBlock::block) != axisBlocks.end();
  }

  /// Half precision sums lose what single precision keeps: Inductor sums in float32 at least.
  static bool isFit(std::string_view kept, std::string_view added) {
    return !(isFloatType(added) && elementBytes(kept) < 4);
  }

  KernelValue call(const SyntaxNode& node) {
    const SyntaxNode& callee = node.items[0];
    if (callee.is(SyntaxKind::Member) && (callee.text == "to" || callee.text == "reshape" || callee.text == "view") &&
        callee.items[0].dotted() != "tl")
      return converted(node, evaluate(callee.items[0]));
    const std::string name = node.callee();
    struct Form {
      std::string_view name;
      KernelValue (TritonReader::*read)(const SyntaxNode&);
    };
    static constexpr std::array<Form, 17> forms = {{{"tl.load", &TritonReader::load},
                                                    {"tl.store", &TritonReader::store},
                                                    {"tl.atomic_add", &TritonReader::atomic},
                                                    {"tl.arange", &TritonReader::arange},
                                                    {"tl.full", &TritonReader::full},
                                                    {"tl.zeros", &TritonReader::full},
                                                    {"tl.where", &TritonReader::where},
                                                    {"tl.device_assert", &TritonReader::deviceAssert},
                                                    {"tl.broadcast_to", &TritonReader::same},
                                                    {"tl.reshape", &TritonReader::same},
                                                    {"tl.program_id", &TritonReader::program},
                                                    {"tl.num_programs", &TritonReader::program},
                                                    {"triton_helpers.div_floor_integer", &TritonReader::divided},
                                                    {"triton_helpers.remainder_integer", &TritonReader::rest},
                                                    {"triton_helpers.minimum", &TritonReader::least},
                                                    {"triton_helpers.maximum", &TritonReader::greatest},
                                                    {"tl.associative_scan", &TritonReader::scan}}};
    const auto form = std::ranges::find(forms, std::string_view(name), &Form::name);
    if (form != forms.end() && node.argumentCount() > 0) return (this->*form->read)(node);
    if (std::ranges::find(reductions, std::string_view(name)) != reductions.end() && node.argumentCount() > 0)
      return reduce(node);
    return other(node);
  }

  /// Of a call that only computes; pointers that it is given may be used in any way.
  KernelValue other(const SyntaxNode& node) {
    std::string type, added;
    const bool isWelford = node.callee().ends_with("welford_reduce");
    for (std::size_t i = 0; i < node.argumentCount(); ++i) {
      const KernelValue value = evaluate(node.argument(i));
      if (value.pointer >= 0) noteUnknown(value, node.line);
      if (i == 0) added = value.type;
      if (isWelford && i > 0 && value.isAccumulator)
        remark(KernelRemark::About::Accumulator, !isNarrower(value.type, added) && isFit(value.type, added), node.line,
               fmt::format("an accumulator of {} takes up values of {}", value.type, added));
      type = commonType(type, value.type);
    }
    const bool isCondition = type == "bool";
    return isCondition ? dataOf(type) : unknown(type);
  }

  KernelValue converted(const SyntaxNode& node, KernelValue value) {
    if (node.argumentCount() == 0 || node.items[0].text != "to") return value;
    const std::string type = elementType(node.argument(0).dotted());
    if (type.empty()) return value;
    if (value.isReduced && !value.type.empty())
      remark(KernelRemark::About::Accumulator, !isNarrower(type, value.type), node.line,
             fmt::format("a sum of {} is kept as {}", value.type, type));
    if (isFloatType(type)) {
      value.term = noTerm;
    } else if (isFloatType(value.type) || value.term < 0) {
      value.term = m_terms.data();
    }
    value.type = type;
    return value;
  }

  /// Each axis that the index uses needs its mask, where its last block may be partly beyond the end.
  void claimMasked(const KernelValue& pointer, TermId when, int line) {
    std::vector<TermId> given;
    m_terms.conjuncts(when, given);
    for (std::size_t i = 0; i < m_model.variables.size(); ++i) {
      const KernelVariable& variable = m_model.variables[i];
      const auto numel = m_terms.value(variable.end);
      if (pointer.term < 0 || variable.block <= 1 || (numel && (*numel == 1 || *numel % variable.block == 0)) ||
          !m_terms.usesVariable(pointer.term, int(i)))
        continue;
      const TermId mask = m_terms.of(TermOp::Less, m_terms.variable(int(i)), variable.end);
      const bool isMasked = std::ranges::find(given, mask) != given.end();
      if (isMasked || numel)
        remark(
            KernelRemark::About::Mask, isMasked, line,
            fmt::format("it touches memory for lanes beyond the end of {} too: no mask keeps them out", variable.name));
    }
  }

  KernelValue load(const SyntaxNode& node) {
    const KernelValue pointer = evaluate(node.argument(0));
    const SyntaxNode* const mask = node.keyword("mask") != nullptr                        ? node.keyword("mask")
                                   : node.argumentCount() > 1 && node.keywords[1].empty() ? &node.argument(1)
                                                                                          : nullptr;
    const TermId when = mask == nullptr || mask->isName("None") ? m_terms.truth() : conditionOf(evaluate(*mask));
    if (pointer.pointer < 0) {
      opaque(node, "reads through what is no parameter");
      return unknown();
    }
    claimMasked(pointer, when, node.line);
    note(KernelAccess::Kind::Load, pointer, when, node.line);
    return dataOf(pointer.type);
  }

  KernelValue write(const SyntaxNode& node, KernelAccess::Kind kind) {
    const KernelValue pointer = evaluate(node.argument(0));
    const KernelValue value = node.argumentCount() > 1 ? evaluate(node.argument(1)) : unknown();
    const SyntaxNode* const mask = node.keyword("mask") != nullptr                        ? node.keyword("mask")
                                   : node.argumentCount() > 2 && node.keywords[2].empty() ? &node.argument(2)
                                                                                          : nullptr;
    const TermId when = mask == nullptr || mask->isName("None") ? m_terms.truth() : conditionOf(evaluate(*mask));
    if (pointer.pointer < 0)
      opaque(node, "writes through what is no parameter");
    else
      note(kind, pointer, when, node.line, value.type);
    if (pointer.pointer >= 0) claimMasked(pointer, when, node.line);
    return unknown();
  }
  KernelValue store(const SyntaxNode& node) { return write(node, KernelAccess::Kind::Store); }
  KernelValue atomic(const SyntaxNode& node) { return write(node, KernelAccess::Kind::Atomic); }

  KernelValue arange(const SyntaxNode& node) {
    KernelValue block = node.argumentCount() > 1 ? evaluate(node.argument(1)) : unknown();
    const std::string name =
        node.argumentCount() > 1 && node.argument(1).is(SyntaxKind::Name) ? node.argument(1).text : "";
    if (std::ranges::find(axisBlocks, std::string_view(name), &AxisBlock::block) == axisBlocks.end())
      return dataOf("int32");
    // A block of fixed size is the whole axis of a persistent reduction.
    KernelValue value = m_terms.value(block.term) && isReductionBlock(name) ? axis(name, "int32") : dataOf("int32");
    value.block = name;
    return value;
  }

  KernelValue full(const SyntaxNode& node) {
    const bool isZeros = node.callee() == "tl.zeros";
    KernelValue fill = isZeros                    ? ofTerm(m_terms.number(0))
                       : node.argumentCount() > 1 ? evaluate(node.argument(1))
                                                  : unknown();
    if (fill.isBlockOffset) return axis(fill.block, fill.type.empty() ? "int32" : fill.type);
    const std::size_t place = isZeros ? 1 : 2;
    if (node.argumentCount() > place) {
      const std::string type = elementType(node.argument(place).dotted());
      fill.type = type;
      if (isFloatType(type) || type.empty()) fill.term = noTerm;
    }
    if (node.argument(0).is(SyntaxKind::Tuple))
      for (const SyntaxNode& each : node.argument(0).items)
        if (each.is(SyntaxKind::Name) && isReductionBlock(each.text)) {
          fill.isAccumulator = fill.type != "bool" || m_terms.value(fill.term) != 1;
          fill.block = each.text;
        }
    return fill;
  }

  KernelValue where(const SyntaxNode& node) {
    if (node.argumentCount() < 3) return unknown();
    const KernelValue condition = evaluate(node.argument(0)), a = evaluate(node.argument(1)),
                      b = evaluate(node.argument(2));
    return chosen(condition, a, b);
  }

  KernelValue deviceAssert(const SyntaxNode& node) {
    assume(evaluate(node.argument(0)).term);
    return unknown();
  }

  KernelValue same(const SyntaxNode& node) { return evaluate(node.argument(0)); }
  KernelValue program(const SyntaxNode&) { return dataOf("int32"); }

  KernelValue pair(const SyntaxNode& node, TermOp op) {
    if (node.argumentCount() < 2) return unknown();
    const KernelValue a = evaluate(node.argument(0)), b = evaluate(node.argument(1));
    return ofTerm(m_terms.of(op, a.term, b.term), commonType(a.type, b.type));
  }
  KernelValue divided(const SyntaxNode& node) { return pair(node, TermOp::FloorDiv); }
  KernelValue rest(const SyntaxNode& node) { return pair(node, TermOp::Mod); }
  KernelValue least(const SyntaxNode& node) { return pair(node, TermOp::Min); }
  KernelValue greatest(const SyntaxNode& node) { return pair(node, TermOp::Max); }

  KernelValue scan(const SyntaxNode& node) {
    const KernelValue given = evaluate(node.argument(0));
    KernelValue tuple;
    for (const KernelValue& each : given.parts) tuple.parts.push_back(dataOf(each.type));
    return tuple;
  }

  KernelValue reduce(const SyntaxNode& node) {
    const KernelValue value = evaluate(node.argument(0));
    if (!value.isAccumulator && !neededMasks().empty())
      remark(KernelRemark::About::Mask, isGuarded(value.guard), node.line,
             "the reduction takes up elements beyond its end: no mask keeps them out");
    if (isFloatType(value.type) && node.callee() == "tl.sum")
      remark(KernelRemark::About::Accumulator, elementBytes(value.type) >= 4, node.line,
             fmt::format("it sums in {}", value.type));
    KernelValue result = dataOf(value.type);
    result.isReduced = true;
    for (int i = 0; i < 2; ++i) result.parts.push_back(dataOf(value.type));
    return result;
  }

  SyntaxNode m_module;
  int m_scopes = 0;
};

}  // namespace

KernelModel readTritonKernel(std::string name, std::string_view text) {
  KernelModel model;
  model.name = std::move(name);
  model.language = KernelModel::Language::Triton;
  TritonReader(model, text).read();
  return model;
}

}  // namespace kerf::inline audit
