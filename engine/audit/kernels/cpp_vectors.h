// CppVectors: how C++ kernels read and write vectors: loads and stores of lanes, transposed tiles, atomic additions.
#pragma once

#include <array>

#include "engine/audit/kernels/kernel_reader.h"

namespace kerf::inline audit {

class CppVectors : public KernelReader {
 protected:
  using KernelReader::KernelReader;
  ~CppVectors() = default;

  virtual KernelValue evaluate(const SyntaxNode& node) = 0;

  /// The lane of the statements here: shared, since masks are computed with the same one.
  int lane(TermId count) {
    if (m_lane >= 0 && m_model.variables[std::size_t(m_lane)].end == count) return m_lane;
    KernelVariable variable;
    variable.name = "lane";
    variable.kind = KernelVariable::Kind::Lane;
    variable.begin = m_terms.number(0);
    variable.end = count;
    m_lane = int(m_model.variables.size());
    m_model.variables.push_back(std::move(variable));
    return m_lane;
  }

  KernelValue along(KernelValue pointer, int variable, TermId stride) {
    pointer.term = m_terms.of(TermOp::Add, pointer.term, m_terms.of(TermOp::Mul, m_terms.variable(variable), stride));
    return pointer;
  }

  void vectorAccess(KernelAccess::Kind kind, const SyntaxNode& node, const KernelValue& pointer, TermId mask,
                    std::string valueType) {
    const TermId count = node.argumentCount() > 1 ? evaluate(node.argument(1)).term : m_terms.number(m_width);
    KernelValue first = pointer;
    TermId when = mask;
    if (m_lane >= 0 && mask >= 0) {
      // The mask was computed with the lane of arange().
      first = along(first, m_lane, m_terms.number(1));
      if (node.argumentCount() > 1)
        when = m_terms.of(TermOp::And, mask, m_terms.of(TermOp::Less, m_terms.variable(m_lane), count));
    } else {
      first = count < 0 ? unknownAt(pointer) : along(first, lane(count), m_terms.number(1));
    }
    note(kind, first, when, node.line, std::move(valueType));
  }

  KernelValue unknownAt(KernelValue pointer) const {
    pointer.term = noTerm;
    return pointer;
  }

  KernelValue loadVector(const SyntaxNode& node, const std::string& type, TermId mask) {
    if (node.argumentCount() == 0) return unknown(type);
    const KernelValue pointer = evaluate(node.argument(0));
    if (pointer.pointer >= 0) vectorAccess(KernelAccess::Kind::Load, node, pointer, mask, {});
    const bool isMask = node.callee().find("VecMask") != std::string::npos;
    return dataOf(isMask ? "bool" : type);
  }

  KernelValue arange(const SyntaxNode& node) {
    const KernelValue first = node.argumentCount() > 0 ? evaluate(node.argument(0)) : unknown();
    const KernelValue step = node.argumentCount() > 1 ? evaluate(node.argument(1)) : ofTerm(m_terms.number(1));
    KernelValue value = first;
    value.pointer = -1;
    value.term = m_terms.of(TermOp::Add, first.term,
                            m_terms.of(TermOp::Mul, m_terms.variable(lane(m_terms.number(m_width))), step.term));
    return value;
  }

  /// transpose_mxn<T, M, N, …>(from, stride, to, stride): to[n*stride + m] = from[m*stride + n].
  KernelValue transpose(const SyntaxNode& node, const std::string& name) {
    if (node.argumentCount() < 4) return unknown();
    const auto [m, n] = extents(name);
    const KernelValue from = evaluate(node.argument(0)), to = evaluate(node.argument(2));
    const TermId fromStride = evaluate(node.argument(1)).term, toStride = evaluate(node.argument(3)).term;
    for (const bool isStore : {false, true}) {
      const KernelValue& pointer = isStore ? to : from;
      if (pointer.pointer < 0) continue;
      KernelValue place = unknownAt(pointer);
      if (m > 0 && n > 0) {
        m_lane = -1;
        const int row = lane(m_terms.number(isStore ? n : m));
        m_lane = -1;
        const int column = lane(m_terms.number(isStore ? m : n));
        m_lane = -1;
        place = along(along(pointer, row, isStore ? toStride : fromStride), column, m_terms.number(1));
      }
      note(isStore ? KernelAccess::Kind::Store : KernelAccess::Kind::Load, place, m_mask, node.line);
    }
    return unknown();
  }

  /// The two numbers of "transpose_mxn<float,static_cast<int64_t>(3L),static_cast<int64_t>(4L),false>".
  static std::pair<std::int64_t, std::int64_t> extents(std::string_view name) {
    std::array<std::int64_t, 2> found{};
    std::size_t count = 0;
    for (std::size_t at = name.find(','); at != std::string_view::npos && count < 2; at = name.find(',', at + 1)) {
      std::string_view part = name.substr(at + 1, name.find(',', at + 1) - at - 1);
      if (const std::size_t open = part.rfind('('); open != std::string_view::npos) part.remove_prefix(open + 1);
      std::int64_t value = 0;
      for (const char c : part) {
        if (c < '0' || c > '9') break;
        value = value * 10 + (c - '0');
        if (value > (1 << 20)) return {};
      }
      found[count++] = value;
    }
    return {found[0], found[1]};
  }

  /// atomic_add(&out[i], v), atomic_add_vec<…>(out, index, v).
  KernelValue atomic(const SyntaxNode& node, const std::string& name) {
    if (node.argumentCount() == 0) return unknown();
    KernelValue pointer = evaluate(node.argument(0));
    if (name.starts_with("atomic_add_vec")) {
      const KernelValue index = node.argumentCount() > 1 ? evaluate(node.argument(1)) : unknown();
      pointer = binary("+", pointer, index);
      if (index.term < 0) pointer.term = m_terms.of(TermOp::Add, m_terms.number(0), m_terms.data());
    }
    for (std::size_t i = 1; i < node.argumentCount(); ++i) (void)evaluate(node.argument(i));
    if (pointer.pointer >= 0) note(KernelAccess::Kind::Atomic, pointer, m_mask, node.line);
    return unknown();
  }

  int m_lane = -1;            ///< the variable that stands for the lane of the statements here
  std::int64_t m_width = 16;  ///< lanes of a vector
};

}  // namespace kerf::inline audit
