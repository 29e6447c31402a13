#include "engine/ops/core/decomposition_tables.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

#include "engine/ops/core/decomposition_lists.h"

namespace kerf::inline ops {
namespace {

/// Whether a list has the op ("add"), the overload ("add.Tensor"), or all that start like it, without namespaces.
class OpList {
 public:
  void add(std::span<const std::string_view> names) {
    for (const std::string_view name : names)
      if (name.ends_with('*'))
        m_prefixes.push_back(name.substr(0, name.size() - 1));
      else
        m_names.insert(name);
  }
  bool has(const OpInfo& op) const {
    const std::string qualified = op.schema.qualifiedName();
    std::string_view name = qualified;
    if (!name.starts_with("aten.")) return false;
    name.remove_prefix(std::string_view("aten.").size());
    return m_names.contains(name) || m_names.contains(name.substr(0, name.find('.'))) ||
           std::ranges::any_of(m_prefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
  }

 private:
  std::unordered_set<std::string_view> m_names;
  std::vector<std::string_view> m_prefixes;
};

/// The program that stands in for an op's own under a table.
const TableProgram* programFor(const OpInfo& op, DecompositionTable table, const std::vector<TablePrograms>& tables) {
  const std::string overload = op.schema.name + "." + op.schema.overload;
  for (const TablePrograms programs : tables)
    for (const TableProgram& program : programs)
      if (program.from <= table && (program.op == op.schema.name || program.op == overload)) return &program;
  return nullptr;
}

class Decisions {
 public:
  explicit Decisions(DecompositionTable table) {
    OpList replaced, kept;
    for (const DecompositionList& list : decompositionLists()) {
      if (list.table <= table) replaced.add(list.ops);
      if (list.table == table || (list.table == DecompositionTable::Core && table == DecompositionTable::None))
        kept.add(list.kept);
    }
    kept.add(neverDecomposed());
    const auto tables = table == DecompositionTable::None ? std::vector<TablePrograms>() : tableProgramTables();
    for (const OpInfo& op : allOps()) {
      Replacement by = !kept.has(op) && (isComposite(op) || replaced.has(op));
      if (const TableProgram* program = programFor(op, table, tables))
        by = Replacement(program->program, program->applies);
      if (by.replaces) m_replaced.emplace(op.id, by);
    }
  }
  Replacement operator[](const OpInfo& op) const {
    const auto found = m_replaced.find(op.id);
    return found == m_replaced.end() ? Replacement(false) : found->second;
  }

 private:
  std::unordered_map<OpId, Replacement> m_replaced;
};

template <DecompositionTable table>
Replacement decide(const OpInfo& op) {
  static const Decisions decisions(table);
  return decisions[op];
}

}  // namespace

std::string_view decompositionTableName(DecompositionTable table) {
  return std::ranges::find(decompositionLists(), table, &DecompositionList::table)->name;
}

std::optional<DecompositionTable> parseDecompositionTable(std::string_view text) {
  const auto found = std::ranges::find(decompositionLists(), text, &DecompositionList::name);
  if (found == decompositionLists().end()) return {};
  return found->table;
}

Decomposes decomposesBy(DecompositionTable table) {
  static constexpr std::array decisions{decide<DecompositionTable::None>, decide<DecompositionTable::Core>,
                                        decide<DecompositionTable::Inductor>};
  return decisions[std::size_t(table)];
}

}  // namespace kerf::inline ops
