// NamedTable: a module's attributes or submodules by path, in declaration order. Copies are cheap: they share the
// entries until one of them changes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/ir/copy_on_write.h"

namespace kerf::inline ir {

template <class T>
class NamedTable {
 public:
  using Entry = std::pair<std::string, T>;
  using Entries = std::vector<Entry>;

  std::size_t size() const { return entries().size(); }
  bool empty() const { return entries().empty(); }
  auto begin() const { return entries().begin(); }
  auto end() const { return entries().end(); }
  const Entry& operator[](std::size_t i) const { return entries()[i]; }
  /// Null if there is no entry of that path.
  const T* find(std::string_view path) const {
    for (const auto& [name, value] : entries())
      if (name == path) return &value;
    return nullptr;
  }
  /// Equal in two tables only if they hold the same; 0 for a table that never held anything.
  std::uint64_t revision() const { return m_revision.number(); }

  void add(std::string path, T value) { edit().emplace_back(std::move(path), std::move(value)); }
  /// Erases the entries for which `dropped` holds; returns their count.
  template <class Predicate>
  std::size_t eraseIf(Predicate dropped) {
    for (const Entry& entry : entries())
      if (dropped(entry)) return std::erase_if(edit(), dropped);
    return 0;
  }
  void clear() { *this = {}; }
  /// The entries, to be changed at once: a reference kept for later would escape the revision.
  Entries& edit() {
    m_revision.renew();
    if (!m_entries) m_entries = std::make_shared<Entries>();
    return ownCopy(m_entries);
  }

 private:
  const Entries& entries() const {
    static const Entries none;
    return m_entries ? *m_entries : none;
  }

  std::shared_ptr<Entries> m_entries;
  Revision m_revision;
};

}  // namespace kerf::inline ir
