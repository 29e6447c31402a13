#include "app/workbench/minify/store_verdicts.h"

#include <nlohmann/json.hpp>

#include "engine/support/read_json.h"

namespace kerf::workbench {

namespace {

constexpr std::string_view kindNames[] = {"passes", "fails", "fails_differently", "cannot_test"};

std::string toJson(const Verdict& verdict) {
  const nlohmann::json object{{"kind", kindNames[std::size_t(verdict.kind)]},
                              {"fingerprint", verdict.fingerprint},
                              {"detail", verdict.detail},
                              {"ns", verdict.time.count()}};
  return object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::optional<Verdict> fromJson(const std::string& text) {
  const auto object = readJson<nlohmann::json>(text);
  if (!object.is_object()) return std::nullopt;
  const auto word = [&](const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  const auto name = word("kind");
  for (std::size_t i = 0; i < std::size(kindNames); ++i) {
    if (kindNames[i] != name) continue;
    const auto time = object.find("ns");
    const auto nanoseconds = time != object.end() && time->is_number_integer() ? time->get<std::int64_t>() : 0;
    return Verdict{static_cast<VerdictKind>(i), word("fingerprint"), word("detail"),
                   std::chrono::nanoseconds(nanoseconds), true};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Verdict> StoreVerdicts::find(const std::string& key) {
  const std::scoped_lock lock(m_mutex);
  if (const auto known = m_known.find(key); known != m_known.end()) return known->second;
  if (m_fresh) return std::nullopt;
  const auto stored = m_store.verdict(key);
  return stored && *stored ? fromJson(**stored) : std::nullopt;
}

void StoreVerdicts::put(const std::string& key, const Verdict& verdict) {
  const std::scoped_lock lock(m_mutex);
  auto& known = m_known[key] = verdict;
  known.cached = true;
  (void)m_store.putVerdict(key, toJson(verdict));
}

}  // namespace kerf::workbench
