#include "engine/autograd/alias_table.h"

#include <algorithm>

namespace kerf::inline autograd {

std::size_t AliasTable::aliasOf(const Tensor& tensor) {
  const auto key = std::size_t(tensor.traced);
  if (key >= m_aliasOf.size()) m_aliasOf.resize(key + 1, -1);
  if (m_aliasOf[key] < 0) {
    m_aliasOf[key] = int(m_aliases.size());
    m_aliases.push_back({.base = int(m_bases.size()), .lastStep = -1, .value = tensor});
    m_bases.push_back({tensor});
  }
  return std::size_t(m_aliasOf[key]);
}

int AliasTable::addStep(ViewStep step, int before) {
  m_steps.push_back({std::move(step), before});
  return int(m_steps.size()) - 1;
}

std::vector<const ViewStep*> AliasTable::stepsTo(int last) const {
  std::vector<const ViewStep*> steps;
  for (int at = last; at >= 0; at = m_steps[std::size_t(at)].before) steps.push_back(&m_steps[std::size_t(at)].step);
  std::ranges::reverse(steps);
  return steps;
}

const AliasTable::Alias* AliasTable::find(const Tensor& tensor) const {
  const auto key = std::size_t(tensor.traced);
  return key < m_aliasOf.size() && m_aliasOf[key] >= 0 ? &m_aliases[std::size_t(m_aliasOf[key])] : nullptr;
}

Result<Tensor> AliasTable::current(const Tensor& tensor) {
  const Alias* known = find(tensor);
  if (known == nullptr) return tensor;
  const Base base = m_bases[std::size_t(known->base)];
  if (known->writes == base.writes) return known->value;
  Tensor value = base.value;
  for (const ViewStep* step : stepsTo(known->lastStep)) {
    KERF_TRY(value, m_calls.view(*step, value));
  }
  Alias& alias = m_aliases[aliasOf(tensor)];
  alias.value = value;
  alias.writes = base.writes;
  return value;
}

void AliasTable::addView(const Tensor& of, ViewStep step, const Tensor& result) {
  Alias alias = m_aliases[aliasOf(of)];
  alias.lastStep = addStep(std::move(step), alias.lastStep);
  alias.value = result;
  alias.restrided = false;
  const auto key = std::size_t(result.traced);
  if (key >= m_aliasOf.size()) m_aliasOf.resize(key + 1, -1);
  m_aliasOf[key] = int(m_aliases.size());
  m_aliases.push_back(std::move(alias));
}

Result<void> AliasTable::write(const Tensor& tensor, const Tensor& value) {
  const std::size_t written = aliasOf(tensor);
  const std::vector<const ViewStep*> steps = stepsTo(m_aliases[written].lastStep);
  const auto at = std::size_t(m_aliases[written].base);
  std::vector<Tensor> seen{m_bases[at].value};  // by step: what it takes
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
    KERF_TRY(Tensor next, m_calls.view(*steps[i], seen.back()));
    seen.push_back(std::move(next));
  }
  Tensor whole = value;
  for (std::size_t i = steps.size(); i-- > 0;) {
    KERF_TRY(whole, m_calls.unview(*steps[i], seen[i], whole));
  }
  Base& base = m_bases[at];
  base.value = whole;
  ++base.writes;
  m_aliases[written].value = value;
  m_aliases[written].writes = base.writes;
  return {};
}

void AliasTable::restride(const Tensor& tensor, ViewStep step, const Tensor& value) {
  Alias& alias = m_aliases[aliasOf(tensor)];
  alias.lastStep = addStep(std::move(step), alias.lastStep);
  alias.value = value;
  alias.restrided = m_anyRestrided = true;
}

bool AliasTable::isWritten(const Tensor& tensor) const {
  const Alias* alias = find(tensor);
  return alias != nullptr && m_bases[std::size_t(alias->base)].writes > 0;
}
bool AliasTable::isRestrided(const Tensor& tensor) const {
  const Alias* alias = find(tensor);
  return alias != nullptr && alias->restrided;
}

void AliasTable::forget() {
  m_aliasOf.clear();
  m_aliases.clear();
  m_steps.clear();
  m_bases.clear();
  m_anyRestrided = false;
}

}  // namespace kerf::inline autograd
