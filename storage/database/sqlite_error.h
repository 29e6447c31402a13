// What SQLite reports as an error of ours: its code, and what people can do.
#pragma once

#include <expected>
#include <filesystem>
#include <optional>
#include <string>

#include <SQLiteCpp/Exception.h>

#include "engine/support/result.h"

namespace kerf::inline storage::inline database {

/// BadInput for a damaged file or one that is no database, Environment for what disk and permissions refuse, TooLarge,
/// Cancelled for a statement that was stopped, Internal for the rest.
std::unexpected<Error> sqliteError(const SQLite::Exception& exception, const std::filesystem::path& path);

/// What sqliteError said is damaged, without what it advises; none for errors of another kind.
std::optional<std::string> damageIn(const Error& error);

}  // namespace kerf::inline storage::inline database
