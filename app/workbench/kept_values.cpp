#include "app/workbench/kept_values.h"

#include <algorithm>

namespace kerf::workbench {

const NodeTensor* KeptValues::find(const std::string& key) const {
  const auto found = std::ranges::find(m_values, key, &std::pair<std::string, NodeTensor>::first);
  return found == m_values.end() ? nullptr : &found->second;
}

void KeptValues::keep(std::string key, NodeTensor value) {
  m_values.emplace_back(std::move(key), std::move(value));
  std::int64_t bytes = 0;
  for (const auto& [name, kept] : m_values) bytes += kept.tensor.byteSize();
  for (; m_values.size() > 1 && bytes > mostBytes; m_values.pop_front())
    bytes -= m_values.front().second.tensor.byteSize();
}

}  // namespace kerf::workbench
