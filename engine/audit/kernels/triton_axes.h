// TritonAxes: the axes of a Triton kernel: one block of each that a program of the grid takes, or a loop's.
#pragma once

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "engine/audit/kernels/kernel_reader.h"

namespace kerf::inline audit {

/// The largest block that a launch may choose for an axis, as Inductor bounds it.
struct AxisBlock {
  std::string_view block, numel;
  std::int64_t most;
};
constexpr std::array<AxisBlock, 6> axisBlocks = {{{"XBLOCK", "xnumel", 4096},
                                                  {"YBLOCK", "ynumel", 1024},
                                                  {"ZBLOCK", "znumel", 1024},
                                                  {"R0_BLOCK", "r0_numel", 65536},
                                                  {"R1_BLOCK", "r1_numel", 65536},
                                                  {"RBLOCK", "rnumel", 65536}}};

inline bool isReductionBlock(std::string_view block) { return block.starts_with('R'); }

class TritonAxes : public KernelReader {
 protected:
  using KernelReader::KernelReader;

  /// `type`: in which its offset is computed.
  KernelValue axis(const std::string& block, const std::string& type) {
    const auto key = std::pair(block, isReductionBlock(block) ? m_scope : 0);
    const auto known = m_axes.find(key);
    if (known != m_axes.end()) return ofTerm(m_terms.variable(known->second), type);
    KernelVariable variable;
    const auto entry = std::ranges::find(axisBlocks, std::string_view(block), &AxisBlock::block);
    variable.name =
        block == "R0_BLOCK" || block == "RBLOCK" ? "r0_index" : std::string(1, char(std::tolower(block[0]))) + "index";
    variable.kind = isReductionBlock(block) ? KernelVariable::Kind::Sequential : KernelVariable::Kind::Parallel;
    variable.begin = m_terms.number(0);
    variable.end = numelOf(block);
    variable.block = entry == axisBlocks.end() ? 1 : entry->most;
    if (const auto fixed = m_values.find(block); fixed != m_values.end())
      if (const auto size = m_terms.value(fixed->second.term)) variable.block = std::max<std::int64_t>(*size, 1);
    variable.scope = key.second;
    const int index = int(m_model.variables.size());
    m_model.variables.push_back(std::move(variable));
    m_axes.emplace(key, index);
    return ofTerm(m_terms.variable(index), type);
  }

  TermId numelOf(std::string_view block) {
    const auto entry = std::ranges::find(axisBlocks, block, &AxisBlock::block);
    if (entry == axisBlocks.end()) return noTerm;
    const auto numel = m_values.find(entry->numel);
    return numel == m_values.end() ? noTerm : numel->second.term;
  }

  /// The masks r0_index < r0_numel that a reduction here needs: those of axes whose last block may be partly beyond.
  std::vector<TermId> neededMasks() {
    std::vector<TermId> needed;
    for (const auto& [key, index] : m_axes) {
      const KernelVariable& variable = m_model.variables[std::size_t(index)];
      if (variable.kind != KernelVariable::Kind::Sequential || key.second != m_scope) continue;
      const auto numel = m_terms.value(variable.end);
      if (numel && *numel % variable.block == 0) continue;
      needed.push_back(m_terms.of(TermOp::Less, m_terms.variable(index), variable.end));
    }
    return needed;
  }

  bool isGuarded(TermId guard) {
    const std::vector<TermId> needed = neededMasks();
    std::vector<TermId> given;
    m_terms.conjuncts(guard, given);
    return std::ranges::all_of(needed, [&](TermId each) { return std::ranges::find(given, each) != given.end(); });
  }

  // --- statements ---------------------------------------------------------------------------------------------------

  std::map<std::pair<std::string, int>, int> m_axes;
  int m_scope = 0;  ///< of loops: each has its own block of a reduced axis
};

}  // namespace kerf::inline audit
