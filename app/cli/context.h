// Context: what every command shares: output form, the store (opened when first needed), and interruption.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "engine/support/result.h"
#include "storage/stores/store.h"

namespace kerf::inline capture {
struct Capture;
}

namespace kerf::cli {

using Json = nlohmann::ordered_json;

struct Context {
  bool json = false;
  bool verbose = false;
  int verbosity = 0;      ///< how often -v was given
  std::string storePath;  ///< --store; empty: Store::defaultPath()

  /// Opens the store on first use.
  Result<Store*> store();
  /// The store for keeping results of a command that can do its job without: null, with a warning on stderr, when the
  /// user named no store and the default one cannot be used (a read-only home).
  Result<Store*> storeIfUsable();
  /// Stops on Ctrl-C or SIGTERM. Asking for it means that the command ends cleanly by itself.
  std::stop_token stop();
  /// The path that was opened last and what it held: commands may name the same log more than once.
  std::pair<std::filesystem::path, std::shared_ptr<const Capture>> opened;

 private:
  std::unique_ptr<Store> m_store;
};

/// Prints a JSON object and a newline to stdout. Text that is not UTF-8 is replaced, NaN and infinities become strings.
void printJson(const Json& object);
/// A number for JSON: NaN and infinities as "nan", "inf", "-inf".
Json number(double value);
/// `kerf: warning: …` on stderr.
void warn(const std::string& message);

}  // namespace kerf::cli
