#include "engine/ir/op_id.h"

#include <deque>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

namespace kerf::inline ir {
namespace {

constexpr std::string_view opsPrefix = "torch.ops.";
/// What graphs may add to the table: more than every op of every library, and a few MB at most.
constexpr std::size_t maxForeignNames = 1 << 16, maxForeignBytes = 8 << 20;

/// Names live as long as the program. Safe on any thread.
class OpNames {
 public:
  OpId find(const std::string& name) const {
    const std::shared_lock lock(m_mutex);
    const auto found = m_numbers.find(name);
    return found == m_numbers.end() ? OpId{} : found->second;
  }
  OpId add(std::string name) {
    const std::unique_lock lock(m_mutex);
    if (const auto found = m_numbers.find(name); found != m_numbers.end()) return found->second;
    m_names.push_back(std::move(name));
    const OpId op{std::uint32_t(m_names.size())};
    m_numbers.emplace(m_names.back(), op);
    return op;
  }
  OpId addForeign(std::string name) {
    if (const OpId known = find(name)) return known;
    {
      const std::unique_lock lock(m_mutex);
      if (m_foreignNames >= maxForeignNames || m_foreignBytes + name.size() > maxForeignBytes) return {};
      ++m_foreignNames;
      m_foreignBytes += name.size();
    }
    return add(std::move(name));
  }
  std::string_view name(OpId op) const {
    const std::shared_lock lock(m_mutex);
    return op ? std::string_view(m_names[op.index - 1]) : std::string_view();
  }

 private:
  mutable std::shared_mutex m_mutex;
  std::deque<std::string> m_names;  ///< by index - 1; never moves
  std::unordered_map<std::string_view, OpId> m_numbers;
  std::size_t m_foreignNames = 0, m_foreignBytes = 0;
};

OpNames& names() {
  static OpNames instance;
  return instance;
}

std::vector<OpId>& literals() {
  static std::vector<OpId> instance;
  return instance;
}

}  // namespace

std::string canonicalOpName(std::string_view target) {
  if (!target.starts_with(opsPrefix)) return std::string(target.starts_with("_operator.") ? target.substr(1) : target);
  target.remove_prefix(opsPrefix.size());
  const std::size_t dot = target.find('.');
  const bool packet = dot != std::string_view::npos && target.find('.', dot + 1) == std::string_view::npos;
  std::string name(target);
  if (packet && !target.starts_with("higher_order.")) name += ".default";
  return name;
}

OpId internOp(std::string_view target) { return names().add(canonicalOpName(target)); }
OpId opIdOf(std::string_view target) { return names().addForeign(canonicalOpName(target)); }
OpId knownOp(std::string_view target) { return names().find(canonicalOpName(target)); }
std::string_view opName(OpId op) { return names().name(op); }

OpId detail::internLiteral(std::string_view target) {
  const OpId op = internOp(target);
  literals().push_back(op);
  return op;
}

std::span<const OpId> opLiterals() { return literals(); }

}  // namespace kerf::inline ir
