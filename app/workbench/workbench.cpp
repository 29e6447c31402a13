#include "app/workbench/workbench.h"

#include <algorithm>

#include "app/workbench/kept_values.h"
#include "minifier/oracle/warm_torch.h"
#include "storage/migrations/migrations.h"
#include "storage/stores/store.h"

namespace kerf::workbench {

Workbench::Workbench(WorkbenchOptions options) : m_options(std::move(options)) {}

Workbench::~Workbench() = default;

WarmTorch& Workbench::warmTorch() {
  if (m_warmTorch) return *m_warmTorch;
  m_warmTorch = std::make_unique<WarmTorch>();
  if (const auto opened = store()) {
    std::error_code ignored;  // the worker is at home elsewhere
    std::filesystem::path folder = std::filesystem::absolute((*opened)->path(), ignored);
    folder += ".torch";
    m_warmTorch->keepToolsIn(std::move(folder));
  }
  return *m_warmTorch;
}

KeptValues& Workbench::keptValues() {
  if (!m_keptValues) m_keptValues = std::make_unique<KeptValues>();
  return *m_keptValues;
}

Result<Store*> Workbench::store() {
  if (!m_store) {
    KERF_TRY(auto opened,
             Store::open(m_options.store.empty() ? Store::defaultPath() : std::filesystem::path(m_options.store)));
    m_store = std::make_unique<Store>(std::move(opened));
  }
  return m_store.get();
}

Result<Store*> Workbench::storeIfUsable(const Job& job) {
  auto opened = store();
  if (opened || !m_options.store.empty() || opened.error().code != ErrorCode::Environment) return opened;
  job.warn(fmt::format("results are not stored: {}", opened.error().text()));
  return nullptr;
}

std::filesystem::path Workbench::codeCache(const Job& job) {
  const auto store = storeIfUsable(job);
  if (!store || *store == nullptr) return {};
  std::filesystem::path folder = (*store)->path();
  folder += ".objects";
  return folder;
}

Result<void> Workbench::keepResult(const Job& job, const std::function<Result<void>(Store&)>& keep) {
  auto opened = storeIfUsable(job);
  if (opened && *opened == nullptr) {  // warned already
    m_unstored = true;
    return {};
  }
  if (!opened && opened.error().code != ErrorCode::Environment) return fail(opened.error());  // a store to be refused
  const auto kept = opened ? keep(**opened) : Result<void>(std::unexpected(opened.error()));
  if (kept || kept.error().code == ErrorCode::Cancelled) return kept;
  noteUnstored(job, kept.error());
  return {};
}

void Workbench::noteUnstored(const Job& job, const Error& error) {
  job.warn(fmt::format("the result is not stored: {}", error.text()));
  m_unstored = true;
}

std::shared_ptr<const CaptureSource> Workbench::kept(const std::string& text) const {
  const auto found = m_kept.find(text);
  return found == m_kept.end() ? nullptr : found->second.source;
}

void Workbench::keep(const std::string& text, std::shared_ptr<const CaptureSource> source) {
  m_kept[text] = {std::move(source), ++m_opened};
  if (m_kept.size() <= m_options.keptCaptures) return;
  m_kept.erase(std::ranges::min_element(m_kept, {}, [](const auto& entry) { return entry.second.since; }));
}

void Workbench::forget(const std::string& text) { m_kept.erase(text); }

int storeSchema() { return newestSchema(); }

}  // namespace kerf::workbench
