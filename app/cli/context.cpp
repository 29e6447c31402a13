#include "app/cli/context.h"

#include <cmath>
#include <cstdio>

#include "app/cli/interrupts.h"

namespace kerf::cli {

Result<Store*> Context::store() {
  if (!m_store) {
    KERF_TRY(auto opened, Store::open(storePath.empty() ? Store::defaultPath() : std::filesystem::path(storePath)));
    m_store = std::make_unique<Store>(std::move(opened));
  }
  return m_store.get();
}

Result<Store*> Context::storeIfUsable() {
  auto opened = store();
  if (opened || !storePath.empty() || opened.error().code != ErrorCode::Environment) return opened;
  warn(fmt::format("results are not stored: {}", opened.error().text()));
  return nullptr;
}

std::stop_token Context::stop() { return interruptToken(); }

void printJson(const Json& object) {
  const auto text = object.dump(2, ' ', false, Json::error_handler_t::replace);
  fmt::print(stdout, "{}\n", text);
}

Json number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

void warn(const std::string& message) { fmt::print(stderr, "kerf: warning: {}\n", message); }

}  // namespace kerf::cli
